package qosbench

import (
	"slices"
	"time"
)

const (
	// The original waits a little longer than it was told to, and gives up after
	// three retries (python-telegram-bot, AIORateLimiter).
	originalMargin  = 100 * time.Millisecond
	originalRetries = 3

	// originalCalls is what one payload costs: the edit, and moving the badge below
	// it (or the part that didn't fit).
	originalCalls = 2
)

// original is a model of the scheduler that panebridge replaces, in its mode
// strict. One loop for all sessions sleeps a tick, picks one payload and waits for
// its calls.
//
// A payload is rendered when it's queued. Of a session's partial ones only the
// newest is kept. Finals have a queue per session, are served before all partials,
// and the session whose queue is oldest is served until its queue is empty.
// Partials are served by an index that advances over the list of sessions that
// have one; what's served leaves the list, so the index points at another session
// than it seems to. A payload that fails is dropped, a final as well.
//
// "Too many requests" is slept out inside the call, and halts all other calls.
// Commands go past all this. The rate limiter that the original has below its
// scheduler is left out but for that: it would only make it slower.
type original struct {
	calls int // per payload
	tick  time.Duration

	partials map[int]*payload
	finals   []finalQueue // in the order in which the queues were begun
	order    []int        // sessions, in the order in which they first had anything
	index    int

	wake     time.Duration // when the loop sleeps: until when
	working  *payload      // when it doesn't
	part     int           // call of the payload that's to be made
	inFlight bool
	tries    int           // of this call
	halted   time.Duration // no call before
	commands []*call       // that wait because of it
}

// payload is what the original queues.
type payload struct {
	session, lines int
	turn           int // 0: a partial
}

// finalQueue is one session's finals.
type finalQueue struct {
	session  int
	payloads []*payload
}

func newOriginal(calls int) *original {
	// max(1, min(group_mpm - reserve_mpm, floor(group_mpm * output_budget_ratio))) a
	// minute, and the tick rounded up to 100 ms, with the defaults 20, 4 and 0.8.
	const perMinute, rounding = 16, 100 * time.Millisecond
	tick := (time.Minute/perMinute + rounding - 1) / rounding * rounding
	return &original{calls: calls, tick: tick, wake: tick, partials: map[int]*payload{}}
}

func (o *original) take(_ time.Duration, ev event) {
	if ev.kind == commandEvent {
		o.commands = append(o.commands, &call{command: true})
		return
	}
	p := &payload{session: ev.session, lines: ev.lines}
	if ev.kind == turnEvent {
		p.turn = ev.turns
		o.queueFinal(p)
	} else {
		o.partials[ev.session] = p
	}
	if !slices.Contains(o.order, ev.session) {
		o.order = append(o.order, ev.session)
	}
}

func (o *original) queueFinal(p *payload) {
	for i := range o.finals {
		if q := &o.finals[i]; q.session == p.session {
			q.payloads = append(q.payloads, p)
			return
		}
	}
	o.finals = append(o.finals, finalQueue{p.session, []*payload{p}})
}

// pick takes out the payload that's next; nil if there's none.
func (o *original) pick() *payload {
	if len(o.finals) > 0 {
		q := &o.finals[0]
		p := q.payloads[0]
		if q.payloads = q.payloads[1:]; len(q.payloads) == 0 {
			o.finals = o.finals[1:]
		}
		return p
	}
	var with []int
	for _, s := range o.order {
		if o.partials[s] != nil {
			with = append(with, s)
		}
	}
	if len(with) == 0 {
		return nil
	}
	o.index %= len(with)
	s := with[o.index]
	o.index = (o.index + 1) % len(with)
	p := o.partials[s]
	delete(o.partials, s)
	return p
}

func (o *original) step(now time.Duration) []*call {
	var calls []*call
	if now >= o.halted {
		calls, o.commands = o.commands, nil
	}
	if o.working == nil && now >= o.wake {
		o.part, o.tries = 0, 0
		if o.working = o.pick(); o.working == nil {
			o.wake = now + o.tick
		}
	}
	if p := o.working; p != nil && !o.inFlight && now >= o.halted {
		o.inFlight = true
		calls = append(calls, &call{
			session: p.session, lines: p.lines, fromTurn: p.turn, toTurn: p.turn, forFinal: p.turn > 0, token: p,
		})
	}
	return calls
}

func (o *original) done(now time.Duration, c *call, a answer) {
	if a.verdict == throttled {
		o.halted = max(o.halted, now+a.retryAfter+originalMargin)
	}
	if c.command {
		if a.verdict == throttled {
			o.commands = append(o.commands, c)
		}
		return
	}
	o.inFlight = false
	switch {
	case a.verdict == throttled && o.tries < originalRetries:
		o.tries++
		return
	case a.verdict == accepted && o.part+1 < o.calls:
		o.part++
		o.tries = 0
		return
	default: // all done, or an error, which drops the rest
	}
	o.working = nil
	o.wake = now + o.tick
}

func (o *original) due() (at time.Duration, ok bool) {
	at = never
	switch {
	case o.inFlight:
	case o.working != nil:
		at = o.halted
	case len(o.partials) > 0 || len(o.finals) > 0:
		at = o.wake
	}
	if len(o.commands) > 0 {
		at = min(at, o.halted)
	}
	return at, at < never
}
