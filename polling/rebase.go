package polling

import (
	"slices"
	"time"
)

// reprintFor is how long after a change of width a drawing program may take to
// print everything again.
const reprintFor = 10 * time.Second

// rebase starts the numbering anew on a grid whose rows have no known
// connection with those before: cleared, reflowed, printed again. What the
// output log has already is recognised by its words. reason is that of the gap
// which stands where nothing was recognised.
func (w *work) rebase(reason string) (*Need, error) {
	s, st := w.s, &w.state
	if need := w.needAll(); need != nil {
		return need, nil
	}
	resized := s.Width != st.Width
	if !resized && !st.Drew {
		w.vanish(false)
	}
	if resized && (w.drawing || st.Drew) {
		st.ReprintUntil = w.now.Add(reprintFor)
	}
	st.Base, st.Next, st.Marked, st.Floor, st.FloorUntil = 0, int64(s.First), 0, 0, time.Time{}
	st.Anchor, st.Shown = anchor{}, map[int64]uint64{}
	w.prevAbs, w.screen = nil, nil
	w.orphans = orphans{}
	w.step.Changed = true
	log, err := w.tail(tailLines)
	if err != nil {
		return nil, err
	}
	log = append(slices.Clone(log), w.step.Lines...)
	rep := newReprinted(log)
	if !w.skipOld(rep) && (!resized || len(rep.words) > 0) {
		w.gap(0, reason)
	}
	st.PID = s.PID
	return nil, nil
}

// needAll asks for as much of the grid as a capture may hold.
func (w *work) needAll() *Need {
	s := w.s
	if s.First == 0 || len(s.Rows) >= w.maxRows || w.attempt > 2 {
		return nil
	}
	return w.window(max(0, s.HistorySize+s.Height-w.maxRows*3/4))
}

// skipOld walks the whole snapshot: lines of history that are new are emitted,
// old rows on the screen are marked so that they aren't. It reports whether
// anything was recognised.
func (w *work) skipOld(rep *reprinted) bool {
	s := w.s
	type span struct{ i, j int }
	var spans []span
	var lines []string
	for i := 0; i < len(s.Rows); {
		j, whole := w.logical(i)
		if !whole {
			break
		}
		spans = append(spans, span{i, j})
		lines = append(lines, w.text(i, j))
		i = j + 1
	}
	any := false
	for n, old := range rep.mark(lines) {
		sp := spans[n]
		if old {
			any = true
			for k := sp.i; k <= sp.j; k++ {
				w.state.Shown[w.abs(k)] = w.hashes[k]
			}
		}
	}
	return any
}

// reprint returns what recognises lines while everything may be printed again;
// nil at other times.
func (w *work) reprint() (*reprinted, error) {
	st := &w.state
	if !w.now.Before(st.ReprintUntil) {
		return nil, nil
	}
	if len(w.prevAbs) > 0 && w.sameScreen() {
		st.ReprintUntil = time.Time{} // all quiet: it's over
		return nil, nil
	}
	log, err := w.tail(tailLines)
	if err != nil {
		return nil, err
	}
	return newReprinted(append(slices.Clone(log), w.step.Lines...)), nil
}

// repaint recognises lines that a drawing program paints again where it had
// something else before: a tall dialog pushes text into history, and the text
// is painted a second time when it closes. The sign is that the screen's first
// row is another one though nothing has scrolled; what follows it is compared
// with the newest lines, which must all come again.
func (w *work) repaint() error {
	s := w.s
	if !w.drawing || s.Alternate || !w.reaches() {
		return nil
	}
	first := s.HistorySize - s.First
	was, ok := w.prevAbs[w.abs(max(first, 0))]
	if first < 0 || !ok || was == blank || was == w.hashes[first] || w.hashes[first] == blank {
		return nil
	}
	log, err := w.tail(3 * s.Height)
	if err != nil {
		return err
	}
	w.markRepainted(first, append(slices.Clone(log), w.step.Lines...))
	return nil
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
