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
	r.roll(now)
	var at time.Time
	if !r.minute.IsZero() {
		at = r.minute.Add(time.Minute)
	}
	if end := r.seen.Add(recently); end.After(now) && (at.IsZero() || end.Before(at)) {
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
	switch {
	case e.opt.ReserveMPM == NoReserve:
		return 0
	case !e.opt.HardReserve:
		return 1
	}
	return max(1, e.keptSlots(now, c, window)-c.reserve.usedWithin(now, window.Per))
}

// finalSpare is how many slots an end of a turn must leave free: the one that a command finds, if its
// session had finalBurst others within the window. An end that has let others go first for long enough
// may take it, and so may what's said while panebridge or the document closes.
func (e *SlotEngine) finalSpare(now time.Time, c *chat, w *slotWork) int {
	switch {
	case w.doc == nil, w.doc.flushing, e.draining, c.behind >= finalsCap:
		return 0
	case now.Sub(w.flow.ended[0]) >= e.mainWindow(c).Per:
		return 0
	}
	return min(1, e.spareSlots(now, c, w.lane))
}

// keptSlots is how many slots of a window streams may not count on.
func (e *SlotEngine) keptSlots(now time.Time, c *chat, window Window) int {
	if !e.opt.HardReserve {
		return window.Calls - int(e.evenRate(now, c, window))
	}
	kept := perWindow(max(0, e.opt.ReserveMPM), window)
	kept = max(kept, window.Calls-share(window, e.opt.OutputBudgetRatio)) // which is part of the original's formula
	return min(kept, window.Calls-1)
}

// evenRate is how many streams a window has at an even pace. An even pace is worth more than the last
// slots: if streams used all that the others leave on average, each command would cost the streams after it
// a turn. So there's slack, five eighths of a slot for each usual one and an eighth of the window at most,
// which keeps the worst gap within 1.25 of the best possible (TestEqualDocumentsShareEqually). With less,
// finals come later and lines no sooner (pbbench qos --trade).
func (e *SlotEngine) evenRate(now time.Time, c *chat, window Window) float64 {
	if e.opt.ReserveMPM == NoReserve {
		return supplyShare * float64(window.Calls)
	}
	usual := c.reserve.usual(now) * float64(window.Per) / float64(time.Minute)
	slack := min(usual*5/8, float64(window.Calls)/8)
	even := float64(window.Calls) - min(usual, float64(perWindow(e.opt.ReserveMPM, window))) - slack
	return max(1, min(even, supplyShare*float64(window.Calls)))
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
	if e.opt.HardReserve {
		return window.Per / time.Duration(window.Calls-e.keptSlots(now, c, window))
	}
	tick := time.Duration(float64(window.Per+c.took) / e.evenRate(now, c, window))
	if c.important() || c.reserve.active(now) {
		tick = max(tick, window.Per/time.Duration(share(window, e.opt.OutputBudgetRatio)))
	}
	if c.catchUp > 0 {
		tick /= catchUpPace
	}
	return tick
}

// streamTick is the time between two streams now; zero means no pace. Without strict
// there's one only while a penalty has reduced it.
func (e *SlotEngine) streamTick(now time.Time, c *chat, l *lane) time.Duration {
	multiplier := c.throttle.multiplier()
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

// supplyShare is the share of a chat's slots that all calls together use at most on average. With less,
// lines wait longer; with all, a command finds the window full more often (pbbench qos --trade).
const supplyShare = 0.95

// supplyTick is the time in which a slot comes back to the chat, on average, and how
// many that streams leave over are saved for commands. All calls of a chat are held
// against it, so that after more commands than were saved for, streams give way one
// by one. Without, they'd find the window full some time later, and all wait for it.
func (e *SlotEngine) supplyTick(c *chat, l *lane) (tick time.Duration, saved int) {
	if e.opt.Mode != Strict || l.family != FamilyMessage || c.catchUp > 0 {
		return 0, 1
	}
	window := e.mainWindow(c)
	return time.Duration(float64(window.Per+c.took) / (supplyShare * float64(window.Calls))), max(1, window.Calls/10)
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
