package recording

import (
	"slices"
	"time"
)

// clock says what time it was when a recording that's played was at a time of its
// own: it may be played faster than it was made, and without its pauses. The same
// time of the recording is always the same time, once it has passed.
type clock struct {
	at   []time.Duration // moments of the recording, in order
	real []time.Time     // when they were
}

// passed tells that it's that moment of the recording now.
func (c *clock) passed(at time.Duration) {
	if n := len(c.at); n > 0 && at <= c.at[n-1] {
		return
	}
	c.at, c.real = append(c.at, at), append(c.real, time.Now())
}

// when is the time at a moment: before the first it's that of the first, behind the
// last that of the last.
func (c *clock) when(at time.Duration) time.Time {
	i, _ := slices.BinarySearch(c.at, at)
	switch {
	case i == 0:
		return c.real[0]
	case i == len(c.at):
		return c.real[i-1]
	}
	part := float64(at-c.at[i-1]) / float64(c.at[i]-c.at[i-1])
	return c.real[i-1].Add(time.Duration(part * float64(c.real[i].Sub(c.real[i-1]))))
}
