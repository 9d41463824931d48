package config

import (
	"math"
	"time"
)

// Seconds is a time span written as a number, for keys that end in _s.
type Seconds float64

// Duration returns the span, rounded to the nanosecond.
func (s Seconds) Duration() time.Duration {
	return time.Duration(math.Round(float64(s) * float64(time.Second)))
}
