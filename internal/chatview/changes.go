package chatview

import (
	"context"
	"sync"
)

// Changes tells of the changes of a stand-in; see World. It's safe for concurrent use.
type Changes struct {
	mu   sync.Mutex
	next chan struct{} // closed at the next change; nil: nobody has asked
}

// Touch tells everybody who waits that something has changed.
func (c *Changes) Touch() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.next != nil {
		close(c.next)
		c.next = nil
	}
}

// Changed returns a channel that's closed at the next change.
func (c *Changes) Changed() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.next == nil {
		c.next = make(chan struct{})
	}
	return c.next
}

// Wait blocks until a condition holds, asking again at every change.
func (c *Changes) Wait(ctx context.Context, holds func() bool) error {
	for {
		changed := c.Changed()
		if holds() {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
