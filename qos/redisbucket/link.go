package redisbucket

import (
	"errors"
	"fmt"
	"time"
)

// linkState is how the process stands with Redis.
type linkState uint8

const (
	linking linkState = iota // not known: questions wait, for doubt at most
	linked                   // merged into the epoch
	away                     // no answer
	ended
)

// link is what's known about Redis and the process's membership. b.mu guards it.
type link struct {
	state linkState
	since time.Time // in this state
	epoch string
	// newest is the number of the newest epoch ever seen: a server with a lower one
	// lacks what happened since.
	newest int64
	// ack is Redis' time in the last answer it gave to a member; last is when that
	// came. Zero: it isn't one.
	ack     int64
	last    time.Time
	clock   clock
	merging bool      // what the process knows is on its way
	moved   bool      // the clock has moved, and Redis must be told
	empty   time.Time // when the server was found empty; zero: not for long
	version string    // of the penalties
	members []Member
	err     error // why it's away
}

var (
	errNoAnswer = errors.New("redis doesn't answer")
	errNoShare  = errors.New("redis doesn't answer, and this process has no share here (a window has fewer calls than redis.max_processes, and this process made none here in the last day, or others did before it): nothing is sent until it's back")
)

// window is the longest window that a question counts in.
func (b *Budget) window(q *question) time.Duration {
	return max(longest(q.limit.Windows), longest(b.limits.Bot.Windows))
}

// settle is how long what a member did can matter for a question.
func (b *Budget) settle(w time.Duration) time.Duration { return w + b.opt.CallTimeout + grace }

// shareFrom is from when a question may be granted within the share, without Redis,
// and why not earlier.
func (b *Budget) shareFrom(now time.Time, q *question) (time.Time, error) {
	if b.link.state != away {
		return now, nil
	}
	if b.link.last.IsZero() {
		return now.Add(time.Second), fmt.Errorf("not admitted to the shared budget: %w", b.link.err)
	}
	at := b.link.last.Add(b.settle(b.window(q)) + vanishes + late)
	return at, fmt.Errorf("silent until %s: %w", at.Format(time.TimeOnly), b.link.err)
}

// learning is until when a question may be granted within the share only, because
// the server was found empty; zero: it isn't so.
func (b *Budget) learning(q *question) time.Time {
	if b.link.empty.IsZero() {
		return time.Time{}
	}
	return b.link.empty.Add(b.window(q) + margin)
}

// enter changes the state. It returns the questions that waited for it. b.mu is held.
func (b *Budget) enter(now time.Time, s linkState, err error) []*question {
	l := &b.link
	if s == away && l.err == nil {
		text := "redis is gone: silent for a window, then within the safe share"
		if l.last.IsZero() {
			text = "not admitted to the shared budget: nothing is sent"
		}
		b.opt.Logger.Warn(text, "err", err)
	}
	if s == linked && l.err != nil {
		b.opt.Logger.Info("redis is back: the budget is shared again")
	}
	if s != l.state {
		l.since = now
	}
	l.state, l.err = s, err
	if s != linked {
		b.todo = nil // joining tells everything
	}
	if s == linking {
		return nil
	}
	parked := b.parked
	b.parked = nil
	return parked
}

// doubtful has the process join again before anything else is granted. b.mu is
// held.
func (b *Budget) doubtful(now time.Time) {
	if b.link.state == linked {
		b.enter(now, linking, b.link.err)
		b.poke()
	}
}

// unpark sends questions on that waited.
func (b *Budget) unpark(questions []*question) {
	for _, q := range questions {
		b.again(q)
	}
}

// answeredAt takes in the time in an answer. It returns false, and has the process
// join again, if Redis' clock has moved. b.mu is held.
func (b *Budget) answeredAt(sent, received time.Time, redis int64) bool {
	if b.link.clock.heard(sent, received, redis) {
		return true
	}
	b.link.moved = true
	b.doubtful(received)
	return false
}

// confirmed takes in an answer that Redis gave to a member. b.mu is held.
func (b *Budget) confirmed(received time.Time, redis int64) {
	b.link.ack, b.link.last = max(b.link.ack, redis), later(b.link.last, received)
}
