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
		log, err := w.newest()
		if err != nil {
			return nil, err
		}
		rep := newReprinted(log)
		if draws {
			w.rep, st.ReprintUntil = rep.clone(), w.now.Add(reprintFor)
		}
		known = w.skipKnown(rep, log, draws) || resized && len(rep.words) == 0
		known = known && (resized || !w.misses(was))
	}
	if !known {
		w.gap(0, reason)
	}
	return nil, nil //nolint:nilnil // nothing more is needed
}

// skipKnown skips what's in the log. Where the grid goes on as the log ends,
// only a program that draws may print something again further below. It reports
// whether there was any.
func (w *work) skipKnown(rep *reprinted, log []string, draws bool) bool {
	spans, texts := w.lines(0)
	n := overlap(log, texts)
	for _, sp := range spans[:n] {
		w.markShown(sp)
		w.state.Next = w.abs(sp.j) + 1
	}
	if n > 0 && !draws {
		return true
	}
	from := 0
	if n > 0 {
		from = spans[n-1].j + 1
	}
	return w.skipOld(rep, from, false) || n > 0
}

// restart forgets all that goes by row numbers.
func (w *work) restart() {
	s, st := w.s, &w.state
	if st.Marked <= st.Next {
		st.MarkedEarly = ""
	}
	st.Base, st.Next, st.Marked, st.Doubtful, st.Floor, st.FloorUntil = 0, int64(s.First), 0, 0, 0, time.Time{}
	st.Anchor, st.Shown, st.PID, st.Cursor = anchor{}, rowHashes{}, s.PID, 0
	w.prevAbs, w.screen.normal = nil, nil
	w.orphans, w.copies, st.Begins, st.Asking = orphans{}, nil, begins{}, asking{}
	st.Shell.Seen, st.Shell.Split = 0, split{}
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

// lines cuts the snapshot into lines, from row i on.
func (w *work) lines(i int) (spans []span, texts []string) {
	for i < len(w.s.Rows) {
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

// begins is a line of which the first bytes stand in the log already: there the
// log ends within what was printed again. Hash is that of its first row.
type begins struct {
	Row   int64
	Hash  uint64
	Bytes int
}

// skipOld marks the lines from row i of the snapshot on that are in the log, so
// that they aren't emitted again. learn: the others will be, so that what comes again
// below them is old too. It reports whether there were any.
func (w *work) skipOld(rep *reprinted, i int, learn bool) bool {
	spans, texts := w.lines(i)
	known := false
	for n, v := range rep.mark(texts, learn) {
		switch {
		case v.old:
			known = true
			w.markShown(spans[n])
			if learn {
				w.noteCopy(spans[n])
			}
		case v.cut > 0:
			w.state.Begins = begins{Row: w.abs(spans[n].i), Hash: w.hashes[spans[n].i], Bytes: v.cut}
		}
	}
	return known
}

// markShown marks the rows of a line as lines already.
func (w *work) markShown(sp span) {
	for k := sp.i; k <= sp.j; k++ {
		w.state.Shown[w.abs(k)] = w.hashes[k]
	}
}

// noteCopy notes that a line was recognised by text of which some may be undecided itself.
func (w *work) noteCopy(sp span) {
	if w.copies == nil {
		w.copies = map[int64]bool{}
	}
	for k := sp.i; k <= sp.j; k++ {
		w.copies[w.abs(k)] = true
	}
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
