package polling

import "maps"

// resume looks for the place where a printer goes on when the anchor in history
// is gone: rows of its screen that were finished, most of them lines already,
// are as good as history. Without this, what stands both in the log and at the
// top of the grid would come a second time. p is the place where a remnant of
// the anchor may be, if how is weak.
func (w *work) resume(p place, how search) (place, search, *Need) {
	s := w.s
	if !w.prints() {
		return p, settle(how), nil
	}
	if s.First > 0 {
		if need := w.window(0, w.asked.place); need != nil {
			return p, how, need
		}
		return p, settle(how), nil
	}
	rows := w.finished()
	if how == weak {
		if best, ok := w.narrow(p, rows); ok {
			return best, found, nil
		}
		how = dropped // what should stand below the remnant doesn't
	}
	if at, ok := w.screenPlace(how, rows); ok {
		return at, found, nil
	}
	return p, how, nil
}

// screenPlace is where the last screen's finished rows stand, if no row of the
// anchor is left. ok: they all stand there.
func (w *work) screenPlace(how search, rows finishedRows) (at place, ok bool) {
	for _, base := range w.resumeAt(how, rows.last) {
		if texts, differ := rows.standAt(base, w); differ == 0 {
			untouched := how == cleared && texts > 0 && base == w.state.Base+int64(w.state.HS)
			return place{base: base, ambiguous: !untouched && (texts < enoughTexts || rows.comeAgain(base, w))}, true
		}
	}
	return place{}, false
}

// prints reports whether the pane is used as a printer by the program that did
// so at the last look.
func (w *work) prints() bool {
	return !w.state.Drew && !w.drawing && !w.s.Alternate && w.s.PID == w.state.PID
}

// narrow chooses between places by what stands below the anchor, where that's
// known. ok: at least one place agrees.
func (w *work) narrow(p place, rows finishedRows) (best place, ok bool) {
	agree, sure := 0, 0
	for _, c := range append([]place{{base: p.base, k: p.k}}, p.others...) {
		texts, differ := rows.standAt(c.base, w)
		if differ > 0 {
			continue
		}
		if agree++; agree == 1 {
			best = c
		}
		sure = max(sure, texts)
	}
	best.ambiguous = agree > 1 || p.ambiguous && (sure < enoughTexts || rows.comeAgain(best.base, w))
	return best, agree > 0
}

// doubt checks a place by what stands below the anchor. If nothing is as it was
// there, the same text was printed a second time, just where the first was
// looked for; where some of it still stands, the rest was overwritten. Of an anchor
// that isn't whole, neither is sure: a few rows may be such text by chance.
func (w *work) doubt(p place) place {
	if !mayDrop(w.s) {
		return p
	}
	whole := len(w.state.Anchor.Hashes) >= anchorRows
	few := !whole && w.standing(p) < enoughTexts
	if w.prints() && w.reaches() {
		p = w.compare(p, whole)
	}
	p.ambiguous = p.ambiguous || few
	return p
}

// compare is doubt where the last screen is known and to be seen.
func (w *work) compare(p place, whole bool) place {
	rows := w.finished()
	if best, ok := w.narrow(p, rows); ok {
		return best
	}
	texts, _ := rows.standAt(p.base, w)
	p.ambiguous = p.ambiguous || texts == 0 || !whole
	if !p.ambiguous || w.s.First > 0 {
		return p
	}
	for _, c := range p.remnants {
		if texts, differ := rows.standAt(c.base, w); texts > 0 && differ == 0 {
			c.ambiguous = true
			return c
		}
	}
	if at, ok := w.screenPlace(dropped, rows); ok {
		return at
	}
	return p
}

// standing is how many different texts, of the anchor and of finished rows, stand
// where they should if that's the place.
func (w *work) standing(p place) int {
	a := w.state.Anchor
	rows := w.finished()
	for n, h := range a.Hashes {
		rows.hashes[a.End-int64(len(a.Hashes)-n)] = h
	}
	texts, _ := rows.standAt(p.base, w)
	return texts
}

// settle takes a remnant of the anchor for the anchor, if nothing else is known.
func settle(how search) search {
	if how == weak {
		return found
	}
	return how
}

// resumeAt lists the numbers that grid row 0 may have now.
//
//   - Rows were dropped: a multiple of limit/10 further on.
//   - History was cleared, but not the screen (clear-history): the screen that
//     was, or the rest of it, begins at grid row 0.
func (w *work) resumeAt(how search, last int64) []int64 {
	var out []int64
	from, step := w.oldestDrop(), dropRows(w.s)
	if how == cleared {
		from, step = w.state.Base+int64(w.state.HS), 1
	}
	for ; from <= last; from += step {
		out = append(out, from)
	}
	return out
}

// enoughTexts is how many different rows on the screen leave no doubt. Fewer may
// have been printed a second time.
const enoughTexts = anchorRows / 2

// finishedRows are rows of the last screen by absolute number.
type finishedRows struct {
	hashes map[int64]uint64
	last   int64          // the newest; -1: none
	asked  map[int64]bool // those that may be drawn anew
}

// finished are the rows of the last screen that a printer had finished. Blank ones
// from the cursor on aren't: a cleared screen has them too.
func (w *work) finished() finishedRows {
	f := finishedRows{hashes: cloneShown(w.state.Shown), last: -1, asked: map[int64]bool{}}
	maps.DeleteFunc(f.hashes, func(abs int64, h uint64) bool { return h == blank && abs >= w.state.Cursor })
	for _, r := range w.screen.normal {
		if r.done {
			f.hashes[r.abs], f.asked[r.abs] = rowHash(trimRow(r.text)), r.asked
		}
	}
	for abs := range f.hashes {
		f.last = max(f.last, abs)
	}
	return f
}

// standAt compares them with the grid, from number base on, as if its row 0 were
// base: how many different texts agree, and how many rows don't.
func (f finishedRows) standAt(base int64, w *work) (texts, differ int) {
	seen := map[uint64]bool{}
	for abs, h := range f.hashes {
		g := int(abs-base) - w.s.First
		switch {
		case abs < base || g < 0: // dropped, or above the window
		case g >= len(w.hashes) || w.hashes[g] != h:
			if !f.asked[abs] {
				differ++
			}
		case h != blank:
			seen[h] = true
		}
	}
	return len(seen), differ
}

// comeAgain reports whether the first of them stand in the grid a second time,
// further below, if its row 0 is base.
func (f finishedRows) comeAgain(base int64, w *work) bool {
	first := f.last
	for abs := range f.hashes {
		if abs >= base {
			first = min(first, abs)
		}
	}
	i := max(0, int(first-base)-w.s.First)
	end := min(i+minDistinct, len(w.hashes))
	return i < end && comesAgain(w.hashes[i:end], end, w.hashes)
}
