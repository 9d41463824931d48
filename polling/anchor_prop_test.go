package polling

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// drawRows draws rows of few kinds, which repeat themselves, by hash.
func drawRows(t *rapid.T) []uint64 {
	block := rapid.SliceOfN(rapid.Uint64Range(1, 5), 1, 9).Draw(t, "block")
	h := slices.Repeat(block, rapid.IntRange(1, 12).Draw(t, "times"))
	for range rapid.IntRange(0, 2).Draw(t, "others") {
		h[rapid.IntRange(0, len(h)-1).Draw(t, "at")] = rapid.Uint64Range(1, 9).Draw(t, "other")
	}
	return h[rapid.IntRange(0, len(h)-1).Draw(t, "from"):]
}

// An anchor is as long, and repeats itself, as comparing all places says.
func TestAnchorsAreAsComparingAllPlacesSays(t *testing.T) {
	distinct := func(h []uint64) int { return len(slices.Compact(slices.Sorted(slices.Values(h)))) }
	rapid.Check(t, func(t *rapid.T) {
		h := drawRows(t)
		most := rapid.IntRange(1, 150).Draw(t, "most")
		n := min(len(h), anchorRows)
		for n < min(len(h), most) && distinct(h[len(h)-n:]) < minDistinct {
			n++
		}
		if got := anchorLength(h, most); got != n {
			t.Fatalf("an anchor of %v takes %d rows, not %d", h, got, n)
		}
		if got, want := isVaried(h), distinct(h) >= minDistinct; got != want {
			t.Fatalf("%v is varied: %v", h, got)
		}
		periodic := false
		for p := 1; p <= len(h)/2; p++ {
			periodic = periodic || slices.Equal(h[p:], h[:len(h)-p])
		}
		if isPeriodic(h) != periodic {
			t.Fatalf("%v is periodic: %v", h, !periodic)
		}
		tail := h[len(h)-n:]
		again := false
		for i := range len(h) - n {
			again = again || slices.Equal(h[i:i+n], tail)
		}
		if occursBefore(h, n) != again {
			t.Fatalf("the last %d of %v stand there a second time: %v", n, h, !again)
		}
	})
}

// What repeats itself is what an anchor takes all rows for: it may cost more than what doesn't, the baseline, but not a
// thousand times as much.
func BenchmarkAnchor(b *testing.B) {
	const rows = 2000
	varied, equal := make([]uint64, rows), slices.Repeat([]uint64{7}, rows)
	for i := range varied {
		varied[i] = rowHash(fmt.Sprint(i))
	}
	almost := slices.Clone(equal)
	almost[rows-1] = 8
	for _, c := range []struct {
		name string
		h    []uint64
	}{{"varied", varied}, {"equal", equal}, {"almost-equal", almost}} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				n := anchorLength(c.h, rows)
				_ = isPeriodic(c.h[rows-n:]) || occursBefore(c.h, n)
			}
		})
	}
}
