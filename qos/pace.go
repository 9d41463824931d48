package qos

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"golang.org/x/time/rate"
)

// pacer keeps calls a tick apart: a token bucket, of one token unless said
// otherwise. It shapes and never guards, because a bucket lets more than its rate
// through in one window. A tick of zero means no pace.
//
// A call that waited for something else (another call in flight, the gap after a
// command) takes its token as of when it could have gone, at most a tick ago. So
// what others cost a stream of calls is made up for, and yet nothing bursts after a
// rest.
//
// The limiter is only ever given times that don't go back: an older one would mint
// tokens.
type pacer struct {
	limiter *rate.Limiter
	tick    time.Duration
	tokens  int       // that are saved at most
	last    time.Time // what the limiter was given last
	credit  bool      // a token came back because no call was made
}

// set changes the tick from now on. At most so many tokens are saved.
func (p *pacer) set(now time.Time, tick time.Duration, tokens int) {
	if tick == p.tick && tokens == p.tokens {
		return
	}
	p.tick, p.tokens = tick, tokens
	switch {
	case tick <= 0:
		p.limiter, p.credit = nil, false
	case p.limiter == nil:
		p.limiter = rate.NewLimiter(rate.Every(tick), tokens)
		p.limiter.ReserveN(now, tokens-1) // what's saved must have been left over first
		p.last = now
	default:
		p.limiter.SetLimitAt(now, rate.Every(tick))
		p.limiter.SetBurstAt(now, tokens)
		p.last = now
	}
}

// next is the earliest time for a call: now, or later.
func (p *pacer) next(now time.Time) time.Time {
	if p.limiter == nil || p.credit {
		return now
	}
	return now.Add(p.missing(now))
}

// missing is how long a token takes from now.
func (p *pacer) missing(now time.Time) time.Duration {
	wait := (1 - p.limiter.TokensAt(now)) * float64(p.tick)
	if wait < 0.5 { // tokens are a float: this much of one, in nanoseconds, is none
		return 0
	}
	return time.Duration(math.Ceil(wait))
}

// take spends a token for a call that has been waiting since due. If there's none
// yet (the budget took its time over the answer, meanwhile the pace changed), later
// calls make up for it.
func (p *pacer) take(now, due time.Time) {
	switch {
	case p.limiter == nil:
		return
	case p.credit:
		p.credit = false
		if p.missing(now) > 0 { // what's saved by now takes its place
			return
		}
	}
	at := later(later(p.last, due), now.Add(-p.tick))
	if at = at.Add(p.missing(at)); at.After(now) {
		at = now
	}
	p.limiter.ReserveN(at, 1)
	p.last = at
}

// behind says whether so much was taken already that the next token is further
// away than a time.
func (p *pacer) behind(now time.Time, most time.Duration) bool {
	return p.limiter != nil && p.missing(now) > most
}

// giveBack returns a token for a call that wasn't made. (A Reservation can't be
// cancelled once its time has come.)
func (p *pacer) giveBack() { p.credit = p.limiter != nil }

// reserve estimates how many slots a minute a chat's interactive requests and
// finals will need.
type reserve struct {
	minute  time.Time   // when the current minute began; zero: nothing was ever seen
	count   int         // arrivals in it
	average float64     // moving average of arrivals per minute, newest minute counting half
	seen    time.Time   // when the last one came, or was sent
	used    []time.Time // when the calls of such work were answered that still hold a slot
}

// recently is for how long streams keep to output_budget_ratio after something
// interactive or final.
const recently = time.Minute

// arrived counts an interactive request or a final.
func (r *reserve) arrived(now time.Time) {
	r.roll(now)
	if r.minute.IsZero() {
		r.minute = now
	}
	r.count++
	r.seen = now
}

// answered counts the call of one; its slot is taken for a window from then on.
func (r *reserve) answered(at time.Time, window time.Duration) {
	r.usedWithin(at, window) // forgets older ones
	r.used = append(r.used, at)
	r.seen = later(r.seen, at)
}

// roll ends the minutes that have passed.
func (r *reserve) roll(now time.Time) {
	if r.minute.IsZero() {
		return
	}
	passed := int(now.Sub(r.minute) / time.Minute)
	for range min(passed, 20) { // after 20 nothing is left of any average
		r.average = (r.average + float64(r.count)) / 2
		r.count = 0
	}
	r.minute = r.minute.Add(time.Duration(passed) * time.Minute)
	if r.average < 0.1 {
		r.average = 0
		if r.count == 0 {
			r.minute = time.Time{}
		}
	}
}

// expected is R_eff of the package comment, per minute.
func (r *reserve) expected(now time.Time, atMost int) int {
	r.roll(now)
	return min(1+int(math.Ceil(1.5*max(r.average, float64(r.count)))), atMost) // a busy minute counts at once
}

// usual is the number of arrivals per minute on average; in the first minute, that
// of it so far.
func (r *reserve) usual(now time.Time) float64 {
	r.roll(now)
	if r.average == 0 {
		return float64(r.count)
	}
	return r.average
}

// usedWithin says how many calls still hold a slot of a window.
func (r *reserve) usedWithin(now time.Time, window time.Duration) int {
	r.used = slices.DeleteFunc(r.used, func(at time.Time) bool { return !at.Add(window).After(now) })
	return len(r.used)
}

// active says whether output_budget_ratio applies.
func (r *reserve) active(now time.Time) bool {
	return !r.seen.IsZero() && now.Before(r.seen.Add(recently))
}

// changes is when the estimate can next fall by itself; zero: it can't.
func (r *reserve) changes(now time.Time) time.Time {
	if r.minute.IsZero() {
		return time.Time{}
	}
	at := r.minute.Add(time.Minute)
	if end := r.seen.Add(recently); end.After(now) && end.Before(at) {
		return end
	}
	return at
}

// spareSlots is how many slots a stream must leave free in a lane's first window.
func (e *SlotEngine) spareSlots(now time.Time, c *chat, l *lane) int {
	if e.opt.Mode != Strict || l.family != FamilyMessage {
		return 0
	}
	window := e.mainWindow(c)
	if !e.opt.HardReserve {
		// Turns end several at a time: those of a usual window that are still to come
		// have their slots. For commands the one that's always free is enough.
		usual := 1.5 * c.finals.usual(now) * float64(window.Per) / float64(time.Minute)
		toCome := int(math.Ceil(usual)) - c.finals.usedWithin(now, window.Per)
		return min(max(1, toCome), perWindow(e.opt.ReserveMPM, window))
	}
	return max(1, e.keptSlots(now, c, window)-c.reserve.usedWithin(now, window.Per))
}

// keptSlots is how many slots of a window streams may not count on.
func (e *SlotEngine) keptSlots(now time.Time, c *chat, window Window) int {
	perMinute := e.opt.ReserveMPM
	if !e.opt.HardReserve {
		perMinute = c.reserve.expected(now, e.opt.ReserveMPM)
	}
	kept := perWindow(perMinute, window)
	if e.opt.HardReserve { // output_budget_ratio is part of the original's formula
		kept = max(kept, window.Calls-share(window, e.opt.OutputBudgetRatio))
	}
	return min(kept, window.Calls-1)
}

// perWindow is a number of slots a minute for another window: rounded up, since a
// slot is kept whole or not at all.
func perWindow(perMinute int, w Window) int {
	return int(roundUp(time.Duration(perMinute)*w.Per, time.Minute) / time.Minute)
}

// share is output_budget_ratio of a window.
func share(w Window, ratio float64) int { return max(1, int(ratio*float64(w.Calls)+1e-9)) }

// mainWindow is the window that the reserve is kept in, and that gives the pace.
func (e *SlotEngine) mainWindow(c *chat) Window {
	limit := e.opt.Limits.Group
	if p := e.opt.Limits.IsPrivate; p != nil && p(c.key) {
		limit = e.opt.Limits.Private
	}
	return limit.Windows[0]
}

// fullTick is the time between two streams at full pace; see the package
// comment.
func (e *SlotEngine) fullTick(now time.Time, c *chat) time.Duration {
	window := e.mainWindow(c)
	if e.opt.Mode != Strict {
		return window.Per / time.Duration(window.Calls)
	}
	rate := window.Calls - e.keptSlots(now, c, window)
	if e.opt.HardReserve || c.important() || c.reserve.active(now) {
		rate = min(rate, share(window, e.opt.OutputBudgetRatio))
	}
	tick := window.Per / time.Duration(max(1, rate))
	if e.opt.HardReserve {
		return tick
	}
	// An even pace is worth more than the last slots. If streams used all that the
	// others leave on average, each command would cost the streams after it a turn. So
	// there's slack, five eighths of a slot for each usual one and an eighth of the
	// window at most, which keeps the worst gap within 1.25 of the best possible
	// (TestEqualDocumentsShareEqually).
	usual := min(c.reserve.usual(now), float64(e.opt.ReserveMPM)) * float64(window.Per) / float64(time.Minute)
	slack := min(usual*5/8, float64(window.Calls)/8)
	even := float64(window.Calls) - usual - slack
	return max(tick, time.Duration(float64(window.Per+c.took)/max(1, even)))
}

// streamTick is the time between two streams now; zero means no pace. Without strict
// there's one only while a penalty has reduced it.
func (e *SlotEngine) streamTick(now time.Time, c *chat, l *lane) time.Duration {
	multiplier := c.throttle.paceNow(now)
	if l.family != FamilyMessage || e.opt.Mode == Off || e.opt.Mode == CoalesceOnly && multiplier == 1 {
		return 0
	}
	return roundUp(time.Duration(float64(e.fullTick(now, c))/multiplier), e.opt.Rounding)
}

// streamFrom is when the pace lets the next stream go.
func (e *SlotEngine) streamFrom(now time.Time, c *chat, l *lane) time.Time {
	l.pace.set(now, e.streamTick(now, c, l), 1)
	tick, saved := e.supplyTick(c, l)
	l.supply.set(now, tick, saved)
	return later(later(l.pace.next(now), l.supply.next(now)), e.slowUntil(now, c))
}

// supplyTick is the time in which a slot comes back to the chat, on average, and how
// many that streams leave over are saved for commands. All calls of a chat are held
// against it, so that after more commands than were saved for, streams give way one
// by one. Without, they'd find the window full some time later, and all wait for it.
func (e *SlotEngine) supplyTick(c *chat, l *lane) (tick time.Duration, saved int) {
	if e.opt.Mode != Strict || l.family != FamilyMessage {
		return 0, 1
	}
	window := e.mainWindow(c)
	return (window.Per + c.took) / time.Duration(max(1, window.Calls-1)), max(1, window.Calls*3/20)
}

// slowUntil is when the next final or stream may go in the slow start after a
// penalty; zero when there's none.
func (e *SlotEngine) slowUntil(now time.Time, c *chat) time.Time {
	if e.opt.Mode == Off || !now.Before(c.throttle.slow) || c.lastPaced.IsZero() {
		return time.Time{}
	}
	tick := time.Duration(float64(e.fullTick(now, c)) / c.throttle.paceNow(now))
	at := c.lastPaced.Add(roundUp(tick, e.opt.Rounding))
	if c.throttle.slow.Before(at) { // afterwards the pace decides
		return c.throttle.slow
	}
	return at
}

const (
	// paceCut is what a penalty multiplies the pace by, and pacePerMinute what a
	// clean minute with traffic adds: decrease fast, recover slowly.
	paceCut       = 0.7
	pacePerMinute = 0.05

	// paceLeast is the least part of the pace, slow start included: of 20 calls a minute four or
	// five, so that what waited out a penalty is there a minute after it. Bans were reported from
	// eight a minute on.
	paceLeast = 0.3

	// slowStart is for how long half the reduced pace holds after a penalty has lifted.
	slowStart = time.Minute

	// From penaltyMarginLeast to penaltyMarginMost, at random, is added to the platform's
	// time, so that a clock that runs differently there doesn't make us too early.
	penaltyMarginLeast = 100 * time.Millisecond
	penaltyMarginMost  = time.Second

	// A penalty of up to familyPenalty is for one method family; a longer one for
	// the whole chat, unless the platform says otherwise: field reports have bans from
	// hidden calls of another family.
	familyPenalty = 5 * time.Second

	// So many chats that are told off within so long mean the bot as a whole.
	botPenaltyChats  = 3
	botPenaltyWithin = 2 * time.Second

	// penaltyMemory is for how long a reduced pace is remembered after its penalty
	// has lifted, when nothing more is sent.
	penaltyMemory = time.Hour
)

// throttle is what penalties do to a scope: a time of silence, then one probe,
// then a slower pace that recovers.
type throttle struct {
	until   time.Time // silence; zero: never any
	cut     float64   // what the pace is multiplied by, less 1: 0 is full pace
	probing bool      // the first call since until hasn't succeeded yet
	slow    time.Time // half the pace until then
	clean   time.Time // since when no penalty came, or the last recovery
}

// multiplier is what the pace is multiplied by, from paceLeast to 1, slow start
// left aside.
func (t *throttle) multiplier() float64 { return 1 + t.cut }

// paceNow is the multiplier with slow start.
func (t *throttle) paceNow(now time.Time) float64 {
	if now.Before(t.slow) {
		return max(paceLeast, t.multiplier()/2)
	}
	return t.multiplier()
}

// silence keeps quiet until a time. An earlier time than that in force changes
// nothing.
func (t *throttle) silence(until time.Time) {
	if until.After(t.until) {
		t.until = until
	}
	t.clean = t.until
	t.probing = true
	t.slow = time.Time{}
}

// reduce cuts the pace for a penalty that lifts at until. Where no call was accepted since the
// last one (probe), it's the same trouble: that a probe is refused tells that the silence was too
// short, and nothing about a pace.
func (t *throttle) reduce(until time.Time, probe bool) {
	if !probe {
		t.cut = max(paceLeast, t.multiplier()*paceCut) - 1
	}
	t.clean = later(t.clean, until)
}

// heard takes in a penalty from before a restart, or from another process.
func (t *throttle) heard(p Penalty, now time.Time) {
	if p.Multiplier > 0 && p.Multiplier < t.multiplier() {
		t.cut = max(paceLeast, p.Multiplier) - 1
	}
	if p.Until.After(now) {
		t.silence(p.Until)
		return
	}
	t.until = later(t.until, p.Until)
	t.clean = later(t.clean, p.Until)
	t.slow = later(t.slow, p.Until.Add(slowStart))
}

// succeeded says that a call which had begun at a time was accepted. It ends the
// probe, which leaves what's left of the slow start: where calls failed for another reason
// since the penalty, or none was made, it has been slow for so long already. It recovers some
// of the pace after each clean minute.
func (t *throttle) succeeded(now, began time.Time) {
	if began.Before(t.until) {
		return // it was under way already when the penalty came
	}
	if t.probing {
		t.probing = false
		t.slow = t.until.Add(slowStart)
		t.clean = now
		return
	}
	if t.cut < 0 && now.Sub(t.clean) >= time.Minute {
		t.cut = min(0, t.cut+pacePerMinute)
		t.clean = now
	}
}

// forgettable is when nothing of a throttle matters any more; zero: now.
func (t *throttle) forgettable() time.Time {
	if t.cut == 0 && !t.probing {
		return t.until
	}
	return later(t.until, t.clean).Add(penaltyMemory)
}

// penalizeChat takes in a "too many requests" for a call in chat c that was
// answered now.
func (e *SlotEngine) penalizeChat(now time.Time, c *chat, l *lane, r CallResult) {
	asked := max(r.RetryAfter, time.Second)
	margin := penaltyMarginLeast + time.Duration(e.random.Int64N(int64(penaltyMarginMost-penaltyMarginLeast)))
	until := now.Add(asked + margin)
	e.totals.Penalties++
	e.opt.Meter.CountPenalty(l.family, asked)

	wide := asked > familyPenalty && !r.Narrow
	if l.family == FamilyMessage || wide {
		c.throttle.reduce(until, c.throttle.probing || l.throttle.probing)
	}
	if wide {
		e.silenceScope(now, &c.throttle, Scope{Chat: c.key, AllFamilies: true}, until)
	} else {
		e.silenceScope(now, &l.throttle, Scope{Chat: c.key, Family: l.family}, until)
	}
	if r.Narrow {
		return
	}
	e.toldOff = append(e.toldOff, toldOff{c, now, until})
	if latest, many := e.manyToldOff(now); r.Global || many {
		e.bot.throttle.reduce(until, e.bot.throttle.probing)
		e.silenceScope(now, &e.bot.throttle, Scope{}, later(until, latest))
	}
}

// silenceScope begins a penalty and has it kept.
func (e *SlotEngine) silenceScope(now time.Time, t *throttle, scope Scope, until time.Time) {
	t.silence(until)
	multiplier := e.bot.throttle.multiplier()
	if c := e.chats[scope.Chat]; c != nil {
		multiplier = c.throttle.multiplier()
	}
	e.budget.Penalize(now, Penalty{Scope: scope, Until: t.until, Multiplier: multiplier})
	e.opt.Logger.Warn("penalty", "target", string(scope.Chat), "family", string(scope.Family), "until", t.until)
	e.emitEvent(SchedulerEvent{Kind: ChatSilenced, Chat: scope.Chat, Until: t.until})
}

// toldOff is a chat that got a penalty lately.
type toldOff struct {
	chat      *chat
	at, until time.Time
}

// manyToldOff says whether so many chats got penalties at about the same time
// that the bot as a whole is meant, and when the last of these lifts.
func (e *SlotEngine) manyToldOff(now time.Time) (latest time.Time, many bool) {
	kept := e.toldOff[:0]
	chats := map[*chat]bool{}
	for _, t := range e.toldOff {
		if now.Sub(t.at) > botPenaltyWithin {
			continue
		}
		kept = append(kept, t)
		chats[t.chat] = true
		latest = later(latest, t.until)
	}
	clear(e.toldOff[len(kept):])
	e.toldOff = kept
	return latest, len(chats) >= botPenaltyChats
}

// TakePenalty takes in a penalty that the budget reported.
func (e *SlotEngine) TakePenalty(now time.Time, p Penalty) {
	now = e.advanceClock(now)
	if p.Scope.Chat == "" {
		e.bot.throttle.heard(p, now)
		e.touchAll()
	} else {
		c := e.chatOf(p.Scope.Chat)
		if p.Scope.AllFamilies {
			c.throttle.heard(p, now)
		} else {
			c.laneOf(p.Scope.Family).throttle.heard(p, now)
			c.throttle.heard(Penalty{Multiplier: p.Multiplier}, now)
		}
		e.touchChat(c)
	}
	if p.Until.After(now) {
		e.emitEvent(SchedulerEvent{Kind: ChatSilenced, Chat: p.Scope.Chat, Until: p.Until})
	}
}

// silentUntil is until when nothing may go to a chat: penalties and back-off.
func (e *SlotEngine) silentUntil(c *chat) time.Time {
	return later(e.penaltyUntil(c), c.backoff.until)
}

// penaltyUntil is until when penalties silence a chat; zero if none ever did.
func (e *SlotEngine) penaltyUntil(c *chat) time.Time {
	return later(c.throttle.until, e.bot.throttle.until)
}

// Back-off after failures that aren't "too many requests": exponential with full
// jitter, per chat, so that chats that failed together don't come back together.
const (
	backoffLeast = time.Second
	backoffMost  = 30 * time.Second // what works again is noticed within a minute
)

type backoff struct {
	failures int
	until    time.Time
}

func (b *backoff) failed(now time.Time, random *rand.Rand) {
	ceiling := backoffMost
	if b.failures < 5 { // 1 s << 5 is above half a minute
		ceiling = backoffLeast << b.failures
	}
	b.failures++
	b.until = now.Add(time.Duration(random.Int64N(int64(ceiling)) + 1))
}

// excuses are failures whose calls count for no pace and have no document rest, so that what
// failed is made again as soon as the back-off is over: two in ten seconds. In trouble that
// lasts, calls keep to the pace.
type excuses [2]time.Time // when the last ones were taken, oldest first

const excusesPer = 10 * time.Second

// takeExcuse takes an excuse, and reports whether there was one.
func (x *excuses) takeExcuse(now time.Time) bool {
	if now.Before(x[0].Add(excusesPer)) {
		return false
	}
	x[0], x[1] = x[1], now
	return true
}
