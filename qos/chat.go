package qos

import (
	"container/heap"
	"math"
	"slices"
	"time"
)

// chat is what the engine knows about one chat.
type chat struct {
	key      ChatKey
	lanes    []*lane // the message lane first
	docs     int
	requests map[string]*pendingRequest
	waiting  int // work in any queue, resting documents included

	call   *Started    // in flight
	asking *slotAsking // a question to the budget that isn't answered

	throttle throttle
	backoff  backoff
	excuses  excuses
	reserve  reserve // of interactive requests and finals
	emitters emitters

	catchUp     int           // streams and finals that go faster after a penalty
	behind      int           // grants to others in a row while a final waited
	sinceStream int           // grants since the last one to a stream
	lastCall    time.Time     // when the last call began
	lastShown   time.Time     // when the last stream, draft or typing call began
	lastPaced   time.Time     // when the last final or stream call began
	took        time.Duration // by calls, until their slots were settled; a moving average

	start, finish float64 // tags among the chats that share the bot's budget
	born          uint64  // breaks ties among them
	turn          int     // in SlotEngine.ready of class ready; -1: it isn't
	ready         Class

	look      time.Time // when to look at it again; zero: when something changes
	index     int       // in the agenda; -1: it isn't
	touched   bool      // in SlotEngine.touched
	forgotten bool      // its state has moved or is of no use any more
}

// lane is the work of one method family in a chat; what's in another family's
// way need not be in this one's.
type lane struct {
	family   Family
	waiting  [Cosmetic]fifo[*slotWork] // by class; of streams, those that aren't due yet
	streams  fair                      // those that are due
	flows    map[SessionKey]*flow
	charged  []*slotWork // finals that wait as streams do, since their flows are too far ahead
	spent    []*flow     // flows without documents and requests whose finish tag still matters
	pace     pacer       // of streams
	supply   pacer       // of slots that come back, for all calls
	throttle throttle
	hints    [2]hint // of the budget: for work that needs one free slot, and for streams, which must leave some
}

// hint is a budget's "not before", so that it isn't asked in vain.
type hint struct {
	at    time.Time
	spare int // it holds for questions that would spare as many, or more
}

// slotWork is one thing that waits for a slot: a document or a request. It's a
// field of it.
type slotWork struct {
	doc   *document // one of these is set
	req   *pendingRequest
	chat  *chat
	lane  *lane
	flow  *flow
	class Class // of the queue it's in
	place fifoNode[*slotWork]
	since time.Time // for how long it waits
	due   time.Time // for a stream: since when it could go
	// charged says that it's a final which waits as a stream does; it's in lane.charged then.
	charged bool
	counted bool // the chat's reserve has counted it
}

// queued says whether w is in a queue.
func (w *slotWork) queued() bool { return w.place.in != nil }

// enqueue puts w at the end of its class.
func (c *chat) enqueue(w *slotWork, class Class) {
	w.class = class
	if class == Stream && w.doc == nil {
		w.lane.streams.addWork(w)
	} else {
		w.lane.waiting[class].push(&w.place) // a stream until it's due; see SlotEngine.wake
	}
	c.waiting++
}

// dequeue takes w out of the queue it's in, if any.
func (c *chat) dequeue(w *slotWork) {
	switch {
	case !w.queued():
		return
	case w.flow != nil && w.place.in == &w.flow.waiting:
		w.lane.streams.dropWork(w)
	default:
		w.place.remove()
	}
	w.endCharge()
	c.waiting--
}

// endCharge says that w doesn't wait as a charged final any more.
func (w *slotWork) endCharge() {
	if w.charged {
		w.charged = false
		w.lane.charged = slices.DeleteFunc(w.lane.charged, func(x *slotWork) bool { return x == w })
	}
}

// laneOf returns the lane of a family.
func (c *chat) laneOf(family Family) *lane {
	for _, l := range c.lanes {
		if l.family == family {
			return l
		}
	}
	l := &lane{family: family, flows: map[SessionKey]*flow{}}
	c.lanes = append(c.lanes, l)
	return l
}

// flowOf returns the flow of a session, which it makes if need be.
func (l *lane) flowOf(session SessionKey) *flow {
	f := l.flows[session]
	if f == nil {
		f = &flow{session: session, index: -1}
		f.emitter.value = f
		l.flows[session] = f
	}
	return f
}

// leaveFlow forgets a flow that has nothing left. While its finish tag is ahead of
// the virtual time it's kept: a session mustn't be served again earlier by leaving
// and coming back.
func (l *lane) leaveFlow(f *flow) {
	if f.members > 0 {
		return
	}
	if f.finish > l.streams.virtual {
		l.spent = append(l.spent, f)
		return
	}
	f.emitter.remove()
	delete(l.flows, f.session)
}

// sweepFlows forgets the flows whose finish tag the virtual time has reached.
func (l *lane) sweepFlows() {
	spent := l.spent
	l.spent = nil
	for _, f := range spent {
		if l.flows[f.session] == f {
			l.leaveFlow(f)
		}
	}
}

// restingTag is the lowest start tag that a document will have which rests now, of other flows than f; infinite: none does.
// One that waits for more than its turn has none.
func (l *lane) restingTag(now time.Time, f *flow) float64 {
	least := math.Inf(1)
	for w := range l.waiting[Stream].all {
		if w.flow != f && !w.doc.onlyLive() && !w.doc.asleep.After(now) {
			least = min(least, max(l.streams.virtual, w.flow.finish))
		}
	}
	return least
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
func (c *chat) important() bool { return c.has(Interactive) || c.has(Final) }

// has says whether anything of a class waits that isn't a due stream.
func (c *chat) has(class Class) bool {
	return slices.ContainsFunc(c.lanes, func(l *lane) bool { return l.waiting[class].len > 0 })
}

// lookBy makes the engine look at the chat again at a time, or earlier.
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

// agenda are chats by when to look at them.
type agenda = ordered[*chat, byLook]

type byLook struct{}

func (byLook) before(a, b *chat) bool { return a.look.Before(b.look) }
func (byLook) index(c *chat) *int     { return &c.index }

// setLook puts c where its look says.
func setLook(a *agenda, c *chat) {
	switch {
	case c.look.IsZero():
		a.remove(c)
	case c.index < 0:
		a.push(c)
	default:
		a.fix(c)
	}
}

// turns are the chats that wait for the bot's turn: start-time fair queuing once more.
type turns = ordered[*chat, byTurn]

type byTurn struct{}

func (byTurn) before(a, b *chat) bool {
	if a.start != b.start {
		return a.start < b.start
	}
	return a.born < b.born
}

func (byTurn) index(c *chat) *int { return &c.turn }

// flow is what one session has to send to one chat as streams.
type flow struct {
	session SessionKey
	start   float64 // start tag, while something waits
	finish  float64 // finish tag of what was served last
	waiting fifo[*slotWork]
	index   int // in fair.heap; -1: nothing waits
	members int // open documents and requests; a flow lives while it has some, or its finish tag matters

	// ended is when its last ends of turns were told by calls that went first, oldest first.
	ended [finalBurst]time.Time

	printed time.Time       // when its session printed last
	emitter fifoNode[*flow] // in chat.emitters.recent, while it's active
}

// fair is start-time fair queuing over the flows of a chat; see the package
// comment.
type fair struct {
	virtual float64 // the chat's virtual time: the start tag served last
	heap    ordered[*flow, byTag]
}

// addWork puts w at the end of its flow.
func (q *fair) addWork(w *slotWork) {
	f := w.flow
	f.waiting.push(&w.place)
	if f.index >= 0 {
		return
	}
	f.start = max(q.virtual, f.finish)
	q.heap.push(f)
}

// nextWork is the work whose turn it is; nil if none waits.
func (q *fair) nextWork() *slotWork {
	if len(q.heap) == 0 {
		return nil
	}
	return q.heap[0].waiting.first.value
}

// dropWork takes w out of its flow without serving it.
func (q *fair) dropWork(w *slotWork) {
	f := w.flow
	w.place.remove()
	switch {
	case f.index < 0:
	case f.waiting.len == 0:
		q.heap.remove(f)
	default:
		q.heap.fix(f) // ties depend on what's first
	}
}

// serveWork takes w out, and has its flow pay for one call. It isn't given back if no
// call comes of it: a document that's found unchanged again and again would keep
// its place at the front.
//
// The virtual time doesn't pass the tags of those who wait, nor ceiling, that of whoever rests before its turn: they'd
// lose that.
func (q *fair) serveWork(w *slotWork, price, ceiling float64) {
	f := w.flow
	for _, other := range q.heap[:min(3, len(q.heap))] { // the lowest of a heap, and those below it
		if other != f {
			ceiling = min(ceiling, other.start)
		}
	}
	q.virtual = max(q.virtual, min(f.start, ceiling))
	f.finish = f.start + price
	f.start = f.finish
	q.dropWork(w)
}

// finalBurst is how many calls a session of weight 1 may be ahead of its turn for one more final
// to be told at once.
const finalBurst = 2

// streamLead is how many calls a session of weight 1 may be ahead for a stream to go before its turn.
const streamLead = 1

// mayLead says whether a flow may have a final now though it isn't its turn.
func (q *fair) mayLead(f *flow, weight float64) bool {
	return f.finish <= q.virtual+finalBurst/weight
}

// charge has a flow pay for a call that it got out of turn.
func (q *fair) charge(f *flow, price float64) {
	if f.index < 0 {
		f.finish = max(q.virtual, f.finish) + price
		return
	}
	f.finish = f.start + price
	f.start = f.finish
	q.heap.fix(f)
}

// refund gives a flow back what it paid for a call that the platform refused for the chat's sake.
func (q *fair) refund(f *flow, paid float64) {
	f.finish -= paid
	if f.index >= 0 {
		f.start = max(q.virtual, f.finish)
		q.heap.fix(f)
	}
}

// endBusyPeriod says that nothing waits but what's served now: nobody who comes later is
// behind it.
func (q *fair) endBusyPeriod(f *flow) { q.virtual = max(q.virtual, f.finish) }

// byTag orders the flows that wait: lowest start tag first, then the one whose work has
// waited longest.
type byTag struct{}

func (byTag) before(a, b *flow) bool {
	if a.start != b.start {
		return a.start < b.start
	}
	return a.waiting.first.value.since.Before(b.waiting.first.value.since)
}

func (byTag) index(f *flow) *int { return &f.index }

// ordered is a heap of things that know their place in it, so that any can be moved or taken
// out. O says which comes first, and where a thing keeps its place; -1: it's in no heap.
type ordered[T any, O order[T]] []T

type order[T any] interface {
	before(a, b T) bool
	index(x T) *int
}

func (h *ordered[T, O]) push(x T) { heap.Push(h, x) }

// fix puts x where it belongs now.
func (h *ordered[T, O]) fix(x T) { heap.Fix(h, *h.place(x)) }

// remove takes x out, if it's in.
func (h *ordered[T, O]) remove(x T) {
	if i := *h.place(x); i >= 0 {
		heap.Remove(h, i)
	}
}

func (h *ordered[T, O]) place(x T) *int {
	var o O
	return o.index(x)
}

// Len implements heap.Interface, as the next four do.
func (h *ordered[T, O]) Len() int { return len(*h) }

// Less says whether the thing at i comes before that at j.
func (h *ordered[T, O]) Less(i, j int) bool {
	var o O
	return o.before((*h)[i], (*h)[j])
}

// Swap exchanges two.
func (h *ordered[T, O]) Swap(i, j int) {
	a := *h
	a[i], a[j] = a[j], a[i]
	*h.place(a[i]), *h.place(a[j]) = i, j
}

// Push appends x.
func (h *ordered[T, O]) Push(x any) {
	t := x.(T) //nolint:forcetypeassert // push is given such
	*h.place(t) = len(*h)
	*h = append(*h, t)
}

// Pop takes the last one out.
func (h *ordered[T, O]) Pop() any {
	a := *h
	x := a[len(a)-1]
	*h.place(x) = -1
	clear(a[len(a)-1:])
	*h = a[:len(a)-1]
	return x
}

// fifoNode is a place in a list; it's a field of what is listed, so moving things
// between lists allocates nothing.
type fifoNode[T any] struct {
	prev, next *fifoNode[T]
	in         *fifo[T]
	value      T
}

// fifo is first in, first out, with removal from anywhere.
type fifo[T any] struct {
	first, last *fifoNode[T]
	len         int
}

// push appends n, which must not be in a list.
func (l *fifo[T]) push(n *fifoNode[T]) {
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
func (n *fifoNode[T]) remove() {
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
func (l *fifo[T]) all(yield func(T) bool) {
	for n := l.first; n != nil; {
		next := n.next
		if !yield(n.value) {
			return
		}
		n = next
	}
}
