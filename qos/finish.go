package qos

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// answerGrace is how long after its deadline a call that was given up may still
// arrive: it's in a network buffer somewhere.
const answerGrace = 5 * time.Second

// overGrace is how long after its end a call may still arrive that's over but wasn't
// done for sure: what stands in between may pass on what it has.
const overGrace = 500 * time.Millisecond

// Finish takes in what came of a call, which ended at answered (now or before).
func (e *SlotEngine) Finish(now time.Time, s *Started, r CallResult, answered time.Time) {
	now = e.advanceClock(now)
	if r.Outcome == OutcomeUnknown || r.Outcome >= outcomes {
		r.Outcome = Uncertain
	}
	w := s.work
	c := w.chat
	c.call = nil
	if r.failed() && c.excuses.takeExcuse(now) {
		s.undoPace()
		if w.doc != nil {
			w.doc.excused = true
		}
	}
	e.bot.open--
	e.bot.inFlight--
	e.settlePermit(now, c, s, r, answered)
	e.forgetHints(c)
	e.totals.Outcomes[r.Outcome]++
	e.opt.Meter.CountCall(s.Call.Class, s.Call.Family, r.Outcome, s.waited, now.Sub(s.began))

	switch r.Outcome {
	case Delivered, Unchanged, Rejected:
		c.backoff = backoff{}
	case NotSent, Failed, Uncertain:
		if r.Outcome == NotSent && r.RetryAfter > 0 {
			c.backoff.until = now.Add(r.RetryAfter) // it's known when there's room again
			break
		}
		c.backoff.failed(now, e.random)
	case Throttled:
		w.lane.streams.virtual = s.undo.virtual // else all others would be forgiven what it cost
		if s.undo.paid > 0 {
			w.lane.streams.refund(w.flow, s.undo.paid)
		}
		if w.doc != nil {
			w.doc.excused = true // its turn is still to come
		}
		e.penalizeChat(now, c, w.lane, r)
	default:
	}
	if r.Outcome == Delivered || r.Outcome == Rejected {
		e.noteSuccess(now, c, s)
	}
	if w.doc != nil {
		e.finishDocument(now, w.doc, s, r)
	} else {
		e.finishRequest(now, w.req, r)
	}
	switch r.Outcome {
	case ChatGone:
		e.dropChat(now, c, r.Err)
	case Migrated:
		e.rekeyChat(now, c, r.Chat)
	default:
	}
}

// settlePermit tells the budget what became of the slot.
func (e *SlotEngine) settlePermit(now time.Time, c *chat, s *Started, r CallResult, answered time.Time) {
	switch r.Outcome {
	case Unchanged, NotSent:
		e.budget.Refund(now, s.permit)
		e.undoGrant(c, s)
		return
	case Uncertain:
		if r.Over {
			answered = answered.Add(overGrace)
		} else {
			answered = later(s.Deadline, answered).Add(answerGrace)
		}
	default:
	}
	e.budget.Settle(now, s.permit, answered)
	e.totals.Calls[s.Call.Class]++
	c.took += (answered.Sub(s.began) - c.took) / 5
	if s.Call.Class < Stream && s.work.lane.family == FamilyMessage {
		c.reserve.answered(answered, e.mainWindow(c).Per)
	}
}

// undoGrant undoes what the grant changed, because no call was made.
func (e *SlotEngine) undoGrant(c *chat, s *Started) {
	u := s.undo
	c.behind, c.sinceStream = u.behind, u.sinceStream
	c.lastCall, c.lastShown, c.lastPaced = u.lastCall, u.lastShown, u.lastPaced
	e.bot.pace.giveBack()
	s.undoPace()
	if d := s.work.doc; d != nil {
		d.lastCall = u.docCall
	}
}

// undoPace returns what the call took of the paces of its lane.
func (s *Started) undoPace() {
	if s.undo.supplied {
		s.work.lane.supply.giveBack()
	}
	if s.undo.paced {
		s.work.lane.pace.giveBack()
	}
}

// failed reports that the call was answered, by an error that may pass.
func (r CallResult) failed() bool { return r.Outcome == Failed || r.Outcome == Uncertain && r.Over }

// noteSuccess takes in that the platform accepted a call.
func (e *SlotEngine) noteSuccess(now time.Time, c *chat, s *Started) {
	since := c.lastPaced
	if since.Equal(s.began) {
		since = s.undo.lastPaced
	}
	if s.work.lane.throttle.probing {
		s.work.lane.throttle.succeeded(now, s.began)
	}
	lifted := c.throttle.succeeded(now, s.began)
	if e.bot.throttle.succeeded(now, s.began) || lifted {
		e.beginCatchUp(now, c, since)
	}
	e.setBotPace(now)
}

func (e *SlotEngine) finishDocument(now time.Time, d *document, s *Started, r CallResult) {
	d.inFlight = false
	if d.gone {
		return
	}
	switch r.Outcome {
	case Delivered:
		d.raiseTo(r.Delivered, r.Final)
		d.more, d.uncertain = r.More, false
	case Unchanged:
		if d.asleep = r.Again; d.asleep.IsZero() {
			d.raiseTo(s.Call.Wanted, s.Call.Final)
			d.more, d.uncertain = false, false
		}
		if !d.asleep.IsZero() {
			d.live = max(d.live, s.live)
		}
	case Rejected, ChatGone:
		e.endDocument(d, DocStopped, r.Err)
		return
	case Uncertain:
		d.uncertain = true
		d.live = max(d.live, s.live)
	default:
		d.live = max(d.live, s.live)
	}
	if d.final <= d.announced {
		d.counted = false
	}
	if d.delivered >= s.Call.Wanted && !d.more && !d.dirty.IsZero() {
		d.dirty = d.changed // what came since the call began
	}
	if from := d.chat; r.Outcome == Delivered && r.Chat != "" && r.Chat != from.key {
		e.moveDocument(now, d, e.chatOf(r.Chat))
		e.touchChat(from)
	} else {
		e.fileDocument(now, d)
	}
	e.moved(d)
}

// raiseTo raises the document's numbers. Where a turn's end is announced, its
// lines are there.
func (d *document) raiseTo(delivered, announced int64) {
	d.announced = max(d.announced, announced)
	d.delivered = max(d.delivered, delivered, d.announced)
	d.wanted = max(d.wanted, d.delivered)
}

func (e *SlotEngine) finishRequest(now time.Time, q *pendingRequest, r CallResult) {
	q.inFlight = false
	if q.class == Cosmetic {
		return
	}
	switch r.Outcome {
	case Delivered, Unchanged:
		q.uncertain = false
		if !q.gone && (q.again || r.Outcome == Delivered && r.More) {
			break
		}
		e.forgetRequest(q)
		return
	case Rejected, ChatGone:
		e.dropRequest(q, r.Err)
		return
	case Uncertain:
		q.uncertain = true
	default:
	}
	if q.gone {
		e.dropRequest(q, nil)
		return
	}
	if q.again {
		q.since = now
	}
	q.due = now
	e.queueRequest(now, q)
}

// dropChat gives up all that waits in a chat.
func (e *SlotEngine) dropChat(now time.Time, c *chat, err error) {
	for _, d := range e.docsOf(c) {
		e.endDocument(d, DocStopped, err)
	}
	for _, q := range c.requestsInOrder() {
		e.dropRequest(q, err)
	}
}

// docsOf are a chat's documents, those first that have waited longest.
func (e *SlotEngine) docsOf(c *chat) []*document {
	var docs []*document
	for _, d := range e.docs {
		if d.chat == c {
			docs = append(docs, d)
		}
	}
	slices.SortFunc(docs, func(a, b *document) int { return cmp.Or(a.since.Compare(b.since), cmp.Compare(a.id, b.id)) })
	return docs
}

// requestsInOrder are a chat's requests, those first that have waited longest.
func (c *chat) requestsInOrder() []*pendingRequest {
	return slices.SortedFunc(maps.Values(c.requests), func(a, b *pendingRequest) int {
		return cmp.Or(a.since.Compare(b.since), cmp.Compare(a.key, b.key))
	})
}

// rekeyChat moves all of a chat to its new key.
func (e *SlotEngine) rekeyChat(now time.Time, from *chat, key ChatKey) {
	if key == "" || key == from.key {
		from.backoff.failed(now, e.random)
		return
	}
	e.budget.Rekey(now, from.key, key)
	to := e.chatOf(key)
	to.throttle.merge(from.throttle)
	to.lastCall, to.lastShown = later(to.lastCall, from.lastCall), later(to.lastShown, from.lastShown)
	to.lastPaced = later(to.lastPaced, from.lastPaced)
	for _, d := range e.docsOf(from) {
		e.moveDocument(now, d, to)
	}
	for _, q := range from.requestsInOrder() {
		if twin := to.requests[q.key]; twin != nil {
			e.forgetRequest(q)
			e.postAgain(now, twin, Request{Class: q.asked, Uncertain: q.uncertain})
			continue
		}
		moveRequest(q, to)
	}
	for _, l := range from.lanes {
		to.laneOf(l.family).throttle.merge(l.throttle)
	}
	e.forgetHints(to)
	e.leaveTurns(from)
	e.discardChat(from)
	e.emitEvent(SchedulerEvent{Kind: ChatMoved, Chat: from.key, To: key})
}

func (e *SlotEngine) moveDocument(now time.Time, d *document, to *chat) {
	d.chat.dequeue(&d.slotWork)
	d.flow.members--
	d.chat.docs--
	d.flow.emitter.remove()
	d.lane.leaveFlow(d.flow)
	d.chat, d.lane = to, to.lanes[0]
	d.flow = d.lane.flowOf(d.session.name)
	d.flow.members++
	to.docs++
	e.fileDocument(now, d)
}

func moveRequest(q *pendingRequest, to *chat) {
	q.chat.dequeue(&q.slotWork)
	q.flow.members--
	q.lane.leaveFlow(q.flow)
	q.chat, q.lane = to, to.laneOf(q.lane.family)
	name := SessionKey("")
	if q.session != nil {
		name = q.session.name
	}
	q.flow = q.lane.flowOf(name)
	q.flow.members++
	to.requests[q.key] = q
	to.enqueue(&q.slotWork, q.asked)
}

// merge takes in what's known about the same chat under another key.
func (t *throttle) merge(o throttle) {
	t.until = later(t.until, o.until)
	t.cut = max(t.cut, o.cut)
	t.probing = t.probing || o.probing
	t.strikes = max(t.strikes, o.strikes)
	t.heardAt = later(t.heardAt, o.heardAt)
}
