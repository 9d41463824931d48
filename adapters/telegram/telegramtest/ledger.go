package telegramtest

import (
	"sort"
	"time"
)

// ledger is an exact log of arrivals: nothing is forgotten, so that what it says
// of a window can be counted again.
type ledger map[Key][]time.Time

// add logs an arrival. Arrivals come in order.
func (l ledger) add(k Key, at time.Time) { l[k] = append(l[k], at) }

// count returns how many arrivals a window that ends now has, now included.
func (l ledger) count(k Key, per time.Duration, now time.Time) int {
	log := l[k]
	first := sort.Search(len(log), func(i int) bool { return log[i].After(now.Add(-per)) })
	return len(log) - first
}

// freeAt returns when a window will have room for one more call.
func (l ledger) freeAt(k Key, w Window, now time.Time) time.Time {
	log := l[k]
	if len(log) < w.Calls {
		return now
	}
	free := log[len(log)-w.Calls].Add(w.Per)
	if free.Before(now) {
		return now
	}
	return free
}

// worst returns the most arrivals that any window of that length ever had.
func (l ledger) worst(k Key, per time.Duration) int {
	log := l[k]
	most, first := 0, 0
	for i, at := range log {
		for !log[first].After(at.Add(-per)) {
			first++
		}
		most = max(most, i-first+1)
	}
	return most
}
