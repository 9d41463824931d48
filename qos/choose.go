package qos

import "time"

const (
	// finalsCap is how many grants in a row others may get while a final waits.
	finalsCap = 3
	// streamFloor says that one in so many grants goes to streams, if one has
	// waited for longer than Options.MaxStale.
	streamFloor = 8
)

// slotChoice is what should get a chat's next slot.
type slotChoice struct {
	class Class
	lane  *lane
	work  *slotWork
	spare int // slots that must stay free
}

// choose says what should get the chat's next slot. If nothing may go now it
// returns false, and c.look says when that can change by itself.
func (e *SlotEngine) choose(now time.Time, c *chat) (slotChoice, bool) {
	c.look = time.Time{}
	if c.waiting == 0 || e.stopped {
		return slotChoice{}, false
	}
	if at := e.silentUntil(c); at.After(now) {
		c.lookBy(at)
		return slotChoice{}, false
	}
	var best [Cosmetic]slotChoice
	for _, l := range c.lanes {
		for class := range Cosmetic {
			e.considerClass(now, c, l, class, &best[class])
		}
	}
	if !e.draining {
		if floor, ok := e.starvingStream(now, c); ok && (best[Final].work == nil || c.behind < finalsCap) {
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
	return slotChoice{}, false
}

// considerClass makes *best the lane's first work of a class, if that may go now and
// has waited longer. If it may not, c.look takes in when it may.
func (e *SlotEngine) considerClass(now time.Time, c *chat, l *lane, class Class, best *slotChoice) {
	var w *slotWork
	var at time.Time
	spare := 0
	switch class {
	case Interactive:
		if l.waiting[Interactive].first == nil {
			return
		}
		w, at = l.waiting[Interactive].first.value, l.openAt(0)
	case Final:
		if w = e.firstFinal(now, c, l); w == nil {
			return
		}
		if spare = e.finalSpare(now, c, w); spare > 0 {
			c.lookBy(w.flow.ended[0].Add(e.mainWindow(c).Per))
		}
		at = l.openAt(spare)
		if c.behind < finalsCap { // others had their turns meanwhile, so it's slow enough
			at = later(at, e.slowUntil(now, c))
		}
	default:
		if e.draining {
			return
		}
		e.queueDue(now, c, l)
		if w = e.nextStream(now, c, l); w == nil {
			return
		}
		spare = e.spareSlots(now, c, l)
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
		*best = slotChoice{class: class, lane: l, work: w, spare: spare}
	}
}

// starvingStream is the stream that must get the next slot so that streams don't starve:
// one whose chat has given the last seven to others, while some stream has waited
// for too long. It takes another's slot, so it need neither leave some free nor
// keep to the pace.
func (e *SlotEngine) starvingStream(now time.Time, c *chat) (slotChoice, bool) {
	if c.sinceStream < streamFloor-1 {
		return slotChoice{}, false
	}
	for _, l := range c.lanes {
		w := e.nextStream(now, c, l)
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
			return slotChoice{class: Stream, lane: l, work: w}, true
		}
		c.lookBy(at)
	}
	return slotChoice{}, false
}

// nextStream is the due stream whose turn it is: the one with the lowest start tag. One that's no more than
// streamLead ahead of all others, resting ones included, goes before it if it has waited much longer than a turn of
// all takes. Nil: none is due, or only such as are further ahead than those that rest.
func (e *SlotEngine) nextStream(now time.Time, c *chat, l *lane) *slotWork {
	next := l.streams.nextWork()
	if next == nil || e.opt.Mode != Strict {
		return next
	}
	resting := l.restingTag(now, next.flow)
	least := min(next.flow.start, resting)
	if next.flow.start > resting+streamLead/e.flowWeight(now, next.flow) {
		next = nil
	}
	turn := time.Duration(c.emitters.active(now, e.opt.ActiveEmitterWindow) * float64(e.streamTick(now, c, l)))
	stale := now.Add(-max(e.opt.MaxStale, turn*5/4))
	for _, f := range l.streams.heap {
		if w := f.waiting.first.value; w.since.Before(stale) && f.start <= least+streamLead/e.flowWeight(now, f) {
			next, stale = w, w.since
		}
	}
	return next
}

// firstFinal is the final whose turn it is: of what has waited longest. A question, or what else is no document,
// goes before the ends of turns whose lines haven't waited Options.MaxStale longer.
// Without a pace, a document keeps Options.Rounding between its calls.
func (e *SlotEngine) firstFinal(now time.Time, c *chat, l *lane) (best *slotWork) {
	for w := range l.waiting[Final].all {
		if due := e.finalDue(w.doc); due.After(now) {
			c.lookBy(due)
			continue
		}
		if !e.mayLead(now, w) { // another final of its session went meanwhile
			c.dequeue(w)
			e.enqueueWork(now, w, Stream, true)
			continue
		}
		if best == nil || e.finalSince(w).Before(e.finalSince(best)) {
			best = w
		}
	}
	return best
}

// finalSince orders the finals of a chat.
func (e *SlotEngine) finalSince(w *slotWork) time.Time {
	if w.doc == nil {
		return w.since.Add(-e.opt.MaxStale)
	}
	return w.since
}

// finalDue is when a document's final may go at the earliest; zero: at any time.
func (e *SlotEngine) finalDue(d *document) time.Time {
	switch {
	case d == nil:
		return time.Time{}
	case e.opt.Mode == CoalesceOnly && !d.lastCall.IsZero():
		return later(d.asleep, d.lastCall.Add(e.opt.Rounding))
	default:
		return d.asleep
	}
}

// queueDue queues the resting documents that are due.
func (e *SlotEngine) queueDue(now time.Time, c *chat, l *lane) {
	if l.waiting[Stream].first == nil {
		return
	}
	rest := e.restOf(now, c, l)
	for w := range l.waiting[Stream].all {
		d := w.doc
		due := e.dueAt(now, d, rest)
		if due.After(now) {
			c.lookBy(due)
			continue
		}
		w.place.remove()
		w.due = later(d.dirty, due)
		l.streams.addWork(w)
	}
	if l.waiting[Stream].first != nil {
		e.lookForChange(now, c)
	}
}

// restAgain puts due documents to rest again, for as long as the options say that hold now. They keep their start tags: while a flow waits, the virtual time doesn't pass
// its tag.
func (c *chat) restAgain() {
	for _, l := range c.lanes {
		var due []*slotWork
		for _, f := range l.streams.heap {
			for w := range f.waiting.all {
				if w.doc != nil {
					due = append(due, w)
				}
			}
		}
		for _, w := range due {
			l.streams.dropWork(w)
			l.waiting[Stream].push(&w.place)
		}
	}
}

// dueAt is when a document's rest ends. One whose session is in focus rests for the
// least time only: fair queuing may give it two turns in a row.
func (e *SlotEngine) dueAt(now time.Time, d *document, rest time.Duration) time.Time {
	switch {
	case d.lastCall.IsZero():
		return later(d.dirty, d.asleep)
	case d.excused: // the back-off keeps calls apart
		return later(d.lastCall.Add(e.opt.Rounding), d.asleep)
	}
	if e.opt.Mode == Strict {
		if e.flowWeight(now, d.flow) > 1 {
			rest = 0
		}
		rest = roundUp(max(e.opt.MinSessionTick, rest), e.opt.Rounding)
	}
	if d.onlyLive() {
		rest = max(rest, e.opt.LiveEvery)
	}
	return later(d.lastCall.Add(rest), d.asleep)
}

// restOf is how long a document rests after a call, the least tick left aside. With
// strict that's a turn of each active session, less half a tick: a document that was
// late once would otherwise be late for its next turn too.
func (e *SlotEngine) restOf(now time.Time, c *chat, l *lane) time.Duration {
	switch e.opt.Mode {
	case Off:
		return 0
	case CoalesceOnly:
		return e.opt.Rounding
	case Strict:
	}
	active := c.emitters.active(now, e.opt.ActiveEmitterWindow)
	return time.Duration((active - 0.5) * float64(e.restTick(now, c, l)))
}

// restTick is the time between two streams that rests are reckoned with: that of the full pace. After a penalty the pace
// alone holds back; with longer rests, too, nothing would be due by the time it's faster again.
func (e *SlotEngine) restTick(now time.Time, c *chat, l *lane) time.Duration {
	if e.streamTick(now, c, l) == 0 {
		return 0
	}
	return roundUp(e.fullTick(now, c), e.opt.Rounding)
}

// lookForChange sets when the engine looks at the chat again: once the numbers that hold its
// streams and finals back can have changed by themselves.
func (e *SlotEngine) lookForChange(now time.Time, c *chat) {
	if e.opt.Mode != Strict {
		return
	}
	if at := c.reserve.changes(now); at.After(now) {
		c.lookBy(at)
	}
	if at := c.emitters.changes(e.opt.ActiveEmitterWindow); at.After(now) {
		c.lookBy(at)
	}
}

// emitters counts the sessions of a chat that print. It decides how long a
// document rests between two stream calls.
type emitters struct {
	recent  fifo[*flow] // those that printed within the window, longest ago first
	average float64     // of their number, sampled at stream grants
}

// printed says that a flow's session printed something.
func (e *emitters) printed(f *flow, now time.Time) {
	f.printed = now
	f.emitter.remove()
	e.recent.push(&f.emitter)
}

// count is how many sessions are active now.
func (e *emitters) count(now time.Time, window time.Duration) int {
	for n := e.recent.first; n != nil && !n.value.printed.Add(window).After(now); n = e.recent.first {
		n.remove()
	}
	return e.recent.len
}

// sample takes the present count into the average.
func (e *emitters) sample(now time.Time, window time.Duration, alpha float64) {
	n := float64(e.count(now, window))
	if e.average == 0 {
		e.average = n
		return
	}
	e.average += alpha * (n - e.average)
}

// active is the number to reckon with: at least 1. A rise is smoothed by the
// average; a fall counts at once, since resting for sessions that are quiet again
// would leave slots unused.
func (e *emitters) active(now time.Time, window time.Duration) float64 {
	return max(1, e.emitting(now, window))
}

// emitting is the same, and 0 while nobody prints.
func (e *emitters) emitting(now time.Time, window time.Duration) float64 {
	return min(e.average, float64(e.count(now, window)))
}

// changes is when the count can next fall by itself; zero: it can't.
func (e *emitters) changes(window time.Duration) time.Time {
	if e.recent.first == nil {
		return time.Time{}
	}
	return e.recent.first.value.printed.Add(window)
}
