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
// what's interactive or final is sent, until all is sent that can go before
// ctx ends. It returns how many documents and requests still wait. What remains
// of documents goes on after a restart, from their delivered numbers. Run must
// still be running; it's ended by its own ctx afterwards.
func (s *OutputQoSScheduler) Drain(ctx context.Context) (left int) {
	s.draining.Store(true)
	d := &drain{done: make(chan struct{})}
	d.deadline, _ = ctx.Deadline()
	if !s.box.sendTask(func(now time.Time) {
		s.record(now, TraceStep{Kind: TraceDraining})
		s.engine.beginDraining(now)
		s.drains = append(s.drains, d)
		s.drainsUntil = d.deadline
	}) {
		return 0
	}
	select {
	case <-d.done:
	case <-s.done:
	case <-ctx.Done():
		s.box.sendTask(func(time.Time) {
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
	s.left.Store(int64(s.engine.countWaiting()))
	s.drains = slices.DeleteFunc(s.drains, func(d *drain) bool {
		if !s.engine.isDrained(d.deadline) {
			return false
		}
		close(d.done)
		return true
	})
}
