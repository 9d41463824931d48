package sessions

import (
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
