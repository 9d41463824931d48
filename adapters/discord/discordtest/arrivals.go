package discordtest

import "time"

// arrivals is an exact log: nothing is forgotten, so that what it says of a window
// can be counted again. Times are in order.
type arrivals []time.Time

// within counts those in the span of that length that ends now. A span is
// half-open: what happened exactly per ago is outside.
func (a arrivals) within(per time.Duration, now time.Time) int {
	n := 0
	for i := len(a) - 1; i >= 0 && a[i].After(now.Add(-per)); i-- {
		n++
	}
	return n
}

// room returns how long it takes until a window has room for one more; 0 for now.
func (a arrivals) room(w Window, now time.Time) time.Duration {
	if a.within(w.Per, now) < w.Calls {
		return 0
	}
	return a[len(a)-w.Calls].Add(w.Per).Sub(now)
}

// worst is the most that any span of that length ever had.
func (a arrivals) worst(per time.Duration) int {
	most := 0
	for i, at := range a {
		most = max(most, a[:i+1].within(per, at))
	}
	return most
}
