package polling_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/polling"
	"github.com/panebridge/panebridge/sessions"
)

// program is an agent program as its observers see it: what it wrote to its
// transcript, and whose text counts.
type program struct {
	polling.PlainProfile
	mu    sync.Mutex
	text  sessions.LinesFrom
	wrote []string // "END" ends a turn
	over  bool     // it has ended
	ends  int      // how often it has
	late  func()   // draws its last rows, when a look has found that it has ended
}

func (p *program) set(text sessions.LinesFrom) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.text, p.over = text, false
}

func (p *program) write(lines ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wrote = append(p.wrote, lines...)
}

func (p *program) told() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(p.wrote), func(l string) bool { return l == "END" || l == "FAIL" })
}

func (p *program) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over = true
	p.ends++
}

// observer reads a program's transcript from where the last one stopped.
type observer struct {
	*program
	cursor int
	open   bool
	ends   int // how many ends it has told of
	ending bool
}

func (p *program) observe(kept []byte) (polling.Observer, error) {
	o := &observer{program: p}
	if kept != nil {
		var k struct {
			Cursor, Ends int
			Open         bool
		}
		if err := json.Unmarshal(kept, &k); err != nil {
			return nil, err
		}
		o.cursor, o.open, o.ends = k.Cursor, k.Open, k.Ends
	}
	return o, nil
}

func (o *observer) Close() error { return nil }

// Observe gives at most three lines at once, and stops behind the end of a turn.
func (o *observer) Observe(_ context.Context, l sessions.Poll) (sessions.Observation, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	text := o.text
	if o.over && o.ends == o.program.ends {
		text = sessions.TextPane
	}
	s := sessions.Observation{Text: text, Known: text != sessions.TextPane, State: sessions.StateWorking}
	if text == sessions.TextTranscript {
		for len(s.Lines) < 3 && o.cursor < len(o.wrote) && !s.Ended {
			text := o.wrote[o.cursor]
			o.cursor++
			s.Began = s.Began || !o.open
			o.open = text != "END" && text != "FAIL"
			if s.Ended = !o.open; text == "FAIL" {
				s.Failed = "it said no"
			}
			if o.open {
				s.Lines = append(s.Lines, sessions.Line{Kind: sessions.KindAnswer, Text: text, At: l.Now, Begins: true})
			}
		}
		s.More = o.cursor < len(o.wrote)
	}
	switch {
	case !o.over || s.More || text == sessions.TextPane:
	case !l.Last && (!o.ending || l.Screen == nil): // the last rows may still come
		if o.ending = true; o.late != nil {
			o.late()
			o.late = nil
		}
		s.Ending, s.Again = true, l.Now.Add(30*time.Millisecond)
	default:
		o.ending = false
		told := slices.Clone(o.wrote)
		s.Said = func(row string) bool { return slices.Contains(told, strings.TrimPrefix(row, "drawn ")) }
		o.ends = o.program.ends
	}
	var err error
	s.Keep, err = json.Marshal(struct {
		Cursor, Ends int
		Open         bool
	}{o.cursor, o.ends, o.open})
	return s, err
}

func (r *rig) startObserved(p *program) {
	r.Helper()
	if err := r.coord.Start(polling.PolledPane{Session: "pb_1", Server: "t", Pane: "%1", Observe: p.observe}); err != nil {
		r.Fatal(err)
	}
}

// While a transcript is the session's text, nothing of the pane comes; behind it the
// pane goes on, without what the program had left on the screen.
func TestOneTextAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mem, src, p := &memLog{}, newFakeSource("%1"), &program{text: sessions.TextPane}
		r := newRig(t, mem, mem, map[string]polling.PaneSource{"t": src})
		r.startObserved(p)
		src.print("%1", "$ agent", false)
		r.after(5 * time.Second)
		p.set(sessions.TextHeld)
		for i := range 20 {
			src.print("%1", fmt.Sprint("banner ", i), false)
		}
		r.after(5 * time.Second)
		r.want("$ agent")
		p.set(sessions.TextTranscript)
		p.write("one", "two", "three", "four", "END", "five", "END")
		src.print("%1", "drawn one", false)
		src.print("%1", "drawn two", false)
		r.after(5 * time.Second)
		r.want("$ agent", "one", "two", "three", "four", "five")
		if turn, _ := mem.turns(); turn.Number != 3 || turn.Open || turn.FirstLine != 6 || turn.LastLine != 6 { // the pane's line began the first turn
			t.Errorf("turn %+v", turn)
		}
		p.write("six")
		src.print("%1", "drawn six", false)
		src.print("%1", "$ ls", false)
		p.end()
		r.after(5 * time.Second)
		src.print("%1", "file", false)
		r.after(5 * time.Second)
		r.want("$ agent", "one", "two", "three", "four", "five", "six", "$ ls", "file")
	})
}

// What a program drew at its end is read late, when it's known to have ended: it was told all the same.
func TestWhatIsDrawnAtTheEndWasTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mem, src, p := &memLog{}, newFakeSource("%1"), &program{text: sessions.TextTranscript}
		r := newRig(t, mem, mem, map[string]polling.PaneSource{"t": src})
		r.startObserved(p)
		p.write("one", "two")
		src.print("%1", "drawn one", false)
		r.after(5 * time.Second)
		p.late = func() {
			src.print("%1", "drawn two", false)
			src.print("%1", "$ ls", false)
		}
		p.end()
		src.print("%1", "", false)
		r.after(5 * time.Second)
		src.print("%1", "file", false)
		r.after(5 * time.Second)
		r.want("one", "two", "$ ls", "file")
	})
}

// A program that's killed leaves its alternate screen behind: what stands there was told
// by its transcript. What comes there is the pane's own.
func TestAnAlternateScreenThatWasLeftIsNotTold(t *testing.T) {
	for _, comes := range []string{"", "$ "} {
		synctest.Test(t, func(t *testing.T) {
			mem, src, p := &memLog{}, newFakeSource("%1"), &program{text: sessions.TextTranscript}
			src.panes["%1"].change = func(s *sessions.Snapshot) { s.Alternate = true }
			r := newRig(t, mem, mem, map[string]polling.PaneSource{"t": src})
			r.startObserved(p)
			p.write("one")
			src.print("%1", "a frame", false)
			src.print("%1", "drawn one", false)
			r.after(5 * time.Second)
			p.end()
			src.print("%1", comes, false)
			r.after(5 * time.Second)
			want := []string{"one"}
			if comes != "" {
				src.print("%1", "killed", false)
				r.after(5 * time.Second)
				want = append(want, "killed")
			}
			src.remove("%1")
			r.after(5 * time.Second)
			got := slices.DeleteFunc(mem.text(), func(s string) bool { return s == "" })
			if !slices.Equal(got, want) {
				t.Errorf("behind %q told %q, want %q", comes, got, want)
			}
		})
	}
}

// What is held for a transcript that never comes is the session's text after all.
func TestHeldLinesComeOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mem, src, p := &memLog{}, newFakeSource("%1"), &program{text: sessions.TextHeld}
		r := newRig(t, mem, mem, map[string]polling.PaneSource{"t": src})
		r.startObserved(p)
		var want []string
		for i := range 50 {
			want = append(want, fmt.Sprint("line ", i))
			src.print("%1", want[i], false)
			r.after(300 * time.Millisecond)
		}
		r.want()
		p.set(sessions.TextPane)
		src.print("%1", "more", false)
		r.after(5 * time.Second)
		r.want(append(want, "more")...)
	})
}

// Whatever the order of things, and however often storing fails: each line of the
// pane that's the session's comes once, and so does each of the transcript.
func TestTextsAreHandedOver(t *testing.T) {
	drawtest.Check(t, func(rt *rapid.T) {
		steps := rapid.SliceOfN(rapid.SampledFrom([]string{"print", "print", "write", "write", "turn", "pane", "held", "transcript", "end", "fail", "wait", "burst", "draw", "leave"}), 1, 60).Draw(rt, "steps")
		synctest.Test(t, func(t *testing.T) {
			mem, src, p := &memLog{}, newFakeSource("%1"), &program{text: sessions.TextPane}
			log := &brokenLog{memLog: mem}
			r := newRig(t, log, mem, map[string]polling.PaneSource{"t": src})
			r.startObserved(p)
			r.after(5 * time.Second)
			var want, held []string
			mode := sessions.TextPane
			turn := func(to sessions.LinesFrom) {
				r.after(90 * time.Second) // over every back-off
				if to == sessions.TextPane {
					want = append(want, held...)
				}
				if to != sessions.TextHeld {
					held = nil
				}
				p.set(to)
				mode = to
				src.print("%1", "", false) // a look
				r.after(5 * time.Second)
			}
			put := func(line string) {
				src.print("%1", line, false)
				switch mode {
				case sessions.TextPane:
					want = append(want, line)
				case sessions.TextHeld:
					held = append(held, line)
				case sessions.TextTranscript:
				}
			}
			for i, step := range steps {
				line := fmt.Sprintf("%s %d", step, i)
				switch step {
				case "print":
					put(line)
				case "write", "turn":
					if mode != sessions.TextTranscript {
						continue // a program writes only while it runs
					}
					p.write(line)
					want = append(want, line)
					if step == "turn" {
						p.write("END")
					}
				case "pane", "held", "transcript":
					if mode != sessions.TextTranscript && step != string(mode) {
						turn(sessions.LinesFrom(step))
					}
				case "end":
					if mode == sessions.TextTranscript {
						r.after(90 * time.Second)
						p.end()
						src.print("%1", line, false)
						r.after(5 * time.Second)
						mode = sessions.TextPane
						want = append(want, line)
					}
				case "burst":
					for k := range 30 {
						put(fmt.Sprintf("%s %d", line, k))
					}
				case "draw": // the program shows what it wrote
					if mode == sessions.TextTranscript && len(p.told()) > 0 {
						src.print("%1", "drawn "+p.told()[len(p.told())-1], false)
					}
				case "leave": // the program ends, and much is printed before anybody looks
					if mode == sessions.TextTranscript {
						r.after(90 * time.Second)
						p.write(line)
						src.print("%1", "drawn "+line, false)
						want = append(want, line)
						p.end()
						mode = sessions.TextPane
						for k := range 30 {
							put(fmt.Sprintf("%s %d", line, k))
						}
						r.after(5 * time.Second)
					}
				case "fail":
					log.failures.Store(3)
				case "wait":
					r.after(700 * time.Millisecond)
				}
			}
			if mode == sessions.TextHeld {
				turn(sessions.TextPane)
			}
			src.print("%1", "last", false)
			r.after(5 * time.Minute)
			if mode == sessions.TextPane {
				want = append(want, "last")
			}
			got := slices.DeleteFunc(mem.text(), func(s string) bool { return s == "" })
			want = slices.DeleteFunc(want, func(s string) bool { return s == "" })
			if !slices.Equal(got, want) {
				rt.Fatalf("after %q\ngot  %q\nwant %q", steps, got, want)
			}
		})
	})
}

// A turn that its program calls failed is kept as that, and the next one isn't.
func TestAnObservedTurnFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mem, src, p := &memLog{}, newFakeSource("%1"), &program{text: sessions.TextTranscript}
		r := newRig(t, mem, mem, map[string]polling.PaneSource{"t": src})
		r.startObserved(p)
		for _, c := range []struct{ end, failed string }{{"FAIL", "it said no"}, {"END", ""}, {"FAIL", "it said no"}} {
			p.write("word", c.end)
			src.print("%1", "drawn word", false)
			r.after(5 * time.Second)
			if turn, _ := mem.turns(); turn.Open || turn.Failed != c.failed {
				t.Errorf("%s: %+v", c.end, turn)
			}
		}
	})
}
