package qos

import "time"

// emitters counts the sessions of a chat that print. It decides how long a
// document rests between two stream calls.
type emitters struct {
	recent  list[*flow] // those that printed within the window, longest ago first
	average float64     // of their number, sampled at stream grants
}

// printed says that a flow's session printed something.
func (e *emitters) printed(f *flow, now time.Time) {
	f.printed = now
	f.emitter.remove()
	e.recent.push(&f.emitter)
}

// count is how many sessions are active now.
func (e *emitters) count(now time.Time, window time.Duration) int {
	for n := e.recent.first; n != nil && !n.value.printed.Add(window).After(now); n = e.recent.first {
		n.remove()
	}
	return e.recent.len
}

// sample takes the present count into the average.
func (e *emitters) sample(now time.Time, window time.Duration, alpha float64) {
	n := float64(e.count(now, window))
	if e.average == 0 {
		e.average = n
		return
	}
	e.average += alpha * (n - e.average)
}

// active is the number to reckon with: at least 1. A rise is smoothed by the
// average; a fall counts at once, since resting for sessions that are quiet again
// would leave slots unused.
func (e *emitters) active(now time.Time, window time.Duration) float64 {
	return max(1, e.emitting(now, window))
}

// emitting is the same, and 0 while nobody prints.
func (e *emitters) emitting(now time.Time, window time.Duration) float64 {
	return min(e.average, float64(e.count(now, window)))
}

// changes is when the count can next fall by itself; zero: it can't.
func (e *emitters) changes(window time.Duration) time.Time {
	if e.recent.first == nil {
		return time.Time{}
	}
	return e.recent.first.value.printed.Add(window)
}
