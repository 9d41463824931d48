package qos

import (
	"container/heap"
	"time"
)

// flow is what one session has to send to one chat as streams.
type flow struct {
	session Session
	start   float64 // start tag, while something waits
	finish  float64 // finish tag of what was served last
	waiting list[*work]
	index   int // in fair.heap; -1: nothing waits
	docs    int // open documents; a flow lives while it has some, or its finish tag matters

	printed time.Time   // when its session printed last
	emitter node[*flow] // in chat.emitters.recent, while it's active
}

// fair is start-time fair queuing over the flows of a chat; see the package
// comment.
type fair struct {
	virtual float64 // the chat's virtual time: the start tag served last
	heap    flowHeap
}

// add puts w at the end of its flow.
func (q *fair) add(w *work) {
	f := w.flow
	f.waiting.push(&w.place)
	if f.index >= 0 {
		return
	}
	f.start = max(q.virtual, f.finish)
	heap.Push(&q.heap, f)
}

// next is the work whose turn it is; nil if none waits.
func (q *fair) next() *work {
	if len(q.heap) == 0 {
		return nil
	}
	return q.heap[0].waiting.first.value
}

// drop takes w out of its flow without serving it.
func (q *fair) drop(w *work) {
	f := w.flow
	w.place.remove()
	switch {
	case f.index < 0:
	case f.waiting.len == 0:
		heap.Remove(&q.heap, f.index)
	default:
		heap.Fix(&q.heap, f.index) // ties depend on what's first
	}
}

// serve takes w out, and has its flow pay for one call. It isn't given back if no
// call comes of it: a document that's found unchanged again and again would keep
// its place at the front.
func (q *fair) serve(w *work, weight float64) {
	f := w.flow
	q.virtual = f.start
	f.finish = f.start + 1/weight
	f.start = f.finish
	q.drop(w)
}

// flowHeap orders the flows that wait: lowest start tag first, then the one
// whose work has waited longest.
type flowHeap []*flow

func (h flowHeap) Len() int { return len(h) }

func (h flowHeap) Less(i, j int) bool {
	if h[i].start != h[j].start {
		return h[i].start < h[j].start
	}
	return h[i].waiting.first.value.since.Before(h[j].waiting.first.value.since)
}

func (h flowHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

func (h *flowHeap) Push(x any) {
	f := x.(*flow) //nolint:forcetypeassert // heap.Push is given such
	f.index = len(*h)
	*h = append(*h, f)
}

func (h *flowHeap) Pop() any {
	old := *h
	f := old[len(old)-1]
	f.index = -1
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	return f
}
