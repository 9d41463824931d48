package redisbucket

import "time"

// clock is what a process knows about Redis' clock, in comparison with its own
// monotonic one: each answer says that the difference is between two numbers, and the
// fastest answers say it best. If answers contradict each other, Redis' clock has moved,
// which no grant may survive.
type clock struct {
	base   time.Time // the zero of the monotonic clock
	low    time.Duration
	high   time.Duration
	at     time.Time // when low and high were last narrowed or widened
	synced bool
}

const (
	// drift is what two sound clocks may differ by per second: twice what NTP slews.
	drift = time.Second / 1000
	// slop is what a contradiction must exceed.
	slop = 10 * time.Millisecond
)

// heard takes in an answer with Redis' time in it. It returns false if the clock has
// moved; then it begins anew.
func (c *clock) heard(sent, received time.Time, redis int64) bool {
	if c.base.IsZero() {
		c.base = sent
	}
	r := time.Duration(redis) * time.Microsecond
	low, high := r-received.Sub(c.base), r-sent.Sub(c.base)
	if !c.synced {
		*c = clock{base: c.base, low: low, high: high, at: received, synced: true}
		return true
	}
	wide := time.Duration(float64(drift) * received.Sub(c.at).Seconds())
	low, high = max(low, c.low-wide), min(high, c.high+wide)
	if low > high+slop {
		*c = clock{base: c.base}
		return false
	}
	if low > high {
		low, high = high, low
	}
	c.low, c.high, c.at = low, high, received
	return true
}

// span is the earliest and latest time on Redis' clock at which a question that's sent
// now and given up after timeout may be executed; zeros if that isn't known.
func (c *clock) span(now time.Time, timeout time.Duration) (earliest, latest int64) {
	if !c.synced {
		return 0, 0
	}
	since := now.Sub(c.base)
	return (c.low + since - 2*slop).Microseconds(), (c.high + since + timeout + 2*slop).Microseconds()
}
