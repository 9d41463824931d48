package api

import (
	"errors"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/panebridge/panebridge/sessions"
)

// creationKept is for how long it's known which session was begun with a key: far longer than a person tries again who
// got no answer.
const creationKept = time.Hour

// creations are the sessions that were begun with a key, so that the same request, sent again by somebody who got no
// answer, begins no other. They're forgotten when the daemon ends.
type creations struct {
	calls singleflight.Group
	mu    sync.Mutex
	begun map[string]creation
}

type creation struct {
	session sessions.ID
	at      time.Time
}

// begin calls begin, unless a session was begun with the key, or is being begun: that one is returned then. get returns a
// session as it is now. One that was forgotten meanwhile is begun anew.
func (c *creations) begin(key string, begin func() (sessions.Session, error), get func(sessions.ID) (sessions.Session, error)) (sessions.Session, error) {
	if key == "" {
		return begin()
	}
	out, err, _ := c.calls.Do(key, func() (any, error) {
		if id, ok := c.find(key); ok {
			if s, err := get(id); err == nil || !errors.Is(err, sessions.ErrUnknown) {
				return s, err
			}
		}
		s, err := begin()
		if err == nil {
			c.remember(key, s.ID)
		}
		return s, err
	})
	s, _ := out.(sessions.Session)
	return s, err //nolint:wrapcheck // it's that of begin or get
}

func (c *creations) find(key string) (sessions.ID, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	one, ok := c.begun[key]
	return one.session, ok
}

func (c *creations) remember(key string, id sessions.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	for k, one := range c.begun {
		if now.Sub(one.at) > creationKept {
			delete(c.begun, k)
		}
	}
	if c.begun == nil {
		c.begun = map[string]creation{}
	}
	c.begun[key] = creation{session: id, at: now}
}
