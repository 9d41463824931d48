package sessions

import (
	"context"
	"strings"
)

// follow takes in what tmux sessions are called now. A session that's named after its
// tmux session is renamed with it; one that was given another name keeps that.
func (m *Manager) follow(ctx context.Context, server string, identity ServerIdentity, p PaneInfo) {
	s, ok := m.at(server, identity, p.ID)
	if !ok || s.Pane.Session == p.Session || p.Session == "" {
		return
	}
	name := s.Name
	switch {
	case s.Owned && s.Pane.Session == m.opt.Prefix+tmuxName(name):
		if name = strings.TrimPrefix(p.Session, m.opt.Prefix); name == "" {
			name = p.Session
		}
	case !s.Owned && s.Pane.Session == name:
		name = p.Session
	}
	s, ok = m.update(s.ID, func(s *Session) { s.Name, s.Pane.Session = name, p.Session })
	if !ok {
		return
	}
	m.log.Info("the tmux session has another name", "session", s.ID, "name", name)
	if err := m.opt.Store.PutSession(ctx, s); err != nil {
		m.log.Error("store the new name of a session", "session", s.ID, "err", err) // it's compared again after the next start
	}
}
