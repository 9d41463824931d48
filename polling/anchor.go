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
	Hashes []uint64
	// Repeats: the same rows were seen elsewhere too, so finding them in one
	// place proves little; all places have to be looked at.
	Repeats bool
}

// newAnchor takes the anchor from the rows of a snapshot that are history.
// base is the absolute number of grid row 0. Text that repeats itself (blank
// rows, one line again and again) gets a longer anchor.
func newAnchor(base int64, s *sessions.Snapshot, hashes []uint64, old anchor) anchor {
	end := min(s.HistorySize-s.First, len(hashes))
	if end <= 0 {
		if base+int64(s.HistorySize) == old.End {
			return old
		}
		return anchor{}
	}
	n := min(end, anchorRows)
	for n < min(end, maxAnchorRows) && distinct(hashes[end-n:end]) < minDistinct {
		n++
	}
	a := anchor{End: base + int64(s.First+end), Hashes: append([]uint64(nil), hashes[end-n:end]...)}
	a.Repeats = distinct(a.Hashes) < minDistinct || occursBefore(hashes[:end], n)
	return a
}

const (
	maxAnchorRows = 256
	minDistinct   = 4 // different rows an anchor should have
)

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
	ambiguous bool  // several places fit, because the text repeats itself
}

// search is what the lookup of an anchor found out.
type search int

const (
	found   search = iota
	deeper         // not in these rows, but it may be above them
	dropped        // it can't be in the grid any more: history was full and dropped it
	cleared        // history is shorter than dropping rows can make it
)

// locate finds the anchor in a snapshot. base and hs are those of the snapshot
// before. When history reaches its limit tmux drops ny = limit/10 rows at once,
// so the anchor can only be where it was or a multiple of ny above.
func locate(a anchor, base int64, hs int, s *sessions.Snapshot, hashes []uint64) (place, search) {
	ny := int64(max(1, s.HistoryLimit/10))
	mayDrop := s.HistorySize >= s.HistoryLimit-int(ny) && s.HistoryLimit > 0
	if len(a.Hashes) == 0 {
		return place{base: base}, locateBlind(hs, s, mayDrop)
	}
	maxK := int64(0)
	if mayDrop {
		maxK = (a.End-1-base)/ny + 1
	}
	var p place
	hits, needDeeper := 0, false
	for k := int64(0); k <= maxK; k++ {
		end := a.End - base - k*ny // grid row behind the anchor's last row
		switch match(a, end, s, hashes) {
		case found:
			if hits == 0 {
				p.base = base + k*ny
			}
			hits++
		case deeper:
			needDeeper = true
		case dropped, cleared:
		}
	}
	switch {
	case needDeeper && (hits == 0 || a.Repeats):
		return p, deeper // a place above might fit as well: look before deciding
	case hits > 0:
		p.ambiguous = hits > 1
		return p, found
	case mayDrop:
		return p, dropped
	}
	return p, cleared
}

// locateBlind decides without an anchor: before the first row of history.
func locateBlind(hs int, s *sessions.Snapshot, mayDrop bool) search {
	switch {
	case s.HistorySize < hs:
		return cleared
	case mayDrop && hs < s.HistorySize:
		return dropped
	}
	return found
}

// match compares the anchor, ending before grid row end, with what the snapshot
// has there. Rows of the anchor above the oldest row kept don't count, but one
// row at least must be left.
func match(a anchor, end int64, s *sessions.Snapshot, hashes []uint64) search {
	last := end - 1
	if last < 0 || last >= int64(s.HistorySize+s.Height) {
		return dropped
	}
	if last >= int64(s.First+len(hashes)) {
		return dropped // below a window that doesn't reach the bottom
	}
	for i := len(a.Hashes) - 1; i >= 0; i-- {
		g := last - int64(len(a.Hashes)-1-i)
		if g < 0 {
			return found
		}
		if g < int64(s.First) {
			return deeper
		}
		if hashes[g-int64(s.First)] != a.Hashes[i] {
			return dropped
		}
	}
	return found
}
