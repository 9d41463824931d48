package qosbench

import (
	"math"
	"slices"
	"time"
)

// silences takes down for how long a chat is silent after calls that failed and were
// answered.
type silences struct {
	air   int             // calls under way
	back  []time.Duration // when the calls of the last window were answered, in order
	since []time.Duration // of failures that no call has followed: from when a slot was free
	took  []float64       // of those that one has, s
}

// dispatched takes in that a call was made: whatever was silent goes on.
func (s *silences) dispatched(now time.Duration) {
	s.air++
	for _, since := range s.since {
		s.took = append(s.took, max(now-since, 0).Seconds())
	}
	s.since = s.since[:0]
}

// answered takes in a call's answer.
func (s *silences) answered(now time.Duration, v verdict) {
	s.air--
	s.back = append(s.back, now)
	if v == failed || v == broken {
		s.since = append(s.since, s.freeFrom(now))
	}
}

// freeFrom is when a slot is free if no call is made meanwhile. A call's slot is taken
// until a window after its answer.
func (s *silences) freeFrom(now time.Duration) time.Duration {
	s.back = slices.DeleteFunc(s.back, func(at time.Duration) bool { return at+limitWindow <= now })
	if missing := s.air + len(s.back) - limitCalls; missing >= 0 {
		return s.back[missing] + limitWindow
	}
	return now
}

// finish counts failures that no call has followed, when nothing more comes.
func (s *silences) finish() {
	for range s.since {
		s.took = append(s.took, math.Inf(1))
	}
	s.since = nil
	slices.Sort(s.took)
}

// fill puts what was measured into a row.
func (s *silences) fill(row *Row) {
	s.finish()
	row.Silences = len(s.took)
	row.SilenceP50 = Seconds(quantile(s.took, 0.5))
	row.SilenceP99 = Seconds(quantile(s.took, 0.99))
	row.SilenceMax = Seconds(quantile(s.took, 1))
}
