package api

import (
	"slices"
	"sync"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// Broker hears what happens to sessions and wakes the event streams. It keeps
// no output: per session the newest live region and turn, and per stream one
// set of marks for each session that has news. So its memory depends on the
// number of sessions and streams, never on how much is printed or how slowly a
// client reads.
type Broker struct {
	mu      sync.Mutex
	latest  map[sessions.ID]latest
	streams map[*subscription]struct{}
}

// latest is what can't be read from the output log.
type latest struct {
	live  *sessions.Live
	turn  sessions.Turn
	state sessions.State // "": not heard of yet
	since time.Time      // since when it's in that state; zero: it was when it was heard of
}

// is notes a session's state.
func (l *latest) is(state sessions.State, now time.Time) {
	switch {
	case state == "" || state == l.state:
		return
	case l.state != "" || state == sessions.StateStarting:
		l.since = now
	}
	l.state = state
}

// NewBroker returns a Broker.
func NewBroker() *Broker {
	return &Broker{latest: map[sessions.ID]latest{}, streams: map[*subscription]struct{}{}}
}

// marks say what a stream hasn't told its client yet about one session. What's
// newer replaces what's older.
type marks struct {
	ended *turnEnd          // the last turn that ended
	turn  *sessions.Turn    // the present turn, if it changed without ending
	live  *sessions.Live    // the newest live region
	exit  *sessions.Exit    // the program ended
	state bool              // the state changed
	last  *sessions.Session // as it was when it last changed
	asked []sessions.Prompt // that changed, oldest change first
}

// turnEnd is the end of a turn, behind the line of number line.
type turnEnd struct {
	turn sessions.Turn
	line int64
}

// subscription is one stream's side of the broker. Its fields belong to the
// broker's mutex, but for wake.
type subscription struct {
	only  sessions.ID // "": all sessions
	dirty map[sessions.ID]*marks
	order []sessions.ID // of dirty, in the order in which they became so
	wake  chan struct{} // holds one token when dirty isn't empty
}

func (b *Broker) subscribe(only sessions.ID) *subscription {
	s := &subscription{only: only, dirty: map[sessions.ID]*marks{}, wake: make(chan struct{}, 1)}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.streams[s] = struct{}{}
	return s
}

func (b *Broker) unsubscribe(s *subscription) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.streams, s)
}

// Follow subscribes to what happens.
func (b *Broker) Follow(feed *sessions.Feed) {
	feed.OnOutput(b.markOutput)
	feed.OnSession(b.markSession)
	feed.OnPrompt(b.markPrompt)
}

// markOutput marks a session's news. It doesn't block.
func (b *Broker) markOutput(ev sessions.OutputEvent) {
	b.mu.Lock()
	defer b.mu.Unlock()
	was := b.latest[ev.Session]
	now := was
	now.turn = ev.Turn
	now.is(ev.State, time.Now())
	if ev.Live != nil {
		now.live = ev.Live
	}
	b.latest[ev.Session] = now
	turned := was.turn.Number != ev.Turn.Number || was.turn.Open != ev.Turn.Open
	b.mark(ev.Session, func(m *marks) {
		if ev.Live != nil {
			m.live = ev.Live
		}
		if ev.Exit != nil {
			m.exit = ev.Exit
		}
		m.state = m.state || ev.State != ""
		switch {
		case ev.Complete:
			m.ended, m.turn = &turnEnd{ev.Turn, endLine(ev)}, nil
		case turned:
			m.turn = &ev.Turn
		}
	})
}

// endLine returns the number of the last line of the turn that ended with an
// event; 0 if it can't be told, and the turn then ended before what's new.
func endLine(ev sessions.OutputEvent) int64 {
	if !ev.Turn.Open && ev.Turn.LastLine > 0 {
		return ev.Turn.LastLine
	}
	if ev.First > 0 {
		return ev.First + int64(len(ev.Lines)) - 1
	}
	return 0
}

// markSession marks a session that was created, changed or ended. It doesn't block.
func (b *Broker) markSession(s sessions.Session) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if s.State == sessions.StateEnded {
		delete(b.latest, s.ID)
	} else {
		now := b.latest[s.ID]
		now.is(s.State, time.Now())
		b.latest[s.ID] = now
	}
	b.mark(s.ID, func(m *marks) { m.state, m.last = true, &s })
}

// maxAsked bounds what's marked of one session's prompts: each takes the place of the one
// before it, so a stream that comes to know of the newest knows enough.
const maxAsked = 16

// markPrompt marks a change of a prompt. It doesn't block.
func (b *Broker) markPrompt(p sessions.Prompt) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.mark(p.Session, func(m *marks) {
		m.asked = slices.DeleteFunc(m.asked, func(o sessions.Prompt) bool { return o.ID == p.ID })
		m.asked = append(m.asked, p)
		m.asked = m.asked[max(0, len(m.asked)-maxAsked):]
	})
}

// mark needs the mutex held.
func (b *Broker) mark(id sessions.ID, change func(*marks)) {
	for s := range b.streams {
		if s.only != "" && s.only != id {
			continue
		}
		m := s.dirty[id]
		if m == nil {
			m = &marks{}
			s.dirty[id] = m
			s.order = append(s.order, id)
		}
		change(m)
		select {
		case s.wake <- struct{}{}:
		default: // it's awake or about to be
		}
	}
}

// next takes one session's marks, the longest-waiting first; nil if there are
// none.
func (b *Broker) next(s *subscription) (sessions.ID, *marks) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(s.order) == 0 {
		return "", nil
	}
	id := s.order[0]
	s.order = append(s.order[:0], s.order[1:]...)
	m := s.dirty[id]
	delete(s.dirty, id)
	return id, m
}

// takeEnd takes what was marked since about the end of a turn.
func (b *Broker) takeEnd(s *subscription, id sessions.ID) *turnEnd {
	b.mu.Lock()
	defer b.mu.Unlock()
	m := s.dirty[id]
	if m == nil {
		return nil
	}
	end := m.ended
	m.ended = nil
	return end
}

// Since returns since when a session is in its state; zero if it was before this daemon
// heard of it.
func (b *Broker) Since(id sessions.ID) time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.latest[id].since
}

// Live returns a session's live region as it was last heard of; an empty one
// if nothing was heard.
func (b *Broker) Live(id sessions.ID) *sessions.Live {
	b.mu.Lock()
	defer b.mu.Unlock()
	if l := b.latest[id].live; l != nil {
		return l
	}
	return &sessions.Live{CursorY: -1}
}
