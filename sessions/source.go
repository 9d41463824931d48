package sessions

import (
	"context"
	"fmt"
)

// Source is where a session's text comes from. The zero value is its pane, with
// no program in it that's known.
type Source struct {
	Program    string `json:"program,omitempty"`    // profile of the agent program that runs
	Transcript string `json:"transcript,omitempty"` // path of the transcript that its text is read from; "": the pane
	// Conversation is the agent's own id of what's read, "" if it isn't known; several
	// may be in one file.
	Conversation string `json:"conversation,omitempty"`
}

// Choose makes src the one source of a session's text. A conversation is the
// source of one living session at most: ErrConflict if another has it.
func (m *Manager) Choose(id ID, src Source) error {
	m.mu.Lock()
	e := m.entries[id]
	if e == nil || e.State == StateEnded {
		m.mu.Unlock()
		return fmt.Errorf("choose the source of %s: %w session", id, ErrUnknown)
	}
	if e.Source == src {
		m.mu.Unlock()
		return nil
	}
	for _, o := range m.entries {
		if o != e && o.State != StateEnded && src.same(o.Source) {
			m.mu.Unlock()
			return fmt.Errorf("%w: %s is the text of session %s", ErrConflict, src.Transcript, o.Name)
		}
	}
	if e.Source.Program != "" && src.Program == "" {
		e.was = e.Source
	}
	e.Source = src
	to := Program{Kind: ProgramAgent, Name: src.Program}.Addressee()
	address := src.Program != "" && e.Addressee.yieldsTo(to)
	s := e.Session
	m.mu.Unlock()
	if address { // who writes now has read that program's words
		m.address(context.Background(), id, to)
	}
	m.log.Info("text comes from", "session", id, "program", src.Program, "transcript", src.Transcript)
	m.opt.Feed.PublishSession(s)
	return nil
}

// same reports whether two sources are, or may be, one conversation.
func (s Source) same(o Source) bool {
	return s.Transcript != "" && s.Transcript == o.Transcript && (s.Conversation == o.Conversation || s.Conversation == "" || o.Conversation == "")
}
