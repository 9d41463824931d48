package qos

import "time"

// A grant goes through three gates: the chat's own (choose), the bot's, and the
// budget. The work that gets it is chosen anew when the budget has answered:
// something better may have come in the meantime.

// everyFourth grant among the chats ignores classes, so that a bot that's
// saturated by commands doesn't starve a chat that has only streams.
const everyFourth = 4

// askAgain is how long a budget that didn't answer in time is left alone.
const askAgain = time.Second

// slotAsking is a question to the budget.
type slotAsking struct {
	choice   slotChoice
	deadline time.Time
	terms    int // SlotEngine.terms when it was asked
}

// enterTurns puts a chat among those that wait for the bot's turn, with work of a class.
func (e *SlotEngine) enterTurns(c *chat, class Class) {
	if c.turn >= 0 && c.ready == class {
		return
	}
	if c.turn < 0 {
		c.start = max(e.bot.virtual, c.finish)
	}
	e.leaveTurns(c)
	c.ready = class
	e.ready[class].push(c)
}

// leaveTurns takes a chat out of those that wait for the bot's turn.
func (e *SlotEngine) leaveTurns(c *chat) {
	e.ready[c.ready].remove(c)
}

// countTurns is how many chats wait for the bot's turn.
func (e *SlotEngine) countTurns() int {
	n := 0
	for _, t := range e.ready {
		n += len(t)
	}
	return n
}

// grantNext gives the bot's next turn to one of the chats that wait for it. It
// returns false if there's none, or none may go.
func (e *SlotEngine) grantNext(now time.Time) bool {
	if e.countTurns() == 0 || !e.botOpen(now) {
		return false
	}
	anyClass := e.bot.grants%everyFourth == everyFourth-1
	var best *chat
	for _, t := range e.ready {
		if len(t) > 0 && (best == nil || anyClass && t[0].start < best.start) {
			best = t[0]
		}
	}
	e.leaveTurns(best)
	if ch, ok := e.choose(now, best); ok {
		e.askBudget(now, best, ch)
	}
	e.touchChat(best)
	return true
}

// botOpen says whether the bot may make a call now, as far as the budget isn't
// concerned.
func (e *SlotEngine) botOpen(now time.Time) bool {
	return e.bot.open < e.opt.MaxInFlight && !e.probeUnderWay() &&
		!e.bot.throttle.until.After(now) && !e.botFrom(now).After(now)
}

// probeUnderWay says whether the one call after a penalty of the whole bot isn't
// answered yet.
func (e *SlotEngine) probeUnderWay() bool { return e.bot.throttle.probing && e.bot.open > 0 }

// botFrom is when the pace of the bot lets the next call go.
func (e *SlotEngine) botFrom(now time.Time) time.Time {
	if e.opt.Mode == Off {
		return now
	}
	gap := float64(e.opt.Limits.Bot.Gap)
	e.bot.pace.set(now, time.Duration(gap/e.bot.throttle.multiplier()), 1)
	return e.bot.pace.next(now)
}

// askBudget asks the budget for the slot of a choice.
func (e *SlotEngine) askBudget(now time.Time, c *chat, ch slotChoice) {
	token := &slotAsking{choice: ch, deadline: now.Add(e.opt.CallTimeout), terms: e.terms}
	c.asking = token
	e.bot.open++
	reply := func(a SlotAnswer) {
		e.hand(func(now time.Time) { e.takeAnswer(e.advanceClock(now), c, token, a) })
	}
	a := e.budget.AskSlot(now, SlotQuestion{
		Chat: c.key, Family: ch.lane.family, Spare: ch.spare,
		Deadline: token.deadline, Unguarded: e.opt.Mode == Off,
		Class: ch.class, Weight: e.streamWeight(now, ch.lane),
	}, reply)
	if a.State != Pending {
		e.takeAnswer(now, c, token, a)
	}
}

// streamWeight is the sum of the weights of the flows that have something to send.
func (e *SlotEngine) streamWeight(now time.Time, l *lane) float64 {
	sum := 0.0
	for _, f := range l.streams.heap {
		sum += e.flowWeight(now, f)
	}
	return sum
}

// giveUpAsking stops waiting for a budget that hasn't answered for a call's time.
// If it says yes later, the slot is given back.
func (e *SlotEngine) giveUpAsking(now time.Time, c *chat) {
	if c.asking.deadline.After(now) {
		c.look = c.asking.deadline
		return
	}
	ch := c.asking.choice
	c.asking = nil
	e.bot.open--
	ch.lane.learnHint(ch.spare, now.Add(askAgain))
	e.countUnsent(ch)
	e.touchChat(c)
}

// takeAnswer takes in the budget's answer.
func (e *SlotEngine) takeAnswer(now time.Time, c *chat, token *slotAsking, a SlotAnswer) {
	if c.asking != token {
		if a.State == Granted {
			e.budget.Refund(now, a.Permit)
		}
		return
	}
	c.asking = nil
	e.bot.open--
	e.touchChat(c)
	e.reportBudget(a.Err)
	if a.State != Granted {
		if !a.At.After(now) { // we'd ask in a circle
			a.At = now.Add(time.Millisecond)
		}
		token.choice.lane.learnHint(token.choice.spare, a.At)
		e.countUnsent(token.choice)
		return
	}
	ch, ok := e.confirmChoice(now, c, token)
	if !ok {
		e.budget.Refund(now, a.Permit)
		e.countUnsent(token.choice)
		return
	}
	e.startCall(now, c, ch, a.Permit, token.deadline)
}

// confirmChoice chooses anew for a slot that was granted. It returns false if nothing
// is left that the slot is good for, too little of the call's time is left, or the
// slot was asked for on terms that don't hold any more.
func (e *SlotEngine) confirmChoice(now time.Time, c *chat, token *slotAsking) (slotChoice, bool) {
	if token.terms != e.terms || token.deadline.Sub(now) < e.opt.CallTimeout*3/4 {
		return slotChoice{}, false
	}
	if token.choice.class == Cosmetic {
		return token.choice, c.waiting == 0 && !e.stopped && !e.silentUntil(c).After(now)
	}
	ch, ok := e.choose(now, c)
	return ch, ok && ch.lane == token.choice.lane && ch.spare <= token.choice.spare
}

// countUnsent counts a cosmetic call that wasn't made after all.
func (e *SlotEngine) countUnsent(ch slotChoice) {
	if ch.class == Cosmetic {
		e.countShed(ch.lane.family)
	}
}

// reportBudget logs when the budget begins or ceases to fail.
func (e *SlotEngine) reportBudget(err error) {
	switch {
	case err != nil && e.bot.err == nil:
		e.opt.Logger.Error("nothing can be sent: the budget fails", "err", err)
	case err == nil && e.bot.err != nil:
		e.opt.Logger.Info("the budget works again")
	}
	e.bot.err = err
}

// startCall begins a call.
func (e *SlotEngine) startCall(now time.Time, c *chat, ch slotChoice, permit PermitID, deadline time.Time) {
	w := ch.work
	s := &Started{
		permit: permit, Deadline: deadline, began: now, waited: now.Sub(w.since), work: w,
		Call: Call{Chat: c.key, Class: ch.class, Family: ch.lane.family},
		undo: undo{
			behind: c.behind, sinceStream: c.sinceStream,
			lastCall: c.lastCall, lastShown: c.lastShown, lastPaced: c.lastPaced,
		},
	}
	e.chargeGrant(now, c, ch, s)
	if ch.class != Stream {
		c.dequeue(w)
	}
	if c.waiting == 0 {
		c.catchUp = 0
	}
	if c.waiting == 0 && w.flow != nil {
		ch.lane.streams.endBusyPeriod(w.flow)
	}
	if ch.class == Stream {
		e.promoteFinals(now, c, ch.lane)
		ch.lane.sweepFlows()
	}
	if w.doc != nil {
		e.startDocument(now, w.doc, s)
	} else {
		startRequest(w.req, s)
	}
	c.call = s
	e.bot.open++
	e.bot.inFlight++
	e.started = append(e.started, s)
}

// chargeGrant charges a grant to those who share: the chat among chats, the
// class among classes, the flow among flows.
func (e *SlotEngine) chargeGrant(now time.Time, c *chat, ch slotChoice, s *Started) {
	e.bot.grants++
	e.bot.pace.take(now, now)
	e.bot.virtual = max(e.bot.virtual, c.start)
	c.finish = max(e.bot.virtual, c.start) + 1
	c.lastCall = now

	c.behind++
	if ch.class == Final || !c.has(Final) {
		c.behind = 0
	}
	c.sinceStream++
	if ch.class == Final || ch.class == Stream {
		c.lastPaced = now
		c.catchUp = max(0, c.catchUp-1)
	}
	if ch.class == Stream || ch.class == Cosmetic && ch.lane.family != FamilyMessage {
		c.lastShown = now
	}
	if l := ch.lane; !l.supply.behind(now, e.mainWindow(c).Per) {
		l.supply.take(now, now)
		s.undo.supplied = true
	}
	if f := ch.work.flow; ch.class == Final && f.session != "" {
		s.undo.paid = 1 / e.flowWeight(now, f)
		ch.lane.streams.charge(f, s.undo.paid)
	}
	if ch.class == Stream {
		c.sinceStream = 0
		ch.lane.pace.take(now, ch.work.due)
		s.undo.paced = true
		s.undo.paid = 1 / e.flowWeight(now, ch.work.flow)
		ch.lane.streams.serveWork(ch.work, s.undo.paid, ch.lane.restingTag(now, ch.work.flow))
		ch.work.endCharge()
		c.waiting--
		c.emitters.sample(now, e.opt.ActiveEmitterWindow, e.opt.ActiveEmitterEMAAlpha)
	}
}

func (e *SlotEngine) startDocument(now time.Time, d *document, s *Started) {
	s.Call.Session, s.Call.Doc = d.session.name, d.id
	s.Call.Delivered, s.Call.Wanted = d.delivered, d.wanted
	if d.final > d.announced {
		s.Call.Final = d.final
	}
	s.Call.Uncertain = d.uncertain
	s.live, d.live = d.live, still
	d.changed = time.Time{}
	s.undo.docCall = d.lastCall
	d.lastCall, d.excused = now, false
	d.inFlight = true
}

func startRequest(q *pendingRequest, s *Started) {
	if q.session != nil {
		s.Call.Session = q.session.name
	}
	s.Call.Key, s.Call.Uncertain = q.key, q.uncertain
	q.inFlight, q.again = true, false
}

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
		if s.undo.paid > 0 {
			w.lane.streams.refund(w.flow, s.undo.paid)
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
	for _, q := range c.requests {
		e.dropRequest(q, err)
	}
}

func (e *SlotEngine) docsOf(c *chat) []*document {
	var docs []*document
	for _, d := range e.docs {
		if d.chat == c {
			docs = append(docs, d)
		}
	}
	return docs
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
	for _, q := range from.requests {
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
	d.flow.docs--
	d.chat.docs--
	d.flow.emitter.remove()
	d.lane.leaveFlow(d.flow)
	d.chat, d.lane = to, to.lanes[0]
	d.flow = d.lane.flowOf(d.session.name)
	d.flow.docs++
	to.docs++
	e.fileDocument(now, d)
}

func moveRequest(q *pendingRequest, to *chat) {
	q.chat.dequeue(&q.slotWork)
	q.chat, q.lane = to, to.laneOf(q.lane.family)
	name := SessionKey("")
	if q.session != nil {
		name = q.session.name
	}
	q.flow = q.lane.flowOf(name)
	to.requests[q.key] = q
	to.enqueue(&q.slotWork, q.asked)
}

// merge takes in what's known about the same chat under another key.
func (t *throttle) merge(o throttle) {
	t.until = later(t.until, o.until)
	t.cut = min(t.cut, o.cut)
	t.probing = t.probing || o.probing
	t.strikes = max(t.strikes, o.strikes)
	t.heardAt = later(t.heardAt, o.heardAt)
}
