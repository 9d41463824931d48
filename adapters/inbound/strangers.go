package inbound

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/panebridge/panebridge/adapters/intake"
)

const (
	strangerEvery = time.Hour // between two log lines about the same person
	seldomMost    = 1000      // keys that a seldom remembers
)

// strangers counts who isn't let in.
type strangers struct {
	count  atomic.Uint64
	logged *seldom
}

func newStrangers() *strangers { return &strangers{logged: newSeldom(strangerEvery)} }

// Strangers is how many events weren't looked at because nobody gave their person
// or chat access, since the start.
func (in *Inbound) Strangers() uint64 { return in.access.strange.count.Load() }

// stranger takes in that an event isn't looked at.
func (in *Inbound) stranger(ev intake.Event, why string) {
	in.access.strange.count.Add(1)
	if in.access.strange.logged.due(ev.Person.ID+" "+why, time.Now()) {
		in.log.Warn("a stranger is ignored", "person", ev.Person.ID, "target", ev.Place.String(), "why", why)
	}
}

// seldom lets something happen only now and then, for each key. It remembers a
// bounded number of keys; if there are more at a time, all of the new ones wait.
type seldom struct {
	every time.Duration

	mu    sync.Mutex
	last  map[string]time.Time
	swept time.Time
}

func newSeldom(every time.Duration) *seldom {
	return &seldom{every: every, last: map[string]time.Time{}}
}

// due says whether it's time again for a key, and takes that as done.
func (s *seldom) due(key string, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if at, ok := s.last[key]; ok && now.Sub(at) < s.every {
		return false
	}
	if len(s.last) >= seldomMost && now.Sub(s.swept) >= s.every/60 {
		s.swept = now
		for k, at := range s.last {
			if now.Sub(at) >= s.every {
				delete(s.last, k)
			}
		}
	}
	if _, ok := s.last[key]; !ok && len(s.last) >= seldomMost {
		return false
	}
	s.last[key] = now
	return true
}
