package polling

import "github.com/panebridge/panebridge/sessions"

// finding is what a wait has found so far.
type finding struct {
	patterns      *WaitPatterns
	pattern, stop *sessions.WaitMatch
	any           bool // there was output
	lost, cleared bool // lines that could have matched weren't seen
	missed        bool // the same, or may be
	unsure        bool // nothing says so, but it may be
	lines         waitLines
}

// take searches what a look has found. What was found first counts.
func (f *finding) take(s *sighting) {
	f.any = f.any || s.moved
	f.lost, f.cleared = f.lost || s.dropped, f.cleared || s.cleared
	f.missed, f.unsure = f.missed || s.dropped || s.cleared, f.unsure || s.unsure
	texts := make([]string, 0, len(s.lines))
	for i := range s.lines {
		f.search(&s.lines[i])
		texts = append(texts, s.lines[i].output())
	}
	if !s.suspended {
		f.lines.add(texts, s.settled)
	}
}

func (f *finding) search(l *waitLine) {
	if f.stop == nil {
		f.stop = l.match(sessions.MatchStop, f.patterns.stops)
	}
	if f.pattern == nil {
		f.pattern = l.match(sessions.MatchPattern, f.patterns.patterns)
	}
}

// outcome says how the wait has ended, "" if it hasn't. A stop wins over a pattern, and
// both over what's lost: they were printed for sure.
func (f *finding) outcome() (sessions.WaitOutcome, string) {
	switch {
	case f.stop != nil:
		return sessions.WaitStopped, ""
	case f.pattern != nil:
		return sessions.WaitMatched, ""
	case len(f.patterns.patterns) == 0 && (f.any || f.lost):
		return sessions.WaitAnyOutput, ""
	case f.lost:
		return sessions.WaitHistoryLost, "more was printed between two looks than tmux's history keeps"
	case f.cleared:
		return sessions.WaitHistoryLost, "the pane's history was cleared, and what was printed right before may have matched"
	}
	return "", ""
}

// fill writes into a result what was found.
func (f *finding) fill(r *sessions.WaitResult) {
	switch r.Outcome { //nolint:exhaustive // the others have none
	case sessions.WaitStopped:
		r.Match = f.stop
	case sessions.WaitMatched:
		r.Match = f.pattern
	}
	r.Lines, r.LinesTotal, r.LinesMissed = f.lines.all(), f.lines.total, f.missed || f.unsure
}

// waitLines are the newest lines of a wait: those that are settled, and those that the last look
// found behind them.
type waitLines struct {
	settled, open []string
	total         int
	before        int // how many were settled
}

func (l *waitLines) add(lines []string, settled int) {
	l.settled = append(l.settled, bounded(lines[:settled])...)
	l.settled = bounded(l.settled)
	l.open = bounded(lines[settled:])
	l.before += settled
	l.total = l.before + len(lines) - settled
}

// bounded are the newest of lines, each cut to what a result may have.
func bounded(lines []string) []string {
	lines = lines[max(0, len(lines)-sessions.MaxWaitLines):]
	out := make([]string, len(lines))
	for i, text := range lines {
		out[i] = cutText(text)
	}
	return out
}

func (l *waitLines) all() []string {
	return bounded(append(append(make([]string, 0, len(l.settled)+len(l.open)), l.settled...), l.open...))
}
