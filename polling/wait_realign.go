package polling

import (
	"slices"
	"strings"
)

// realign finds on a grid that was reflowed or cleared what stood there at the last look,
// by its lines: their rows have other numbers now.
func (w *waitWork) realign() *Need {
	if need := w.needAll(); need != nil {
		return need
	}
	known := w.f.known()
	whole := w.f.last != nil && w.f.last.First == 0 && w.s.First == 0
	w.restart()
	w.state.PID, w.state.Next = w.s.PID, int64(w.s.First)
	spans, texts := w.lines(0)
	cells := make([]waitCell, len(w.s.Rows))
	for i, row := range w.s.Rows {
		cells[i] = waitCell{text: row}
	}
	for n, line := range alignLines(known, texts, w.s.First > 0, whole) {
		sp := spans[n]
		line = line.goesOn(strings.Join(w.s.Rows[sp.i:sp.j+1], ""))
		copy(cells[sp.i:], splitCell(line, w.s.Rows[sp.i:sp.j+1]))
	}
	w.first, w.cells = 0, cells
	w.f.rows = waitRows{}
	return nil
}

// known are the lines of the last look.
func (f *waitFollower) known() []waitCell {
	if f.last == nil {
		return nil
	}
	w := work{Engine: f.engine, s: f.last, maxRows: 4 * pieceRows}
	w.state.Base = f.base
	spans, _ := w.lines(0)
	var out []waitCell
	for n, sp := range spans {
		if n == 0 && f.last.First > 0 {
			continue // it may begin further up
		}
		var line waitCell
		fresh := false
		for i := sp.i; i <= sp.j; i++ {
			c, ok := f.rows.cells[w.abs(i)]
			if !ok {
				c = oldCell(f.last.Rows[i]) // it has left the screen before
			}
			if !fresh {
				line.before = len(line.text) + c.before
			}
			fresh = fresh || !c.isOld()
			line.text += c.text
			line.behind, line.rewritten = c.behind, line.rewritten || c.rewritten
		}
		if !fresh {
			line.before, line.behind = len(line.text), 0
		}
		out = append(out, line)
	}
	for len(out) > 0 && trimRow(out[len(out)-1].text) == "" {
		out = out[:len(out)-1]
	}
	return out
}

// alignLines tells which of the lines were there, as what: by their index. The last known line
// may go on. cut: the first of texts may have lost its beginning. whole: both begin where the
// grid does, so that nothing older stands above the known ones.
func alignLines(known []waitCell, texts []string, cut, whole bool) map[int]waitCell {
	out := map[int]waitCell{}
	if len(known) == 0 {
		return out
	}
	was := make([]string, len(known))
	for i, c := range known {
		was[i] = trimRow(c.text)
	}
	j, o := findRun(was, texts)
	if j < 0 {
		return scatter(known, was, texts)
	}
	if whole && j == 0 && runFits(was, texts, 0, 0) && someUnknown(was, texts[:o]) {
		o = 0 // nobody has moved them, and what's above the lower place was printed since
	}
	for i := range o { // above what was seen: older
		out[i] = oldCell(texts[i])
	}
	for i := j; i < len(known) && o+i-j < len(texts); i++ {
		out[o+i-j] = known[i]
	}
	if cut && len(texts) > 0 {
		out[0] = oldCell(texts[0])
	}
	return out
}

// findRun finds the longest end of was, from its line j on, in texts, from line o on: its
// last line may go on. Of several places the lowest is taken, so that nothing old is
// taken for new.
func findRun(was, texts []string) (j, o int) {
	for j := range was {
		for o, text := range slices.Backward(texts) {
			if text != "" && (text == was[j] || len(was) == 1) && runFits(was, texts, j, o) {
				return j, o
			}
		}
	}
	return -1, -1
}

// runFits reports whether the end of was from its line j on stands in texts from line o on.
func runFits(was, texts []string, j, o int) bool {
	last := len(was) - 1
	for i := j; i < last; i++ {
		if o+i-j >= len(texts) || was[i] != texts[o+i-j] {
			return false
		}
	}
	return o+last-j < len(texts) && strings.HasPrefix(texts[o+last-j], was[last])
}

// someUnknown reports whether a text is none of those. A shell that has drawn nothing but
// its prompt again, for the new width, has printed nothing.
func someUnknown(was, texts []string) bool {
	return slices.ContainsFunc(texts, func(text string) bool { return !slices.Contains(was, text) })
}

// scatter is for a program that printed everything again in its own way: what's there
// as a line, or by its words, is old.
func scatter(known []waitCell, was, texts []string) map[int]waitCell {
	out := map[int]waitCell{}
	places := map[string][]int{}
	for i, text := range was {
		places[text] = append(places[text], i)
	}
	verdicts := newReprinted(was).mark(texts, false)
	for n, text := range texts {
		switch at := places[text]; {
		case len(at) > 0:
			out[n], places[text] = known[at[0]], at[1:]
		case verdicts[n].old:
			out[n] = oldCell(text)
		case verdicts[n].cut > 0:
			out[n] = waitCell{text: text, before: verdicts[n].cut}
		}
	}
	return out
}
