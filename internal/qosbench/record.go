package qosbench

import (
	"math"
	"slices"
	"time"
)

// stillDirty is how soon after a call a session must print again to count as one
// that always has something to send.
const stillDirty = lineMost

// record takes down what reaches the chat.
type record struct {
	sessions []sessionRecord
	finals   []float64 // delays, s
	stale    []float64 // delays of lines, s
	gap      time.Duration

	finalCalls int // made for finals
	series     Series
}

// Series is what plots show of a run. Times are since its beginning.
type Series struct {
	Gaps     []SeriesPoint   // between two calls of a session that had something to send, when the second arrives
	Finals   []SeriesPoint   // how long the end of a turn took, when it's told
	Arrivals []time.Duration // calls at the platform, refused ones included
}

// SeriesPoint is one value.
type SeriesPoint struct {
	Session   int
	At, Value time.Duration
}

// sessionRecord is one session's part.
type sessionRecord struct {
	lines     []time.Duration // when each was printed
	delivered int             // lines that have reached the chat once
	shown     int             // the last line that the chat shows now
	turns     []time.Duration // when each ended
	announced []bool
	last      time.Duration // the last call that brought something
	called    bool
	calls     int // that brought something
}

func newRecord(sessions int) *record { return &record{sessions: make([]sessionRecord, sessions)} }

// happened takes in an event of the trace.
func (r *record) happened(ev event) {
	if ev.kind == commandEvent {
		return
	}
	s := &r.sessions[ev.session]
	s.lines = append(s.lines, ev.at)
	if ev.kind == turnEvent {
		s.turns = append(s.turns, ev.at)
		s.announced = append(s.announced, false)
	}
}

// arrived takes in a call at the platform.
func (r *record) arrived(now time.Duration, c *call, a answer) {
	r.series.Arrivals = append(r.series.Arrivals, now)
	if c.forFinal {
		r.finalCalls++
	}
	if c.command || a.verdict != accepted && !a.done {
		return
	}
	s := &r.sessions[c.session]
	for i := c.fromTurn; i <= c.toTurn; i++ {
		if i > 0 && !s.announced[i-1] {
			s.announced[i-1] = true
			r.finals = append(r.finals, (now - s.turns[i-1]).Seconds())
			r.series.Finals = append(r.series.Finals, SeriesPoint{c.session, now, now - s.turns[i-1]})
		}
	}
	s.shown = c.lines
	if c.lines <= s.delivered {
		return
	}
	since := s.lines[s.delivered]
	if s.called && since <= s.last+stillDirty {
		since = s.last
	}
	for _, at := range s.lines[s.delivered:c.lines] {
		r.stale = append(r.stale, (now - at).Seconds())
	}
	r.gap = max(r.gap, now-since)
	r.series.Gaps = append(r.series.Gaps, SeriesPoint{c.session, now, now - since})
	s.delivered, s.last, s.called = c.lines, now, true
	s.calls++
}

// finish counts what hasn't reached the chat, when nothing more comes.
func (r *record) finish() {
	for i := range r.sessions {
		s := &r.sessions[i]
		for range len(s.lines) - s.delivered {
			r.stale = append(r.stale, math.Inf(1))
		}
		for _, done := range s.announced {
			if !done {
				r.finals = append(r.finals, math.Inf(1))
			}
		}
	}
	slices.Sort(r.finals)
	slices.Sort(r.stale)
}

// fill puts what was measured into a row.
func (r *record) fill(row *Row) {
	r.finish()
	row.FinalP50 = Seconds(quantile(r.finals, 0.5))
	row.FinalP99 = Seconds(quantile(r.finals, 0.99))
	row.FinalMax = Seconds(quantile(r.finals, 1))
	row.StaleP50 = Seconds(quantile(r.stale, 0.5))
	row.StaleP99 = Seconds(quantile(r.stale, 0.99))
	row.StaleMax = Seconds(quantile(r.stale, 1))
	row.WorstGap = Seconds(r.gap.Seconds())
	calls := make([]float64, 0, len(r.sessions))
	for i := range r.sessions {
		s := &r.sessions[i]
		calls = append(calls, float64(s.calls))
		if s.delivered < len(s.lines) {
			row.WorstGap = Seconds(math.Inf(1))
		}
		if s.shown < len(s.lines) {
			row.SessionsStale++
			row.LinesLost += len(s.lines) - s.shown
		}
	}
	row.Jain = jain(calls)
}

// quantile is the least value that a share q of the values doesn't exceed
// (nearest rank); 0 without any. They're sorted.
func quantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[rank(len(sorted), q)-1]
}

// rank is how many of n values a share q is, at least one.
func rank(n int, q float64) int { return max(1, int(math.Ceil(q*float64(n)-1e-9))) }

// jain is Jain's index of fairness (Jain, Chiu, Hawe 1984): 1 if all have the
// same, 1/n if one has everything.
func jain(shares []float64) float64 {
	sum, squares := 0.0, 0.0
	for _, x := range shares {
		sum += x
		squares += x * x
	}
	if squares == 0 {
		return 1
	}
	return sum * sum / (float64(len(shares)) * squares)
}
