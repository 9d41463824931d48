package api

import (
	"context"
	"errors"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// catchUp sends all that is in a session's log behind the stream's position,
// one page after the other, with the ends of turns where they belong. A session
// that the stream didn't start with is new: it's sent from its first line.
func (s *stream) catchUp(ctx context.Context, id sessions.ID, m *marks) error {
	pos := s.positions[id]
	defer func() { s.positions[id] = pos }()
	for {
		out, line, gap, err := s.read(ctx, id, pos)
		if err != nil {
			return err
		}
		// Only now, as a turn's end is marked after its lines are in the log and
		// before the lines that follow are: whatever the page holds behind an
		// end, the end is marked.
		if end := s.api.opts.Broker.takeEnd(s.sub, id); end != nil {
			m.ended, m.turn = end, nil
		}
		p := page{stream: s, id: id, pos: &pos, ctx: ctx, marks: m, gaps: out.Gaps}
		if err := p.send(out.Lines); err != nil {
			return err
		}
		pos.line, pos.gap, pos.skip = max(pos.line, line), gap, 0
		if len(out.Lines) < pageLines {
			break
		}
		if err := s.out.flush(); err != nil {
			return err
		}
	}
	return s.turnEnded(id, m)
}

// read reads a page; it tries until it can, or the stream ends.
func (s *stream) read(ctx context.Context, id sessions.ID, pos position) (sessions.Output, int64, int64, error) {
	for {
		out, line, gap, err := s.api.opts.Output.ReadSince(ctx, id, pos.line, pos.gap, pageLines)
		switch {
		case err == nil:
			return out, line, gap, nil
		case errors.Is(err, sessions.ErrUnknown): // its log is deleted: nothing will come
			return sessions.Output{}, pos.line, pos.gap, nil
		case ctx.Err() != nil:
			return sessions.Output{}, 0, 0, err
		}
		s.api.opts.Log.Warn("reading the output log for an event stream", "session", string(id), "err", err)
		if err := s.out.flush(); err != nil {
			return sessions.Output{}, 0, 0, err
		}
		if err := s.pause(ctx); err != nil {
			return sessions.Output{}, 0, 0, err
		}
	}
}

// pause waits before the log is read again.
func (s *stream) pause(ctx context.Context) error {
	t := time.NewTimer(s.api.opts.Timeouts.Retry)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-s.api.quit:
		return context.Canceled
	case <-t.C:
		return nil
	}
}

func (s *stream) turnEnded(id sessions.ID, m *marks) error {
	if m.ended == nil {
		return nil
	}
	turn := m.ended.turn
	m.ended = nil
	return s.out.event(EventTurn, "", TurnEvent{Session: id, Turn: s.api.shownTurn(turn), Complete: true})
}
