package qos

import (
	"errors"
	"slices"
	"time"
)

// typingQuiet is for how long after a stream, draft or typing call in a chat no
// "is typing" is sent: the indicator lasts about that long.
const typingQuiet = 5 * time.Second

// request is a single thing to do that's no document.
type request struct {
	work
	key       string
	session   *session // nil: none
	uncertain bool
	inFlight  bool
	again     bool // posted anew while its call was under way
	asked     Class
	gone      bool
}

func (r Request) check() error {
	switch {
	case r.Chat == "":
		return errors.New("a request needs a chat")
	case r.Key == "":
		return errors.New("a request needs a key")
	case r.Class >= Cosmetic:
		return errors.New("a request that waits has class interactive, final or stream")
	default:
		return nil
	}
}

// Post queues a request; see OutputQoSScheduler.Post.
func (e *Engine) Post(now time.Time, r Request) error {
	if err := r.check(); err != nil {
		return err
	}
	if e.draining {
		return ErrDraining
	}
	now = e.advance(now)
	c := e.chatOf(r.Chat)
	q := c.requests[r.Key]
	if q != nil {
		e.postAgain(now, q, r)
		return nil
	}
	q = &request{key: r.Key, uncertain: r.Uncertain, asked: r.Class}
	q.work = work{req: q, chat: c, lane: c.laneOf(e.family(r.Family)), since: now, due: now}
	q.place.value = &q.work
	q.flow = q.lane.flowOf(r.Session)
	if r.Session != "" {
		q.session = e.sessionOf(r.Session)
		q.session.requests = append(q.session.requests, q)
	}
	c.requests[r.Key] = q
	e.arrive(now, q)
	return nil
}

func (e *Engine) arrive(now time.Time, q *request) {
	if q.asked < Stream {
		q.chat.reserve.arrived(now)
	}
	q.chat.enqueue(&q.work, q.asked)
	e.touch(q.chat)
}

// postAgain merges a request with one of the same key: it's rendered when its
// slot comes, so one call says both.
func (e *Engine) postAgain(now time.Time, q *request, r Request) {
	q.uncertain = q.uncertain || r.Uncertain
	if q.inFlight {
		if !q.again {
			q.asked = r.Class
		}
		q.again, q.gone = true, false
		q.asked = min(q.asked, r.Class)
		return
	}
	e.coalesced(1)
	if r.Class < q.asked {
		q.asked = r.Class
		q.chat.dequeue(&q.work)
		e.arrive(now, q)
	}
}

// forget removes a request that's done or given up.
func (e *Engine) forget(q *request) {
	q.gone = true
	q.chat.dequeue(&q.work)
	delete(q.chat.requests, q.key)
	q.lane.leave(q.flow)
	if s := q.session; s != nil {
		s.requests = slices.DeleteFunc(s.requests, func(r *request) bool { return r == q })
		e.leaveSession(s)
	}
	e.touch(q.chat)
}

// drop gives a request up, and says so.
func (e *Engine) drop(q *request, err error) {
	ev := Event{Kind: RequestDropped, Chat: q.chat.key, Key: q.key, Err: err}
	if q.session != nil {
		ev.Session = q.session.name
	}
	e.forget(q)
	e.emit(ev)
}

// family is the lane that a family's calls belong in: those without limits of
// their own count as messages.
func (e *Engine) family(f Family) Family {
	if _, own := e.opt.Limits.Families[f]; own {
		return f
	}
	return FamilyMessage
}

// Try makes a cosmetic call if nothing speaks against it now; see
// OutputQoSScheduler.Try.
func (e *Engine) Try(now time.Time, r Request) {
	now = e.advance(now)
	if r.Chat == "" || e.draining {
		e.shed(r.Family)
		return
	}
	c := e.chatOf(r.Chat)
	e.touch(c) // forgets it if this was all
	l := c.laneOf(e.family(r.Family))
	if !e.allowsCosmetic(now, c, l, r.Family) {
		e.shed(r.Family)
		return
	}
	q := &request{key: r.Key, uncertain: r.Uncertain, asked: Cosmetic}
	q.work = work{req: q, chat: c, lane: l, class: Cosmetic, since: now}
	e.ask(now, c, choice{class: Cosmetic, lane: l, work: &q.work, spare: e.spare(now, c, l)})
}

func (e *Engine) allowsCosmetic(now time.Time, c *chat, l *lane, family Family) bool {
	switch {
	case c.busy(), c.waiting > 0:
		return false
	case (c.throttle.probing || e.bot.throttle.probing) && family != FamilyMessage:
		return false // a probe is no use if it's about nothing
	case now.Before(e.silentUntil(c)), now.Before(l.openAt(e.spare(now, c, l))):
		return false
	case family == FamilyTyping && !c.lastShown.IsZero() && now.Before(c.lastShown.Add(typingQuiet)):
		return false
	default:
		return e.botOpen(now) && e.contenders() == 0
	}
}

func (e *Engine) shed(family Family) {
	e.totals.Shed++
	e.opt.Observer.Shed(family)
}
