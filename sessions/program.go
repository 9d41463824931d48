package sessions

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// ProgramKind says what sort of program has the foreground of a pane.
type ProgramKind int

// The kinds of program.
const (
	ProgramUnknown ProgramKind = iota // this host's processes can't be looked at
	ProgramAgent                      // one that has a profile
	ProgramShell                      // it runs what's typed as commands
	ProgramOwn                        // the one that the pane was made with, neither agent nor shell
	ProgramOther                      // any other: an editor, a pager, ssh
)

// Program is what has the foreground of a pane's terminal: it reads what's typed.
type Program struct {
	Kind    ProgramKind
	Name    string    // an agent's profile; else the name of the process: "vim"
	Run     string    // the same for one run of a program, another for any other; "": unknown
	Started time.Time // when that run began, to about 20 ms; zero: unknown
	Own     bool      // it's what the pane was made with, or begun by that: no shell began it
}

// Addressee is the program that people write to in a session, as it's kept: "agent:NAME"
// is an agent program, "shell:RUN" one shell, "own" the program that the session's pane was
// made with, "run:RUN" one run of another program. "" is whichever of the first three has
// the foreground when a text is typed for the first time.
type Addressee string

// Addressee is the addressee that the program is.
func (p Program) Addressee() Addressee {
	switch p.Kind {
	case ProgramAgent:
		return Addressee("agent:" + p.Name)
	case ProgramOther:
		return Addressee("run:" + p.Run)
	case ProgramShell:
		return Addressee("shell:" + p.Run)
	case ProgramOwn:
		return "own"
	case ProgramUnknown:
	}
	return ""
}

// reaches reports whether a text for the addressee that's typed now is read by it.
// written is when somebody wrote the text. An agent that was begun in a shell since then
// isn't whom it was written to.
func (a Addressee) reaches(front Program, written time.Time) bool {
	switch {
	case front.Kind == ProgramUnknown, a == front.Addressee():
		return true
	case front.Kind == ProgramAgent && (a == "" || a == "own"):
		return front.Own || !front.Started.After(written)
	case front.Kind == ProgramAgent:
		return a.IsShell() && !front.Started.After(written)
	}
	return a == "" && front.Kind != ProgramOther
}

// yieldsTo reports whether another program takes the addressee's place by itself: the
// first one does, and an agent in the place of what began it.
func (a Addressee) yieldsTo(to Addressee) bool {
	return a == "" || to.Agent() != "" && (a == "own" || a.IsShell())
}

// IsShell reports whether it's a shell.
func (a Addressee) IsShell() bool { return strings.HasPrefix(string(a), "shell:") }

// Agent is the name of the agent's profile; "": it's no agent.
func (a Addressee) Agent() string {
	name, ok := strings.CutPrefix(string(a), "agent:")
	if !ok {
		return ""
	}
	return name
}

// settledIn is how long a program must have had the foreground until it may be one in
// which an agent runs that only its hooks tell of: in a container, say.
const settledIn = 5 * time.Second

// setAddressee makes a program the one that people write to in a session. If it can't be
// stored it holds until the daemon ends.
func (m *Manager) setAddressee(ctx context.Context, id ID, to Addressee) {
	s, ok := m.changeSession(id, func(s *Session) { s.Addressee = to })
	if !ok {
		return
	}
	m.log.Info("texts are for", "session", id, "addressee", to)
	if err := m.opt.Store.PutSession(context.WithoutCancel(ctx), s); err != nil {
		m.log.Error("store whom a session's texts are for", "session", id, "err", err)
	}
}

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
		m.setAddressee(context.Background(), id, to)
	}
	m.log.Info("text comes from", "session", id, "program", src.Program, "transcript", src.Transcript)
	m.opt.Feed.PublishSession(s)
	return nil
}

// same reports whether two sources are, or may be, one conversation.
func (s Source) same(o Source) bool {
	return s.Transcript != "" && s.Transcript == o.Transcript && (s.Conversation == o.Conversation || s.Conversation == "" || o.Conversation == "")
}
