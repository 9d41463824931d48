package agent

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/drawtest"
)

// A daemon that's begun again at any moment says the same as one that went on: which lines
// there are, what's being written, and what of a program's screen was said when it ends.
func TestARestartChangesNothingThatIsSaid(t *testing.T) {
	drawtest.CheckTimes(t, 30, func(rt *rapid.T) {
		steps := rapid.SliceOfN(rapid.SampledFrom([]string{"write", "answer", "tool", "ask", "rest", "stop"}), 1, 12).Draw(rt, "steps")
		restarts := rapid.SliceOfN(rapid.Bool(), len(steps)+1, len(steps)+1).Draw(rt, "restarts before each step, and before the end")
		want := playSteps(t, steps, make([]bool, len(steps)+1))
		if got := playSteps(t, steps, restarts); !slices.Equal(got, want) {
			rt.Fatalf("with restarts %v of %v it says\n%s\nand without\n%s", restarts, steps, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
}

// playSteps has an agent asked once write, answer, ask for a permission and rest, and says
// what was told of it at each step.
func playSteps(t *testing.T, steps []string, restarts []bool) (said []string) {
	t.Helper()
	h := newHost(t)
	h.run(1, 1, h.now.Add(-time.Minute))
	p, f := h.pane(1), h.file("one")
	p.hook(SessionStart, f)
	var screen []string
	asked, n := "", 0
	look := func(text string) {
		p.now = p.now.Add(time.Second)
		l := p.see(pollOf(p, text))
		said = append(said, fmt.Sprintf("told %q, writes %q", p.told, l.Writing))
	}
	begin := func() {
		n++
		asked, screen = fmt.Sprintf("question number %d", n), nil
		f.user(asked)
		look(atWorkOn(asked))
	}
	begin()
	written := false // the last rows of the screen aren't in the transcript
	for i, step := range steps {
		if restarts[i] {
			p.restart()
		}
		row := fmt.Sprintf("● This is what it says in step %d,", i)
		switch step {
		case "write":
			if !written {
				screen = append(screen, row, "  on two rows of its screen.")
			}
			written = true
			look(atWorkOn(asked, screen...))
		case "answer":
			if !written {
				screen = append(screen, row, "  on two rows of its screen.")
			}
			f.answer(strings.TrimPrefix(screen[len(screen)-2], "● ") + "\non two rows of its screen.")
			written = false
			look(atWorkOn(asked, screen...))
		case "tool":
			f.line(map[string]any{"type": "assistant", "message": map[string]any{"id": fmt.Sprint("t", i), "role": "assistant", "content": []any{map[string]any{"type": "tool_use", "id": fmt.Sprint(i), "name": "Bash", "input": map[string]any{"command": "sleep 9"}}}}})
			screen, written = append(screen, "● Bash(sleep 9)", "  ⎿  Running for quite a while…"), true
			look(atWorkOn(asked, screen...))
		case "stop":
			for range 5 { // behind a restart the end is known at once, else in a second look
				p.look(time.Second, stopped(asked, screen...))
			}
			p.now = p.now.Add(time.Minute)
			look(stopped(asked, screen...))
			written = false
			begin()
		case "ask":
			look("❯ " + asked + "\n" + strings.Join(screen, "\n") + "\n" + claudeDialog)
		case "rest":
			if written {
				f.answer(strings.TrimPrefix(screen[len(screen)-2], "● ") + "\non two rows of its screen.")
				written = false
			}
			f.end()
			look(atRest(asked, screen...))
			begin()
		}
	}
	if restarts[len(steps)] {
		p.restart()
	}
	delete(p.running, 1)
	for range 3 {
		p.now = p.now.Add(time.Second)
		if l := p.see(pollOf(p, strings.Join(screen, "\n")+"\n$ ")); l.Said != nil {
			for _, row := range screen {
				said = append(said, fmt.Sprintf("of %q it's known: %t", row, l.Said(row)))
			}
		}
	}
	return said
}
