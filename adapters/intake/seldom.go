package intake

import (
	"sync"
	"time"
)

// seldomMost is how many keys a Seldom remembers.
const seldomMost = 1000

// Seldom lets something happen only now and then, for each key. It remembers a
// bounded number of keys; if there are more at a time, all of the new ones wait.
type Seldom struct {
	every time.Duration

	mu    sync.Mutex
	last  map[string]time.Time
	swept time.Time
}

// NewSeldom makes one that lets each key pass once in a time.
func NewSeldom(every time.Duration) *Seldom {
	return &Seldom{every: every, last: map[string]time.Time{}}
}

// Due reports whether it's time again for a key, and counts that as done.
func (s *Seldom) Due(key string, now time.Time) bool {
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
