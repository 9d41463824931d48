package sessions

import (
	"context"
	"fmt"
	"regexp"
	"strings"
)

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
		return m.create(ctx, req)
	default:
		return m.respawn(ctx, s, req)
	}
}

// respawn starts the program of a living session anew. life is held.
func (m *Manager) respawn(ctx context.Context, s Session, req NewRequest) (Session, error) {
	pane, srv, err := m.plan(&req)
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
	m.address(ctx, s.ID, "")
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
