package api

import (
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// Session is a session as the API shows it.
type Session struct {
	ID           sessions.ID    `json:"id"`
	Name         string         `json:"name"`
	Agent        string         `json:"agent"`
	State        sessions.State `json:"state"`
	Reason       string         `json:"reason,omitempty"`
	Cwd          string         `json:"cwd"`
	Tmux         Tmux           `json:"tmux"`
	Owned        bool           `json:"owned"` // closing it ends the pane
	Turn         sessions.Turn  `json:"turn"`
	CreatedAt    time.Time      `json:"created_at"`
	LastOutputAt time.Time      `json:"last_output_at,omitzero"`
	EndedAt      time.Time      `json:"ended_at,omitzero"`
	Exit         *sessions.Exit `json:"exit,omitempty"`
	Lines        int64          `json:"lines"`    // number of the newest line
	Bindings     []Binding      `json:"bindings"` // never null
}

// Tmux says in which pane a session lives.
type Tmux struct {
	Server  string `json:"server"`
	Session string `json:"session"`
	Pane    string `json:"pane"`
}

func (a *api) newSession(s sessions.Session) Session {
	return Session{
		ID: s.ID, Name: s.Name, Agent: s.Agent, State: s.State, Reason: s.Reason, Cwd: s.Cwd,
		Tmux:  Tmux{Server: s.Pane.Server, Session: s.Pane.Session, Pane: s.Pane.ID},
		Owned: s.Owned, Turn: s.Turn, CreatedAt: s.CreatedAt, LastOutputAt: s.LastOutputAt,
		EndedAt: s.EndedAt, Exit: s.Exit, Lines: s.Lines, Bindings: a.bindings(s.ID),
	}
}

func (a *api) newSessions(list []sessions.Session) []Session {
	out := make([]Session, 0, len(list))
	for _, s := range list {
		out = append(out, a.newSession(s))
	}
	return out
}

// Create is the body of POST /api/v1/sessions: with Tmux it adopts panes that
// exist, without it makes a session.
type Create struct {
	Name    string   `json:"name,omitempty"`
	Agent   string   `json:"agent,omitempty"`
	Cwd     string   `json:"cwd,omitempty"`
	Command []string `json:"command,omitempty"`
	Server  string   `json:"server,omitempty"`
	Tmux    string   `json:"tmux,omitempty"`
}

// Input is the body of POST /api/v1/sessions/{id}/input. Submit is true unless
// given.
type Input struct {
	Text   string `json:"text"`
	Submit *bool  `json:"submit,omitempty"`
}

// Keys is the body of POST /api/v1/sessions/{id}/keys.
type Keys struct {
	Keys []string `json:"keys"`
}

// Output is the answer of GET /api/v1/sessions/{id}/output.
type Output struct {
	Lines []sessions.Line `json:"lines"` // never null
	Gaps  []sessions.Gap  `json:"gaps"`  // never null
	Next  int64           `json:"next"`  // the number to ask for next
}

// The events of GET /api/v1/events, by name.
const (
	EventOutput = "output"
	EventLive   = "live"
	EventTurn   = "turn"
	EventState  = "state"
	EventGap    = "gap"
	EventExit   = "exit"
)

// OutputEvent is the data of an output event.
type OutputEvent struct {
	Session sessions.ID     `json:"session"`
	First   int64           `json:"first"` // number of the first of Lines
	Lines   []sessions.Line `json:"lines"` // never empty, numbered without holes
}

// LiveEvent is the data of a live event: the whole live region as it is now.
type LiveEvent struct {
	Session   sessions.ID `json:"session"`
	Rows      []string    `json:"rows"` // never null
	Alternate bool        `json:"alternate"`
	CursorX   int         `json:"cursor_x"`
	CursorY   int         `json:"cursor_y"`
}

// TurnEvent is the data of a turn event.
type TurnEvent struct {
	Session  sessions.ID   `json:"session"`
	Turn     sessions.Turn `json:"turn"`
	Complete bool          `json:"complete"` // a turn ended here
}

// StateEvent is the data of a state event.
type StateEvent struct {
	Session sessions.ID    `json:"session"`
	State   sessions.State `json:"state"`
	Reason  string         `json:"reason,omitempty"`
	Summary Session        `json:"summary"`
}

// GapEvent is the data of a gap event.
type GapEvent struct {
	Session sessions.ID `json:"session"`
	sessions.Gap
}

// ExitEvent is the data of an exit event.
type ExitEvent struct {
	Session sessions.ID `json:"session"`
	sessions.Exit
}
