package qosbench

import (
	"testing"
	"time"

	"github.com/panebridge/panebridge/internal/drawtest"
)

// bruteWithin is how many lines any schedule can bring in time that makes at most so many calls in each minute of the
// clock, and makes them at the moments of a grid.
func bruteWithin(it items, x time.Duration, calls int, grid []time.Duration) int {
	best := 0
	seen := make([]int, len(it)) // lines that were dealt with
	used := map[time.Duration]int{}
	var try func(at, gained int)
	try = func(at, gained int) {
		best = max(best, gained)
		if at == len(grid) {
			return
		}
		t := grid[at]
		try(at+1, gained)
		if used[t/limitWindow] == calls {
			return
		}
		used[t/limitWindow]++
		for s, of := range it {
			before, news, n := seen[s], 0, 0
			for i, line := range of {
				if line > t {
					break
				}
				n = i + 1
				if i >= before && t-line <= x {
					news++
				}
			}
			if news > 0 {
				seen[s] = n
				try(at, gained+news) // another session's call may come in the same moment
				seen[s] = before
			}
		}
		used[t/limitWindow]--
	}
	try(0, 0)
	return best
}

// With one call a minute in place of twenty the cases are small enough to try all schedules.
func TestTheClairvoyantBoundIsOne(t *testing.T) {
	for seed := range drawtest.Seeds(t, drawtest.Times(3000, 300, 100)) {
		r := source(seed, 7)
		it := make(items, 1+r.IntN(3))
		var last time.Duration
		for s := range it {
			at := time.Duration(0)
			for range 1 + r.IntN(4) {
				at += time.Duration(r.IntN(70)) * time.Second
				it[s] = append(it[s], at)
				last = max(last, at)
			}
		}
		x := time.Duration(r.IntN(90)) * time.Second
		moments := map[time.Duration]bool{}
		for _, of := range it {
			for _, at := range of {
				moments[at] = true
				for m := (at/limitWindow + 1) * limitWindow; m <= at+x; m += limitWindow {
					moments[m] = true
				}
			}
		}
		var grid []time.Duration
		for at := time.Duration(0); at <= last+x; at += time.Second {
			if moments[at] {
				grid = append(grid, at)
			}
		}
		calls := 1 + r.IntN(2)
		want := bruteWithin(it, x, calls, grid)
		for _, steps := range []int{1, 5, 60} {
			if got := it.within(x, steps, 0, calls); got < float64(want)-1e-9 {
				t.Fatalf("seed %d: at most %v of the lines %v are within %v with %d calls a minute, but %d are", seed, got, it, x, calls, want)
			}
		}
		if got := it.within(x, 60, want+1, calls); len(it) == 1 && calls == 2 && got > float64(want)+2 {
			t.Errorf("seed %d: the bound %v is far from %d: %v within %v", seed, got, want, it, x)
		}
	}
}
