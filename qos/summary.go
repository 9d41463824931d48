package qos

import (
	"math"
	"time"
)

// summaryEvery is how often a line in the log sums up the traffic, if there was
// any.
const summaryEvery = 30 * time.Second

type summary struct {
	at   time.Time // when the next line is due; zero: there's been no traffic
	last Totals
}

// log writes the line when it's due.
func (s *summary) log(now time.Time, e *Engine) {
	t := &e.totals
	if s.at.IsZero() {
		if t.Outcomes != s.last.Outcomes || t.Shed != s.last.Shed {
			s.at = now.Add(summaryEvery)
		}
		return
	}
	if now.Before(s.at) {
		return
	}
	load := e.load(now)
	attrs := []any{
		"mode", e.opt.Mode.String(), "tick", load.Tick, "active_sessions", math.Round(load.ActiveSessions*10) / 10,
		"oldest", load.Oldest.Round(time.Millisecond), "errors", t.Errors() - s.last.Errors(),
		"updates", t.Updates - s.last.Updates, "coalesced", t.Coalesced - s.last.Coalesced,
		"shed", t.Shed - s.last.Shed, "penalties", t.Penalties - s.last.Penalties,
		"waiting", e.left(), "documents", len(e.docs),
	}
	for c := range classes {
		attrs = append(attrs, c.String(), t.Calls[c]-s.last.Calls[c])
	}
	e.opt.Logger.Info("output", attrs...)
	*s = summary{last: *t}
}
