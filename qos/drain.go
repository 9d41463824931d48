package qos

import (
	"context"
	"slices"
	"time"
)

// drain is somebody who waits for the scheduler to be done.
type drain struct {
	deadline time.Time // zero: none
	done     chan struct{}
}

// Drain prepares the end: from now on nothing new is taken, streams rest, and
// what's interactive or final is sent, until none is left that could go before
// ctx ends. It returns how many documents and requests still wait. What remains
// of documents goes on after a restart, from their delivered numbers. Run must
// still be running; it's ended by its own ctx afterwards.
func (s *OutputQoSScheduler) Drain(ctx context.Context) (left int) {
	s.box.drain()
	d := &drain{done: make(chan struct{})}
	d.deadline, _ = ctx.Deadline()
	if !s.box.send(func(now time.Time) {
		s.engine.drain(now)
		s.drains = append(s.drains, d)
		s.drainsUntil = d.deadline
	}) {
		return 0
	}
	select {
	case <-d.done:
	case <-s.done:
	case <-ctx.Done():
		s.box.send(func(time.Time) {
			s.drains = slices.DeleteFunc(s.drains, func(x *drain) bool { return x == d })
		})
	}
	return int(s.left.Load())
}

// answerDrains tells those who wait that nothing more can go in their time.
func (s *OutputQoSScheduler) answerDrains() {
	if len(s.drains) == 0 {
		return
	}
	s.left.Store(int64(s.engine.left()))
	s.drains = slices.DeleteFunc(s.drains, func(d *drain) bool {
		if !s.engine.drained(d.deadline) {
			return false
		}
		close(d.done)
		return true
	})
}

// drain has streams rest from now on, and requests refused.
func (e *Engine) drain(now time.Time) {
	e.advance(now)
	e.draining = true
	e.touchAll()
}

// drained says whether no call is under way and none could begin before a time;
// zero: ever.
func (e *Engine) drained(before time.Time) bool {
	if e.bot.open > 0 || e.contenders() > 0 {
		return false
	}
	for _, c := range e.chats {
		if c.important() && (c.look.IsZero() || before.IsZero() || c.look.Before(before)) {
			return false
		}
	}
	return true
}

// left is how many documents and requests wait.
func (e *Engine) left() int {
	n := 0
	for _, c := range e.chats {
		n += c.waiting
		if c.call != nil {
			n++
		}
	}
	return n
}

// stop begins no call any more.
func (e *Engine) stop() {
	e.stopped = true
	e.touchAll()
}

// idle says whether no call is under way, and no question to the budget either,
// unless there's no more time for that.
func (e *Engine) idle(late bool) bool {
	return e.bot.inFlight == 0 && (e.bot.open == 0 || late)
}
