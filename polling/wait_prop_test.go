package polling

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/sessions"
)

// A model of what a wait has to say: the lines that the grid was given after the call.
// Texts repeat themselves, lines wrap and are written in pieces, history rolls over, the size of the
// pane's screen changes.
func TestWaitAgreesWithItsModel(t *testing.T) {
	drawtest.Check(t, func(t *rapid.T) {
		h := newHistory(t)
		h.printSome()
		h.g.write(rapid.SampledFrom([]string{"", "$ ", "ask: "}).Draw(t, "prompt"))
		f := waiting(h)
		wantNothing(t, f.look(h), "at the call")
		before, entry := len(h.g.printed), len(h.g.line)
		var got []string // settled lines
		for range rapid.IntRange(1, 8).Draw(t, "looks") {
			h.step()
			s := f.look(h)
			if s.dropped || s.cleared {
				return // the wait ends and says so
			}
			got = append(got, outputs(s.lines[:s.settled])...)
			now := append(append([]string(nil), got...), outputs(s.lines[s.settled:])...)
			if s.unsure || f.unsure {
				f.unsure = true // it says that some may be missing: nothing old may be there
				continue
			}
			want := h.outputSince(before, entry)
			if fmt.Sprint(now) != fmt.Sprint(want) {
				t.Fatalf("output is\n%q, wanted\n%q", now, want)
			}
		}
	})
}

// outputSince is what was printed behind line number before, and behind byte entry of
// that line; blank lines leave no text.
func (h *history) outputSince(before, entry int) []string {
	lines := append(append([]string(nil), h.g.printed...), h.g.line)
	var out []string
	for i, text := range lines[before:] {
		if i == 0 {
			text = text[entry:]
		}
		if text = trimRow(text); text != "" {
			out = append(out, text)
		}
	}
	return out
}

// step does something to the grid.
func (h *history) step() {
	switch rapid.SampledFrom([]string{"print", "print", "write", "write", "nothing"}).Draw(h.T, "step") {
	case "print":
		h.printSome()
	case "write":
		h.g.write(rapid.SampledFrom([]string{"a", "again", "$ ", strings.Repeat("piece ", 8)}).Draw(h.T, "text"))
	}
}

// tracer looks as a wait does.
type tracer struct {
	f       waitFollower
	maxRows int
	depth   int
	unsure  bool
}

func waiting(h *history) *tracer {
	// A line of more rows than a quarter of that is searched in pieces: none is so long here.
	return &tracer{f: newFollower(), maxRows: rapid.SampledFrom([]int{600, 5000}).Draw(h.T, "rows of a capture"), depth: rapid.SampledFrom([]int{minDepth, waitContext}).Draw(h.T, "depth")}
}

// look catches up with the grid; what it found in several captures is joined.
func (f *tracer) look(h *history) *waitStep {
	var out waitStep
	window := sessions.RowWindow{Start: -f.depth}
	for asked := (*Need)(nil); ; {
		snap := h.g.snapshot(window)
		s, more := f.f.followSnapshot(&snap, asked, f.maxRows, time.Unix(1, 0))
		if asked = more; more != nil {
			window = more.Window
			continue
		}
		f.f = s.next
		if len(out.lines) != out.settled {
			panic("a capture that didn't reach the bottom left lines open")
		}
		out.lines, out.settled = append(out.lines, s.lines...), out.settled+s.settled
		out.dropped, out.cleared, out.unsure = out.dropped || s.dropped, out.cleared || s.cleared, out.unsure || s.unsure
		if s.reached {
			return &out
		}
		window = f.f.engine.windowAhead(f.maxRows)
	}
}

func outputs(lines []waitLine) []string {
	var out []string
	for i := range lines {
		if text := strings.TrimSpace(lines[i].output()); text != "" {
			out = append(out, lines[i].output())
		}
	}
	return out
}

func wantNothing(t *rapid.T, s *waitStep, when string) {
	if len(s.lines) > 0 {
		t.Fatalf("%s there's output: %q", when, outputs(s.lines))
	}
}

// What's found agrees with a search of the text by the standard library; what's new is in it.
func TestWaitMatchAgreesWithItsModel(t *testing.T) {
	letters := rapid.StringMatching(`[abAB .é]{0,12}`)
	drawtest.Check(t, func(t *rapid.T) {
		was, now := letters.Draw(t, "was"), letters.Draw(t, "now")
		if rapid.Bool().Draw(t, "goes on") {
			now = was + now
		}
		pattern := rapid.StringMatching(`[abAB .é]{1,3}`).Draw(t, "pattern")
		fold := rapid.Bool().Draw(t, "fold")
		p, err := NewWaitPatterns(sessions.WaitRequest{Patterns: []string{pattern}, MatchCase: !fold})
		if err != nil {
			t.Fatal(err)
		}
		line := joinCells([]waitCell{oldCell(was).goesOn(now)})
		m := line.matchPatterns(sessions.MatchPattern, p.patterns)
		text, search := now, pattern
		if fold {
			text, search = strings.ToLower(text), strings.ToLower(search)
		}
		switch {
		case strings.HasPrefix(now, was):
			if want := strings.Contains(text[len(was):], search) && trimRow(now) != trimRow(was); (m != nil) != want {
				t.Fatalf("%q went on as %q, pattern %q: found is %+v, wanted %v", was, now, pattern, m, want)
			}
		case m != nil && !strings.Contains(text, search):
			t.Fatalf("%q became %q: found is %+v, which isn't there", was, now, m)
		case strings.HasPrefix(now, trimRow(was)): // it went on where a blank stood: what's before that isn't new
		case commonPrefix(was, now)+commonSuffix(was, now) >= len(now): // something was taken out of it: nothing is new
		case m == nil && strings.Contains(text, search) && !strings.Contains(lower(was, fold), search) && trimRow(now) != trimRow(was) && trimRow(pattern) == pattern && strings.TrimSpace(pattern) == pattern:
			t.Fatalf("%q became %q: %q wasn't found", was, now, pattern)
		}
	})
}

func lower(s string, fold bool) string {
	if fold {
		return strings.ToLower(s)
	}
	return s
}

// gridSource is a grid as a tmux server.
type gridSource struct {
	snapshot func() (sessions.Snapshot, error)
}

func (s gridSource) Glances(context.Context, int64) ([]sessions.Glance, bool, error) {
	return nil, false, nil
}

func (s gridSource) Snapshot(context.Context, string, sessions.RowWindow) (sessions.Snapshot, error) {
	return s.snapshot()
}
