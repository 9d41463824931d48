package sessions

import (
	"context"
	"errors"
	"fmt"
	"regexp"
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
		s, err := m.adoptPane(ctx, srv, p, name)
		if err != nil {
			return out, err
		}
		out = append(out, s)
	}
	return out, nil
}

// adoptPane makes a pane a session. life is held.
func (m *Manager) adoptPane(ctx context.Context, srv Server, p PaneInfo, name string) (Session, error) {
	identity, ok := srv.Identity()
	if !ok {
		return Session{}, fmt.Errorf("adopt pane %s: %w", p.ID, ErrUnavailable)
	}
	if s, ok := m.sessionAt(srv.Name(), identity, p.ID); ok {
		return s, fmt.Errorf("%w: pane %s is session %s (%s) already", ErrConflict, p.ID, s.ID, s.Name)
	}
	m.mu.Lock()
	// Panes that we've made are in tmux sessions of ours.
	owned := m.isLost(p) && m.opt.Prefix != "" && strings.HasPrefix(p.Session, m.opt.Prefix)
	m.mu.Unlock()
	id := p.Mark
	if !id.Valid() || m.isKnown(id) {
		id = NewID()
	}
	if err := srv.Mark(ctx, p.ID, id); err != nil {
		return Session{}, err
	}
	where := Pane{Server: srv.Name(), Identity: identity, ID: p.ID, Session: p.Session}
	if err := m.forgetClosed(ctx, where); err != nil {
		return Session{}, err
	}
	s := Session{ID: id, Name: name, Cwd: p.Cwd, State: StateStarting, CreatedAt: time.Now(), Pane: where, Owned: owned}
	return s, m.beginSession(ctx, s)
}

func (m *Manager) isKnown(id ID) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.entries[id] != nil
}

// sessionAt finds the living session in a pane.
func (m *Manager) sessionAt(server string, identity ServerIdentity, pane string) (Session, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, e := range m.entries {
		if e.State != StateEnded && e.Pane.Server == server && e.Pane.Identity == identity && e.Pane.ID == pane {
			return e.Session, true
		}
	}
	return Session{}, false
}

// beginSession stores a new session, registers it and starts its poller.
func (m *Manager) beginSession(ctx context.Context, s Session) error {
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

func (m *Manager) forgetClosed(ctx context.Context, p Pane) error {
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
	m.runLater(func(ctx context.Context) {
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

// conversationIDs are those that agents give: they're arguments, and no options.
var conversationIDs = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:-]{0,199}$`)

// resumable says why an agent can't go on with the conversation asked for.
func resumable(req *NewRequest, a Agent) error {
	switch {
	case len(req.Command) > 0 || req.Agent == "":
		return fmt.Errorf("%w: only an agent of the configuration goes on with a conversation", ErrInvalid)
	case len(a.Resume) == 0:
		return fmt.Errorf("%w: it isn't known how %s goes on with a conversation; agents.%s.resume in the configuration can say so", ErrInvalid, req.Agent, req.Agent)
	case !conversationIDs.MatchString(req.Resume):
		return fmt.Errorf("%w: %.40q isn't the id of a conversation", ErrInvalid, req.Resume)
	}
	return nil
}

// resume are the arguments with which it goes on with a conversation.
func (a Agent) resume(id string) []string {
	out := make([]string, len(a.Resume))
	for i, arg := range a.Resume {
		out[i] = strings.ReplaceAll(arg, ConversationID, id)
	}
	return out
}

// Restart ends a session's program and starts it anew in the session's folder, with the
// conversation that it has, if the agent can go on with one. It's the same session,
// unless it has ended: then another begins with its name. The pane must be one that was
// made here.
func (m *Manager) Restart(ctx context.Context, id ID) (Session, error) {
	m.life.Lock()
	defer m.life.Unlock()
	m.mu.Lock()
	e := m.entries[id]
	if e == nil {
		m.mu.Unlock()
		return Session{}, fmt.Errorf("restart %s: %w session", id, ErrUnknown)
	}
	s := e.Session
	m.mu.Unlock()
	req := NewRequest{Agent: s.Agent, Cwd: s.Cwd, Server: s.Pane.Server}
	if agent, _ := m.agentOf(s.Agent); len(agent.Resume) > 0 && conversationIDs.MatchString(s.Source.Conversation) {
		req.Resume = s.Source.Conversation
	}
	switch {
	case !s.Owned:
		return Session{}, fmt.Errorf("%w: panebridge didn't begin %s; end its program and start it by hand", ErrConflict, s.Name)
	case s.State == StateEnded:
		req.Name = s.Name
		return m.createSession(ctx, req)
	default:
		return m.respawnProgram(ctx, s, req)
	}
}

// respawnProgram starts the program of a living session anew. life is held.
func (m *Manager) respawnProgram(ctx context.Context, s Session, req NewRequest) (Session, error) {
	pane, srv, err := m.planPane(&req)
	if err != nil {
		return Session{}, err
	}
	if now, up := srv.Identity(); !up || now != s.Pane.Identity {
		return Session{}, fmt.Errorf("restart %s: %w", s.Name, ErrUnavailable)
	}
	pane.Env = m.envOf(pane.Env, s.ID)
	if s.Agent == "" {
		pane.Command = nil // what runs in it isn't known here, but to tmux
	}
	ctx, cancel := context.WithTimeout(ctx, tmuxTimeout)
	defer cancel()
	m.failWaiting(ctx, s.ID, "the program was started anew")
	if err := srv.Respawn(ctx, s.Pane.ID, pane); err != nil {
		return Session{}, fmt.Errorf("restart %s: %w", s.Name, err)
	}
	m.setAddressee(ctx, s.ID, "")
	m.endPrompt(ctx, s.ID, "the program was started anew")
	text := "program started anew"
	if req.Resume != "" {
		text += ", with its conversation"
	}
	lines, gaps, err := m.note(ctx, s.ID, []Line{{Kind: KindNotice, Text: text}}, nil)
	if err != nil {
		m.log.Error("write the notice of a restart", "session", s.ID, "err", err)
	} else {
		m.opt.Feed.PublishOutput(OutputEvent{Session: s.ID, First: lines[0].N, Lines: lines, Gaps: gaps, Turn: s.Turn})
	}
	m.log.Info("session's program is started anew", "session", s.ID, "resumed", req.Resume != "")
	m.opt.Pollers.Typed(s.ID, "")
	return m.Get(string(s.ID))
}

// Forget drops a session that has ended, with its output log, its receipts and its
// prompts.
// ErrConflict if it still lives.
func (m *Manager) Forget(ctx context.Context, id ID) error {
	m.life.Lock()
	defer m.life.Unlock()
	s, err := m.Get(string(id))
	if err != nil {
		return err
	}
	if s.State != StateEnded {
		return fmt.Errorf("forget session %s: %w: it still lives; close it first", s.Name, ErrConflict)
	}
	if err := m.opt.Pollers.Stop(ctx, s.ID); err != nil { // one that was begun as it ended
		return err
	}
	if err := m.opt.Store.DropSession(ctx, s.ID); err != nil {
		return err
	}
	m.mu.Lock()
	delete(m.entries, s.ID)
	m.mu.Unlock()
	m.log.Info("session is forgotten", "session", s.ID)
	return nil
}

// follow takes in what tmux sessions are called now. A session that's named after its
// tmux session is renamed with it; one that was given another name keeps that.
func (m *Manager) follow(ctx context.Context, server string, identity ServerIdentity, p PaneInfo) {
	s, ok := m.sessionAt(server, identity, p.ID)
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
