package polling

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/sessions"
)

// quiz knows the dialogs of these tests: rows from ?< to ?> with nothing below them.
type quiz struct{ PlainProfile }

func (quiz) Prompt(s *sessions.Snapshot) *sessions.Dialog {
	rows := s.Rows[max(0, len(s.Rows)-s.Height):]
	last := len(rows) - 1
	for last >= 0 && trimRow(rows[last]) == "" {
		last--
	}
	if last < 0 || !strings.HasPrefix(rows[last], "?>") {
		return nil
	}
	for i := last; i >= 0; i-- {
		if strings.HasPrefix(rows[i], "?<") {
			return &sessions.Dialog{First: i, Last: last}
		}
	}
	return &sessions.Dialog{Last: last, Cut: true}
}

// drawDialog draws a dialog; look is called when half of it stands there.
func (h *history) drawDialog(rows []string, look func()) {
	if h.g.line != "" {
		h.g.newline()
	}
	for i, row := range rows {
		if i == len(rows)/2 {
			look()
		}
		h.g.write(row)
		h.g.line = ""
		h.g.down()
	}
	h.dialog = rows
}

// dialogRows are a dialog's of its own.
func (h *history) dialogRows(n int) []string {
	h.dialogs++
	rows := make([]string, n)
	for i := range rows {
		rows[i] = fmt.Sprintf("??%d%c", h.dialogs, 'a'+i)
	}
	rows[0], rows[n-1] = fmt.Sprint("?<", h.dialogs), fmt.Sprint("?>", h.dialogs)
	return rows
}

// eraseDialog takes a dialog off the screen as programs do: the cursor goes up to its
// first row, or the screen's, and the rest is cleared. What has left the screen stays.
func (h *history) eraseDialog() {
	g := h.g
	up := min(len(h.dialog), g.y)
	g.printed = append(g.printed, h.dialog[:len(h.dialog)-up]...)
	g.y -= up
	for i := g.hs + g.y; i < len(g.rows); i++ {
		g.rows[i], g.wrapped[i] = "", false
	}
	g.written++
	h.dialog = nil
}

// leaveDialog has it stay where it is: it's text like any other.
func (h *history) leaveDialog() {
	h.g.printed = append(h.g.printed, h.dialog...)
	h.dialog = nil
}

// clearDialog is of the screen's being cleared: what of a dialog is in history was printed.
func (h *history) clearDialog() {
	in := max(0, len(h.dialog)-h.g.y)
	h.g.printed = append(h.g.printed, h.dialog[:in]...)
	h.dialog = nil
}

// changeDialog opens a dialog, draws it anew, or ends it.
func (h *history) changeDialog() {
	look := func() {}
	if rapid.Bool().Draw(h.T, "look at half") {
		look = func() { h.look(func() {}) }
	}
	if h.dialog == nil {
		h.drawDialog(h.dialogRows(rapid.IntRange(2, 10).Draw(h.T, "rows")), func() {})
		return
	}
	was := h.dialog
	whole := len(was) <= h.g.y
	switch rapid.IntRange(0, 3).Draw(h.T, "change") {
	case 0: // it stays, and something comes below it
		h.print("number", 1)
	case 1: // another, or another part of it
		h.eraseDialog()
		h.drawDialog(h.dialogRows(rapid.IntRange(2, 10).Draw(h.T, "rows")), func() {})
	case 2: // the same, with another mark
		h.eraseDialog()
		if whole {
			h.drawDialog(was, look)
			look() // two looks at the same half would have it for text
		}
	default:
		h.eraseDialog()
	}
}

// wantHeld: no row of an open dialog is a line while it's on the screen.
func (h *history) wantHeld() {
	if h.dialog == nil {
		return
	}
	rows := h.dialog[len(h.dialog)-min(len(h.dialog), h.g.y):]
	for _, row := range rows {
		if slices.Contains(h.f.lines, row) {
			h.Fatalf("%q of an open dialog is a line", row)
		}
		if !slices.Contains(h.f.live.Rows, row) {
			h.Fatalf("%q of an open dialog isn't live: %q", row, h.f.live.Rows)
		}
	}
}

// A dialog's rows are live as long as it's open. Whether it's drawn anew, grows, shrinks,
// goes, is left standing and scrolls away, or the daemon is started anew meanwhile: what
// has come into history, and what stays on the screen, becomes lines once, and nothing
// around it is missing.
func TestDialogsAreNoLines(t *testing.T) {
	drawtest.Check(t, func(t *rapid.T) {
		h := newHistory(t)
		h.profile = quiz{}
		h.g = newGrid(rapid.IntRange(8, 14).Draw(t, "wide"), rapid.IntRange(2, 12).Draw(t, "high"), h.g.limit)
		h.f.engine = NewEngine(h.profile, nil, true)
		h.poll()
		for range rapid.IntRange(1, 25).Draw(t, "steps") {
			switch rapid.IntRange(0, 12).Draw(t, "step") {
			case 0, 1:
				h.print("number", rapid.OneOf(rapid.IntRange(1, 5), rapid.IntRange(1, 3*h.g.limit)).Draw(t, "lines"))
			case 2:
				h.print(rapid.SampledFrom([]string{"blank", "same", "period"}).Draw(t, "kind"), rapid.OneOf(rapid.IntRange(1, 5), rapid.IntRange(1, 3*h.g.limit)).Draw(t, "lines"))
			case 3:
				h.leaveDialog()
				h.g.write("part")
			case 4:
				h.reload()
			case 5:
				h.clear()
			case 6, 7, 8:
				h.changeDialog()
			default:
				h.poll()
			}
		}
		h.poll()
		if rapid.Bool().Draw(t, "something below it") {
			h.print("number", 1)
		}
		h.end()
	})
}

// TestWhatReplacesADialog is what a person sees who answers: the blank lines too.
func TestWhatReplacesADialog(t *testing.T) {
	g := newGrid(40, 24, 1000)
	f := follower{engine: NewEngine(quiz{}, nil, true), maxRows: 5000, depth: minDepth, now: time.Unix(1_000_000, 0)}
	h := history{g: g, profile: quiz{}}
	look := func() {
		for range 4 {
			f.now = f.now.Add(time.Second)
			f.poll(g, func() {})
		}
	}
	for _, l := range []string{"before", "", "> ask"} {
		g.printLine(l)
	}
	look()
	h.drawDialog([]string{"?<1", "", "make", "", "?>1"}, func() {})
	look()
	if want := []string{"before", "", "> ask"}; !slices.Equal(f.lines, want) {
		t.Errorf("while it's open: lines %q, want %q", f.lines, want)
	}
	if want := []string{"?<1", "", "make", "", "?>1"}; !slices.Equal(f.live.Rows[:min(5, len(f.live.Rows))], want) {
		t.Errorf("live %q, want %q", f.live.Rows, want)
	}
	h.eraseDialog()
	for _, l := range []string{"allowed", "", "done", "", ""} {
		g.printLine(l)
	}
	g.write("> ")
	look()
	if want := []string{"before", "", "> ask", "allowed", "", "done", "", ""}; !slices.Equal(f.lines, want) || len(f.gaps) > 0 {
		t.Errorf("lines %q, want %q; gaps %v", f.lines, want, f.gaps)
	}
}
