package qos

import (
	"errors"
	"slices"
	"time"
)

// focusFor is for how long a session counts double after somebody spoke to it.
const focusFor = 2 * time.Minute

// document is one binding's state: numbers, no text.
type document struct {
	slotWork
	id      DocID
	session *sessionState

	delivered int64 // the last line that reached the chat
	wanted    int64 // the last line that should
	announced int64 // turns that ended up to this line are announced
	final     int64 // turns that ended up to this line are to be

	more      bool       // the numbers are reached, but another call is needed
	live      liveChange // how the live region changed
	uncertain bool       // an earlier call may have arrived
	excused   bool       // the last call failed, and doesn't have the document rest

	dirty    time.Time // since when something waits; zero: nothing does
	changed  time.Time // when the first update came since the last call began; zero: none did
	lastCall time.Time // when its last call began; zero: never

	asleep time.Time // no call before this; see CallResult.Again

	inFlight bool
	gone     bool // closed; if a call is in flight, its end is all that's left
	flushing bool
	flushBy  time.Time
	flush    int // index in SlotEngine.flushes, while flushing
}

// sessionState is what the engine knows about one session.
type sessionState struct {
	name     SessionKey
	docs     []*document
	requests []*pendingRequest
	focused  time.Time // counts double until then
}

// waitingClass says whether the document has anything to send, and in which class.
func (d *document) waitingClass() (Class, bool) {
	switch {
	case d.final > d.announced:
		return Final, true
	case d.more || d.wanted > d.delivered:
		if d.flushing {
			return Final, true
		}
		return Stream, true
	case d.live > still && !d.flushing:
		return Stream, true
	default:
		return 0, false
	}
}

// liveChange is how a live region changed. What's more counts.
type liveChange uint8

const (
	still   liveChange = iota
	redrawn            // nothing of it is text that will be lines
	written            // it has more of such text
)

// onlyLive says whether all that waits is a live region that was redrawn.
func (d *document) onlyLive() bool {
	return d.final <= d.announced && !d.more && d.wanted <= d.delivered && d.live <= redrawn
}

// docNews is what happened to a document since it was last looked at.
type docNews struct {
	wanted int64 // 0: nothing
	final  int64 // a turn ended at this line; 0: none did
	live   liveChange
	count  int // updates
}

func (n *docNews) add(m docNews) {
	n.wanted = max(n.wanted, m.wanted)
	n.final = max(n.final, m.final)
	n.live = max(n.live, m.live)
	n.count += m.count
}

// Open makes a document known; see OutputQoSScheduler.Open.
func (e *SlotEngine) Open(now time.Time, doc Doc) {
	now = e.advanceClock(now)
	d := e.docs[doc.ID]
	if d != nil && (d.chat.key != doc.Chat || d.session.name != doc.Session) {
		doc.Delivered, doc.Wanted = max(doc.Delivered, d.delivered), max(doc.Wanted, d.wanted)
		doc.Uncertain = doc.Uncertain || d.uncertain || d.inFlight
		if d.final > d.announced {
			doc.Final = max(doc.Final, d.final)
		}
		e.removeDocument(d)
		d = nil
	}
	if d == nil {
		d = e.newDocument(doc)
	}
	d.delivered = max(d.delivered, doc.Delivered)
	d.uncertain = d.uncertain || doc.Uncertain
	e.cancelFlush(d)
	e.takeNews(now, d, docNews{wanted: doc.Wanted, final: doc.Final})
}

func (e *SlotEngine) newDocument(doc Doc) *document {
	c := e.chatOf(doc.Chat)
	d := &document{id: doc.ID, session: e.sessionOf(doc.Session)}
	d.slotWork = slotWork{doc: d, chat: c, lane: c.lanes[0]}
	d.place.value = &d.slotWork
	d.flow = d.lane.flowOf(doc.Session)
	d.flow.members++
	c.docs++
	d.session.docs = append(d.session.docs, d)
	e.docs[doc.ID] = d
	return d
}

func (e *SlotEngine) sessionOf(name SessionKey) *sessionState {
	s := e.sessions[name]
	if s == nil {
		s = &sessionState{name: name}
		e.sessions[name] = s
	}
	return s
}

// Want raises a document's wanted number, and with final has the end of a turn
// announced; see OutputQoSScheduler.Want,
// which comes by takeNews instead: this is for those who drive an engine themselves.
func (e *SlotEngine) Want(now time.Time, id DocID, wanted int64, final bool) bool {
	n := docNews{wanted: wanted, count: 1}
	if final {
		n.final = wanted
	}
	return e.updateDocument(now, id, n)
}

func (e *SlotEngine) updateDocument(now time.Time, id DocID, n docNews) bool {
	d := e.docs[id]
	if d == nil {
		return false
	}
	e.takeNews(e.advanceClock(now), d, n)
	return true
}

// takeNews takes news in, and queues the document if it has something to send.
func (e *SlotEngine) takeNews(now time.Time, d *document, n docNews) {
	if d.flushing {
		return // what comes after the close isn't part of it
	}
	e.totals.Updates += uint64(n.count)
	onlyLive := d.onlyLive()
	if d.changed.IsZero() {
		d.changed = now
		e.countCoalesced(n.count - 1)
	} else {
		e.countCoalesced(n.count)
	}
	if n.wanted > d.wanted {
		d.wanted = n.wanted
		if !d.asleep.IsZero() {
			d.asleep = time.Time{}
			e.touchChat(d.chat)
		}
		d.chat.emitters.printed(d.flow, now)
	}
	if n.final > d.final {
		d.final = n.final
		d.wanted = max(d.wanted, d.final)
	}
	if n.live == written {
		d.chat.emitters.printed(d.flow, now)
	}
	d.live = max(d.live, n.live)
	if onlyLive && !d.onlyLive() { // it rests for a shorter time
		e.touchChat(d.chat)
	}
	e.fileDocument(now, d)
}

// fileDocument puts a document into the queue it belongs in.
func (e *SlotEngine) fileDocument(now time.Time, d *document) {
	class, waits := d.waitingClass()
	if !waits {
		d.dirty, d.changed = time.Time{}, time.Time{}
		d.chat.dequeue(&d.slotWork)
		if d.flushing && !d.inFlight {
			e.endDocument(d, DocClosed, nil)
		}
		return
	}
	if d.dirty.IsZero() {
		d.dirty = now
		e.moved(d)
	}
	d.since = d.dirty
	charged := class == Final && !e.mayLead(now, &d.slotWork)
	if charged {
		class = Stream
	}
	if d.inFlight || d.queued() && d.class == class && d.charged == charged {
		return
	}
	d.chat.dequeue(&d.slotWork)
	e.enqueueWork(now, &d.slotWork, class, charged)
}

// enqueueWork queues work, and counts what's to be told at once.
func (e *SlotEngine) enqueueWork(now time.Time, w *slotWork, class Class, charged bool) {
	if class < Stream && !w.counted {
		w.counted = true
		w.chat.reserve.arrived(now)
	}
	w.chat.enqueue(w, class)
	if charged {
		w.charged = true
		w.lane.charged = append(w.lane.charged, w)
	}
	e.touchChat(w.chat)
}

// mayLead says whether a final may go at once: its session isn't too far ahead of its fair share. Else it
// waits as a stream does. What's being flushed will be over soon, and isn't held back.
func (e *SlotEngine) mayLead(now time.Time, w *slotWork) bool {
	if e.opt.Mode != Strict || e.draining || w.flow.session == "" || w.doc != nil && w.doc.flushing {
		return true
	}
	return w.lane.streams.mayLead(w.flow, e.flowWeight(now, w.flow))
}

// promoteFinals has those finals go first again whose sessions the others have caught up with.
func (e *SlotEngine) promoteFinals(now time.Time, c *chat, l *lane) {
	if len(l.charged) == 0 {
		return
	}
	promoted := map[*flow]bool{} // the next one of the flow would be charged again
	for _, w := range slices.Clone(l.charged) {
		if !promoted[w.flow] && e.mayLead(now, w) {
			promoted[w.flow] = e.opt.Mode == Strict && !e.draining
			c.dequeue(w)
			e.enqueueWork(now, w, Final, false)
		}
	}
}

// promoteAllFinals does it in all chats, where what lets finals go first has changed.
func (e *SlotEngine) promoteAllFinals(now time.Time) {
	for _, c := range e.chats {
		for _, l := range c.lanes {
			e.promoteFinals(now, c, l)
		}
	}
}

func (e *SlotEngine) countCoalesced(n int) {
	if n > 0 {
		e.totals.Coalesced += uint64(n)
		e.opt.Meter.CountCoalesced(n)
	}
}

// FocusSession says that somebody spoke to a session.
func (e *SlotEngine) FocusSession(now time.Time, name SessionKey) {
	now = e.advanceClock(now)
	if s := e.sessions[name]; s != nil {
		s.focused = now.Add(focusFor)
		for _, d := range s.docs { // it rests for a shorter time
			e.touchChat(d.chat)
		}
	}
}

// flowWeight is a flow's share: see the package comment.
func (e *SlotEngine) flowWeight(now time.Time, f *flow) float64 {
	if s := e.sessions[f.session]; s != nil && now.Before(s.focused) {
		return 2
	}
	return 1
}

// typingQuiet is for how long after a stream, draft or typing call in a chat no
// "is typing" is sent: the indicator lasts about that long.
const typingQuiet = 5 * time.Second

// pendingRequest is a single thing to do that's no document.
type pendingRequest struct {
	slotWork
	key       string
	session   *sessionState // nil: none
	uncertain bool
	inFlight  bool
	again     bool // posted anew while its call was under way
	asked     Class
	gone      bool
}

func (r Request) check() error {
	switch {
	case r.Chat == "":
		return errors.New("a request needs a chat")
	case r.Key == "":
		return errors.New("a request needs a key")
	case r.Class >= Cosmetic:
		return errors.New("a request that waits has class interactive, final or stream")
	default:
		return nil
	}
}

// PostRequest queues a request; see OutputQoSScheduler.PostRequest.
func (e *SlotEngine) PostRequest(now time.Time, r Request) error {
	if err := r.check(); err != nil {
		return err
	}
	if e.draining {
		return ErrDraining
	}
	now = e.advanceClock(now)
	c := e.chatOf(r.Chat)
	q := c.requests[r.Key]
	if q != nil {
		e.postAgain(now, q, r)
		return nil
	}
	q = &pendingRequest{key: r.Key, uncertain: r.Uncertain, asked: r.Class}
	q.slotWork = slotWork{req: q, chat: c, lane: c.laneOf(e.familyOf(r.Family)), since: now, due: now}
	q.place.value = &q.slotWork
	q.flow = q.lane.flowOf(r.Session)
	q.flow.members++
	if r.Session != "" {
		q.session = e.sessionOf(r.Session)
		q.session.requests = append(q.session.requests, q)
	}
	c.requests[r.Key] = q
	e.queueRequest(now, q)
	return nil
}

func (e *SlotEngine) queueRequest(now time.Time, q *pendingRequest) {
	if q.asked == Final && !e.mayLead(now, &q.slotWork) {
		e.enqueueWork(now, &q.slotWork, Stream, true)
		return
	}
	e.enqueueWork(now, &q.slotWork, q.asked, false)
}

// postAgain merges a request with one of the same key: it's rendered when its
// slot comes, so one call says both.
func (e *SlotEngine) postAgain(now time.Time, q *pendingRequest, r Request) {
	q.uncertain = q.uncertain || r.Uncertain
	if q.inFlight {
		if !q.again {
			q.asked = r.Class
		}
		q.again, q.gone = true, false
		q.asked = min(q.asked, r.Class)
		return
	}
	if r.Class < q.asked {
		q.asked = r.Class
		q.chat.dequeue(&q.slotWork)
		e.queueRequest(now, q)
	}
}

// forgetRequest removes a request that's done or given up.
func (e *SlotEngine) forgetRequest(q *pendingRequest) {
	q.gone = true
	q.chat.dequeue(&q.slotWork)
	delete(q.chat.requests, q.key)
	q.flow.members--
	q.lane.leaveFlow(q.flow)
	if s := q.session; s != nil {
		s.requests = slices.DeleteFunc(s.requests, func(r *pendingRequest) bool { return r == q })
		e.leaveSession(s)
	}
	e.touchChat(q.chat)
}

// dropRequest gives a request up, and says so.
func (e *SlotEngine) dropRequest(q *pendingRequest, err error) {
	ev := SchedulerEvent{Kind: RequestDropped, Chat: q.chat.key, Key: q.key, Err: err}
	if q.session != nil {
		ev.Session = q.session.name
	}
	e.forgetRequest(q)
	e.emitEvent(ev)
}

// familyOf is the lane that a family's calls belong in: those without limits of
// their own count as messages.
func (e *SlotEngine) familyOf(f Family) Family {
	if _, own := e.opt.Limits.Families[f]; own {
		return f
	}
	return FamilyMessage
}

// TryRequest makes a cosmetic call if nothing speaks against it now; see
// OutputQoSScheduler.TryRequest.
func (e *SlotEngine) TryRequest(now time.Time, r Request) {
	now = e.advanceClock(now)
	if r.Chat == "" || e.draining {
		e.countShed(r.Family)
		return
	}
	c := e.chatOf(r.Chat)
	e.touchChat(c) // forgets it if this was all
	l := c.laneOf(e.familyOf(r.Family))
	if !e.allowsCosmetic(now, c, l, r.Family) {
		e.countShed(r.Family)
		return
	}
	q := &pendingRequest{key: r.Key, uncertain: r.Uncertain, asked: Cosmetic}
	q.slotWork = slotWork{req: q, chat: c, lane: l, class: Cosmetic, since: now}
	e.askBudget(now, c, slotChoice{class: Cosmetic, lane: l, work: &q.slotWork, spare: e.spareSlots(now, c, l)})
}

func (e *SlotEngine) allowsCosmetic(now time.Time, c *chat, l *lane, family Family) bool {
	switch {
	case c.busy(), c.waiting > 0:
		return false
	case (c.throttle.probing || e.bot.throttle.probing) && family != FamilyMessage:
		return false // a probe is no use if it's about nothing
	case now.Before(e.silentUntil(c)), now.Before(l.openAt(e.spareSlots(now, c, l))):
		return false
	case family == FamilyTyping && !c.lastShown.IsZero() && now.Before(c.lastShown.Add(typingQuiet)):
		return false
	default:
		return e.botOpen(now) && e.countTurns() == 0
	}
}

func (e *SlotEngine) countShed(family Family) {
	e.totals.Shed++
	e.opt.Meter.CountShed(family)
}

// Close closes a document; see OutputQoSScheduler.Close.
func (e *SlotEngine) Close(now time.Time, id DocID, mode CloseMode) {
	if d := e.docs[id]; d != nil {
		e.closeDocument(e.advanceClock(now), d, mode)
	}
}

// CloseSession closes all documents of a session; see
// OutputQoSScheduler.CloseSession.
func (e *SlotEngine) CloseSession(now time.Time, name SessionKey, mode CloseMode) {
	now = e.advanceClock(now)
	s := e.sessions[name]
	if s == nil {
		return
	}
	for _, d := range slices.Clone(s.docs) {
		e.closeDocument(now, d, mode)
	}
	if mode != Cancel {
		return
	}
	for _, q := range slices.Clone(s.requests) {
		if q.inFlight {
			q.again, q.gone = false, true
			continue
		}
		e.dropRequest(q, nil)
	}
}

func (e *SlotEngine) closeDocument(now time.Time, d *document, mode CloseMode) {
	if mode == Cancel {
		e.endDocument(d, DocClosed, nil)
		return
	}
	if d.flushing {
		return
	}
	d.flushing = true
	d.flushBy = now.Add(e.opt.FlushLimit)
	e.flushes.push(d)
	e.fileDocument(now, d)
}

// abandonFlushes gives up the flushes whose time has run out. Time under a penalty
// doesn't count.
func (e *SlotEngine) abandonFlushes(now time.Time) {
	for len(e.flushes) > 0 && !now.Before(e.flushes[0].flushBy) {
		d := e.flushes[0]
		if until := e.penaltyUntil(d.chat); until.After(now) {
			d.flushBy = until.Add(e.opt.FlushLimit)
			e.flushes.fix(d)
			continue
		}
		e.endDocument(d, DocAbandoned, nil)
	}
}

// cancelFlush keeps a document open that was being flushed.
func (e *SlotEngine) cancelFlush(d *document) {
	if d.flushing {
		e.flushes.remove(d)
		d.flushing = false
	}
}

// endDocument forgets a document and says how.
func (e *SlotEngine) endDocument(d *document, kind SchedulerEventKind, err error) {
	e.removeDocument(d)
	ev := SchedulerEvent{
		Kind: kind, Chat: d.chat.key, Doc: d.id, Session: d.session.name,
		Delivered: d.delivered, Wanted: d.wanted, Err: err,
	}
	if d.final > d.announced {
		ev.Final = d.final
	}
	e.emitEvent(ev)
}

// removeDocument forgets a document. A call in flight ends as it will; its slot is
// settled then, and nothing else happens.
func (e *SlotEngine) removeDocument(d *document) {
	d.gone = true
	e.cancelFlush(d)
	d.chat.dequeue(&d.slotWork)
	delete(e.docs, d.id)
	e.docs = shrunk(e.docs)
	d.flow.members--
	d.lane.leaveFlow(d.flow)
	d.chat.docs--
	d.session.docs = slices.DeleteFunc(d.session.docs, func(x *document) bool { return x == d })
	e.leaveSession(d.session)
	e.touchChat(d.chat)
}

func (e *SlotEngine) leaveSession(s *sessionState) {
	if len(s.docs) == 0 && len(s.requests) == 0 {
		delete(e.sessions, s.name)
		e.sessions = shrunk(e.sessions)
	}
}

// shrunk returns m, or a fresh map if it's empty: a map keeps the memory of its
// largest size.
func shrunk[K comparable, V any](m map[K]V) map[K]V {
	if len(m) == 0 {
		return map[K]V{}
	}
	return m
}

// flushes are documents that are being flushed, by when to give up.
type flushes = ordered[*document, byFlush]

type byFlush struct{}

func (byFlush) before(a, b *document) bool { return a.flushBy.Before(b.flushBy) }
func (byFlush) index(d *document) *int     { return &d.flush }
