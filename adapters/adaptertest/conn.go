package adaptertest

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// lateBy is how long after its deadline a call may still arrive.
const lateBy = 5 * time.Second

// Conn is one process's connection to a platform.
type Conn struct {
	platform *Platform

	mu     sync.Mutex
	killed bool
	lost   bool // what was under way when it was killed doesn't arrive
}

// Connect returns a connection.
func (p *Platform) Connect() *Conn { return &Conn{platform: p} }

// ChatOf returns the chat that a thread is in, or was before it was deleted; "": there
// was none. On some platforms calls to threads name no chat.
func (c *Conn) ChatOf(thread string) string {
	c.platform.mu.Lock()
	defer c.platform.mu.Unlock()
	return c.platform.threads[thread]
}

// Kill ends the process: it makes no further calls. Those under way arrive all the
// same, unless lost.
func (c *Conn) Kill(lost bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.killed, c.lost = true, lost
}

func (c *Conn) state() (killed, lost bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.killed, c.lost
}

// Do makes a call. The error is an *Error, ErrNoConnection, or wraps ErrNoAnswer
// when ctx has ended; the call may then still arrive, up to 5 s after ctx's
// deadline.
func (c *Conn) Do(ctx context.Context, call Call) (Answer, error) {
	p := c.platform
	if killed, _ := c.state(); killed {
		return Answer{}, ErrNoConnection
	}
	p.mu.Lock()
	var f Fault
	if p.fault != nil {
		f = p.fault(call)
	}
	p.mu.Unlock()
	if f.Kind == Unconnected || ctx.Err() != nil {
		return Answer{}, ErrNoConnection
	}
	type outcome struct {
		answer Answer
		err    error
	}
	done := make(chan outcome, 1)
	p.running.Go(func() {
		time.Sleep(f.Out)
		deadline, timed := ctx.Deadline()
		_, lost := c.state()
		if f.Kind == Lost || lost || timed && time.Now().After(deadline.Add(lateBy)) {
			return
		}
		a, err := p.arrive(call, f)
		if f.Kind == Unanswered {
			return
		}
		time.Sleep(f.Back)
		if killed, _ := c.state(); !killed && ctx.Err() == nil {
			p.heard(call)
			done <- outcome{a, err}
		}
	})
	select {
	case o := <-done:
		return o.answer, o.err
	case <-ctx.Done():
		return Answer{}, fmt.Errorf("%w: %w", ErrNoAnswer, ctx.Err())
	}
}
