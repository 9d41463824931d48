package qos

import (
	"math"
	"time"
)

// spare is how many slots a stream must leave free in a lane's first window.
func (e *Engine) spare(now time.Time, c *chat, l *lane) int {
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
	return max(1, e.kept(now, c, window)-c.reserve.usedWithin(now, window.Per))
}

// kept is how many slots of a window streams may not count on.
func (e *Engine) kept(now time.Time, c *chat, window Window) int {
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
func (e *Engine) mainWindow(c *chat) Window {
	limit := e.opt.Limits.Group
	if p := e.opt.Limits.IsPrivate; p != nil && p(c.key) {
		limit = e.opt.Limits.Private
	}
	return limit.Windows[0]
}

// fullTick is the time between two streams at full pace; see the package
// comment.
func (e *Engine) fullTick(now time.Time, c *chat) time.Duration {
	window := e.mainWindow(c)
	if e.opt.Mode != Strict {
		return window.Per / time.Duration(window.Calls)
	}
	rate := window.Calls - e.kept(now, c, window)
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

// tick is the time between two streams now; zero means no pace. Without strict
// there's one only while a penalty has reduced it.
func (e *Engine) tick(now time.Time, c *chat, l *lane) time.Duration {
	multiplier := c.throttle.paceNow(now)
	if l.family != FamilyMessage || e.opt.Mode == Off || e.opt.Mode == CoalesceOnly && multiplier == 1 {
		return 0
	}
	return roundUp(time.Duration(float64(e.fullTick(now, c))/multiplier), e.opt.Rounding)
}

// streamFrom is when the pace lets the next stream go.
func (e *Engine) streamFrom(now time.Time, c *chat, l *lane) time.Time {
	l.pace.set(now, e.tick(now, c, l), 1)
	tick, saved := e.supply(c, l)
	l.supply.set(now, tick, saved)
	return later(later(l.pace.next(now), l.supply.next(now)), e.slowUntil(now, c))
}

// supply is the time in which a slot comes back to the chat, on average, and how
// many that streams leave over are saved for commands. All calls of a chat are held
// against it, so that after more commands than were saved for, streams give way one
// by one. Without, they'd find the window full some time later, and all wait for it.
func (e *Engine) supply(c *chat, l *lane) (tick time.Duration, saved int) {
	if e.opt.Mode != Strict || l.family != FamilyMessage {
		return 0, 1
	}
	window := e.mainWindow(c)
	return (window.Per + c.took) / time.Duration(max(1, window.Calls-1)), max(1, window.Calls*3/20)
}

// slowUntil is when the next final or stream may go in the slow start after a
// penalty; zero when there's none.
func (e *Engine) slowUntil(now time.Time, c *chat) time.Time {
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
