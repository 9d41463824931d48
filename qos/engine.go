package qos

import (
	"math/rand/v2"
	"time"
)

// Engine is the scheduling algorithm: what OutputQoSScheduler does, without
// goroutines and clock. Each method takes the time, which never goes back: an
// earlier one than before is taken as that before. After any of them call Advance
// and make the calls it returns; call Finish for each when it's done, and look
// again by calling Advance at Next. It isn't safe for concurrent use.
//
// Most users want OutputQoSScheduler. An Engine by itself is for simulations.
type Engine struct {
	opt    Options // defaults filled in
	budget Budget
	// hand gives what must be done because of a budget's late reply to whoever owns
	// the engine.
	hand   func(do func(now time.Time))
	random *rand.Rand
	now    time.Time

	docs     map[DocID]*document
	chats    map[Chat]*chat
	sessions map[Session]*session
	flushes  flushes // closed documents that still send

	agenda  agenda
	touched []*chat         // to be looked at now
	ready   [Cosmetic]turns // chats that wait for the bot's turn, by class
	started []*Started
	bot     bot
	toldOff []toldOff
	totals  Totals
	born    uint64 // chats made so far

	terms    int  // how often the options have changed
	draining bool // streams rest, requests are refused
	stopped  bool // nothing is begun any more
	// moved is told when a document's delivered number or its waiting has changed.
	moved func(*document)
}

// bot is what all chats share.
type bot struct {
	throttle throttle
	pace     pacer
	open     int // calls in flight, and questions to the budget
	inFlight int
	grants   int
	virtual  float64 // virtual time among the chats
	err      error   // why the budget can't say yes
}

// Started is a call to make.
type Started struct {
	Call     Call
	Deadline time.Time // of Deliver's context

	permit PermitID
	began  time.Time
	waited time.Duration
	work   *work
	undo   undo
	live   live // a change of the live region is part of it
}

// undo is what a grant changed in its chat, to take it back if no call was made.
// Nothing else in the chat is granted in between.
type undo struct {
	behind, sinceStream int
	lastCall, lastShown time.Time
	lastPaced           time.Time
	docCall             time.Time
	paced, supplied     bool
}

// NewEngine returns an engine that takes slots from budget. What hand is given must
// be called where the engine's methods are, followed by Advance; hand itself is
// called from any goroutine. It may be nil if the budget never answers Pending.
func NewEngine(opt Options, budget Budget, hand func(do func(now time.Time))) (*Engine, error) {
	if err := opt.Validate(); err != nil {
		return nil, err
	}
	e := &Engine{
		budget: budget, hand: hand,
		docs: map[DocID]*document{}, chats: map[Chat]*chat{}, sessions: map[Session]*session{},
		moved: func(*document) {},
	}
	e.opt = opt.withDefaults()
	seed := e.opt.Seed
	if seed == 0 {
		seed = rand.Uint64()
	}
	e.random = rand.New(rand.NewPCG(seed, seed))
	budget.Configure(e.opt.Limits)
	return e, nil
}

// advance returns now, or the latest time seen if that's later.
func (e *Engine) advance(now time.Time) time.Time {
	if e.now.IsZero() || now.After(e.now) {
		e.now = now
	}
	return e.now
}

// chatOf returns a chat's state, which it makes if need be.
func (e *Engine) chatOf(key Chat) *chat {
	c := e.chats[key]
	if c == nil {
		e.born++
		c = &chat{key: key, born: e.born, requests: map[string]*request{}, index: -1, turn: -1}
		c.laneOf(FamilyMessage)
		e.chats[key] = c
	}
	return c
}

// touch has a chat looked at when everything that's known has been taken in.
func (e *Engine) touch(c *chat) {
	if !c.touched {
		c.touched = true
		e.touched = append(e.touched, c)
	}
}

func (e *Engine) touchAll() {
	for _, c := range e.chats {
		e.touch(c)
	}
}

// Advance returns the calls to make now.
func (e *Engine) Advance(now time.Time) []*Started {
	now = e.advance(now)
	e.abandon(now)
	for {
		for len(e.agenda) > 0 && !e.agenda[0].look.After(now) {
			c := e.agenda[0]
			c.look = time.Time{}
			e.agenda.set(c)
			e.touch(c)
		}
		if len(e.touched) == 0 && !e.grantNext(now) {
			break
		}
		for len(e.touched) > 0 {
			last := len(e.touched) - 1
			c := e.touched[last]
			e.touched = e.touched[:last]
			c.touched = false
			e.lookAt(now, c)
		}
	}
	e.shrink()
	started := e.started
	e.started = nil
	return started
}

// lookAt decides what a chat waits for: the bot's turn, a time, or nothing.
func (e *Engine) lookAt(now time.Time, c *chat) {
	switch {
	case c.forgotten:
		return
	case c.asking != nil:
		e.giveUpAsking(now, c)
	case c.call != nil:
		c.look = time.Time{}
	default:
		if ch, ok := e.choose(now, c); ok {
			e.contend(c, ch.class)
		} else {
			e.withdraw(c)
		}
		e.retire(now, c)
	}
	if !c.forgotten {
		e.agenda.set(c)
	}
}

// retire forgets a chat that has nothing left, as soon as its past doesn't matter
// any more.
func (e *Engine) retire(now time.Time, c *chat) {
	if c.docs > 0 || c.waiting > 0 || len(c.requests) > 0 || c.busy() {
		return
	}
	at := c.throttle.forgettable()
	for _, l := range c.lanes {
		at = later(at, l.throttle.until)
	}
	at = later(at, c.backoff.until)
	if !c.lastCall.IsZero() {
		at = later(at, c.lastCall.Add(time.Minute)) // its pace
	}
	if at.After(now) {
		c.lookBy(at)
		return
	}
	e.discard(c)
}

func (e *Engine) discard(c *chat) {
	c.forgotten = true
	c.look = time.Time{}
	e.agenda.set(c)
	delete(e.chats, c.key)
	e.chats = shrunk(e.chats)
}

// shrink lets go of memory that a busier time needed.
func (e *Engine) shrink() {
	const keep = 64
	if len(e.chats) == 0 {
		if cap(e.agenda) > keep {
			e.agenda = nil
		}
		if cap(e.flushes) > keep {
			e.flushes = nil
		}
		if cap(e.touched) > keep {
			e.touched = nil
		}
		for class := range e.ready {
			if cap(e.ready[class]) > keep {
				e.ready[class] = nil
			}
		}
	}
}

// Next is when Advance has something to do, if nothing happens before; zero:
// never.
func (e *Engine) Next() time.Time {
	var next time.Time
	soonest := func(at time.Time) {
		if next.IsZero() || at.Before(next) {
			next = at
		}
	}
	if len(e.agenda) > 0 {
		soonest(e.agenda[0].look)
	}
	if len(e.flushes) > 0 {
		soonest(e.flushes[0].flushBy)
	}
	if e.contenders() > 0 && e.bot.open < e.opt.MaxInFlight && !e.probeUnderWay() {
		soonest(later(e.bot.throttle.until, e.botFrom(e.now)))
	}
	return next
}

// emit tells the owner what must not be lost silently.
func (e *Engine) emit(ev Event) { e.opt.OnEvent(ev) }

// Learn narrows a scope; see Budget.Learn.
func (e *Engine) Learn(now time.Time, scope Scope, learned Learned) {
	now = e.advance(now)
	e.budget.Learn(now, scope, learned)
	if c := e.chats[scope.Chat]; c != nil {
		e.forgetHints(c)
	}
}

// Freed has the budget asked again about a chat, about all if it's empty; see
// Budget.Run.
func (e *Engine) Freed(now time.Time, chat Chat) {
	e.advance(now)
	if c := e.chats[chat]; c != nil {
		e.forgetHints(c)
	}
	if chat == "" {
		for _, c := range e.chats {
			e.forgetHints(c)
		}
	}
}

// forgetHints has the budget asked again.
func (e *Engine) forgetHints(c *chat) {
	for _, l := range c.lanes {
		l.hints = [2]hint{}
	}
	e.touch(c)
}

// Reconfigure changes the options; see OutputQoSScheduler.Reconfigure.
func (e *Engine) Reconfigure(now time.Time, opt Options) error {
	opt.Seed, opt.OnEvent, opt.Observer, opt.Logger = e.opt.Seed, e.opt.OnEvent, e.opt.Observer, e.opt.Logger
	if err := opt.Validate(); err != nil {
		return err
	}
	e.advance(now)
	e.opt = opt.withDefaults()
	e.terms++
	e.budget.Configure(e.opt.Limits)
	for _, c := range e.chats {
		c.restAgain()
		e.forgetHints(c)
	}
	return nil
}
