package polling

import (
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/panebridge/panebridge/sessions"
)

// held is what was read from a pane and waits for a decision.
type held struct {
	begun bool
	stood []screenRow // the rows that stood undecided on the screen before it was read
	lines []sessions.Line
	gaps  []sessions.Gap // After counts lines
}

// add holds what a step settled; stood are the rows that were undecided before it.
func (h *held) add(step *Step, stood []screenRow, now time.Time) {
	if !h.begun {
		h.begun, h.stood = true, stood
	}
	for _, g := range step.Gaps {
		g.After += int64(len(h.lines))
		h.gaps = append(h.gaps, g)
	}
	for _, l := range step.Lines {
		h.lines = append(h.lines, sessions.Line{Kind: sessions.KindPane, Text: l, At: now})
	}
}

// disown drops, of what was read while another text was the session's, the rows that
// stood undecided on the screen before, and those that show what was said elsewhere.
// What comes below them is the pane's own again, whether it's settled or stands on
// the screen of e, the engine behind the last step. A program that was killed leaves
// its alternate screen behind, too.
func (h *held) disown(e *Engine, said func(row string) bool) {
	k := newKnown(h.stood, said)
	n := 0
	for n < len(h.lines) && k.takeLine(h.lines[n].Text, e.state.Width) {
		n++
	}
	h.lines = h.lines[n:]
	if len(h.lines) == 0 {
		h.lines = nil
		e.disownScreen(k)
	}
	h.disownGaps(n, len(h.lines) > 0 || !isBlank(e.screen.normal))
	e.screen.left = map[uint64]bool{}
	for _, r := range e.screen.alternate {
		e.screen.left[rowHash(trimRow(r))] = true
	}
}

// disownGaps drops the gaps among the first n lines, and all if nothing comes behind.
func (h *held) disownGaps(n int, more bool) {
	var gaps []sessions.Gap
	for _, g := range h.gaps {
		if more && g.After >= int64(n) {
			g.After -= int64(n)
			gaps = append(gaps, g)
		}
	}
	h.gaps = gaps
}

// disownScreen takes for lines, though they never were, the rows on the screen down to
// the last that's known.
func (e *Engine) disownScreen(k *known) {
	rows, n := e.screen.normal, 0
	for i, r := range rows {
		text := trimRow(r.text)
		if text == "" {
			continue
		}
		if !k.take(text) {
			break
		}
		n = i + 1
	}
	e.skip(rows[:n])
	e.screen.normal = rows[n:]
}

// skip takes rows for lines that were emitted.
func (e *Engine) skip(rows []screenRow) {
	if len(rows) == 0 {
		return
	}
	e.state.Shown = cloneShown(e.state.Shown)
	for _, r := range rows {
		e.state.Shown[r.abs] = rowHash(trimRow(r.text))
	}
	e.state.Next = max(e.state.Next, rows[len(rows)-1].abs+1)
	e.state.Begun = ""
}

func isBlank(rows []screenRow) bool {
	for _, r := range rows {
		if trimRow(r.text) != "" {
			return false
		}
	}
	return true
}

// known are the rows that aren't the pane's own: each that stood there before counts
// once, what was said counts always.
type known struct {
	stood map[uint64]int
	said  func(row string) bool
}

func newKnown(stood []screenRow, said func(row string) bool) *known {
	k := &known{map[uint64]int{}, said}
	for _, r := range stood {
		k.stood[rowHash(trimRow(r.text))]++
	}
	return k
}

// take reports whether a row is known, and counts it.
func (k *known) take(row string) bool {
	h := rowHash(row)
	if k.stood[h] > 0 {
		k.stood[h]--
		return true
	}
	return k.said(row)
}

// takeLine does the same for a line of one row or several, each of width cells. Of a
// line that isn't known, nothing is counted.
func (k *known) takeLine(line string, width int) bool {
	if line == "" || k.take(line) {
		return true
	}
	rows := strings.Split(ansi.Hardwrap(line, max(width, 1), true), "\n")
	if len(rows) == 1 {
		return false
	}
	taken := map[uint64]int{}
	for _, r := range rows {
		h := rowHash(trimRow(r))
		if k.stood[h] > taken[h] {
			taken[h]++
		} else if !k.said(trimRow(r)) {
			return false
		}
	}
	for h, n := range taken {
		k.stood[h] -= n
	}
	return true
}
