package qos

import (
	"container/heap"
	"time"
)

// chat is what the engine knows about one chat.
type chat struct {
	key      Chat
	lanes    []*lane // the message lane first
	docs     int
	requests map[string]*request
	waiting  int // work in any queue, resting documents included

	call   *Started // in flight
	asking *asking  // a question to the budget that isn't answered

	throttle throttle
	backoff  backoff
	excuses  excuses
	reserve  reserve // of interactive requests and finals
	finals   reserve // of finals alone
	emitters emitters

	behind      int           // grants to others in a row while a final waited
	sinceStream int           // grants since the last one to a stream
	lastCall    time.Time     // when the last call began
	lastShown   time.Time     // when the last stream, draft or typing call began
	lastPaced   time.Time     // when the last final or stream call began
	took        time.Duration // by calls, until their slots were settled; a moving average

	start, finish float64 // tags among the chats that share the bot's budget
	born          uint64  // breaks ties among them
	turn          int     // in Engine.ready of class ready; -1: it isn't
	ready         Class

	look      time.Time // when to look at it again; zero: when something changes
	index     int       // in the agenda; -1: it isn't
	touched   bool      // in Engine.touched
	forgotten bool      // its state has moved or is of no use any more
}

// lane is the work of one method family in a chat; what's in another family's
// way need not be in this one's.
type lane struct {
	family      Family
	interactive list[*work]
	finals      list[*work]
	resting     list[*work] // streams that aren't due yet
	streams     fair
	flows       map[Session]*flow
	spent       []*flow // flows without work or documents whose finish tag still matters
	pace        pacer   // of streams
	supply      pacer   // of slots that come back, for all calls
	throttle    throttle
	hints       [2]hint // of the budget: for work that needs one free slot, and for streams, which must leave some
}

// hint is a budget's "not before", so that it isn't asked in vain.
type hint struct {
	at    time.Time
	spare int // it holds for questions that would spare as many, or more
}

// work is one thing that waits for a slot: a document or a request. It's a
// field of it.
type work struct {
	doc   *document // one of these is set
	req   *request
	chat  *chat
	lane  *lane
	flow  *flow
	class Class // of the queue it's in
	place node[*work]
	since time.Time // for how long it waits
	due   time.Time // for a stream: since when it could go
}

// queued says whether w is in a queue.
func (w *work) queued() bool { return w.place.in != nil }

// enqueue puts w at the end of its class.
func (c *chat) enqueue(w *work, class Class) {
	w.class = class
	switch class {
	case Interactive:
		w.lane.interactive.push(&w.place)
	case Final:
		w.lane.finals.push(&w.place)
	default:
		if w.doc != nil {
			w.lane.resting.push(&w.place) // until it's due; see lane.wake
		} else {
			w.lane.streams.add(w)
		}
	}
	c.waiting++
}

// dequeue takes w out of the queue it's in, if any.
func (c *chat) dequeue(w *work) {
	switch {
	case !w.queued():
		return
	case w.flow != nil && w.place.in == &w.flow.waiting:
		w.lane.streams.drop(w)
	default:
		w.place.remove()
	}
	c.waiting--
}

// laneOf returns the lane of a family.
func (c *chat) laneOf(family Family) *lane {
	for _, l := range c.lanes {
		if l.family == family {
			return l
		}
	}
	l := &lane{family: family, flows: map[Session]*flow{}}
	c.lanes = append(c.lanes, l)
	return l
}

// flowOf returns the flow of a session, which it makes if need be.
func (l *lane) flowOf(session Session) *flow {
	f := l.flows[session]
	if f == nil {
		f = &flow{session: session, index: -1}
		f.emitter.value = f
		l.flows[session] = f
	}
	return f
}

// leave forgets a flow that has nothing left. While its finish tag is ahead of
// the virtual time it's kept: a session mustn't be served again earlier by leaving
// and coming back.
func (l *lane) leave(f *flow) {
	if f.docs > 0 || f.waiting.len > 0 {
		return
	}
	if f.finish > l.streams.virtual {
		l.spent = append(l.spent, f)
		return
	}
	f.emitter.remove()
	delete(l.flows, f.session)
}

// sweep forgets the flows whose finish tag the virtual time has reached.
func (l *lane) sweep() {
	spent := l.spent
	l.spent = nil
	for _, f := range spent {
		if l.flows[f.session] == f {
			l.leave(f)
		}
	}
}

// openAt is when the budget may say yes to a call that leaves so many slots
// free, as far as it told; zero: any time.
func (l *lane) openAt(spare int) time.Time {
	at := l.throttle.until
	for _, h := range l.hints {
		if spare >= h.spare {
			at = later(at, h.at)
		}
	}
	return at
}

// learnHint keeps the budget's answer to a question.
func (l *lane) learnHint(spare int, at time.Time) {
	l.hints[min(spare, 1)] = hint{at: at, spare: spare}
}

// busy says that the chat has a call in flight, or may soon.
func (c *chat) busy() bool { return c.call != nil || c.asking != nil }

// important says whether anything interactive or final waits.
func (c *chat) important() bool {
	for _, l := range c.lanes {
		if l.interactive.len > 0 || l.finals.len > 0 {
			return true
		}
	}
	return false
}

// finalWaits says whether a final waits.
func (c *chat) finalWaits() bool {
	for _, l := range c.lanes {
		if l.finals.len > 0 {
			return true
		}
	}
	return false
}

// lookBy has the chat looked at no later than at.
func (c *chat) lookBy(at time.Time) {
	if c.look.IsZero() || at.Before(c.look) {
		c.look = at
	}
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// agenda is a heap of chats by when to look at them.
type agenda []*chat

// set puts c where its look says.
func (a *agenda) set(c *chat) {
	switch {
	case c.look.IsZero() && c.index >= 0:
		heap.Remove(a, c.index)
	case c.look.IsZero():
	case c.index < 0:
		heap.Push(a, c)
	default:
		heap.Fix(a, c.index)
	}
}

func (a agenda) Len() int           { return len(a) }
func (a agenda) Less(i, j int) bool { return a[i].look.Before(a[j].look) }

func (a agenda) Swap(i, j int) {
	a[i], a[j] = a[j], a[i]
	a[i].index, a[j].index = i, j
}

func (a *agenda) Push(x any) {
	c := x.(*chat) //nolint:forcetypeassert // heap.Push is given such
	c.index = len(*a)
	*a = append(*a, c)
}

func (a *agenda) Pop() any {
	old := *a
	c := old[len(old)-1]
	c.index = -1
	old[len(old)-1] = nil
	*a = old[:len(old)-1]
	return c
}

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

// node is a place in a list; it's a field of what is listed, so moving things
// between lists allocates nothing.
type node[T any] struct {
	prev, next *node[T]
	in         *list[T]
	value      T
}

// list is first in, first out, with removal from anywhere.
type list[T any] struct {
	first, last *node[T]
	len         int
}

// push appends n, which must not be in a list.
func (l *list[T]) push(n *node[T]) {
	n.in, n.prev, n.next = l, l.last, nil
	if l.last == nil {
		l.first = n
	} else {
		l.last.next = n
	}
	l.last = n
	l.len++
}

// remove takes n out of the list it's in, if any.
func (n *node[T]) remove() {
	l := n.in
	if l == nil {
		return
	}
	if n.prev == nil {
		l.first = n.next
	} else {
		n.prev.next = n.next
	}
	if n.next == nil {
		l.last = n.prev
	} else {
		n.next.prev = n.prev
	}
	l.len--
	n.in, n.prev, n.next = nil, nil, nil
}

// all yields the values, oldest first. The one yielded may be removed.
func (l *list[T]) all(yield func(T) bool) {
	for n := l.first; n != nil; {
		next := n.next
		if !yield(n.value) {
			return
		}
		n = next
	}
}
