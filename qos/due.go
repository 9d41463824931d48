package qos

import "time"

// wake queues the resting documents that are due.
func (e *Engine) wake(now time.Time, c *chat, l *lane) {
	if l.resting.first == nil {
		return
	}
	rest := e.rest(now, c, l)
	for w := range l.resting.all {
		d := w.doc
		due := e.dueAt(now, d, rest)
		if due.After(now) {
			c.lookBy(due)
			continue
		}
		w.place.remove()
		w.due = later(d.dirty, due)
		l.streams.add(w)
	}
	if l.resting.first != nil {
		e.lookForChange(now, c)
	}
}

// restAgain has the documents that were due rest as long as the options say that hold
// now. They keep their start tags: while a flow waits, the virtual time doesn't pass
// its tag.
func (c *chat) restAgain() {
	for _, l := range c.lanes {
		var due []*work
		for _, f := range l.streams.heap {
			for w := range f.waiting.all {
				if w.doc != nil {
					due = append(due, w)
				}
			}
		}
		for _, w := range due {
			l.streams.drop(w)
			l.resting.push(&w.place)
		}
	}
}

// dueAt is when a document's rest ends. One whose session is in focus rests for the
// least time only: fair queuing may give it two turns in a row.
func (e *Engine) dueAt(now time.Time, d *document, rest time.Duration) time.Time {
	switch {
	case d.lastCall.IsZero():
		return later(d.dirty, d.asleep)
	case d.excused: // the back-off keeps calls apart
		return later(d.lastCall.Add(e.opt.Rounding), d.asleep)
	}
	if e.opt.Mode == Strict {
		if e.weight(now, d.flow) > 1 {
			rest = 0
		}
		rest = roundUp(max(e.opt.MinSessionTick, rest), e.opt.Rounding)
	}
	if d.onlyLive() {
		rest = max(rest, e.opt.LiveEvery)
	}
	return later(d.lastCall.Add(rest), d.asleep)
}

// rest is how long a document rests after a call, the least tick left aside. With
// strict that's a turn of each active session, less half a tick: a document that was
// late once would otherwise be late for its next turn too.
func (e *Engine) rest(now time.Time, c *chat, l *lane) time.Duration {
	switch e.opt.Mode {
	case Off:
		return 0
	case CoalesceOnly:
		return e.opt.Rounding
	case Strict:
	}
	active := c.emitters.active(now, e.opt.ActiveEmitterWindow)
	return time.Duration((active - 0.5) * float64(e.tick(now, c, l)))
}

// lookForChange has the chat looked at when the numbers that hold its streams and finals
// back can have changed by themselves.
func (e *Engine) lookForChange(now time.Time, c *chat) {
	if e.opt.Mode != Strict {
		return
	}
	for _, r := range []*reserve{&c.reserve, &c.finals} {
		if at := r.changes(now); at.After(now) {
			c.lookBy(at)
		}
	}
	if at := c.emitters.changes(e.opt.ActiveEmitterWindow); at.After(now) {
		c.lookBy(at)
	}
	if at := c.throttle.slow; at.After(now) {
		c.lookBy(at)
	}
}
