package polling

import (
	"slices"
	"strings"

	"github.com/panebridge/panebridge/sessions"
)

// anchorRows is how many rows of history are remembered to find the place
// again.
const anchorRows = 24

// anchor is a run of consecutive rows that can't change any more, by hash. End
// is the absolute number of the row behind its last.
type anchor struct {
	End    int64
	Hashes hashRun
	// Repeats: the same rows were seen elsewhere too, or repeat themselves, so
	// finding them in one place proves little; all places have to be looked at.
	Repeats bool
}

// newAnchor takes the anchor from the rows of a snapshot that are history.
// base is the absolute number of grid row 0. Text that repeats itself (blank
// rows, one line again and again) gets a longer anchor, of most rows at most.
func newAnchor(base int64, s *sessions.Snapshot, hashes []uint64, old anchor, most int) anchor {
	end := min(s.HistorySize-s.First, len(hashes))
	if end <= 0 {
		if s.HistorySize > 0 && base+int64(s.HistorySize) == old.End {
			return old
		}
		return anchor{}
	}
	n := min(end, anchorRows)
	for n < min(end, most) && distinct(hashes[end-n:end]) < minDistinct {
		n++
	}
	a := anchor{End: base + int64(s.First+end), Hashes: slices.Clone(hashes[end-n : end])}
	a.Repeats = distinct(a.Hashes) < minDistinct || periodic(a.Hashes) || occursBefore(hashes[:end], n)
	return a
}

const minDistinct = 4 // different rows an anchor should have

func distinct(h []uint64) int {
	seen := make(map[uint64]struct{}, minDistinct)
	for _, v := range h {
		seen[v] = struct{}{}
		if len(seen) >= minDistinct {
			break
		}
	}
	return len(seen)
}

// periodic reports whether rows are one block again and again, at least twice.
func periodic(h []uint64) bool {
	for p := 1; p <= len(h)/2; p++ {
		if slices.Equal(h[p:], h[:len(h)-p]) {
			return true
		}
	}
	return false
}

// occursBefore reports whether the last n of h stand in h a second time.
func occursBefore(h []uint64, n int) bool {
	tail := h[len(h)-n:]
	for i := len(h) - n - 1; i >= 0; i-- {
		if slices.Equal(h[i:i+n], tail) {
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

// place is where an anchor was found.
type place struct {
	base      int64 // absolute number of grid row 0
	k         int   // how many drops of rows lie between
	ambiguous bool  // several places fit, because the text repeats itself
	others    []place
	remnants  []place // where only a part of it stands, if it isn't one of these
}

// search is what the lookup of an anchor found out.
type search int

const (
	found   search = iota
	weak           // a part of it, which may be something else
	deeper         // not in these rows, but it may be above them
	dropped        // it can't be in the grid any more: history was full and dropped it
	cleared        // history is shorter than dropping rows can make it
)

// locate finds the anchor in a snapshot. base and hs are those of the snapshot
// before. When history reaches its limit tmux drops ny = limit/10 rows at once,
// so the anchor can only be where it was or a multiple of ny above, and from
// look to look it only moves up: places below from were looked at already. Those
// are out that leave row next below the bottom of the grid. With deeper, place.k
// is the lowest place that is still to be looked at.
func locate(a anchor, base, next int64, hs, from int, s *sessions.Snapshot, hashes []uint64) (place, search) {
	if len(a.Hashes) == 0 {
		return place{base: base}, locateBlind(hs, s)
	}
	ny := dropRows(s)
	maxK := 0
	if mayDrop(s) {
		maxK = int((a.End-1-base)/ny) + 1
	}
	var hit, open, frail []place
	for k := from; k <= maxK; k++ {
		p := place{base: base + int64(k)*ny, k: k}
		if maxK > 0 && p.base+int64(s.HistorySize+s.Height) < next {
			continue
		}
		switch match(a, a.End-p.base, s, hashes) {
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
		return place{}, dropped
	}
	return place{}, cleared
}

// repeatsBelow reports whether what was found of the anchor before grid row end
// comes again below that: then the text is periodic, and as many rows may have
// gone by as tmux drops. Of a short run its beginning is enough.
func (a anchor) repeatsBelow(end int64, s *sessions.Snapshot, hashes []uint64) bool {
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
func (a anchor) repeatsAbove(end int64, s *sessions.Snapshot, hashes []uint64) bool {
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

// locateBlind decides without an anchor: before the first row of history.
func locateBlind(hs int, s *sessions.Snapshot) search {
	switch {
	case s.HistorySize < hs:
		return cleared
	case mayDrop(s) && hs < s.HistorySize:
		return dropped
	}
	return found
}

// match compares the anchor, ending before grid row end, with what the snapshot
// has there. Where rows of the anchor are above the oldest row kept, what's left
// may as well be the same text printed a second time: that's weak.
func match(a anchor, end int64, s *sessions.Snapshot, hashes []uint64) search {
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
