package qos

import (
	"cmp"
	"maps"
	"math/rand/v2"
	"slices"
	"time"
)

// SlotEngine is the scheduling algorithm: what OutputQoSScheduler does, without
// goroutines and clock. Each method takes the time, which never goes back: an
// earlier one than before is taken as that before. After any of them call Advance
// and make the calls it returns; call Finish for each when it's done, and look
// again by calling Advance at NextLook. It isn't safe for concurrent use.
//
// Most users want OutputQoSScheduler. A SlotEngine by itself is for simulations.
type SlotEngine struct {
	opt    Options // defaults filled in
	budget Budget
	// hand gives what must be done because of a budget's late reply to whoever owns
	// the engine.
	hand   func(do func(now time.Time))
	random *rand.Rand
	now    time.Time

	docs     map[DocID]*document
	chats    map[ChatKey]*chat
	sessions map[SessionKey]*sessionState
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
	work   *slotWork
	undo   undo
	live   liveChange // a change of the live region is part of it
}

// undo is what a grant changed in its chat, to take it back if no call was made.
// Nothing else in the chat is granted in between.
type undo struct {
	behind, sinceStream int
	lastCall, lastShown time.Time
	lastPaced           time.Time
	docCall             time.Time
	paced, supplied     bool
	paid                float64 // by the flow
	virtual             float64 // the lane's, before the call ended a busy period
}

// NewSlotEngine returns an engine that takes slots from budget. What hand is given must
// be called where the engine's methods are, followed by Advance; hand itself is
// called from any goroutine. It may be nil if the budget never answers Pending.
func NewSlotEngine(opt Options, budget Budget, hand func(do func(now time.Time))) (*SlotEngine, error) {
	if err := opt.Validate(); err != nil {
		return nil, err
	}
	e := &SlotEngine{
		budget: budget, hand: hand,
		docs: map[DocID]*document{}, chats: map[ChatKey]*chat{}, sessions: map[SessionKey]*sessionState{},
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

// advanceClock returns now, or the latest time seen if that's later.
func (e *SlotEngine) advanceClock(now time.Time) time.Time {
	if e.now.IsZero() || now.After(e.now) {
		e.now = now
	}
	return e.now
}

// chatOf returns a chat's state, which it makes if need be.
func (e *SlotEngine) chatOf(key ChatKey) *chat {
	c := e.chats[key]
	if c == nil {
		e.born++
		c = &chat{key: key, born: e.born, requests: map[string]*pendingRequest{}, index: -1, turn: -1}
		c.laneOf(FamilyMessage)
		e.chats[key] = c
	}
	return c
}

// touchChat marks a chat for Advance to look at, once everything that's known has been taken in.
func (e *SlotEngine) touchChat(c *chat) {
	if !c.touched {
		c.touched = true
		e.touched = append(e.touched, c)
	}
}

func (e *SlotEngine) touchAll() {
	for _, c := range e.chats {
		e.touchChat(c)
	}
}

// retireChat forgets a chat that has nothing left, as soon as its past doesn't matter
// any more.
func (e *SlotEngine) retireChat(now time.Time, c *chat) {
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
	e.discardChat(c)
}

func (e *SlotEngine) discardChat(c *chat) {
	c.forgotten = true
	c.look = time.Time{}
	setLook(&e.agenda, c)
	delete(e.chats, c.key)
	e.chats = shrunk(e.chats)
}

// shrinkQueues lets go of memory that a busier time needed.
func (e *SlotEngine) shrinkQueues() {
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

// NextLook is when Advance has something to do, if nothing happens before; zero:
// never.
func (e *SlotEngine) NextLook() time.Time {
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
	if e.countTurns() > 0 && e.bot.open < e.opt.MaxInFlight && !e.probeUnderWay() {
		soonest(later(e.bot.throttle.until, e.botFrom(e.now)))
	}
	return next
}

// emitEvent tells the owner what must not be lost silently.
func (e *SlotEngine) emitEvent(ev SchedulerEvent) { e.opt.OnEvent(ev) }

// Learn narrows a scope; see Budget.Learn.
func (e *SlotEngine) Learn(now time.Time, scope Scope, learned Learned) {
	now = e.advanceClock(now)
	e.budget.Learn(now, scope, learned)
	if c := e.chats[scope.Chat]; c != nil {
		e.forgetHints(c)
	}
}

// ReaskBudget asks the budget again for chat's waiting calls; an empty chat means all chats. See
// Budget.Run.
func (e *SlotEngine) ReaskBudget(now time.Time, chat ChatKey) {
	e.advanceClock(now)
	if c := e.chats[chat]; c != nil {
		e.forgetHints(c)
	}
	if chat == "" {
		for _, c := range e.chats {
			e.forgetHints(c)
		}
	}
}

// forgetHints makes the engine ask the budget again for a chat.
func (e *SlotEngine) forgetHints(c *chat) {
	for _, l := range c.lanes {
		l.hints = [2]hint{}
	}
	e.touchChat(c)
}

// Reconfigure changes the options; see OutputQoSScheduler.Reconfigure.
func (e *SlotEngine) Reconfigure(now time.Time, opt Options) error {
	opt.Seed, opt.OnEvent, opt.Meter, opt.Logger = e.opt.Seed, e.opt.OnEvent, e.opt.Meter, e.opt.Logger
	if err := opt.Validate(); err != nil {
		return err
	}
	now = e.advanceClock(now)
	e.opt = opt.withDefaults()
	e.terms++
	e.budget.Configure(e.opt.Limits)
	e.promoteAllFinals(now)
	for _, c := range e.chats {
		c.restAgain()
		e.forgetHints(c)
	}
	return nil
}

// Status returns the state now.
func (e *SlotEngine) Status(now time.Time) SchedulerStatus {
	now = e.advanceClock(now)
	s := SchedulerStatus{
		At: now, Mode: e.opt.Mode, InFlight: e.bot.inFlight, Documents: len(e.docs), Totals: e.totals,
		Bot: BotStatus{
			PenaltyUntil: ahead(now, e.bot.throttle.until), Multiplier: e.bot.throttle.multiplier(), BudgetErr: e.bot.err,
		},
	}
	for _, key := range slices.Sorted(maps.Keys(e.chats)) {
		s.Chats = append(s.Chats, e.chatStatus(now, e.chats[key]))
	}
	s.Load = e.loadStatus(now)
	for _, d := range e.docs {
		if d.dirty.IsZero() {
			continue
		}
		i, _ := slices.BinarySearchFunc(s.Chats, d.chat.key, func(c ChatStatus, k ChatKey) int { return cmp.Compare(c.Chat, k) })
		s.Chats[i].Documents = append(s.Chats[i].Documents, docStatus(now, d))
	}
	for i := range s.Chats {
		slices.SortFunc(s.Chats[i].Documents, func(a, b DocStatus) int { return cmp.Compare(a.Doc, b.Doc) })
	}
	return s
}

// loadStatus sums up all chats. What the pace is in those in which nothing is to be said counts only if
// that's so in all.
func (e *SlotEngine) loadStatus(now time.Time) (sum LoadStatus) {
	busy := func(c *chat) bool {
		return c.waiting > 0 || c.busy() || c.emitters.count(now, e.opt.ActiveEmitterWindow) > 0
	}
	idle := true
	for _, c := range e.chats {
		idle = idle && !busy(c)
	}
	sum.Pace = e.bot.throttle.multiplier()
	for _, c := range e.chats {
		if idle || busy(c) {
			sum.Pace = min(sum.Pace, c.throttle.multiplier())
			sum.Reserve = max(sum.Reserve, e.leftSlots(now, c))
			sum.Tick = max(sum.Tick, e.chatTick(now, c))
		}
		sum.ActiveSessions += c.emitters.emitting(now, e.opt.ActiveEmitterWindow)
		var s ChatStatus
		s.countAll(now, c)
		for class, w := range s.Waiting {
			sum.Oldest = max(sum.Oldest, w.Oldest)
			in := &sum.Waiting[class]
			in.Count, in.Oldest = in.Count+w.Count, max(in.Oldest, w.Oldest)
		}
	}
	return sum
}

// chatTick is the time between two streams of a chat's messages.
func (e *SlotEngine) chatTick(now time.Time, c *chat) time.Duration {
	if len(c.lanes) == 0 {
		return 0
	}
	return e.streamTick(now, c, c.lanes[0])
}

// windowsOf is what's used of a chat's windows. The budget has none for a chat that it doesn't know.
func (e *SlotEngine) windowsOf(now time.Time, key ChatKey) []WindowUse {
	uses := e.budget.Use(now, key)
	if len(uses) == 0 {
		limit, _ := e.opt.Limits.LimitOf(key, FamilyMessage)
		for _, w := range limit.Windows {
			uses = append(uses, WindowUse{Window: w})
		}
	}
	return uses
}

// leftSlots is how many slots of a window streams leave at their full pace to what matters more.
func (e *SlotEngine) leftSlots(now time.Time, c *chat) int {
	if e.opt.Mode != Strict {
		return 0
	}
	window := e.mainWindow(c)
	left := e.keptSlots(now, c, window)
	if !e.opt.HardReserve && e.ratioHolds(now, c) {
		left = max(left, window.Calls-share(window, e.opt.OutputBudgetRatio))
	}
	return left
}

func (e *SlotEngine) chatStatus(now time.Time, c *chat) ChatStatus {
	s := ChatStatus{
		Chat: c.key, Windows: e.windowsOf(now, c.key), InFlight: c.call != nil,
		PenaltyUntil: ahead(now, e.penaltyUntil(c)), BackoffUntil: ahead(now, c.backoff.until),
		Multiplier:     c.throttle.multiplier(),
		Tick:           e.chatTick(now, c),
		ActiveSessions: c.emitters.emitting(now, e.opt.ActiveEmitterWindow),
		Reserve:        e.leftSlots(now, c),
		CallsToPace:    max(c.throttle.callsToFull(), e.bot.throttle.callsToFull()),
	}
	if c.waiting > 0 { // else it's looked at when it can be forgotten
		s.NextSlot = ahead(now, c.look)
	}
	for _, l := range c.lanes {
		s.PenaltyUntil = later(s.PenaltyUntil, ahead(now, l.throttle.until))
	}
	s.countAll(now, c)
	return s
}

// countAll adds what waits in a chat.
func (s *ChatStatus) countAll(now time.Time, c *chat) {
	for _, l := range c.lanes {
		for class := range l.waiting {
			s.count(now, &l.waiting[class])
		}
		for _, f := range l.flows {
			s.count(now, &f.waiting)
		}
	}
}

// count adds what waits in a list.
func (s *ChatStatus) count(now time.Time, l *fifo[*slotWork]) {
	for w := range l.all {
		in := &s.Waiting[w.class]
		in.Count++
		in.Oldest = max(in.Oldest, now.Sub(w.since))
	}
}

func docStatus(now time.Time, d *document) DocStatus {
	class, _ := d.waitingClass()
	return DocStatus{
		Doc: d.id, Session: d.session.name, Class: class, Delivered: d.delivered, Wanted: d.wanted,
		Pressure:  Pressure{Behind: d.wanted - d.delivered, Age: now.Sub(d.dirty)},
		Uncertain: d.uncertain,
	}
}

// ahead is t if it's in the future, and else zero.
func ahead(now, t time.Time) time.Time {
	if t.After(now) {
		return t
	}
	return time.Time{}
}

// beginDraining rests streams and refuses requests from now on.
func (e *SlotEngine) beginDraining(now time.Time) {
	now = e.advanceClock(now)
	e.draining = true
	e.promoteAllFinals(now)
	e.touchAll()
}

// isDrained says whether no call is under way and none could begin before a time;
// zero: ever.
func (e *SlotEngine) isDrained(before time.Time) bool {
	if e.bot.open > 0 || e.countTurns() > 0 {
		return false
	}
	for _, c := range e.chats {
		if c.important() && (c.look.IsZero() || before.IsZero() || c.look.Before(before)) {
			return false
		}
	}
	return true
}

// countWaiting is how many documents and requests wait.
func (e *SlotEngine) countWaiting() int {
	n := 0
	for _, c := range e.chats {
		n += c.waiting
		if c.call != nil {
			n++
		}
	}
	return n
}

// stopCalls ends the beginning of calls.
func (e *SlotEngine) stopCalls() {
	e.stopped = true
	e.touchAll()
}

// isIdle says whether no call is under way, and no question to the budget either,
// unless there's no more time for that.
func (e *SlotEngine) isIdle(late bool) bool {
	return e.bot.inFlight == 0 && (e.bot.open == 0 || late)
}

// Pressure says how far a document lags behind its session.
type Pressure struct {
	Behind int64         // lines that are wanted and haven't reached the chat
	Age    time.Duration // for how long the oldest change has waited; 0 if nothing waits
}

// SchedulerStatus is the scheduler's state at one moment, for `panebridge status` and
// the page. It's a copy.
type SchedulerStatus struct {
	At        time.Time
	Mode      Mode
	InFlight  int
	Documents int
	Totals    Totals
	Bot       BotStatus
	Load      LoadStatus
	Chats     []ChatStatus // sorted by key; those with documents, work, a penalty or a recent call
}

// LoadStatus says how much there is to do, and at what pace it's done.
type LoadStatus struct {
	Tick           time.Duration // between two streams, in the busy chat in which that's longest; 0: there's no pace
	ActiveSessions float64       // sessions that print, averaged, of all chats together
	Oldest         time.Duration // how long the oldest of what waits for a slot has waited; 0: nothing waits
	Pace           float64       // what the pace is multiplied by in the busy chat in which that's least; 1: nowhere reduced
	Reserve        int           // slots of a window that streams leave, in the busy chat in which they're most
	Waiting        [Cosmetic]WaitingCount
}

// BotStatus is what holds for all chats.
type BotStatus struct {
	PenaltyUntil time.Time // zero: none
	Multiplier   float64   // of the pace, 0.3 to 1
	BudgetErr    error     // why the budget can't say yes; nil when it can
}

// ChatStatus is one chat.
type ChatStatus struct {
	Chat           ChatKey
	Windows        []WindowUse // what's used
	Reserve        int         // slots of a window that streams leave at their full pace
	InFlight       bool
	NextSlot       time.Time     // when it's looked at again; zero: when something changes
	PenaltyUntil   time.Time     // zero: none
	BackoffUntil   time.Time     // zero: none
	Multiplier     float64       // of the pace, 0.3 to 1
	CallsToPace    int           // so many accepted calls later the pace is whole
	Tick           time.Duration // between two streams; 0: there's no pace
	ActiveSessions float64       // sessions that print, averaged; 0 while none does
	Waiting        [Cosmetic]WaitingCount
	Documents      []DocStatus // those that wait
}

// WaitingCount is what waits in a class.
type WaitingCount struct {
	Count  int
	Oldest time.Duration // how long the oldest has waited
}

// DocStatus is one document that waits.
type DocStatus struct {
	Doc       DocID
	Session   SessionKey
	Class     Class
	Delivered int64
	Wanted    int64
	Pressure  Pressure
	Uncertain bool
}

// Totals count since the scheduler was made.
type Totals struct {
	Calls     [classes]uint64  // that used a slot, by class
	Outcomes  [outcomes]uint64 // of all calls
	Updates   uint64           // wanted numbers, turn ends and live changes that came in
	Coalesced uint64           // of these, those that needed no call of their own
	Shed      uint64           // cosmetic calls that weren't made
	Penalties uint64           // "too many requests" answers
}

// Errors are the calls that didn't do what they were made for.
func (t *Totals) Errors() (n uint64) {
	for o, count := range t.Outcomes {
		if CallOutcome(o).isError() {
			n += count
		}
	}
	return n
}

// isError says whether a call didn't do what it was made for.
func (o CallOutcome) isError() bool { return o != OutcomeUnknown && o != Delivered && o != Unchanged }
