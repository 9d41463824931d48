package showing

import (
	"slices"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// pace knows what the programs of each session did in the last minute.
type pace map[sessions.ID][]time.Time

// allows reports whether a session may do one thing more.
func (p pace) allows(id sessions.ID, now time.Time) bool {
	p[id] = slices.DeleteFunc(p[id], func(at time.Time) bool { return now.Sub(at) >= time.Minute })
	if len(p[id]) == 0 {
		delete(p, id)
	}
	return len(p[id]) < maxPerMinute
}

func (p pace) note(id sessions.ID, now time.Time) { p[id] = append(p[id], now) }
