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

// stopped is a screen of Claude Code whose answer was interrupted.
func stopped(asked string, rows ...string) string {
	return "❯ " + asked + "\n" + strings.Join(rows, "\n") + "\n  ⎿  Interrupted · What should Claude do instead?\n" + inputBox + "  ⏸ manual mode on · ? for shortcuts"
}

// What was being written when a turn was stopped is told as the screen showed it last, and
// marked; once, and only if the transcript doesn't have it.
func TestWhatWasBeingWrittenIsTold(t *testing.T) {
	const asked = "tell me the time"
	begin := func(t *testing.T) (*pane, *file) {
		t.Helper()
		h := newHost(t)
		h.run(1, 1, h.now.Add(-time.Minute))
		p, f := h.pane(1), h.file("one")
		f.user(asked)
		p.hook(SessionStart, f)
		p.look(time.Second, atWorkOn(asked))
		f.answer("I'll tell you the whole of it.")
		p.look(time.Second, atWorkOn(asked, "● I'll tell you the whole of it.", ""))
		p.look(time.Second, atWorkOn(asked, "● I'll tell you the whole of it.", "", "● It's half past", "  time"))
		return p, f
	}
	mark := "notice " + interruptedNote
	told := []string{"user " + asked, "answer I'll tell you the whole of it."}
	full := []string{"● I'll tell you the whole of it.", "", "● It's half past", "  time", "  and more"}
	after := func(p *pane, screen string) {
		for range 30 {
			p.look(200*time.Millisecond, screen)
		}
		p.look(time.Minute, screen)
	}
	t.Run("by a key", func(t *testing.T) {
		p, _ := begin(t)
		after(p, stopped(asked, full...))
		p.want(slices.Concat(told, []string{"pane ● It's half past", "pane   time", "pane   and more", mark})...)
		if n := len(p.told); p.told[n-1] != "END" {
			t.Errorf("it's told behind the turn: %q", p.told)
		}
	})
	t.Run("by a key, and the transcript has it late", func(t *testing.T) {
		p, f := begin(t)
		p.look(200*time.Millisecond, stopped(asked, full...))
		p.look(200*time.Millisecond, stopped(asked, full...))
		f.answer("It's *half* past\ntime\nand more than that")
		f.line(map[string]any{"type": "user", "message": map[string]any{"role": "user", "content": []any{map[string]any{"type": "text", "text": "[Request interrupted by user]"}}}})
		after(p, stopped(asked, full...))
		p.want(slices.Concat(told, []string{"answer It's *half* past", "answer time", "answer and more than that"})...)
	})
	t.Run("killed", func(t *testing.T) {
		p, _ := begin(t)
		delete(p.running, 1)
		after(p, "$ ")
		p.want(slices.Concat(told, []string{"pane ● It's half past", "pane   time", mark})...)
	})
	t.Run("its session ended", func(t *testing.T) {
		p, _ := begin(t)
		p.last()
		p.want(slices.Concat(told, []string{"pane ● It's half past", "pane   time", mark})...)
	})
	t.Run("not stopped", func(t *testing.T) {
		p, f := begin(t)
		f.end()
		after(p, atRest(asked, full...))
		p.want(told...)
	})
	t.Run("on a screen that still shows the turn before", func(t *testing.T) {
		p, f := begin(t)
		long := []string{"It's half past ten,", "the sun is up,", "the shops are open,", "the streets are full,", "the trains are late,", "the coffee is hot,", "and the day is young."}
		f.answer(strings.Join(long, "\n"))
		f.end()
		screen := []string{"● " + long[0]}
		for _, row := range long[1:] {
			screen = append(screen, "  "+row)
		}
		before := len(p.told)
		after(p, atRest(asked, screen...))
		f.user("and the date")
		for range 3 {
			p.look(200*time.Millisecond, atWorkOn(asked, screen...))
		}
		p.look(time.Second, atWorkOn("and the date", "● It's the first of May"))
		after(p, stopped("and the date", "● It's the first of May,", "  a holiday"))
		if n := slices.Index(p.told[before:], "user and the date"); n < 0 {
			t.Fatalf("told: %q", p.told)
		} else if got, want := p.told[before+n+1:], []string{"pane ● It's the first of May,", "pane   a holiday", mark, "END"}; !slices.Equal(got, want) {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	})
	t.Run("a tool", func(t *testing.T) {
		p, f := begin(t)
		f.line(map[string]any{"type": "assistant", "message": map[string]any{"id": "m", "role": "assistant", "content": []any{map[string]any{"type": "tool_use", "id": "t", "name": "Bash", "input": map[string]any{"command": "sleep 9"}}}}})
		screen := append(full[:2:2], "● Bash(sleep 9)", "  ⎿  Running… (3s)")
		p.look(time.Second, atWorkOn(asked, screen...))
		after(p, stopped(asked, screen...))
		p.want(slices.Concat(told, []string{"tool ⚙ Bash: sleep 9"})...)
	})
}

// Looks at a screen that goes on, at most a screen's height less some rows between two of
// them, make the text that went over it.
func TestLooksMakeTheTextThatWentOverTheScreen(t *testing.T) {
	drawtest.Check(t, func(rt *rapid.T) {
		word := rapid.SampledFrom([]string{"one", "two", "three", "}", "", "return nil", "│ a │ b │", "日本語"})
		var text []string
		for i := range rapid.IntRange(1, 120).Draw(rt, "rows") {
			row := word.Draw(rt, "row")
			if i%2 == 0 || rapid.Bool().Draw(rt, "another") { // where all are alike nobody could say
				row += fmt.Sprint(" ", i)
			}
			text = append(text, row)
		}
		text = append(text, "the last row of all")
		height := rapid.IntRange(12, 40).Draw(rt, "height")
		var w writing
		for end := 0; end < len(text); {
			end = min(len(text), end+rapid.IntRange(1, height-8).Draw(rt, "more"))
			rows := trimBlank(slices.Clone(text[max(0, end-height):end]))
			if len(rows) > 0 && rapid.Bool().Draw(rt, "its last row is being written") {
				last := []rune(rows[len(rows)-1])
				rows[len(rows)-1] = string(last[:max(1, len(last)/2)])
				end--
				if end < 1 {
					end = 1
				}
			}
			w.noteRows(rows, 80)
		}
		w.noteRows(trimBlank(slices.Clone(text[max(0, len(text)-height):])), 80)
		if got, want := strings.Join(w.rows, "\n"), strings.Join(trimBlank(text), "\n"); got != want {
			rt.Fatalf("got\n%s\nwant\n%s", got, want)
		}
	})
}
