package api

import (
	"context"
	"net/http"
	"time"

	"github.com/panebridge/panebridge/internal/render/sgr"
	"github.com/panebridge/panebridge/sessions"
)

// pageLines is how many lines are read from the log at once, and so bounds what
// a stream holds in memory.
const pageLines = 500

// stream carries events to one client.
type stream struct {
	api       *api
	sub       *subscription
	out       *sseWriter
	positions map[sessions.ID]position
}

// events serves GET /api/v1/events?session=ID&from=N.
func (a *api) events(w http.ResponseWriter, r *http.Request) error {
	only, from, err := a.eventsRequest(r)
	if err != nil {
		return err
	}
	ctx, done, err := a.streams.begin(r.Context())
	if err != nil {
		return err
	}
	defer done()
	// Listening starts before the position is taken: what's printed in between
	// is found in the log, what's printed later is heard of.
	sub := a.opts.Broker.subscribe(only)
	defer a.opts.Broker.unsubscribe(sub)
	s := &stream{api: a, sub: sub, positions: map[sessions.ID]position{}}
	list, err := s.start(ctx, from)
	if err != nil {
		return err
	}
	if s.out, err = newSSEWriter(w, a.opts.Timeouts.Write); err != nil {
		return err
	}
	s.run(ctx, list)
	return nil
}

// eventsRequest returns the session asked for ("" for all) and where to start
// (nil for now).
func (a *api) eventsRequest(r *http.Request) (sessions.ID, *position, error) {
	query := r.URL.Query()
	name, from := query.Get("session"), query.Get("from")
	if name == "" {
		if from != "" {
			return "", nil, badRequest("from is a line number of one session: it goes with session only")
		}
		return "", nil, nil
	}
	s, err := a.opts.Sessions.Get(name)
	if err != nil {
		return "", nil, err
	}
	// A browser that reconnects by itself repeats the address and adds how far it got.
	if last := r.Header.Get("Last-Event-ID"); last != "" {
		from = last
	}
	if from == "" {
		return s.ID, nil, nil
	}
	p, err := parsePosition(from)
	if err != nil {
		return "", nil, err
	}
	return s.ID, &p, nil
}

// start takes the position of every session that the stream starts with.
func (s *stream) start(ctx context.Context, from *position) ([]sessions.Session, error) {
	list := s.api.opts.Sessions.List()
	if s.sub.only != "" {
		one, err := s.api.opts.Sessions.Get(string(s.sub.only))
		if err != nil {
			return nil, err
		}
		list = []sessions.Session{one}
	}
	for _, one := range list {
		if from != nil {
			s.positions[one.ID] = *from
			continue
		}
		line, gap, err := s.api.opts.Output.Head(ctx, one.ID)
		if err != nil {
			return nil, err
		}
		s.positions[one.ID] = headPosition(line, gap)
	}
	return list, nil
}

// run sends events until the client, the request or the server ends.
func (s *stream) run(ctx context.Context, list []sessions.Session) {
	if !s.greet(ctx, list) {
		return
	}
	heartbeat := time.NewTicker(s.api.opts.Timeouts.Heartbeat)
	defer heartbeat.Stop()
	for {
		var err error
		select {
		case <-ctx.Done():
			return
		case <-s.api.quit:
			return
		case <-heartbeat.C:
			err = s.out.heartbeat()
		case <-s.sub.wake:
			err = s.drain(ctx)
		}
		if err != nil {
			return
		}
	}
}

// greet sends the present state, live region and open prompt of every session, and the
// lines that the client asked for.
func (s *stream) greet(ctx context.Context, list []sessions.Session) bool {
	for i := range list {
		id := list[i].ID
		m := &marks{state: true, last: &list[i], live: s.api.opts.Broker.Live(id)}
		if list[i].State == sessions.StateEnded && s.sub.only == "" {
			m.live = nil // the client lists it; nobody looks at it
		}
		if p, open := s.api.opts.Sessions.PromptOf(id); open {
			m.asked = []sessions.Prompt{p}
		}
		if s.state(id, m) != nil || s.live(id, m) != nil || s.asked(id, m) != nil {
			return false
		}
		if s.catchUp(ctx, id, &marks{}) != nil {
			return false
		}
	}
	return s.out.flush() == nil
}

// drain tells all there is to tell. When the log can't be read it tries again
// after a pause.
func (s *stream) drain(ctx context.Context) error {
	for !s.ending(ctx) {
		id, m := s.api.opts.Broker.next(s.sub)
		if m == nil {
			return s.out.flush()
		}
		if err := s.tell(ctx, id, m); err != nil {
			return err
		}
	}
	return nil
}

func (s *stream) ending(ctx context.Context) bool {
	select {
	case <-s.api.quit:
		return true
	default:
		return ctx.Err() != nil
	}
}

// tell sends one session's news: lines and gaps first, as what else happened
// follows from them.
func (s *stream) tell(ctx context.Context, id sessions.ID, m *marks) error {
	if err := s.catchUp(ctx, id, m); err != nil {
		return err
	}
	for _, step := range []func(sessions.ID, *marks) error{s.turn, s.live, s.asked, s.exit, s.state} {
		if err := step(id, m); err != nil {
			return err
		}
	}
	return nil
}

func (s *stream) turn(id sessions.ID, m *marks) error {
	if m.turn == nil {
		return nil
	}
	return s.out.event(EventTurn, "", TurnEvent{Session: id, Turn: s.api.shownTurn(*m.turn)})
}

func (s *stream) live(id sessions.ID, m *marks) error {
	if m.live == nil {
		return nil
	}
	plain := func(rows []string) []string {
		out := make([]string, len(rows))
		for i, row := range s.api.hidden(rows) {
			out[i] = sgr.Plain(row)
		}
		return out
	}
	rows, writing := plain(m.live.Rows), plain(m.live.Writing)
	status := plain([]string{m.live.Status})[0]
	return s.out.event(EventLive, "", LiveEvent{
		Session: id, Rows: rows, Alternate: m.live.Alternate, CursorX: m.live.CursorX, CursorY: m.live.CursorY,
		Known: m.live.Known, Writing: writing, Status: status,
	})
}

func (s *stream) asked(_ sessions.ID, m *marks) error {
	for _, p := range m.asked {
		if err := s.out.event(EventPrompt, "", s.api.newPrompt(p)); err != nil {
			return err
		}
	}
	return nil
}

func (s *stream) exit(id sessions.ID, m *marks) error {
	if m.exit == nil {
		return nil
	}
	return s.out.event(EventExit, "", ExitEvent{Session: id, Exit: *m.exit})
}

// state sends the session as it is now, or as it last was if it isn't kept any
// more.
func (s *stream) state(id sessions.ID, m *marks) error {
	if !m.state {
		return nil
	}
	now, err := s.api.opts.Sessions.Get(string(id))
	switch {
	case err == nil:
	case m.last != nil:
		now = *m.last
	default:
		return nil
	}
	shown := s.api.newSession(now)
	return s.out.event(EventState, "", StateEvent{Session: id, State: shown.State, Reason: shown.Reason, Summary: shown})
}
