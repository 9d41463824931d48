package qos

import (
	"math"
	"slices"
	"time"
)

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
	return min(1+int(math.Ceil(1.5*r.arrivals(now))), atMost)
}

// arrivals is the number of arrivals per minute to reckon with. A busy minute
// counts at once.
func (r *reserve) arrivals(now time.Time) float64 {
	r.roll(now)
	return max(r.average, float64(r.count))
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
