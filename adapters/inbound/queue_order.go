package inbound

import (
	"container/heap"
	"math/rand/v2"
	"time"

	"github.com/panebridge/panebridge/adapters"
)

// lane is a place with updates that wait.
type lane struct {
	place   adapters.Target
	waiting []ticket // in order; the first is tried, with the rest of its album
	fails   int      // tries of the first that failed
	rests   time.Time

	// verdict is what became of the first, if only that couldn't be written down.
	verdict *verdict
}

// verdict is what became of an update, or of the parts of an album.
type verdict struct {
	of      []int64 // their numbers, in order
	outcome Outcome
	ignored bool // it was none of our business
}

// attempt is what came of a try of what a lane has first.
type attempt struct {
	lane *lane
	seq  int64 // of its first update
	verdict
	err error // it's to be tried again
}

// order says which place is next. Those that could go take turns, one update at a
// time. Those that failed rest, and so do those whose first is an album that may not be
// all there. It's for one goroutine.
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
	l.waiting = append(l.waiting, t)
}

// next takes out the place whose turn it is, and the updates that are; nil: none.
func (o *order) next(now time.Time) (*lane, []int64) {
	for len(o.resting) > 0 && !o.resting[0].rests.After(now) {
		o.ready = append(o.ready, heap.Pop(&o.resting).(*lane))
	}
	for len(o.ready) > 0 {
		l := o.ready[0]
		o.ready = o.ready[1:]
		of, until := l.first()
		if !until.After(now) {
			return l, of
		}
		l.rests = until
		heap.Push(&o.resting, l)
	}
	o.ready = nil // let go of the array
	return nil, nil
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
	if l.drop(a.of); len(l.waiting) == 0 {
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
