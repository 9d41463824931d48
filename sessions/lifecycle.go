package sessions

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	paneWidth, paneHeight = 120, 40
	reconcileAfter        = 50 * time.Millisecond
	adoptAgainAfter       = 2 * time.Second
	tmuxTimeout           = 10 * time.Second // for making and ending panes
)

// New makes a session in a pane of its own.
func (m *Manager) New(ctx context.Context, req NewRequest) (Session, error) {
	pane, srv, err := m.plan(&req)
	if err != nil {
		return Session{}, err
	}
	m.life.Lock()
	defer m.life.Unlock()
	if req.Name, err = m.freeName(req.Name, req.Agent); err != nil {
		return Session{}, err
	}
	pane.Session = m.opt.Prefix + tmuxName(req.Name)
	ctx, cancel := context.WithTimeout(ctx, tmuxTimeout)
	defer cancel()
	id := NewID()
	info, err := srv.Create(ctx, id, pane)
	if err != nil {
		return Session{}, err
	}
	identity, _ := srv.Identity()
	s := Session{
		ID: id, Name: req.Name, Agent: req.Agent, Cwd: pane.Cwd, State: StateStarting, Owned: true, CreatedAt: time.Now(),
		Pane: Pane{Server: srv.Name(), Identity: identity, ID: info.ID, Session: info.Session},
	}
	if err := m.begin(ctx, s); err != nil {
		_ = srv.Kill(ctx, info.ID)
		return Session{}, err
	}
	return s, nil
}

// plan checks a request and works out what to run where.
func (m *Manager) plan(req *NewRequest) (PaneRequest, Server, error) {
	p := PaneRequest{Width: paneWidth, Height: paneHeight, HistoryLimit: m.opt.HistoryLimit, Command: req.Command}
	m.mu.Lock()
	agent, known := m.opt.Agents[req.Agent]
	m.mu.Unlock()
	if req.Agent != "" && !known {
		return p, nil, fmt.Errorf("%w agent %q: the configuration's `agents` has no such entry", ErrUnknown, req.Agent)
	}
	p.Env = agent.Env
	if len(p.Command) == 0 {
		p.Command = agent.Command
	}
	if len(p.Command) == 0 {
		p.Command = []string{m.opt.Shell}
	}
	if p.Cwd = req.Cwd; p.Cwd == "" {
		p.Cwd, _ = os.UserHomeDir()
	}
	if !filepath.IsAbs(p.Cwd) {
		return p, nil, fmt.Errorf("%w folder %q: give an absolute path", ErrInvalid, req.Cwd)
	}
	if fi, err := os.Stat(p.Cwd); err != nil || !fi.IsDir() {
		return p, nil, fmt.Errorf("%w folder %q: there is no such folder", ErrInvalid, p.Cwd)
	}
	if strings.ContainsAny(req.Name, "\n\t\x00") || len(req.Name) > 100 {
		return p, nil, fmt.Errorf("%w name: at most 100 bytes on one line", ErrInvalid)
	}
	srv := m.opt.Servers[0]
	if req.Server != "" {
		if srv = m.server(req.Server); srv == nil {
			return p, nil, fmt.Errorf("%w tmux server %q: it isn't in the configuration", ErrUnknown, req.Server)
		}
	}
	return p, srv, nil
}

// freeName returns the name asked for if it's free, or makes one up.
func (m *Manager) freeName(name, agent string) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	used := map[string]bool{}
	for _, e := range m.entries {
		if e.State != StateEnded {
			used[e.Name] = true
			used[tmuxName(e.Name)] = true
		}
	}
	if name != "" {
		if used[name] || used[tmuxName(name)] {
			return "", fmt.Errorf("%w: a session is named %q already; choose another name", ErrConflict, name)
		}
		return name, nil
	}
	base := agent
	if base == "" {
		base = "shell"
	}
	for n := 1; ; n++ {
		name := fmt.Sprintf("%s-%d", base, n)
		if !used[name] {
			return name, nil
		}
	}
}

// tmuxName makes a name that tmux takes as it is: without the "." and ":" of
// its targets and the characters of its patterns.
func tmuxName(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '_'
	}, name)
}

// Adopt mirrors panes that exist.
func (m *Manager) Adopt(ctx context.Context, req AdoptRequest) ([]Session, error) {
	if req.Tmux == "" {
		return nil, fmt.Errorf("%w: say which pane (%%12) or tmux session to adopt", ErrInvalid)
	}
	m.life.Lock()
	defer m.life.Unlock()
	var errs []error
	for _, srv := range m.opt.Servers {
		if req.Server != "" && req.Server != srv.Name() {
			continue
		}
		panes, err := srv.Panes(ctx)
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
	id := p.Mark
	if id == "" || m.has(id) {
		id = NewID()
	}
	if err := srv.Mark(ctx, p.ID, id); err != nil {
		return Session{}, err
	}
	where := Pane{Server: srv.Name(), Identity: identity, ID: p.ID, Session: p.Session}
	if err := m.unclose(ctx, where); err != nil {
		return Session{}, err
	}
	s := Session{ID: id, Name: name, Cwd: p.Cwd, State: StateStarting, CreatedAt: time.Now(), Pane: where}
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
	m.entries[s.ID] = &entry{Session: s}
	m.mu.Unlock()
	m.opt.Sink.Changed(s)
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
	line, gaps, err := m.note(ctx, id, Line{Kind: KindNotice, Text: text}, gap)
	if err != nil {
		m.log.Error("write the notice of a session's end", "session", id, "err", err)
	} else {
		m.opt.Sink.Output(OutputEvent{Session: id, First: line.N, Lines: []Line{line}, Gaps: gaps, Exit: exit, Live: &Live{CursorY: -1}, State: StateEnded, Reason: reason})
	}
	s, ok := m.update(id, func(s *Session) {
		s.State, s.Reason, s.EndedAt = StateEnded, reason, time.Now()
		if exit != nil {
			s.Exit = exit
		}
	})
	if !ok {
		return
	}
	if err := m.opt.Store.PutSession(ctx, s); err != nil {
		m.log.Error("store the end of a session", "session", id, "err", err)
	}
	m.failWaiting(ctx, id, "the session has ended: "+reason)
	m.log.Info("session ends", "session", id, "reason", reason)
}

// NewPanes is told when a look at a server found panes that weren't there.
func (m *Manager) NewPanes(server string) { m.Reconcile(server) }

// Reconcile has Run compare the registry with what a tmux server has now: call
// it when a server's connection came or went, or its sessions changed.
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
	time.AfterFunc(reconcileAfter, func() { m.reconcileLater(server) })
}

func (m *Manager) reconcileLater(server string) {
	m.later(func(ctx context.Context) {
		m.mu.Lock()
		delete(m.pending, server)
		m.mu.Unlock()
		srv := m.server(server)
		if srv == nil {
			return
		}
		m.life.Lock()
		defer m.life.Unlock()
		if err := m.reconcile(ctx, srv); err != nil && ctx.Err() == nil {
			m.log.Warn("compare sessions with tmux", "server", server, "err", err)
		}
	})
}

// reconcile ends sessions of earlier runs of the server, starts pollers of
// those that live, and adopts what the patterns say.
func (m *Manager) reconcile(ctx context.Context, srv Server) error {
	identity, up := srv.Identity()
	if !up {
		if srv.Gone() {
			m.endRuns(ctx, srv, ServerIdentity{}, "the tmux server has ended")
		}
		return nil
	}
	m.endRuns(ctx, srv, identity, "the tmux server was started anew")
	m.resume(srv)
	panes, err := m.panes(ctx, srv)
	if err != nil {
		return err
	}
	if len(panes) == 0 {
		return srv.Leave(ctx) // only our own hidden session is left
	}
	for _, p := range panes {
		if !m.wanted(srv.Name(), identity, p) {
			continue
		}
		if err := m.adoptWanted(ctx, srv, p); err != nil {
			time.AfterFunc(adoptAgainAfter, func() { m.Reconcile(srv.Name()) }) // a busy server, a full disk
			return err
		}
	}
	return nil
}

func (m *Manager) panes(ctx context.Context, srv Server) ([]PaneInfo, error) {
	ctx, cancel := context.WithTimeout(ctx, tmuxTimeout)
	defer cancel()
	return srv.Panes(ctx)
}

// adoptWanted adopts a pane that a pattern matches. That it's gone meanwhile or
// a session already is no error.
func (m *Manager) adoptWanted(ctx context.Context, srv Server, p PaneInfo) error {
	ctx, cancel := context.WithTimeout(ctx, tmuxTimeout)
	defer cancel()
	_, err := m.adopt(ctx, srv, p, p.Session)
	if errors.Is(err, ErrConflict) || errors.Is(err, ErrUnknown) {
		return nil
	}
	return err
}

// endRuns ends the sessions of all runs of a server but the one given.
func (m *Manager) endRuns(ctx context.Context, srv Server, keep ServerIdentity, reason string) {
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
		m.ended(ctx, s.ID, nil, reason, &Gap{Reason: "what was printed right before may be missing"})
	}
}

// resume starts the pollers of living sessions that have none.
func (m *Manager) resume(srv Server) {
	for _, s := range m.List() {
		if s.State != StateEnded && s.Pane.Server == srv.Name() {
			_ = m.opt.Pollers.Start(s) // it has one already: fine
		}
	}
}

// wanted reports whether a pattern adopts a pane.
func (m *Manager) wanted(server string, identity ServerIdentity, p PaneInfo) bool {
	if _, taken := m.at(server, identity, p.ID); taken {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed[closedPane{server, identity, p.ID}] {
		return false
	}
	for _, pattern := range m.opt.Adopt {
		if ok, err := path.Match(pattern, p.Session); err == nil && ok {
			return true
		}
	}
	return false
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

// SetAgents replaces the agents that can be started.
func (m *Manager) SetAgents(a map[string]Agent) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.opt.Agents = a
}

// Agents returns the names of the agents that can be started, sorted.
func (m *Manager) Agents() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Sorted(maps.Keys(m.opt.Agents))
}

// Screen shows a session's pane as it is now.
func (m *Manager) Screen(ctx context.Context, id ID) (Screen, error) {
	s, srv, err := m.living(id)
	if err != nil {
		return Screen{}, err
	}
	if now, up := srv.Identity(); up && now != s.Pane.Identity {
		return Screen{}, fmt.Errorf("%s: %w: its tmux server was started anew", s.Name, ErrEnded)
	}
	return srv.Screen(ctx, s.Pane.ID)
}
