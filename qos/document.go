package qos

import "time"

// focusFor is for how long a session counts double after somebody spoke to it.
const focusFor = 2 * time.Minute

// document is one binding's state: numbers, no text.
type document struct {
	work
	id      DocID
	session *session

	delivered int64 // the last line that reached the chat
	wanted    int64 // the last line that should
	announced int64 // turns that ended up to this line are announced
	final     int64 // turns that ended up to this line are to be

	more      bool // the numbers are reached, but another call is needed
	live      live // how the live region changed
	uncertain bool // an earlier call may have arrived
	excused   bool // the last call failed, and doesn't have the document rest

	dirty    time.Time // since when something waits; zero: nothing does
	changed  time.Time // when the first update came since the last call began; zero: none did
	lastCall time.Time // when its last call began; zero: never

	asleep time.Time // no call before this; see Result.Again

	inFlight bool
	gone     bool // closed; if a call is in flight, its end is all that's left
	flushing bool
	flushBy  time.Time
	flush    int // index in Engine.flushes, while flushing
}

// session is what the engine knows about one session.
type session struct {
	name     Session
	docs     []*document
	requests []*request
	focused  time.Time // counts double until then
}

// waits says whether the document has anything to send, and in which class.
func (d *document) waits() (Class, bool) {
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

// live is how a live region changed. What's more counts.
type live uint8

const (
	still   live = iota
	redrawn      // nothing of it is text that will be lines
	written      // it has more of such text
)

// onlyLive says whether all that waits is a live region that was redrawn.
func (d *document) onlyLive() bool {
	return d.final <= d.announced && !d.more && d.wanted <= d.delivered && d.live <= redrawn
}

// news is what happened to a document since it was last looked at.
type news struct {
	wanted int64 // 0: nothing
	final  int64 // a turn ended at this line; 0: none did
	live   live
	count  int // updates
}

func (n *news) add(m news) {
	n.wanted = max(n.wanted, m.wanted)
	n.final = max(n.final, m.final)
	n.live = max(n.live, m.live)
	n.count += m.count
}

// Open makes a document known; see OutputQoSScheduler.Open.
func (e *Engine) Open(now time.Time, doc Doc) {
	now = e.advance(now)
	d := e.docs[doc.ID]
	if d != nil && (d.chat.key != doc.Chat || d.session.name != doc.Session) {
		doc.Delivered, doc.Wanted = max(doc.Delivered, d.delivered), max(doc.Wanted, d.wanted)
		doc.Uncertain = doc.Uncertain || d.uncertain || d.inFlight
		if d.final > d.announced {
			doc.Final = max(doc.Final, d.final)
		}
		e.remove(d)
		d = nil
	}
	if d == nil {
		d = e.newDocument(doc)
	}
	d.delivered = max(d.delivered, doc.Delivered)
	d.uncertain = d.uncertain || doc.Uncertain
	e.takeBackFlush(d)
	e.update(now, d, news{wanted: doc.Wanted, final: doc.Final})
}

func (e *Engine) newDocument(doc Doc) *document {
	c := e.chatOf(doc.Chat)
	d := &document{id: doc.ID, session: e.sessionOf(doc.Session)}
	d.work = work{doc: d, chat: c, lane: c.lanes[0]}
	d.place.value = &d.work
	d.flow = d.lane.flowOf(doc.Session)
	d.flow.docs++
	c.docs++
	d.session.docs = append(d.session.docs, d)
	e.docs[doc.ID] = d
	return d
}

func (e *Engine) sessionOf(name Session) *session {
	s := e.sessions[name]
	if s == nil {
		s = &session{name: name}
		e.sessions[name] = s
	}
	return s
}

// Want raises a document's wanted number, and with final has the end of a turn
// announced; see OutputQoSScheduler.Want.
func (e *Engine) Want(now time.Time, id DocID, wanted int64, final bool) bool {
	n := news{wanted: wanted, count: 1}
	if final {
		n.final = wanted
	}
	return e.tell(now, id, n)
}

// Touch says that a document's live region changed.
func (e *Engine) Touch(now time.Time, id DocID) bool {
	return e.tell(now, id, news{live: redrawn, count: 1})
}

// Grow says that it has more text that will be lines; see OutputQoSScheduler.Grow.
func (e *Engine) Grow(now time.Time, id DocID) bool {
	return e.tell(now, id, news{live: written, count: 1})
}

func (e *Engine) tell(now time.Time, id DocID, n news) bool {
	d := e.docs[id]
	if d == nil {
		return false
	}
	e.update(e.advance(now), d, n)
	return true
}

// update takes news in and has the document queued if it has something to send.
func (e *Engine) update(now time.Time, d *document, n news) {
	if d.flushing {
		return // what comes after the close isn't part of it
	}
	e.totals.Updates += uint64(n.count)
	if d.changed.IsZero() {
		d.changed = now
		e.coalesced(n.count - 1)
	} else {
		e.coalesced(n.count)
	}
	if n.wanted > d.wanted {
		d.wanted = n.wanted
		if !d.asleep.IsZero() {
			d.asleep = time.Time{}
			e.touch(d.chat)
		}
		d.chat.emitters.printed(d.flow, now)
	}
	if n.final > d.final {
		if n.final > d.announced {
			d.chat.reserve.arrived(now)
			d.chat.finals.arrived(now)
		}
		d.final = n.final
		d.wanted = max(d.wanted, d.final)
	}
	if n.live == written {
		d.chat.emitters.printed(d.flow, now)
	}
	d.live = max(d.live, n.live)
	e.file(now, d)
}

// file puts a document into the queue it belongs in.
func (e *Engine) file(now time.Time, d *document) {
	class, waits := d.waits()
	if !waits {
		d.dirty, d.changed = time.Time{}, time.Time{}
		d.chat.dequeue(&d.work)
		if d.flushing && !d.inFlight {
			e.closed(d, DocClosed, nil)
		}
		return
	}
	if d.dirty.IsZero() {
		d.dirty = now
		e.moved(d)
	}
	d.since = d.dirty
	if d.inFlight || d.queued() && d.class == class {
		return
	}
	d.chat.dequeue(&d.work)
	d.chat.enqueue(&d.work, class)
	e.touch(d.chat)
}

func (e *Engine) coalesced(n int) {
	if n > 0 {
		e.totals.Coalesced += uint64(n)
		e.opt.Observer.Coalesced(n)
	}
}

// Focus says that somebody spoke to a session.
func (e *Engine) Focus(now time.Time, name Session) {
	now = e.advance(now)
	if s := e.sessions[name]; s != nil {
		s.focused = now.Add(focusFor)
	}
}

// weight is a flow's share: see the package comment.
func (e *Engine) weight(now time.Time, f *flow) float64 {
	if s := e.sessions[f.session]; s != nil && now.Before(s.focused) {
		return 2
	}
	return 1
}
