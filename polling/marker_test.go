package polling_test

import (
	"regexp"
	"testing"
	"time"

	"github.com/panebridge/panebridge/polling"
)

const done = "[Output Complete]"

func newMarked(t *testing.T, size, functions string, m *polling.Marker) *stepper {
	t.Helper()
	return newStepperWith(t, size, functions, polling.Options{Cadence: 100 * time.Millisecond, Marker: m})
}

// completes waits until n turns have ended, and wants no more than that.
func (s *stepper) completes(n int) {
	s.Helper()
	s.await("end of turn", func() bool { return s.owner.completed() >= n })
	s.look()
	if got := s.owner.completed(); got != n {
		s.Fatalf("%d turns ended, want %d", got, n)
	}
}

// A turn ends once, with the line that holds the marker; the next has the next
// number.
func TestMarkerEndsTurns(t *testing.T) {
	for name, m := range map[string]*polling.Marker{
		"literal": polling.NewMarker(done, nil), "pattern": polling.NewMarker("", regexp.MustCompile(`\[Output \w+\]`)),
	} {
		t.Run(name, func(t *testing.T) {
			s := newMarked(t, "80x24", `
s1() { echo answer one; echo "[Output Complete]"; }
s2() { echo answer two; echo "[Output Complete]"; echo prompt; }`, m)
			s.step()
			s.completes(1)
			s.run("prompt")
			s.completes(2)
			var turns []int64
			for _, ev := range s.owner.all() {
				if ev.Complete {
					turns = append(turns, ev.Turn.Number)
					if got := s.log.text()[ev.Turn.LastLine-1]; got != done || ev.Turn.Open {
						t.Errorf("turn %+v ends with %q", ev.Turn, got)
					}
				}
			}
			if len(turns) != 2 || turns[1] != turns[0]+1 {
				t.Errorf("turns %v", turns)
			}
		})
	}
}

// The marker is found where it wraps over two rows, where it arrives in two
// captures, and at the cursor without a line end; it counts once, though its
// line comes later.
func TestMarkerInPieces(t *testing.T) {
	s := newMarked(t, "30x12", `
s1() { echo "some text before it [Output Complete]"; }
s2() { printf "[Output Com"; }
s3() { printf "plete]"; }
s4() { echo; echo more; }
s5() { printf "> [Output Complete]"; }
s6() { printf " and more\n"; echo last; }`, polling.NewMarker(done, nil))
	s.step()
	s.completes(1)
	s.runLive("[Output Com")
	s.completes(1)
	s.step()
	s.completes(2)
	s.run("more")
	s.completes(2)
	s.step()
	s.completes(3)
	s.run("last")
	s.completes(3)
	wantLines(t, s.end(), "ready", "some text before it "+done, done, "more", "> "+done+" and more", "last")
}

// In a drawing program the marker settles what stands above it.
func TestMarkerInDrawingProgram(t *testing.T) {
	f := writeFile(t, "\x1b[?25lanswer\r\n"+done+"\r\n------\r\n> input\r\n  status")
	s := newMarked(t, "80x12", "s1() { cat "+f+"; }", polling.NewMarker(done, nil))
	s.step()
	s.completes(1)
	wantLines(t, s.log.text(), "ready", "answer", done)
}

// What a person typed doesn't end the turn by being echoed.
func TestEchoedMarkerIsNoEnd(t *testing.T) {
	s := newMarked(t, "80x12", `s1() { echo 'say [Output Complete] when done'; echo working; }
s2() { echo '[Output Complete]'; }`, polling.NewMarker(done, nil))
	s.coord.NoteTyped("pb_1", "say "+done+" when done")
	s.run("working")
	s.completes(0)
	s.step()
	s.completes(1)
}

// After the end of a turn the poller rests: nothing is captured until the pane
// changes or somebody types.
func TestPollerRestsAfterTurn(t *testing.T) {
	t.Parallel()
	slow(t)
	s := newMarked(t, "80x12", "s1() { echo '[Output Complete]'; }\ns2() { echo again; }", polling.NewMarker(done, nil))
	s.step()
	s.await("end of turn", func() bool { return s.owner.completed() == 1 })
	// The second of the last output has to be over, and one more: see due.
	quiet := 0
	last := s.source.snapshots.Load()
	for end := time.Now().Add(await); quiet < 15 && time.Now().Before(end); {
		n := s.source.glances.Load()
		s.await("look", func() bool { return s.source.glances.Load() > n })
		if now := s.source.snapshots.Load(); now != last {
			last, quiet = now, 0
			continue
		}
		quiet++
	}
	if quiet < 15 {
		t.Error("it never rests")
	}
	s.run("again")
}

// A line with a marker and nothing else has nothing to read. What a regular expression finds
// may have.
func TestAMarkerAlone(t *testing.T) {
	literal, pattern := polling.NewMarker(done, nil), polling.NewMarker("", regexp.MustCompile(`^Finished in \d+ s$`))
	for line, want := range map[string]bool{done: true, "  " + done + " ": true, "> " + done: false, done + ".": false, "": false, "text": false} {
		if got := literal.IsAlone(line); got != want {
			t.Errorf("%q: %v", line, got)
		}
	}
	if pattern.IsAlone("Finished in 3 s") || (*polling.Marker)(nil).IsAlone("") {
		t.Error("a pattern's line, or no marker's, is taken for a marker alone")
	}
}
