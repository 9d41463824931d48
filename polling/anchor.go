package polling

import (
	"maps"
	"slices"
	"strings"

	"github.com/panebridge/panebridge/sessions"
)

// anchorRows is how many rows of history are remembered to find the place
// again.
const anchorRows = 24

// rowAnchor is a run of consecutive rows that can't change any more, by hash. End
// is the absolute number of the row behind its last.
type rowAnchor struct {
	End    int64
	Hashes hashRun
	// Repeats: the same rows were seen elsewhere too, or repeat themselves, so
	// finding them in one place proves little; all places have to be looked at.
	Repeats bool
}

// newAnchor takes the anchor from the rows of a snapshot that are history.
// base is the absolute number of grid row 0. Text that repeats itself (blank
// rows, one line again and again) gets a longer anchor, of most rows at most.
func newAnchor(base int64, s *sessions.Snapshot, hashes []uint64, old rowAnchor, most int) rowAnchor {
	end := min(s.HistorySize-s.First, len(hashes))
	if end <= 0 {
		if s.HistorySize > 0 && base+int64(s.HistorySize) == old.End {
			return old
		}
		return rowAnchor{}
	}
	n := anchorLength(hashes[:end], most)
	a := rowAnchor{End: base + int64(s.First+end), Hashes: slices.Clone(hashes[end-n : end])}
	a.Repeats = !isVaried(a.Hashes) || isPeriodic(a.Hashes) || occursBefore(hashes[:end], n)
	return a
}

const minDistinct = 4 // different rows an anchor should have

// anchorLength returns how many of the last rows an anchor takes: anchorRows, or as many more, up to most, as
// it needs to have minDistinct different ones. It takes a time proportional to what it returns, however often
// rows repeat themselves: a program that prints one line without end has thousands of equal ones at each look.
func anchorLength(h []uint64, most int) int {
	n := min(len(h), anchorRows)
	var d distinctRows
	for _, v := range h[len(h)-n:] {
		d.add(v)
	}
	for n < min(len(h), most) && d.n < minDistinct {
		n++
		d.add(h[len(h)-n])
	}
	return n
}

// isVaried reports whether minDistinct different rows are among some.
func isVaried(h []uint64) bool {
	var d distinctRows
	for _, v := range h {
		if d.add(v); d.n == minDistinct {
			return true
		}
	}
	return false
}

// distinctRows has the first minDistinct different rows of some.
type distinctRows struct {
	rows [minDistinct]uint64
	n    int
}

func (d *distinctRows) add(v uint64) {
	if d.n < minDistinct && !slices.Contains(d.rows[:d.n], v) {
		d.rows[d.n] = v
		d.n++
	}
}

// isPeriodic reports whether rows, at least one, are one block again and again, at least twice.
func isPeriodic(h []uint64) bool { return newRunSearch(h).period() <= len(h)/2 }

// occursBefore reports whether the last n of h stand in h a second time. The two may overlap.
func occursBefore(h []uint64, n int) bool {
	search, matched := newRunSearch(h[len(h)-n:]), 0
	for _, v := range h[:len(h)-1] {
		if matched = search.match(matched, v); matched == n {
			return true
		}
	}
	return false
}

// rowHash identifies a row's text. It must be the same in the next run of the
// daemon, because anchors are stored: FNV-1a, 64 bits.
func rowHash(s string) uint64 {
	const offset, prime = 14695981039346656037, 1099511628211
	h := uint64(offset)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * prime
	}
	return h
}

// trimRow cuts trailing blanks: a program may clear a row to its end, which
// fills it with blank cells, without changing what it shows.
func trimRow(s string) string { return strings.TrimRight(s, " ") }

// anchorPlace is where an anchor was found.
type anchorPlace struct {
	base      int64 // absolute number of grid row 0
	k         int   // how many drops of rows lie between
	ambiguous bool  // several places fit, because the text repeats itself
	others    []anchorPlace
	remnants  []anchorPlace // where only a part of it stands, if it isn't one of these
}

// searchResult is what the lookup of an anchor found out.
type searchResult int

const (
	found   searchResult = iota
	weak                 // a part of it, which may be something else
	deeper               // not in these rows, but it may be above them
	dropped              // it can't be in the grid any more: history was full and dropped it
	cleared              // history is shorter than dropping rows can make it
)

// locateAnchor finds the anchor in a snapshot. base and hs are those of the snapshot
// before. When history reaches its limit tmux drops ny = limit/10 rows at once,
// so the anchor can only be where it was or a multiple of ny above, and from
// look to look it only moves up: places below from were looked at already. Those
// are out that leave row next below the bottom of the grid. With deeper, place.k
// is the lowest place that is still to be looked at.
func locateAnchor(a rowAnchor, base, next int64, hs, from int, s *sessions.Snapshot, hashes []uint64) (anchorPlace, searchResult) {
	if len(a.Hashes) == 0 {
		return anchorPlace{base: base}, locateWithoutAnchor(hs, s)
	}
	ny := dropRows(s)
	maxK := 0
	if mayDrop(s) {
		maxK = int((a.End-1-base)/ny) + 1
	}
	var hit, open, frail []anchorPlace
	for k := from; k <= maxK; k++ {
		p := anchorPlace{base: base + int64(k)*ny, k: k}
		if maxK > 0 && p.base+int64(s.HistorySize+s.Height) < next {
			continue
		}
		switch matchAnchor(a, a.End-p.base, s, hashes) {
		case found:
			hit = append(hit, p)
		case weak:
			frail = append(frail, p)
		case deeper:
			open = append(open, p)
		case dropped, cleared:
		}
	}
	if len(hit) == 1 && maxK > 0 && !a.Repeats {
		a.Repeats = a.repeatsAbove(a.End-hit[0].base, s, hashes)
	}
	if a.Repeats && len(hit) > 0 {
		hit, frail = append(hit, frail...), nil // where more of it stands proves as little
	}
	if len(hit) > 0 {
		hit[0].remnants = frail
	}
	if len(hit) == 1 && maxK > 0 && a.repeatsBelow(a.End-hit[0].base, s, hashes) {
		hit[0].ambiguous = true
		return hit[0], found
	}
	switch {
	case len(hit) > 0 && (!a.Repeats || len(open) == 0):
		hit[0].ambiguous, hit[0].others = len(hit) > 1 || a.Repeats && maxK > 0, hit[1:]
		return hit[0], found
	case len(hit) > 0: // a place above might fit as well: look before deciding
		hit[0].ambiguous = true
		return hit[0], deeper
	case len(open) > 0:
		return open[0], deeper
	case len(frail) > 0:
		frail[0].ambiguous, frail[0].others = true, frail[1:]
		return frail[0], weak
	case mayDrop(s):
		return anchorPlace{}, dropped
	}
	return anchorPlace{}, cleared
}

// repeatsBelow reports whether what was found of the anchor before grid row end
// comes again below that: then the text is periodic, and as many rows may have
// gone by as tmux drops. Of a short run its beginning is enough.
func (a rowAnchor) repeatsBelow(end int64, s *sessions.Snapshot, hashes []uint64) bool {
	run := a.Hashes[max(0, len(a.Hashes)-int(end)):]
	at := int(end) - s.First
	if len(run) < anchorRows {
		at -= max(0, len(run)-minDistinct)
		run = run[:min(len(run), minDistinct)]
	}
	return comesAgain(run, at, hashes)
}

// repeatsAbove reports whether what was found of the anchor before grid row end stands
// above that too. It didn't when it was taken, as far as was seen then.
func (a rowAnchor) repeatsAbove(end int64, s *sessions.Snapshot, hashes []uint64) bool {
	n := len(a.Hashes)
	at := int(end) - s.First
	return at > n && at <= len(hashes) && occursBefore(hashes[:at], n)
}

// comesAgain reports whether a run of rows that ends before row end stands
// further below again.
func comesAgain(run []uint64, end int, hashes []uint64) bool {
	for i := max(end+1, len(run)); i <= len(hashes); i++ {
		if slices.Equal(hashes[i-len(run):i], run) {
			return true
		}
	}
	return false
}

// dropRows is how many rows tmux drops at once.
func dropRows(s *sessions.Snapshot) int64 { return int64(max(1, s.HistoryLimit/10)) }

// mayDrop reports whether history is so long that rows may have been dropped.
func mayDrop(s *sessions.Snapshot) bool {
	return s.HistoryLimit > 0 && s.HistorySize >= s.HistoryLimit-int(dropRows(s))
}

// locateWithoutAnchor decides without an anchor: before the first row of history.
func locateWithoutAnchor(hs int, s *sessions.Snapshot) searchResult {
	switch {
	case s.HistorySize < hs:
		return cleared
	case mayDrop(s) && hs < s.HistorySize:
		return dropped
	}
	return found
}

// matchAnchor compares the anchor, ending before grid row end, with what the snapshot
// has there. Where rows of the anchor are above the oldest row kept, what's left
// may as well be the same text printed a second time: that's weak.
func matchAnchor(a rowAnchor, end int64, s *sessions.Snapshot, hashes []uint64) searchResult {
	last := end - 1
	if last < 0 || last >= int64(s.HistorySize+s.Height) {
		return dropped
	}
	if last >= int64(s.First+len(hashes)) {
		return deeper // below a window that doesn't reach the bottom
	}
	for i, h := range slices.Backward(a.Hashes) {
		g := last - int64(len(a.Hashes)-1-i)
		if g < 0 {
			return weak
		}
		if g < int64(s.First) {
			return deeper
		}
		if hashes[g-int64(s.First)] != h {
			return dropped
		}
	}
	return found
}

// resumePrinting looks for the place where a printer goes on when the anchor in history
// is gone: rows of its screen that were finished, most of them lines already,
// are as good as history. Without this, what stands both in the log and at the
// top of the grid would come a second time. p is the place where a remnant of
// the anchor may be, if how is weak.
func (w *engineRun) resumePrinting(p anchorPlace, how searchResult) (anchorPlace, searchResult, *Need) {
	s := w.s
	if !w.isPrinting() {
		return p, settleWeak(how), nil
	}
	if s.First > 0 {
		if need := w.askWindow(0, w.asked.place); need != nil {
			return p, how, need
		}
		return p, settleWeak(how), nil
	}
	rows := w.lastFinished()
	if how == weak {
		if best, ok := w.narrowPlaces(p, rows); ok {
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
func (w *engineRun) screenPlace(how searchResult, rows finishedRows) (at anchorPlace, ok bool) {
	for _, base := range w.resumeAt(how, rows.last) {
		if texts, differ := rows.standAt(base, w); differ == 0 {
			untouched := how == cleared && texts > 0 && base == w.state.Base+int64(w.state.HS)
			return anchorPlace{base: base, ambiguous: !untouched && (texts < enoughTexts || rows.comeAgain(base, w))}, true
		}
	}
	return anchorPlace{}, false
}

// isPrinting reports whether the pane is used as a printer by the program that did
// so at the last look.
func (w *engineRun) isPrinting() bool {
	return !w.state.Drew && !w.drawing && !w.s.Alternate && w.s.PID == w.state.PID
}

// narrowPlaces chooses between places by what stands below the anchor, where that's
// known. ok: at least one place agrees.
func (w *engineRun) narrowPlaces(p anchorPlace, rows finishedRows) (best anchorPlace, ok bool) {
	agree, sure := 0, 0
	for _, c := range append([]anchorPlace{{base: p.base, k: p.k}}, p.others...) {
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

// checkPlace checks a place by what stands below the anchor. If nothing is as it was
// there, the same text was printed a second time, just where the first was
// looked for; where some of it still stands, the rest was overwritten. Of an anchor
// that isn't whole, neither is sure: a few rows may be such text by chance.
func (w *engineRun) checkPlace(p anchorPlace) anchorPlace {
	if !mayDrop(w.s) {
		return p
	}
	whole := len(w.state.Anchor.Hashes) >= anchorRows
	few := !whole && w.countStanding(p) < enoughTexts
	if w.isPrinting() && w.reachesBottom() {
		p = w.comparePlace(p, whole)
	}
	p.ambiguous = p.ambiguous || few
	return p
}

// comparePlace is checkPlace where the last screen is known and to be seen.
func (w *engineRun) comparePlace(p anchorPlace, whole bool) anchorPlace {
	rows := w.lastFinished()
	if best, ok := w.narrowPlaces(p, rows); ok {
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

// countStanding is how many different texts, of the anchor and of finished rows, stand
// where they should if that's the place.
func (w *engineRun) countStanding(p anchorPlace) int {
	a := w.state.Anchor
	rows := w.lastFinished()
	for n, h := range a.Hashes {
		rows.hashes[a.End-int64(len(a.Hashes)-n)] = h
	}
	texts, _ := rows.standAt(p.base, w)
	return texts
}

// settleWeak takes a remnant of the anchor for the anchor, if nothing else is known.
func settleWeak(how searchResult) searchResult {
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
func (w *engineRun) resumeAt(how searchResult, last int64) []int64 {
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

// lastFinished are the rows of the last screen that a printer had finished. Blank ones
// from the cursor on aren't: a cleared screen has them too.
func (w *engineRun) lastFinished() finishedRows {
	f := finishedRows{hashes: cloneShown(w.state.Shown), last: -1, asked: map[int64]bool{}}
	maps.DeleteFunc(f.hashes, func(abs int64, h uint64) bool { return h == blankHash && abs >= w.state.Cursor })
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
func (f finishedRows) standAt(base int64, w *engineRun) (texts, differ int) {
	seen := map[uint64]bool{}
	for abs, h := range f.hashes {
		g := int(abs-base) - w.s.First
		switch {
		case abs < base || g < 0: // dropped, or above the window
		case g >= len(w.hashes) || w.hashes[g] != h:
			if !f.asked[abs] {
				differ++
			}
		case h != blankHash:
			seen[h] = true
		}
	}
	return len(seen), differ
}

// comeAgain reports whether the first of them stand in the grid a second time,
// further below, if its row 0 is base.
func (f finishedRows) comeAgain(base int64, w *engineRun) bool {
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
