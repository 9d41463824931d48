package sessions

import (
	"cmp"
	"context"
	"errors"
	"path"
	"strings"
	"time"
)

const (
	reconcileAfter  = 50 * time.Millisecond
	adoptAgainAfter = 2 * time.Second
)

// Reconcile has Run compare the registry with what a tmux server has now: call
// it when a server's connection came or went, its sessions changed, or a look found panes that weren't there.
//
// One look serves all calls of the last moment: making a thousand windows is a
// thousand notifications, and a look at a thousand panes costs tmux 20 ms.
func (m *Manager) Reconcile(server string) {
	m.mu.Lock()
	pending := m.pending[server]
	m.pending[server] = true
	m.mu.Unlock()
	if pending {
		return
	}
	time.AfterFunc(reconcileAfter, func() {
		m.runLater(func(ctx context.Context) {
			m.mu.Lock()
			delete(m.pending, server)
			m.mu.Unlock()
			m.life.Lock()
			defer m.life.Unlock()
			if srv := m.serverNamed(server); srv != nil {
				if err := m.reconcileServer(ctx, srv); err != nil && ctx.Err() == nil {
					m.log.Warn("compare sessions with tmux", "server", server, "err", err)
				}
			}
		})
	})
}

// reconcileServer ends sessions of earlier runs of the server, starts pollers of
// those that live, takes in their names, and adopts what the patterns say.
func (m *Manager) reconcileServer(ctx context.Context, srv TmuxServer) error {
	identity, up := srv.Identity()
	if !up {
		if srv.Gone() {
			m.endRuns(ctx, srv, ServerIdentity{}, "the tmux server has ended")
		}
		return nil
	}
	m.endRuns(ctx, srv, identity, "the tmux server was started anew")
	m.resumePollers(srv)
	listing, cancel := context.WithTimeout(ctx, tmuxTimeout)
	defer cancel()
	panes, err := srv.Panes(listing)
	if err != nil {
		return err
	}
	if len(panes) == 0 {
		return srv.Leave(ctx) // only our own hidden session is left
	}
	for _, p := range panes {
		m.followRename(ctx, srv.Name(), identity, p)
		if !m.isWanted(srv.Name(), identity, p) {
			continue
		}
		if err := m.adoptWanted(ctx, srv, p); err != nil {
			time.AfterFunc(adoptAgainAfter, func() { m.Reconcile(srv.Name()) }) // a busy server, a full disk
			return err
		}
	}
	return nil
}

// adoptWanted adopts a pane that a pattern matches. That it's gone meanwhile or
// a session already is no error.
func (m *Manager) adoptWanted(ctx context.Context, srv TmuxServer, p PaneInfo) error {
	ctx, cancel := context.WithTimeout(ctx, tmuxTimeout)
	defer cancel()
	name := p.Session
	m.mu.Lock()
	if m.isLost(p) {
		name = cmp.Or(strings.TrimPrefix(p.Session, m.opt.Prefix), p.Session)
	}
	m.mu.Unlock()
	_, err := m.adoptPane(ctx, srv, p, name)
	if errors.Is(err, ErrConflict) || errors.Is(err, ErrUnknown) {
		return nil
	}
	return err
}

// endRuns ends the sessions of all runs of a server but the one given.
func (m *Manager) endRuns(ctx context.Context, srv TmuxServer, keep ServerIdentity, reason string) {
	lost := false
	for _, s := range m.List() {
		if s.State == StateEnded || s.Pane.Server != srv.Name() || s.Pane.Identity == keep {
			continue
		}
		if !lost {
			m.opt.Pollers.ServerGone(srv.Name())
			lost = true
		}
		_ = m.opt.Pollers.Stop(ctx, s.ID) // waits until its last output is stored
		m.endSession(ctx, s.ID, nil, reason, &Gap{Reason: "what was printed right before may be missing"})
	}
}

func (m *Manager) resumePollers(srv TmuxServer) {
	for _, s := range m.List() {
		if s.State != StateEnded && s.Pane.Server == srv.Name() {
			_ = m.opt.Pollers.Start(s) // it has one already: fine
		}
	}
}

func (m *Manager) isWanted(server string, identity ServerIdentity, p PaneInfo) bool {
	if _, taken := m.sessionAt(server, identity, p.ID); taken {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed[closedPaneKey{server, identity, p.ID}] {
		return false
	}
	if m.isLost(p) {
		return true
	}
	for _, pattern := range m.opt.Adopt {
		if ok, err := path.Match(pattern, p.Session); err == nil && ok {
			return true
		}
	}
	return false
}

// isLost says whether a pane is of a session that the registry has lost. mu is held.
func (m *Manager) isLost(p PaneInfo) bool {
	return m.opt.Recover && p.Mark.Valid() && m.entries[p.Mark] == nil
}

// SetAdopt replaces the patterns, and looks at all servers with them.
func (m *Manager) SetAdopt(patterns []string) {
	m.mu.Lock()
	m.opt.Adopt = patterns
	m.mu.Unlock()
	for _, s := range m.opt.Servers {
		m.Reconcile(s.Name())
	}
}

// followRename takes in what tmux sessions are called now. A session that's named after its
// tmux session is renamed with it; one that was given another name keeps that.
func (m *Manager) followRename(ctx context.Context, server string, identity ServerIdentity, p PaneInfo) {
	s, ok := m.sessionAt(server, identity, p.ID)
	if !ok || s.Pane.Session == p.Session || p.Session == "" {
		return
	}
	name := s.Name
	switch {
	case s.Owned && m.isTmuxNameOf(s.Pane.Session, name):
		if name = strings.TrimPrefix(p.Session, m.opt.Prefix); name == "" {
			name = p.Session
		}
	case !s.Owned && s.Pane.Session == name:
		name = p.Session
	}
	if s, ok = m.changeSession(s.ID, func(s *Session) { s.Name, s.Pane.Session = name, p.Session }); !ok {
		return
	}
	m.opt.Feed.PublishSession(s)
	m.log.Info("the tmux session has another name", "session", s.ID, "name", name)
	if err := m.opt.Store.PutSession(ctx, s); err != nil {
		m.log.Error("store the new name of a session", "session", s.ID, "err", err) // it's compared again after the next start
	}
}
