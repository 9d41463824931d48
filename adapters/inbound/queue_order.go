package inbound

import (
	"container/heap"
	"context"
	"math/rand/v2"
	"time"

	"github.com/panebridge/panebridge/adapters"
)

// lane is a place with updates that wait.
type lane struct {
	place   adapters.Target
	waiting []int64 // numbers of updates, in order; the first is tried
	fails   int     // tries of the first that failed
	rests   time.Time

	// verdict is what became of the first, if only that couldn't be written down.
	verdict *verdict
}

// verdict is what became of an update.
type verdict struct {
	outcome Outcome
	ignored bool // it was none of our business
}

// attempt is what came of a try of a lane's first update.
type attempt struct {
	lane *lane
	seq  int64
	verdict
	err error // it's to be tried again
}

// order says which place is next. Those that could go take turns, one update at a
// time. Those that failed rest. It's for one goroutine.
type order struct {
	lanes   map[adapters.Target]*lane
	ready   []*lane
	resting restingLanes
}

func newOrder() order { return order{lanes: map[adapters.Target]*lane{}} }

// add appends an update to its place's.
func (o *order) add(t ticket) {
	l := o.lanes[t.place]
	if l == nil {
		l = &lane{place: t.place}
		o.lanes[t.place] = l
		o.ready = append(o.ready, l)
	}
	l.waiting = append(l.waiting, t.seq)
}

// next takes out the place whose turn it is; nil: none.
func (o *order) next(now time.Time) *lane {
	for len(o.resting) > 0 && !o.resting[0].rests.After(now) {
		o.ready = append(o.ready, heap.Pop(&o.resting).(*lane))
	}
	if len(o.ready) == 0 {
		o.ready = nil // let go of the array
		return nil
	}
	l := o.ready[0]
	o.ready = o.ready[1:]
	return l
}

// due returns when the next place has rested.
func (o *order) due() (time.Time, bool) {
	if len(o.resting) == 0 {
		return time.Time{}, false
	}
	return o.resting[0].rests, true
}

// back puts a place back after a try.
func (o *order) back(a attempt, now time.Time) {
	l := a.lane
	if a.err != nil {
		l.fails++
		l.rests = now.Add(backOff(l.fails))
		heap.Push(&o.resting, l)
		return
	}
	l.fails, l.verdict = 0, nil
	if l.waiting = l.waiting[1:]; len(l.waiting) == 0 {
		delete(o.lanes, l.place)
		return
	}
	o.ready = append(o.ready, l)
}

// restingLanes is a heap: the first has rested first.
type restingLanes []*lane

func (r restingLanes) Len() int           { return len(r) }
func (r restingLanes) Less(i, j int) bool { return r[i].rests.Before(r[j].rests) }
func (r restingLanes) Swap(i, j int)      { r[i], r[j] = r[j], r[i] }
func (r *restingLanes) Push(x any)        { *r = append(*r, x.(*lane)) }

func (r *restingLanes) Pop() any {
	last := (*r)[len(*r)-1]
	(*r)[len(*r)-1] = nil
	*r = (*r)[:len(*r)-1]
	return last
}

// backOff is how long to rest after so many failures in a row: from a second to a
// minute, less up to a third by chance, so that places that failed together don't
// come back together.
func backOff(fails int) time.Duration {
	d := min(time.Second<<min(fails-1, 6), time.Minute)
	return d - rand.N(d/3)
}

// pause lets time pass; an error says that ctx ended.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
