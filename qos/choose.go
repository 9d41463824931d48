package qos

import "time"

const (
	// finalsCap is how many grants in a row others may get while a final waits.
	finalsCap = 3
	// streamFloor says that one in so many grants goes to streams, if one has
	// waited for longer than Options.MaxStale.
	streamFloor = 8
)

// choice is what should get a chat's next slot.
type choice struct {
	class Class
	lane  *lane
	work  *work
	spare int // slots that must stay free
}

// choose says what should get the chat's next slot. If nothing may go now it
// returns false, and c.look says when that can change by itself.
func (e *Engine) choose(now time.Time, c *chat) (choice, bool) {
	c.look = time.Time{}
	if c.waiting == 0 || e.stopped {
		return choice{}, false
	}
	if at := e.silentUntil(c); at.After(now) {
		c.lookBy(at)
		return choice{}, false
	}
	var best [Cosmetic]choice
	for _, l := range c.lanes {
		for class := range Cosmetic {
			e.consider(now, c, l, class, &best[class])
		}
	}
	if !e.draining {
		if floor, ok := e.floor(now, c); ok && (best[Final].work == nil || c.behind < finalsCap) {
			return floor, true
		}
	}
	if best[Final].work != nil && c.behind >= finalsCap {
		return best[Final], true
	}
	for _, b := range best {
		if b.work != nil {
			return b, true
		}
	}
	return choice{}, false
}

// consider makes *best the lane's first work of a class, if that may go now and
// has waited longer. If it may not, c.look takes in when it may.
func (e *Engine) consider(now time.Time, c *chat, l *lane, class Class, best *choice) {
	var w *work
	var at time.Time
	spare := 0
	switch class {
	case Interactive:
		if l.interactive.first == nil {
			return
		}
		w, at = l.interactive.first.value, l.openAt(0)
	case Final:
		if w = e.firstFinal(now, c, l); w == nil {
			return
		}
		at = l.openAt(0)
		if c.behind < finalsCap { // others had their turns meanwhile, so it's slow enough
			at = later(at, e.slowUntil(now, c))
		}
	default:
		if e.draining {
			return
		}
		e.wake(now, c, l)
		if w = l.streams.next(); w == nil {
			return
		}
		spare = e.spare(now, c, l)
		at = later(l.openAt(spare), e.streamFrom(now, c, l))
	}
	if at.After(now) {
		c.lookBy(at)
		if class != Interactive { // the pace after a penalty holds finals back, too
			e.lookForChange(now, c)
		}
		return
	}
	if best.work == nil || w.since.Before(best.work.since) {
		*best = choice{class: class, lane: l, work: w, spare: spare}
	}
}

// floor is the stream that must get the next slot so that streams don't starve:
// one whose chat has given the last seven to others, while some stream has waited
// for too long. It takes another's slot, so it need neither leave some free nor
// keep to the pace.
func (e *Engine) floor(now time.Time, c *chat) (choice, bool) {
	if c.sinceStream < streamFloor-1 {
		return choice{}, false
	}
	for _, l := range c.lanes {
		w := l.streams.next()
		if w == nil {
			continue
		}
		oldest := w.since
		for _, f := range l.streams.heap {
			if since := f.waiting.first.value.since; since.Before(oldest) {
				oldest = since
			}
		}
		at := later(later(l.openAt(0), e.slowUntil(now, c)), oldest.Add(e.opt.MaxStale))
		if !at.After(now) {
			return choice{class: Stream, lane: l, work: w}, true
		}
		c.lookBy(at)
	}
	return choice{}, false
}

// firstFinal is the final whose turn it is. Without a pace, a document keeps
// Options.Rounding between its calls.
func (e *Engine) firstFinal(now time.Time, c *chat, l *lane) *work {
	for w := range l.finals.all {
		if due := e.finalDue(w.doc); due.After(now) {
			c.lookBy(due)
			continue
		}
		return w
	}
	return nil
}

// finalDue is when a document's final may go at the earliest; zero: at any time.
func (e *Engine) finalDue(d *document) time.Time {
	switch {
	case d == nil:
		return time.Time{}
	case e.opt.Mode == CoalesceOnly && !d.lastCall.IsZero():
		return later(d.asleep, d.lastCall.Add(e.opt.Rounding))
	default:
		return d.asleep
	}
}
