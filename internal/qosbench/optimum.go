package qosbench

import (
	"cmp"
	"slices"
	"time"
)

// The optimum of a column is a bound below what any schedule can reach that keeps
// to the limit. It's looked for by bisection: is there a reason why not all finals
// (or lines, or a share of them) can be in the chat within x?
//
// All within x: take a session's first item, then the first one that came more than
// x after it, and so on. No two of these can share a call if both are to be in
// time. So each is a job of one call, to be done within x of its arrival. Serving
// jobs first come, first served, as soon as the limit allows, meets all deadlines
// if any order does, since the earlier job has the earlier deadline.
//
// A share of them within x: a call brings at most what a single session had within
// the x before it, and there can be only so many calls in all. Of the staleness that 99 of 100 lines don't exceed there's
// a better bound (clairvoyant.go).
//
// What a schedule also has to do (commands, finals beside lines), latency, and
// penalties are left out, which can only lower the bound.

// optimum is the row of the bounds.
func optimum(t trace) Row {
	finals, lines := t.items(turnEvent), t.items(lineEvent)
	r := Row{
		Policy: Optimum, CallsWorstWindow: min(limitCalls, len(t.events)), Jain: 1,
		FinalP50: finals.share(0.5), FinalP99: finals.share(0.99), FinalMax: finals.all(),
		StaleP50: lines.share(0.5), StaleP99: lines.clairvoyantShare(0.99, lines.share(0.99)), StaleMax: lines.all(),
	}
	r.StaleMax = max(r.StaleMax, r.StaleP99)
	r.WorstGap = r.StaleMax // who had something to send all the while waited at least as long
	return r
}

// items are the moments from which something waits, of each session, in order.
type items [][]time.Duration

// items are a trace's turn ends, or all its lines.
func (t trace) items(kind eventKind) items {
	out := make(items, t.sessions)
	for _, ev := range t.events {
		if ev.kind == kind || ev.kind == turnEvent {
			out[ev.session] = append(out[ev.session], ev.at)
		}
	}
	return out
}

func (it items) count() int {
	n := 0
	for _, of := range it {
		n += len(of)
	}
	return n
}

// least is the lowest delay for which possible doesn't say no, to the millisecond
// below. What's possible within x must be possible within more.
func least(possible func(x time.Duration) bool) Seconds {
	if possible(0) {
		return 0
	}
	low, high := time.Duration(0), time.Second
	for !possible(high) {
		low, high = high, 2*high
	}
	for high-low > time.Millisecond {
		if middle := (low + high) / 2; possible(middle) {
			high = middle
		} else {
			low = middle
		}
	}
	return Seconds(low.Seconds())
}

// all is a bound for the longest delay.
func (it items) all() Seconds { return least(it.allWithin) }

func (it items) allWithin(x time.Duration) bool {
	var jobs []time.Duration
	for _, of := range it {
		last := -never
		for _, at := range of {
			if at-last > x {
				jobs = append(jobs, at)
				last = at
			}
		}
	}
	slices.SortFunc(jobs, cmp.Compare)
	begun := make([]time.Duration, len(jobs))
	for i, at := range jobs {
		begun[i] = at
		if i > 0 {
			begun[i] = max(begun[i], begun[i-1])
		}
		if i >= limitCalls {
			begun[i] = max(begun[i], begun[i-limitCalls]+limitWindow)
		}
		if begun[i]-at > x {
			return false
		}
	}
	return true
}

// share is a bound for the delay that a share q doesn't exceed.
func (it items) share(q float64) Seconds {
	n := it.count()
	if n == 0 {
		return 0
	}
	need := rank(n, q)
	return least(func(x time.Duration) bool { return it.mostWithin(x) >= need })
}

// mostWithin is how many items can be in time at most.
func (it items) mostWithin(x time.Duration) int {
	first, last, most := never, -never, 0
	for _, of := range it {
		if len(of) == 0 {
			continue
		}
		first, last = min(first, of[0]), max(last, of[len(of)-1])
		from := 0
		for i, at := range of {
			for at-of[from] > x {
				from++
			}
			most = max(most, i-from+1)
		}
	}
	windows := int((last + x - first) / limitWindow)
	return most * limitCalls * (windows + 1)
}
