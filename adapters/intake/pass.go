package intake

import (
	"slices"
	"time"
)

// passAfter is how long a button or a command waits for what came before it in its place. What's handled as
// usual takes less.
const passAfter = 2 * time.Second

// mayPass reports whether an event is a button or a command.
func (q *Queue) mayPass(e Event) bool {
	switch did := e.Action.(type) {
	case Pressed:
		return true
	case Said:
		name, _, ok := ReadCommand(did.Text)
		return ok && len(did.Files) == 0 && slices.ContainsFunc(q.opts.Commands, func(c CommandInfo) bool { return c.Name == name })
	}
	return false
}

// letPass has what has waited long enough pass what its place is busy with: it's moved to a lane beside it.
func (o *placeOrder) letPass(now time.Time) {
	for l := range o.busy {
		of, _ := l.firstUpdates()
		l.waiting = slices.DeleteFunc(l.waiting, func(t ticket) bool {
			if t.passesAt.IsZero() || t.passesAt.After(now) || slices.Contains(of, t.seq) {
				return false
			}
			o.addTo(o.passing, t)
			return true
		})
	}
}

// isPassed reports whether what's next in a lane came behind something that has passed others and isn't done.
func (o *placeOrder) isPassed(l *placeLane) bool {
	p := o.passing[l.place]
	return p != nil && p != l && p.waiting[0].seq < l.waiting[0].seq
}

// endPass goes on with a place after an update that has passed others is done.
func (o *placeOrder) endPass(l *placeLane) {
	if len(l.waiting) > 0 {
		o.ready = append(o.ready, l)
	} else {
		delete(o.passing, l.place)
	}
	first := o.lanes[l.place]
	_, busy := o.busy[first]
	if first != nil && !busy && !slices.Contains(o.ready, first) && !slices.Contains(o.resting, first) {
		o.ready = append(o.ready, first)
	}
}

// nextPass is when something may pass what its place is busy with; zero: nothing waits for that.
func (o *placeOrder) nextPass() (next time.Time) {
	for l := range o.busy {
		for _, t := range l.waiting[1:] {
			if !t.passesAt.IsZero() && (next.IsZero() || t.passesAt.Before(next)) {
				next = t.passesAt
			}
		}
	}
	return next
}
