package polling

import "time"

// rebase starts the numbering anew on a grid whose rows have no known
// connection with those before: cleared, reflowed, printed again. What the
// output log has already is recognised, where it can be there: a program that
// only prints doesn't print again what was cleared. reason is that of the gap
// which stands where text may be missing.
func (w *work) rebase(reason string) (*Need, error) {
	s, st := w.s, &w.state
	if need := w.needAll(); need != nil {
		return need, nil
	}
	resized := s.Width != st.Width
	draws := w.drawing || st.Drew
	if !resized && !st.Drew {
		w.vanish(everything, false)
	}
	w.interrupt()
	was := w.screen.normal
	w.restart()
	known := false
	if resized || draws {
		rep, err := w.recogniser()
		if err != nil {
			return nil, err
		}
		if draws {
			w.rep, st.ReprintUntil = rep.clone(), w.now.Add(reprintFor)
		}
		known = w.skipOld(rep) || resized && len(rep.words) == 0
		known = known && (resized || !w.misses(was))
	}
	if !known {
		w.gap(0, reason)
	}
	return nil, nil
}

// restart forgets all that goes by row numbers.
func (w *work) restart() {
	s, st := w.s, &w.state
	if st.Marked <= st.Next {
		st.MarkedEarly = ""
	}
	st.Base, st.Next, st.Marked, st.Floor, st.FloorUntil = 0, int64(s.First), 0, 0, time.Time{}
	st.Anchor, st.Shown, st.PID, st.Cursor = anchor{}, rowHashes{}, s.PID, 0
	w.prevAbs, w.screen.normal = nil, nil
	w.orphans = orphans{}
	w.step.Changed = true
}

// needAll asks for as much of the grid as a capture may hold.
func (w *work) needAll() *Need {
	s := w.s
	if s.First == 0 || s.HistorySize-s.First >= w.maxRows/2 || w.asked.tries > 2 {
		return nil
	}
	return w.window(max(0, s.HistorySize-w.maxRows/2), 0)
}

// span is a line in the snapshot: rows i … j.
type span struct{ i, j int }

// lines cuts the snapshot into lines.
func (w *work) lines() (spans []span, texts []string) {
	for i := 0; i < len(w.s.Rows); {
		j, whole := w.logical(i)
		if !whole {
			break
		}
		spans = append(spans, span{i, j})
		texts = append(texts, w.text(i, j))
		i = j + 1
	}
	return spans, texts
}

// skipOld marks the rows of the snapshot that are in the log, so that they
// aren't emitted again. It reports whether there were any.
func (w *work) skipOld(rep *reprinted) bool {
	spans, texts := w.lines()
	known := false
	for n, v := range rep.mark(texts) {
		if !v.old {
			continue
		}
		known = true
		for k := spans[n].i; k <= spans[n].j; k++ {
			w.state.Shown[w.abs(k)] = w.hashes[k]
		}
	}
	return known
}

// misses reports whether text of the last screen that wasn't lines yet isn't in
// the snapshot any more.
func (w *work) misses(was []screenRow) bool {
	now := newReprinted(w.s.Rows)
	for _, r := range was {
		if words := wordsOf(r.text); len(words) >= gram && len(now.index[gramKey(words)]) == 0 {
			return true
		}
	}
	return false
}
