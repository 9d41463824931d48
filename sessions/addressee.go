package sessions

import (
	"context"
	"time"
)

// settledIn is how long a program must have had the foreground until it may be one in
// which an agent runs that only its hooks tell of: in a container, say.
const settledIn = 5 * time.Second

// reaches reports whether a text that was written to somebody in a session at a time is
// read by them, if it's typed now.
func (m *Manager) reaches(id ID, to Addressee, front Program, written time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.entries[id]
	if e == nil {
		return false
	}
	inside := to.Agent() != "" && to.Agent() == e.Source.Program && time.Since(front.Started) > settledIn &&
		(front.Kind == ProgramOther || front.Kind == ProgramOwn)
	return inside || to.reaches(front, written)
}

// address makes a program the one that people write to in a session. If it can't be
// stored it holds until the daemon ends.
func (m *Manager) address(ctx context.Context, id ID, to Addressee) {
	s, ok := m.changeSession(id, func(s *Session) { s.Addressee = to })
	if !ok {
		return
	}
	m.log.Info("texts are for", "session", id, "addressee", to)
	if err := m.opt.Store.PutSession(context.WithoutCancel(ctx), s); err != nil {
		m.log.Error("store whom a session's texts are for", "session", id, "err", err)
	}
}

// yields reports whether another program becomes the session's addressee by itself.
func (m *Manager) yields(id ID, to Addressee) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.entries[id]
	return e != nil && e.Addressee.yieldsTo(to)
}

// lastConversation is the one that an agent had in a session; "": it isn't known.
func (m *Manager) lastConversation(id ID, agent string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.entries[id]
	if e == nil || e.was.Program != agent || !conversationIDs.MatchString(e.was.Conversation) {
		return ""
	}
	return e.was.Conversation
}
