package inbound

import (
	"sync"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/intake"
)

const (
	// earlyFor is for how long a changed text waits for its message, and maxEarly how many do.
	earlyFor = 10 * time.Minute
	maxEarly = 100
)

// early are texts that were changed before it's known that they were written: platforms may
// say the one before the other. What's typed then is what stands there. A restart forgets them.
type early struct {
	mu    sync.Mutex
	texts map[earlyKey]earlyText
}

type earlyKey struct {
	place           adapters.Target
	person, message string
}

type earlyText struct {
	text string
	at   time.Time
}

// keepText has a changed text wait for its message. When there are too many those before are forgotten.
func (e *early) keepText(ev intake.Event, text string, now time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for k, t := range e.texts {
		if now.Sub(t.at) >= earlyFor {
			delete(e.texts, k)
		}
	}
	if e.texts == nil || len(e.texts) >= maxEarly {
		e.texts = map[earlyKey]earlyText{}
	}
	e.texts[earlyKey{ev.Place, ev.Person.ID, ev.Message}] = earlyText{text, now}
}

// latestText is a new message as it was changed before it came.
func (e *early) latestText(ev intake.Event) intake.Event {
	said, ok := ev.Action.(intake.Said)
	if !ok {
		return ev
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if t, ok := e.texts[earlyKey{ev.Place, ev.Person.ID, ev.Message}]; ok {
		said.Text = t.text
		ev.Action = said
	}
	return ev
}
