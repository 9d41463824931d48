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

// Advance returns the calls to make now.
func (e *SlotEngine) Advance(now time.Time) []*Started {
	now = e.advanceClock(now)
	e.abandonFlushes(now)
	for {
		for len(e.agenda) > 0 && !e.agenda[0].look.After(now) {
			c := e.agenda[0]
			c.look = time.Time{}
			setLook(&e.agenda, c)
			e.touchChat(c)
		}
		if len(e.touched) == 0 && !e.grantNext(now) {
			break
		}
		for len(e.touched) > 0 {
			last := len(e.touched) - 1
			c := e.touched[last]
			e.touched = e.touched[:last]
			c.touched = false
			e.lookAtChat(now, c)
		}
	}
	e.shrinkQueues()
	started := e.started
	e.started = nil
	return started
}

// lookAtChat decides what a chat waits for: the bot's turn, a time, or nothing.
func (e *SlotEngine) lookAtChat(now time.Time, c *chat) {
	switch {
	case c.forgotten:
		return
	case c.asking != nil:
		e.giveUpAsking(now, c)
	case c.call != nil:
		c.look = time.Time{}
	default:
		if ch, ok := e.choose(now, c); ok {
			e.enterTurns(c, ch.class)
		} else {
			e.leaveTurns(c)
		}
		e.retireChat(now, c)
	}
	if !c.forgotten {
		setLook(&e.agenda, c)
	}
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
	e.setBotPace(now)
	return e.bot.pace.next(now)
}

// setBotPace sets the bot's pace by its penalties. It's called when they change, too: else what was saved until the next
// look would be counted by another pace, depending on when that is.
func (e *SlotEngine) setBotPace(now time.Time) {
	gap := float64(e.opt.Limits.Bot.Gap)
	e.bot.pace.set(now, time.Duration(gap/e.bot.throttle.multiplier()), 1)
}

// askBudget asks the budget for the slot of a choice.
func (e *SlotEngine) askBudget(now time.Time, c *chat, ch slotChoice) {
	token := &slotAsking{choice: ch, deadline: now.Add(e.opt.CallTimeout), terms: e.terms}
	c.asking = token
	e.bot.open++
	e.bot.grants++
	e.bot.pace.take(now, now) // now: else others would ask while this is being answered, and lose their turn by a no
	reply := func(a SlotAnswer) {
		e.hand(func(now time.Time) { e.takeAnswer(e.advanceClock(now), c, token, a) })
	}
	a := e.budget.AskSlot(now, SlotQuestion{
		Chat: c.key, Family: ch.lane.family, Spare: ch.spare,
		Deadline: token.deadline, Unguarded: e.opt.Mode == Off,
		Class: ch.class, Weight: e.waitingWeight(now, ch.lane),
	}, reply)
	if a.State != Pending {
		e.takeAnswer(now, c, token, a)
	}
}

// undoTurn takes back a turn of which no call came.
func (b *bot) undoTurn() {
	b.grants--
	b.pace.giveBack()
}

// waitingWeight is the sum of the weights of the sessions that have something to send, other than answers.
func (e *SlotEngine) waitingWeight(now time.Time, l *lane) float64 {
	sum, counted := 0.0, map[*flow]bool{}
	count := func(f *flow) {
		if !counted[f] {
			counted[f] = true
			sum += e.flowWeight(now, f)
		}
	}
	for _, f := range l.streams.heap {
		count(f)
	}
	for _, class := range []Class{Final, Stream} {
		for w := range l.waiting[class].all {
			count(w.flow)
		}
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
	e.bot.undoTurn()
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
		e.bot.undoTurn()
		if !a.At.After(now) { // we'd ask in a circle
			a.At = now.Add(time.Millisecond)
		}
		token.choice.lane.learnHint(token.choice.spare, a.At)
		e.countUnsent(token.choice)
		return
	}
	ch, ok := e.confirmChoice(now, c, token)
	if !ok {
		e.bot.undoTurn()
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
	s.undo.virtual = ch.lane.streams.virtual
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
		if ch.work.doc != nil {
			copy(f.ended[:], f.ended[1:])
			f.ended[finalBurst-1] = now
		}
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
