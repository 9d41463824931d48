package qos

import (
	"slices"
	"strconv"
	"time"
)

// Explanation says who gets a chat's next calls, when and why not before, if nothing else
// happens. It's a copy.
type Explanation struct {
	At             time.Time
	Mode           Mode
	Chat           ChatStatus
	BudgetErr      error      // why the budget can't say yes; nil when it can
	Call           *CallBegun // under way; nil: none
	ActiveSessions float64    // those that the pace is shared by, averaged
	Next           []NextCall // of what waits, in the order in which it's called; those without a time last
}

// CallBegun is a call that's under way.
type CallBegun struct {
	Session  SessionKey
	Class    Class
	Began    time.Time
	Deadline time.Time // it's given up then
}

// NextCall is the next call for a document or a request that waits.
type NextCall struct {
	Doc     DocID  // of a document
	Key     string // of a request
	Session SessionKey
	Class   Class
	Family  Family
	Waited  time.Duration
	// LastCall is when the last call for the document began; zero: there was none. What has waited since before it
	// was told in part, or the call failed.
	LastCall time.Time
	// At is when the call is made if nothing else happens before; for all but the first turn
	// it's also taken that each call takes as long as the chat's usually do. Zero: when
	// something changes.
	At    time.Time
	Holds []Hold // why the call isn't made before; what decides comes first. Empty: it's made now
}

// HoldKind names a reason for which a call isn't made yet.
type HoldKind uint8

// The reasons.
const (
	// HoldOthers: Hold.Count others are called before.
	HoldOthers HoldKind = iota + 1
	// HoldCall: a call to the chat is under way, and there's one at a time.
	HoldCall
	// HoldAsked: the budget has been asked for a slot, and hasn't answered yet.
	HoldAsked
	// HoldPenalty: the platform ordered silence.
	HoldPenalty
	// HoldBackoff: Hold.Count calls in a row failed.
	HoldBackoff
	// HoldSlowStart: after a penalty streams and finished turns come back slowly, one per Hold.Every.
	HoldSlowStart
	// HoldAsleep: what waits can't be shown before; see CallResult.Again.
	HoldAsleep
	// HoldSessionTick: a document rests for Options.MinSessionTick after its last call.
	HoldSessionTick
	// HoldRest: a document rests until Hold.Count sessions, which share the chat at one call
	// per Hold.Every, had their turns.
	HoldRest
	// HoldLive: only the live region was redrawn, for which there's a call per Hold.Every.
	HoldLive
	// HoldRounding: a document rests for Options.Rounding after its last call.
	HoldRounding
	// HoldPace: streams are paced, one per Hold.Every.
	HoldPace
	// HoldSupply: all calls of the chat together keep to one per Hold.Every on average; after more replies than
	// were saved for, streams give way one by one.
	HoldSupply
	// HoldWindow: all Hold.Count calls of a window are used.
	HoldWindow
	// HoldReserve: Hold.Count slots of the window are kept for what matters more.
	HoldReserve
	// HoldMayArrive: an earlier call may still arrive, and must not be overtaken.
	HoldMayArrive
	// HoldLearned: the platform said that the limit is used up.
	HoldLearned
	// HoldBudget: the budget said that there's no slot before. It's shared with other
	// processes, or it fails.
	HoldBudget
	// HoldBotWindow: all calls of the bot's window are used.
	HoldBotWindow
	// HoldBotPace: the bot's calls are kept apart.
	HoldBotPace
	// HoldBotBusy: the bot makes as many calls at a time as it may, Hold.Count.
	HoldBotBusy
	// HoldProbe: after a penalty of the whole bot one call is on its way to try.
	HoldProbe
	// HoldAhead: the end of a turn waits as a stream does, since its session has had more than its share.
	HoldAhead
	// HoldEnding: the scheduler ends, and streams go on after the next start.
	HoldEnding

	holdKinds // how many there are, and one
)

func (k HoldKind) String() string {
	names := [holdKinds]string{
		"unknown", "others", "call", "asked", "penalty", "backoff", "slow_start", "asleep", "session_tick", "rest", "live",
		"rounding", "pace", "supply", "window", "reserve", "may_arrive", "learned", "budget", "bot_window", "bot_pace",
		"bot_busy", "probe", "ahead", "ending",
	}
	if int(k) < len(names) {
		return names[k]
	}
	return "invalid"
}

// Hold is a reason for which a call isn't made yet.
type Hold struct {
	Kind  HoldKind
	Until time.Time     // zero: until something changes
	Count int           // see HoldKind
	Every time.Duration // see HoldKind
	Knobs []Knob        // that would change it; none: it's the platform's order, or what's being sent
}

// Knob is an option by its name in the configuration.
type Knob struct {
	Name  string
	Value string // now
	Try   string // what makes a call come earlier: "higher", "lower", or a value
}

// Explain says who gets a chat's next calls, when and why not before. It plays on with a copy
// of the engine (see shadowOf), so what it says is what the engine does. It returns false if
// nothing is known about the chat.
func (e *SlotEngine) Explain(now time.Time, key ChatKey) (Explanation, bool) {
	now = e.advanceClock(now)
	c := e.chats[key]
	if c == nil {
		return Explanation{}, false
	}
	x := Explanation{At: now, Mode: e.opt.Mode, BudgetErr: e.bot.err}
	still, sc := e.shadowOf(c)
	x.Chat = still.chatStatus(now, sc)
	x.Chat.Windows = e.windowsOf(now, key)
	x.Chat.NextSlot = time.Time{}
	if c.waiting > 0 {
		x.Chat.NextSlot = ahead(now, c.look)
	}
	x.ActiveSessions = sc.emitters.emitting(now, e.opt.ActiveEmitterWindow)
	if s := c.call; s != nil {
		x.Call = &CallBegun{Session: s.Call.Session, Class: s.Call.Class, Began: s.began, Deadline: s.Deadline}
	}
	for _, w := range sc.allWaiting() {
		t := turnOf(now, w)
		t.Holds = still.holdsOf(now, sc, w, c.asking != nil)
		x.Next = append(x.Next, t)
	}
	e.playOn(now, c, x.Next)
	return x, true
}

func turnOf(now time.Time, w *slotWork) NextCall {
	t := NextCall{Class: w.class, Family: w.lane.family, Waited: now.Sub(w.since)}
	if w.doc != nil {
		t.Doc, t.Session, t.LastCall = w.doc.id, w.doc.session.name, w.doc.lastCall
	} else {
		t.Key = w.req.key
		if w.req.session != nil {
			t.Session = w.req.session.name
		}
	}
	return t
}

// allWaiting is all that waits in a chat's queues.
func (c *chat) allWaiting() []*slotWork {
	var all []*slotWork
	for _, l := range c.lanes {
		for class := range l.waiting {
			for w := range l.waiting[class].all {
				all = append(all, w)
			}
		}
		for _, f := range l.streams.heap {
			for w := range f.waiting.all {
				all = append(all, w)
			}
		}
	}
	return all
}

// playSteps is how often a shadow is looked at at most: far more often than it takes for
// everything that waits to be called.
const playSteps = 5000

// playOn has a shadow make the calls for turns, whose times it sets and which it sorts.
// Their holds are those of now.
func (e *SlotEngine) playOn(now time.Time, c *chat, turns []NextCall) {
	s, sc := e.shadowOf(c)
	at := now
	if call := sc.call; call != nil {
		at = later(now, call.began.Add(c.took))
		s.finishAs(at, call)
	}
	ended := at
	made := 0
	var last time.Time
	for range playSteps {
		if made == len(turns) {
			break
		}
		var before *SlotEngine
		if made == 0 {
			before, _ = s.shadowOf(sc)
		}
		started := s.Advance(at)
		for _, call := range started {
			i := slices.IndexFunc(turns[made:], func(t NextCall) bool {
				return t.Doc == call.Call.Doc && t.Key == call.Call.Key && t.Family == call.work.lane.family
			})
			if i >= 0 { // else it takes more than one call
				t := turns[made+i]
				copy(turns[made+1:made+i+1], turns[made:made+i])
				t.At = at
				t.Holds = e.cutAt(t.Holds, at)
				switch {
				case made > 0:
					others := Hold{Kind: HoldOthers, Until: last, Count: made}
					others.Knobs = e.knobsOf(now, c, others)
					t.Holds = holdsBehind(now, t, others, at)
				case at.After(now) && c.call == nil:
					t.Holds = e.cutAt(before.holdsJustBefore(at, t), at)
				case c.call != nil:
					t.Holds = callBehind(t.Holds, ended)
				}
				turns[made] = t
				made++
				last = at
			}
			at = at.Add(c.took)
			s.finishAs(at, call)
		}
		if len(started) > 0 {
			continue
		}
		next := s.NextLook()
		if next.IsZero() {
			break
		}
		at = later(at, next)
	}
}

// finishAs ends a call of a shadow as one that brought all that was wanted.
func (e *SlotEngine) finishAs(at time.Time, s *Started) {
	e.Finish(at, s, CallResult{Outcome: Delivered, Delivered: s.Call.Wanted, Final: s.Call.Final}, at)
}

// holdsJustBefore says what held a turn back until at.
func (e *SlotEngine) holdsJustBefore(at time.Time, t NextCall) []Hold {
	for _, c := range e.chats {
		for _, w := range c.allWaiting() {
			if u := turnOf(at, w); u.Doc == t.Doc && u.Key == t.Key && u.Family == t.Family {
				holds := e.holdsOf(later(e.now, at.Add(-time.Microsecond)), c, w, false) // tokens are floats
				// A stream that has waited too long keeps to no pace and no reserve.
				kept := func(h Hold) bool { return h.Until.After(at.Add(time.Microsecond)) }
				if held := slices.DeleteFunc(slices.Clone(holds), kept); len(held) > 0 {
					return held
				}
				return holds
			}
		}
	}
	return nil
}

// cutAt has no hold last longer than until its call is made. By then fewer sessions are active and less is
// reserved than the holds reckon with, so rests and paces are shorter.
func (e *SlotEngine) cutAt(holds []Hold, at time.Time) []Hold {
	holds = slices.Clone(holds)
	for i, h := range holds {
		if !h.Until.After(at) {
			continue
		}
		holds[i].Until = at
		if h.Kind == HoldRest {
			holds[i].Knobs = e.knobsOfCutRest(h)
		}
	}
	return holds
}

// knobsOfCutRest are the options that would change a rest which ends because a session is active no more, as far as the options
// say. A somewhat faster pace alone would leave that moment as it is.
func (e *SlotEngine) knobsOfCutRest(h Hold) []Knob {
	window := Knob{Name: "active_emitter_window_s", Value: seconds(e.opt.ActiveEmitterWindow), Try: "lower"}
	isOfPace := func(k Knob) bool { return k.Name == "output_budget_ratio" || k.Name == "reserve_mpm" }
	return append([]Knob{window}, slices.DeleteFunc(slices.Clone(h.Knobs), isOfPace)...)
}

// callBehind puts the call that's under way, and likely to end at a time, behind what lasts longer.
func callBehind(holds []Hold, ended time.Time) []Hold {
	if len(holds) > 1 && holds[0].Kind == HoldCall && holds[1].Until.After(ended) {
		return append(slices.Clone(holds[1:]), holds[0])
	}
	return holds
}

// holdsBehind is why a turn that isn't the first comes only at a time. What takes most of the time comes
// first: a hold of its own, or the others. What shares the chat out has the others in it, and counts for
// what it takes after them.
func holdsBehind(now time.Time, t NextCall, others Hold, at time.Time) []Hold {
	if len(t.Holds) > 0 {
		own, from := t.Holds[0], now
		if own.Kind == HoldRest || own.Kind == HoldPace || own.Kind == HoldSupply {
			from = others.Until
		}
		if own.Kind == HoldAhead || own.Until.Sub(from) > at.Sub(own.Until) {
			return append(slices.Clone(t.Holds), others)
		}
	}
	return append([]Hold{others}, t.Holds...)
}

// holdsOf says what holds back work of a chat at a time; what lasts longest comes first. It
// may only be asked of a shadow, whose clock it needn't keep.
func (e *SlotEngine) holdsOf(now time.Time, c *chat, w *slotWork, asked bool) []Hold {
	var holds []Hold
	add := func(h Hold) {
		if h.Until.IsZero() || h.Until.After(now) {
			h.Knobs = e.knobsOf(now, c, h)
			holds = append(holds, h)
		}
	}
	until := func(kind HoldKind, at time.Time) {
		if at.After(now) {
			add(Hold{Kind: kind, Until: at})
		}
	}
	l := w.lane
	if e.stopped || e.draining && w.class == Stream {
		add(Hold{Kind: HoldEnding})
	}
	if c.call != nil {
		add(Hold{Kind: HoldCall})
	}
	if asked {
		add(Hold{Kind: HoldAsked})
	}
	until(HoldPenalty, later(e.penaltyUntil(c), l.throttle.until))
	add(Hold{Kind: HoldBackoff, Until: later(c.backoff.until, now), Count: c.backoff.failures})
	spare := 0
	switch w.class {
	case Final:
		spare = e.finalSpare(now, c, w)
		if due := e.finalDue(w.doc); w.doc != nil && due.Equal(w.doc.asleep) {
			until(HoldAsleep, due)
		} else {
			until(HoldRounding, due)
		}
		if c.behind < finalsCap {
			add(e.slowHold(now, c))
		}
	case Stream:
		spare = e.spareSlots(now, c, l)
		if w.doc != nil {
			add(e.restHold(now, c, w))
		}
		if w.charged {
			add(Hold{Kind: HoldAhead})
		}
		_ = e.streamFrom(now, c, l) // sets the paces
		add(Hold{Kind: HoldPace, Until: l.pace.next(now), Every: e.streamTick(now, c, l)})
		add(Hold{Kind: HoldSupply, Until: l.supply.next(now), Every: l.supply.tick})
		add(e.slowHold(now, c))
	default:
	}
	e.addBudgetHolds(now, c, w, spare, add)
	if e.bot.open >= e.opt.MaxInFlight {
		add(Hold{Kind: HoldBotBusy, Count: e.opt.MaxInFlight})
	}
	if e.probeUnderWay() {
		add(Hold{Kind: HoldProbe})
	}
	until(HoldBotPace, e.botFrom(now))
	slices.SortStableFunc(holds, func(a, b Hold) int {
		if a.Until.IsZero() != b.Until.IsZero() { // it's unknown how long that lasts
			return map[bool]int{true: -1, false: 1}[a.Until.IsZero()]
		}
		return b.Until.Compare(a.Until)
	})
	return holds
}

// slowHold is the slow start after a penalty.
func (e *SlotEngine) slowHold(now time.Time, c *chat) Hold {
	tick := time.Duration(float64(e.fullTick(now, c)) / c.throttle.multiplier())
	return Hold{Kind: HoldSlowStart, Until: later(e.slowUntil(now, c), now), Every: roundUp(tick, e.opt.Rounding)}
}

// restHold is the rest of a document after its last call.
func (e *SlotEngine) restHold(now time.Time, c *chat, w *slotWork) Hold {
	d := w.doc
	if w.place.in != &w.lane.waiting[Stream] { // it's due
		return Hold{Kind: HoldRest, Until: now}
	}
	rest := e.restOf(now, c, w.lane)
	due := later(e.dueAt(now, d, rest), now)
	switch {
	case due.Equal(d.asleep):
		return Hold{Kind: HoldAsleep, Until: due}
	case !d.excused && d.onlyLive() && due.Equal(d.lastCall.Add(e.opt.LiveEvery)):
		return Hold{Kind: HoldLive, Until: due, Every: e.opt.LiveEvery}
	case d.excused || e.opt.Mode == CoalesceOnly:
		return Hold{Kind: HoldRounding, Until: due, Every: e.opt.Rounding}
	case e.flowWeight(now, d.flow) == 1 && rest > e.opt.MinSessionTick:
		active := c.emitters.count(now, e.opt.ActiveEmitterWindow)
		return Hold{Kind: HoldRest, Until: due, Count: max(1, active), Every: e.restTick(now, c, w.lane)}
	default:
		return Hold{Kind: HoldSessionTick, Until: due, Every: e.opt.MinSessionTick}
	}
}

// addBudgetHolds adds why the budget says no.
func (e *SlotEngine) addBudgetHolds(now time.Time, c *chat, w *slotWork, spare int, add func(Hold)) {
	known := now
	b, _ := e.budget.(*LocalBudget) // a shadow has no other
	window := e.mainWindow(c)
	b.mu.Lock()
	ask := SlotQuestion{Chat: c.key, Family: w.lane.family, Spare: spare, Unguarded: e.opt.Mode == Off}
	b.eachHold(now, ask, func(kind HoldKind, until time.Time) {
		h := Hold{Kind: kind, Until: until}
		switch {
		case !until.After(now), kind == HoldPenalty: // which the engine knows
			return
		case kind == HoldReserve && !until.After(known): // the window itself lasts as long
			return
		case kind == HoldReserve:
			h.Count = min(spare, window.Calls-1)
		case kind == HoldWindow:
			h.Count, h.Every = e.fullWindow(now, b, ask, until)
		}
		known = later(known, until)
		add(h)
	})
	b.mu.Unlock()
	if at := w.lane.openAt(spare); at.After(known) && at.After(w.lane.throttle.until) {
		add(Hold{Kind: HoldBudget, Until: at})
	}
}

// fullWindow is the window of a question's limit that's full until a time. A count of 1 says that
// it's the gap between calls. b.mu is held.
func (e *SlotEngine) fullWindow(now time.Time, b *LocalBudget, ask SlotQuestion, until time.Time) (calls int, per time.Duration) {
	limit, family := b.limits.LimitOf(ask.Chat, ask.Family)
	slots := b.countedSlots(b.chats[ask.Chat], ask.Chat, family)
	for _, w := range limit.Windows {
		if freeAt(now, slots, w, 1).Equal(until) {
			return w.Calls, w.Per
		}
	}
	return 1, limit.Gap
}

// knobsOf are the options that would change a hold.
func (e *SlotEngine) knobsOf(now time.Time, c *chat, h Hold) []Knob {
	limit := e.opt.Limits.Group
	if p := e.opt.Limits.IsPrivate; p != nil && p(c.key) {
		limit = e.opt.Limits.Private
	}
	var knobs []Knob
	add := func(name, value, try string) { knobs = append(knobs, Knob{Name: name, Value: value, Try: try}) }
	mpm := func() {
		if slices.Contains(limit.Windows, Window{Calls: e.opt.GroupMPM, Per: time.Minute}) {
			add("group_mpm", strconv.Itoa(e.opt.GroupMPM), "higher")
		}
	}
	mode := func(try Mode) { add("mode", e.opt.Mode.String(), try.String()) }
	switch h.Kind {
	case HoldOthers, HoldRest, HoldPace, HoldSupply, HoldAhead:
		mpm()
		switch {
		case h.Kind == HoldSupply:
		case e.ratioHolds(now, c):
			add("output_budget_ratio", strconv.FormatFloat(e.opt.OutputBudgetRatio, 'g', -1, 64), "higher")
		case e.reserveHolds(now, c):
			add("reserve_mpm", strconv.Itoa(e.opt.ReserveMPM), e.tryReserve())
		}
		if e.opt.Mode == Strict {
			mode(CoalesceOnly)
		}
	case HoldSlowStart:
		mpm()
	case HoldSessionTick:
		add("min_session_tick_s", seconds(e.opt.MinSessionTick), "lower")
	case HoldRounding:
		add("rounding_ms", strconv.FormatInt(e.opt.Rounding.Milliseconds(), 10), "lower")
	case HoldWindow:
		if h.Count == e.opt.GroupMPM && h.Every == time.Minute { // else it's a window or a gap that's the platform's
			mpm()
		}
		mode(Off)
	case HoldReserve:
		mpm()
		add("reserve_mpm", strconv.Itoa(max(0, e.opt.ReserveMPM)), e.tryReserve())
		if e.opt.HardReserve && h.Count > 1 {
			add("lend_reserve", "false", "true")
		}
		mode(CoalesceOnly)
	default:
	}
	return knobs
}

func seconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'g', -1, 64) }

// ratioHolds says whether output_budget_ratio is what sets the pace.
func (e *SlotEngine) ratioHolds(now time.Time, c *chat) bool {
	full := *e
	full.opt.OutputBudgetRatio = 1
	return full.chatTick(now, c) < e.chatTick(now, c)
}

// tryReserve is which reserve_mpm has streams go earlier. Where what isn't needed is lent, one slot is kept with
// any but 0.
func (e *SlotEngine) tryReserve() string {
	if e.opt.HardReserve {
		return "lower"
	}
	return "0"
}

// reserveHolds says whether reserve_mpm makes the pace slower.
func (e *SlotEngine) reserveHolds(now time.Time, c *chat) bool {
	none := *e
	none.opt.ReserveMPM = NoReserve
	return e.opt.Mode == Strict && none.chatTick(now, c) < e.chatTick(now, c)
}
