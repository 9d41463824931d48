package qos

import (
	"container/heap"
	"time"
)

// A grant goes through three gates: the chat's own (choose), the bot's, and the
// budget. The work that gets it is chosen anew when the budget has answered:
// something better may have come in the meantime.

// everyFourth grant among the chats ignores classes, so that a bot that's
// saturated by commands doesn't starve a chat that has only streams.
const everyFourth = 4

// askAgain is how long a budget that didn't answer in time is left alone.
const askAgain = time.Second

// asking is a question to the budget.
type asking struct {
	choice   choice
	deadline time.Time
	terms    int // Engine.terms when it was asked
}

// contend has a chat wait for the bot's turn, with work of a class.
func (e *Engine) contend(c *chat, class Class) {
	if c.turn >= 0 && c.ready == class {
		return
	}
	if c.turn < 0 {
		c.start = max(e.bot.virtual, c.finish)
	}
	e.withdraw(c)
	c.ready = class
	heap.Push(&e.ready[class], c)
}

// withdraw takes a chat out of those that wait for the bot's turn.
func (e *Engine) withdraw(c *chat) {
	if c.turn >= 0 {
		heap.Remove(&e.ready[c.ready], c.turn)
	}
}

// contenders is how many chats wait for the bot's turn.
func (e *Engine) contenders() int {
	n := 0
	for _, t := range e.ready {
		n += len(t)
	}
	return n
}

// grantNext gives the bot's next turn to one of the chats that wait for it. It
// returns false if there's none, or none may go.
func (e *Engine) grantNext(now time.Time) bool {
	if e.contenders() == 0 || !e.botOpen(now) {
		return false
	}
	anyClass := e.bot.grants%everyFourth == everyFourth-1
	var best *chat
	for _, t := range e.ready {
		if len(t) > 0 && (best == nil || anyClass && t[0].start < best.start) {
			best = t[0]
		}
	}
	e.withdraw(best)
	if ch, ok := e.choose(now, best); ok {
		e.ask(now, best, ch)
	}
	e.touch(best)
	return true
}

// turns is a heap of the chats that wait for the bot's turn: start-time fair
// queuing once more.
type turns []*chat

func (t turns) Len() int { return len(t) }

func (t turns) Less(i, j int) bool {
	if t[i].start != t[j].start {
		return t[i].start < t[j].start
	}
	return t[i].born < t[j].born
}

func (t turns) Swap(i, j int) {
	t[i], t[j] = t[j], t[i]
	t[i].turn, t[j].turn = i, j
}

func (t *turns) Push(x any) {
	c := x.(*chat) //nolint:forcetypeassert // heap.Push is given such
	c.turn = len(*t)
	*t = append(*t, c)
}

func (t *turns) Pop() any {
	old := *t
	c := old[len(old)-1]
	c.turn = -1
	old[len(old)-1] = nil
	*t = old[:len(old)-1]
	return c
}

// botOpen says whether the bot may make a call now, as far as the budget isn't
// concerned.
func (e *Engine) botOpen(now time.Time) bool {
	return e.bot.open < e.opt.MaxInFlight && !e.probeUnderWay() &&
		!e.bot.throttle.until.After(now) && !e.botFrom(now).After(now)
}

// probeUnderWay says whether the one call after a penalty of the whole bot isn't
// answered yet.
func (e *Engine) probeUnderWay() bool { return e.bot.throttle.probing && e.bot.open > 0 }

// botFrom is when the pace of the bot lets the next call go.
func (e *Engine) botFrom(now time.Time) time.Time {
	if e.opt.Mode == Off {
		return now
	}
	gap := float64(e.opt.Limits.Bot.Gap)
	e.bot.pace.set(now, time.Duration(gap/e.bot.throttle.paceNow(now)), 1)
	return e.bot.pace.next(now)
}

// ask asks the budget for the slot of a choice.
func (e *Engine) ask(now time.Time, c *chat, ch choice) {
	token := &asking{choice: ch, deadline: now.Add(e.opt.CallTimeout), terms: e.terms}
	c.asking = token
	e.bot.open++
	reply := func(a Answer) {
		e.hand(func(now time.Time) { e.answered(e.advance(now), c, token, a) })
	}
	a := e.budget.Ask(now, Ask{
		Chat: c.key, Family: ch.lane.family, Spare: ch.spare,
		Deadline: token.deadline, Unguarded: e.opt.Mode == Off,
		Class: ch.class, Weight: e.streamWeight(now, ch.lane),
	}, reply)
	if a.State != Pending {
		e.answered(now, c, token, a)
	}
}

// streamWeight is the sum of the weights of the flows that have something to send.
func (e *Engine) streamWeight(now time.Time, l *lane) float64 {
	sum := 0.0
	for _, f := range l.streams.heap {
		sum += e.weight(now, f)
	}
	return sum
}

// giveUpAsking stops waiting for a budget that hasn't answered for a call's time.
// If it says yes later, the slot is given back.
func (e *Engine) giveUpAsking(now time.Time, c *chat) {
	if c.asking.deadline.After(now) {
		c.look = c.asking.deadline
		return
	}
	ch := c.asking.choice
	c.asking = nil
	e.bot.open--
	ch.lane.learnHint(ch.spare, now.Add(askAgain))
	e.shedUnsent(ch)
	e.touch(c)
}

// answered takes in the budget's answer.
func (e *Engine) answered(now time.Time, c *chat, token *asking, a Answer) {
	if c.asking != token {
		if a.State == Granted {
			e.budget.Refund(now, a.Permit)
		}
		return
	}
	c.asking = nil
	e.bot.open--
	e.touch(c)
	e.noteBudget(a.Err)
	if a.State != Granted {
		if !a.At.After(now) { // we'd ask in a circle
			a.At = now.Add(time.Millisecond)
		}
		token.choice.lane.learnHint(token.choice.spare, a.At)
		e.shedUnsent(token.choice)
		return
	}
	ch, ok := e.confirm(now, c, token)
	if !ok {
		e.budget.Refund(now, a.Permit)
		e.shedUnsent(token.choice)
		return
	}
	e.start(now, c, ch, a.Permit, token.deadline)
}

// confirm chooses anew for a slot that was granted. It returns false if nothing
// is left that the slot is good for, too little of the call's time is left, or the
// slot was asked for on terms that don't hold any more.
func (e *Engine) confirm(now time.Time, c *chat, token *asking) (choice, bool) {
	if token.terms != e.terms || token.deadline.Sub(now) < e.opt.CallTimeout*3/4 {
		return choice{}, false
	}
	if token.choice.class == Cosmetic {
		return token.choice, c.waiting == 0 && !e.stopped && !e.silentUntil(c).After(now)
	}
	ch, ok := e.choose(now, c)
	return ch, ok && ch.lane == token.choice.lane && ch.spare <= token.choice.spare
}

// shedUnsent counts a cosmetic call that wasn't made after all.
func (e *Engine) shedUnsent(ch choice) {
	if ch.class == Cosmetic {
		e.shed(ch.lane.family)
	}
}

// noteBudget logs when the budget begins or ceases to fail.
func (e *Engine) noteBudget(err error) {
	switch {
	case err != nil && e.bot.err == nil:
		e.opt.Logger.Error("nothing can be sent: the budget fails", "err", err)
	case err == nil && e.bot.err != nil:
		e.opt.Logger.Info("the budget works again")
	}
	e.bot.err = err
}

// start begins a call.
func (e *Engine) start(now time.Time, c *chat, ch choice, permit PermitID, deadline time.Time) {
	w := ch.work
	s := &Started{
		permit: permit, Deadline: deadline, began: now, waited: now.Sub(w.since), work: w,
		Call: Call{Chat: c.key, Class: ch.class, Family: ch.lane.family},
		undo: undo{
			behind: c.behind, sinceStream: c.sinceStream,
			lastCall: c.lastCall, lastShown: c.lastShown, lastPaced: c.lastPaced,
		},
	}
	e.account(now, c, ch, s)
	if ch.class != Stream {
		c.dequeue(w)
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

// account has the grant paid for by those who share: the chat among chats, the
// class among classes, the flow among flows.
func (e *Engine) account(now time.Time, c *chat, ch choice, s *Started) {
	e.bot.grants++
	e.bot.pace.take(now, now)
	e.bot.virtual = max(e.bot.virtual, c.start)
	c.finish = max(e.bot.virtual, c.start) + 1
	c.lastCall = now

	c.behind++
	if ch.class == Final || !c.finalWaits() {
		c.behind = 0
	}
	c.sinceStream++
	if ch.class == Final || ch.class == Stream {
		c.lastPaced = now
	}
	if ch.class == Stream || ch.class == Cosmetic && ch.lane.family != FamilyMessage {
		c.lastShown = now
	}
	if l := ch.lane; !l.supply.behind(now, e.mainWindow(c).Per) {
		l.supply.take(now, now)
		s.undo.supplied = true
	}
	if ch.class == Stream {
		c.sinceStream = 0
		ch.lane.pace.take(now, ch.work.due)
		s.undo.paced = true
		ch.lane.streams.serve(ch.work, e.weight(now, ch.work.flow))
		c.waiting--
		ch.lane.sweep()
		c.emitters.sample(now, e.opt.ActiveEmitterWindow, e.opt.ActiveEmitterEMAAlpha)
	}
}

func (e *Engine) startDocument(now time.Time, d *document, s *Started) {
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

func startRequest(q *request, s *Started) {
	if q.session != nil {
		s.Call.Session = q.session.name
	}
	s.Call.Key, s.Call.Uncertain = q.key, q.uncertain
	q.inFlight, q.again = true, false
}
