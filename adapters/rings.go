package adapters

import (
	"context"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// Which ends of turns ring: docs/adr/0035.

// ended are the turns whose end a message says, and who asked for them.
type ended struct {
	turns []sessions.Turn
	// said are the lines that people wrote since the end of the turn before them, one for each
	// text. whole says that none is missing.
	said  []sessions.Line
	whole bool
}

// isBrief reports whether all of the turns are known to have ended well in less than a time.
func (e ended) isBrief(than time.Duration) bool {
	for _, t := range e.turns {
		took := t.EndedAt.Sub(t.StartedAt)
		if t.StartedAt.IsZero() || t.EndedAt.IsZero() || took < 0 || took >= than || !t.Well() {
			return false
		}
	}
	return true
}

// isOnlyFor reports whether nobody uses a place but who asked for the turns. users are those who
// use it, as people are called. Who sits at the session's own keyboard is taken for the only one
// who uses a place: they have seen the turn end.
func (e ended) isOnlyFor(place Target, users []string) bool {
	if !e.whole || len(e.turns) == 0 || len(users) != 1 {
		return false
	}
	for _, l := range e.said {
		if l.Origin != place.String() && l.Author != users[0] && (l.Origin != "" || !isKeyboard(l.Author)) {
			return false
		}
	}
	if len(e.said) > 0 {
		return true
	}
	for _, t := range e.turns {
		if t.Status == nil {
			return false // it's no command that somebody typed: an agent goes on by itself, say
		}
	}
	return true
}

// isKeyboard reports whether a line's author is who sits at the machine: at the session's own
// terminal, the command line or the page.
func isKeyboard(author string) bool { return author == "" || author == "cli" || author == "web" }

// mostTurns is of how many turns that share a message it's known who asked for them.
const mostTurns = 100

// lookBack reads what's known of the turns whose end is to be announced. after is
// Settings.RingAfter.
func (s *sight) lookBack(ctx context.Context, log Log, after time.Duration) error {
	end := s.turnEnd()
	if end == 0 || end != s.progress.TurnEnd {
		return nil
	}
	e, err := s.briefTurns(ctx, log, after)
	if err != nil {
		return err
	}
	if err := s.lookForFailures(ctx, log); err != nil {
		return err
	}
	from := s.progress.TurnFirst
	if len(e.turns) > 0 {
		from = s.doc.Announced + 1
	}
	lines, err := readTo(ctx, log, s.binding.Session, max(from, 1), end)
	if err != nil {
		return err
	}
	e.whole = len(lines) > 0 && lines[0].N <= max(from, 1)
	var turn []sessions.Line
	for _, l := range lines {
		if l.Kind == sessions.KindUser && l.Begins {
			e.said = append(e.said, l)
		}
		if l.N >= s.progress.TurnFirst && !s.log.isEnd(l) {
			turn = append(turn, l)
		}
	}
	s.words, s.wordsAt = wordsOf(turn)
	s.spared = e.isOnlyFor(s.doc.target(s.binding), s.users)
	return nil
}

// lookForFailures finds which turns before the one whose end is to be announced failed, of which the
// chat wasn't told.
func (s *sight) lookForFailures(ctx context.Context, log Log) error {
	s.earlier, s.earlierWhy = 0, ""
	if s.progress.Turn-s.doc.Turn < 2 {
		return nil
	}
	turns, err := log.Turns(ctx, s.binding.Session, max(s.doc.Turn+1, s.progress.Turn-mostTurns), mostTurns)
	for _, t := range turns {
		if t.Failed != "" && t.Number < s.progress.Turn {
			s.earlier++
			s.earlierWhy = firstWords(t.Failed)
		}
	}
	return err
}

// briefTurns are the turns whose end is to be announced, if all ended well in less than a time.
func (s *sight) briefTurns(ctx context.Context, log Log, than time.Duration) (ended, error) {
	n := s.progress.Turn - s.doc.Turn
	if than <= 0 || n > mostTurns || len(s.users) != 1 || s.session.State == sessions.StateError {
		return ended{}, nil
	}
	turns, err := log.Turns(ctx, s.binding.Session, s.doc.Turn+1, mostTurns)
	if e := (ended{turns: turns}); err == nil && int64(len(turns)) == n && e.isBrief(than) {
		return e, nil
	}
	return ended{}, err
}

// RingAfter is Settings.RingAfter as it is now. It may be called at any time.
func (h *Hub) RingAfter() time.Duration { return time.Duration(h.ringAfter.Load()) }

// Rings reports whether the end of a turn rings at a place while it isn't quiet there.
func (h *Hub) Rings(ctx context.Context, id sessions.ID, at Target, turn sessions.Turn) (bool, error) {
	s := sight{
		binding:  Binding{Session: id, Target: at},
		progress: Progress{Turn: turn.Number, TurnEnd: turn.LastLine, TurnFirst: turn.FirstLine},
		doc:      Document{Turn: turn.Number - 1},
		users:    h.opt.Users(at, time.Now()),
	}
	var err error
	if s.session, err = h.opt.Sessions.Get(string(id)); err != nil {
		return true, err
	}
	before, err := h.opt.Log.Turns(ctx, id, turn.Number-1, 1)
	if err != nil {
		return true, err
	}
	if len(before) > 0 && before[0].Number < turn.Number {
		s.doc.Announced = before[0].LastLine
	}
	err = s.lookBack(ctx, h.opt.Log, h.RingAfter())
	return !s.spared, err
}

// readTo reads lines from one to another, of more than turnRows the last ones.
func readTo(ctx context.Context, log Log, id sessions.ID, from, to int64) ([]sessions.Line, error) {
	var all []sessions.Line
	for n := max(from, to-turnRows+1); n <= to; {
		out, err := log.Read(ctx, id, n, int(min(readAtOnce, to-n+1)))
		if err != nil {
			return nil, err
		}
		if len(out.Lines) == 0 {
			break // the log has dropped them
		}
		all = append(all, out.Lines...)
		n = all[len(all)-1].N + 1
	}
	return all, nil
}
