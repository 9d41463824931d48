package sessions

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// tmuxTimeout is for making and ending panes.
const tmuxTimeout = 10 * time.Second

// Adopt mirrors panes that exist.
func (m *Manager) Adopt(ctx context.Context, req AdoptRequest) ([]Session, error) {
	if req.Tmux == "" {
		return nil, fmt.Errorf("%w: say which pane (%%12) or tmux session to adopt", ErrInvalid)
	}
	if err := checkName(req.Name); err != nil {
		return nil, err
	}
	m.life.Lock()
	defer m.life.Unlock()
	var errs []error
	for _, srv := range m.opt.Servers {
		if req.Server != "" && req.Server != srv.Name() {
			continue
		}
		panes, err := panesOf(ctx, srv)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if out, err := m.adoptFrom(ctx, srv, panes, req); len(out) > 0 || err != nil {
			return out, err
		}
	}
	if len(errs) > 0 {
		return nil, fmt.Errorf("look for %q: %w", req.Tmux, errors.Join(errs...))
	}
	return nil, fmt.Errorf("%w pane or tmux session %q: give a pane id like %%12 or the exact name of a tmux session", ErrUnknown, req.Tmux)
}

// panesOf are a server's panes, also of one that has just begun.
func panesOf(ctx context.Context, srv Server) ([]PaneInfo, error) {
	panes, err := srv.Panes(ctx)
	if !errors.Is(err, ErrUnavailable) || srv.Reach(ctx) != nil {
		return panes, err
	}
	return srv.Panes(ctx)
}

func (m *Manager) adoptFrom(ctx context.Context, srv Server, panes []PaneInfo, req AdoptRequest) (out []Session, err error) {
	for _, p := range panes {
		if p.ID != req.Tmux && p.Session != req.Tmux {
			continue
		}
		name := req.Name
		if name == "" {
			name = p.Session
		}
		s, err := m.adopt(ctx, srv, p, name)
		if err != nil {
			return out, err
		}
		out = append(out, s)
	}
	return out, nil
}

// adopt makes a pane a session. life is held.
func (m *Manager) adopt(ctx context.Context, srv Server, p PaneInfo, name string) (Session, error) {
	identity, ok := srv.Identity()
	if !ok {
		return Session{}, fmt.Errorf("adopt pane %s: %w", p.ID, ErrUnavailable)
	}
	if s, ok := m.at(srv.Name(), identity, p.ID); ok {
		return s, fmt.Errorf("%w: pane %s is session %s (%s) already", ErrConflict, p.ID, s.ID, s.Name)
	}
	m.mu.Lock()
	// Panes that we've made are in tmux sessions of ours.
	owned := m.lost(p) && m.opt.Prefix != "" && strings.HasPrefix(p.Session, m.opt.Prefix)
	m.mu.Unlock()
	id := p.Mark
	if !id.Valid() || m.has(id) {
		id = NewID()
	}
	if err := srv.Mark(ctx, p.ID, id); err != nil {
		return Session{}, err
	}
	where := Pane{Server: srv.Name(), Identity: identity, ID: p.ID, Session: p.Session}
	if err := m.unclose(ctx, where); err != nil {
		return Session{}, err
	}
	s := Session{ID: id, Name: name, Cwd: p.Cwd, State: StateStarting, CreatedAt: time.Now(), Pane: where, Owned: owned}
	return s, m.begin(ctx, s)
}

func (m *Manager) has(id ID) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.entries[id] != nil
}

// at finds the living session in a pane.
func (m *Manager) at(server string, identity ServerIdentity, pane string) (Session, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, e := range m.entries {
		if e.State != StateEnded && e.Pane.Server == server && e.Pane.Identity == identity && e.Pane.ID == pane {
			return e.Session, true
		}
	}
	return Session{}, false
}

// begin stores a new session, registers it and starts its poller.
func (m *Manager) begin(ctx context.Context, s Session) error {
	if err := m.opt.Store.PutSession(ctx, s); err != nil {
		return fmt.Errorf("store session %s: %w", s.Name, err)
	}
	m.mu.Lock()
	m.entries[s.ID] = m.newEntry(s)
	m.mu.Unlock()
	m.opt.Feed.PublishSession(s)
	m.log.Info("session begins", "session", s.ID, "pane", s.Pane.ID, "server", s.Pane.Server)
	return m.opt.Pollers.Start(s)
}

// Close ends a session: one made here with its pane, an adopted one only as a
// mirror. It returns when the session's last output is in the log.
func (m *Manager) Close(ctx context.Context, id ID) error {
	m.life.Lock()
	defer m.life.Unlock()
	s, srv, err := m.living(id)
	if err != nil {
		return err
	}
	if err := m.opt.Pollers.Stop(ctx, id); err != nil {
		return err
	}
	m.ended(ctx, s.ID, nil, "it was closed", nil)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tmuxTimeout)
	defer cancel()
	if s.Owned {
		return srv.Kill(ctx, s.Pane.ID)
	}
	m.mu.Lock()
	m.closed[closedPane{s.Pane.Server, s.Pane.Identity, s.Pane.ID}] = true
	m.mu.Unlock()
	return errors.Join(m.opt.Store.PutClosedPane(ctx, s.Pane), srv.Mark(ctx, s.Pane.ID, ""))
}

func (m *Manager) unclose(ctx context.Context, p Pane) error {
	key := closedPane{p.Server, p.Identity, p.ID}
	m.mu.Lock()
	was := m.closed[key]
	delete(m.closed, key)
	m.mu.Unlock()
	if !was {
		return nil
	}
	return m.opt.Store.DropClosedPane(ctx, p)
}

// Ended is told by a poller whose pane or program has ended.
func (m *Manager) Ended(id ID, exit *Exit, reason string) {
	m.later(func(ctx context.Context) {
		m.life.Lock()
		defer m.life.Unlock()
		s, srv, err := m.living(id)
		if err != nil {
			return
		}
		m.ended(ctx, id, exit, reason, nil)
		if s.Owned && exit != nil {
			ctx, cancel := context.WithTimeout(ctx, tmuxTimeout)
			defer cancel()
			_ = srv.Kill(ctx, s.Pane.ID) // the dead pane has been read
		}
	})
}

// ended makes a session end: notice, registry, store, waiting inputs. life is
// held.
func (m *Manager) ended(ctx context.Context, id ID, exit *Exit, reason string, gap *Gap) {
	ctx = context.WithoutCancel(ctx)
	text := "session ended: " + reason
	if exit != nil && exit.Signal != "" {
		text += ", by signal " + exit.Signal
	} else if exit != nil && exit.Status >= 0 {
		text += fmt.Sprintf(", with status %d", exit.Status)
	}
	lines, gaps, err := m.note(ctx, id, []Line{{Kind: KindNotice, Text: text}}, gap)
	if err != nil {
		m.log.Error("write the notice of a session's end", "session", id, "err", err)
	}
	// Whoever hears of the last line asks whether it's the last: it rings. One who reads the
	// log between these two, for another line, takes it for a line like others.
	s, ok := m.changeSession(id, func(s *Session) {
		s.State, s.Reason, s.EndedAt = StateEnded, reason, time.Now()
		if exit != nil {
			s.Exit = exit
		}
	})
	if !ok {
		return
	}
	if err == nil {
		m.opt.Feed.PublishOutput(OutputEvent{Session: id, First: lines[0].N, Lines: lines, Gaps: gaps, Exit: exit, Live: &Live{CursorY: -1}, State: StateEnded, Reason: reason})
	}
	m.opt.Feed.PublishSession(s)
	if err := m.opt.Store.PutSession(ctx, s); err != nil {
		m.log.Error("store the end of a session", "session", id, "err", err)
	}
	m.endPrompt(ctx, id, "the session has ended: "+reason)
	m.failWaiting(ctx, id, "the session has ended: "+reason)
	m.endAnswers(id)
	m.log.Info("session ends", "session", id, "reason", reason)
}
