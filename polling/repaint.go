package polling

import "slices"

// repaint recognises lines that a drawing program paints again where it had
// something else before, so that they aren't emitted again when they leave the
// screen. Two signs:
//
//   - The first row of the screen is another one now, though it hadn't scrolled
//     off: a tall dialog has pushed text into history, and the text is painted a
//     second time when the dialog closes.
//   - The whole screen went into history at once, and the new one begins as the
//     old one did: the program cleared it and painted it again.
//
// What follows is compared with the newest lines.
func (w *work) repaint() error {
	s := w.s
	if !w.drawing || s.Alternate || !w.reaches() || len(w.prevAbs) == 0 {
		return nil
	}
	first := w.repaintedFrom()
	if first < 0 {
		return nil
	}
	log, err := w.tail(3 * s.Height)
	if err != nil {
		return err
	}
	log = append(slices.Clone(log), w.undecided(first)...)
	w.markRepainted(first, log)
	return nil
}

// repaintedFrom is the snapshot's row from which on text may have been painted
// again; -1: there's no sign of that.
func (w *work) repaintedFrom() int {
	top := w.prevTop()
	i := w.index(top)
	if i < 0 || i >= len(w.s.Rows) {
		return -1
	}
	if was := w.prevAbs[top]; was != blank && w.hashes[i] != blank && was != w.hashes[i] {
		return i
	}
	n := w.index(w.top())
	if w.top() >= w.state.Cursor && n > i && w.prevAbs[top] != blank && w.hashes[n] == w.prevAbs[top] {
		return n
	}
	return -1
}

// prevTop is the number of the first row of the last screen.
func (w *work) prevTop() int64 {
	top := everything
	for abs := range w.prevAbs {
		top = min(top, abs)
	}
	return top
}

// undecided are the lines above row first that this step will emit.
func (w *work) undecided(first int) []string {
	var out []string
	for i := max(0, w.index(w.state.Next)); i < first; {
		j, _ := w.logical(i)
		if !w.isShown(i) {
			out = append(out, w.text(i, j))
		}
		i = j + 1
	}
	return out
}

// markRepainted marks the longest run of rows from first on that stands in the
// log as it is, if it's two lines with text or more.
func (w *work) markRepainted(first int, log []string) {
	best := 0
	for at := range log {
		n, texts := 0, 0
		for at+n < len(log) && first+n < len(w.s.Rows) && !w.s.Wrapped[first+n] && trimRow(w.s.Rows[first+n]) == log[at+n] {
			if log[at+n] != "" {
				texts++
			}
			n++
		}
		if texts >= 2 {
			best = max(best, n)
		}
	}
	for k := first; k < first+best; k++ {
		w.state.Shown[w.abs(k)] = w.hashes[k]
	}
}
