package polling

import "maps"

// waitRows is what a wait knows of the pane's rows, by absolute number: those that were
// on the screen at its last look, which can still change.
type waitRows struct {
	cells map[int64]waitCell
	end   int64 // behind the last row of the screen
}

// cellsFrom compares the snapshot's rows from row i on with the last look.
func (r waitRows) cellsFrom(w *work, i int) []waitCell {
	cells := make([]waitCell, 0, len(w.s.Rows)-i)
	moved := r.vanished(w)
	for ; i < len(w.s.Rows); i++ {
		abs, text := w.abs(i), w.s.Rows[i]
		was, ok := r.cells[abs]
		var c waitCell
		switch {
		case ok:
			c = was.goesOn(text)
		case abs >= r.end:
			c = waitCell{text: text}
		default: // history that the screen has taken back
			c = oldCell(text)
		}
		if key := trimRow(text); key != "" && !c.isOld() && moved[key] > 0 {
			moved[key]--
			c = oldCell(text)
		}
		cells = append(cells, c)
	}
	return cells
}

// vanished counts the texts that stood there at the call and were overwritten since the last
// look. If the screen was only changed further down, and they stand elsewhere now,
// they were moved and not printed anew.
func (r waitRows) vanished(w *work) map[string]int {
	top := w.index(w.top())
	if top < 0 || top >= len(w.s.Rows) {
		return nil
	}
	if first, ok := r.cells[w.top()]; !ok || trimRow(first.text) != trimRow(w.s.Rows[top]) {
		return nil
	}
	var out map[string]int
	for abs, was := range r.cells {
		i := w.index(abs)
		key := trimRow(was.text)
		if i < 0 || i >= len(w.s.Rows) || key == "" || !was.isOld() || !was.goesOn(w.s.Rows[i]).rewritten {
			continue
		}
		if out == nil {
			out = map[string]int{}
		}
		out[key]++
	}
	return out
}

// keep remembers the cells of the rows from absolute number abs on. If the snapshot
// reached the bottom of the screen, they're all there is.
func (r waitRows) keep(abs int64, cells []waitCell, reached bool) waitRows {
	out := waitRows{cells: make(map[int64]waitCell, len(cells)), end: r.end}
	if reached {
		out.end = abs + int64(len(cells))
	} else {
		maps.Copy(out.cells, r.cells)
		maps.DeleteFunc(out.cells, func(n int64, _ waitCell) bool { return n < abs })
	}
	for i, c := range cells {
		if reached {
			out.cells[abs+int64(i)] = c
		}
	}
	return out
}

// joinCells makes one of the cells of a line's rows.
func joinCells(cells []waitCell) waitLine {
	if len(cells) == 1 {
		c := cells[0]
		l := waitLine{text: c.text, rewritten: c.rewritten}
		if !c.isOld() {
			l.fresh = []byteSpan{{c.before, len(c.text) - c.behind}}
		}
		return l
	}
	var l waitLine
	old := false // text that stood there at the call behind something new
	for _, c := range cells {
		at := len(l.text)
		l.text += c.text
		old = old || len(l.fresh) > 0 && c.before+c.behind > 0 && trimRow(c.text) != ""
		l.rewritten = l.rewritten || c.rewritten || old
		if !c.isOld() {
			l.fresh = append(l.fresh, byteSpan{at + c.before, at + len(c.text) - c.behind})
		}
	}
	return l
}

// splitCell gives the rows of a line their part of it.
func splitCell(line waitCell, rows []string) []waitCell {
	out := make([]waitCell, 0, len(rows))
	at, end := 0, len(line.text)-line.behind
	for _, text := range rows {
		c := waitCell{text: text, rewritten: line.rewritten}
		c.before = min(max(0, line.before-at), len(text))
		c.behind = min(max(0, at+len(text)-max(end, at)), len(text)-c.before)
		out = append(out, c)
		at += len(text)
	}
	return out
}
