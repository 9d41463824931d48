package api

import (
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// Session is a session as the API shows it.
type Session struct {
	ID     sessions.ID    `json:"id"`
	Name   string         `json:"name"`
	Agent  string         `json:"agent"`
	State  sessions.State `json:"state"`
	Reason string         `json:"reason,omitempty"`
	// Since is since when it's in its state; zero: since before the daemon was started.
	Since        time.Time       `json:"since,omitzero"`
	Cwd          string          `json:"cwd"`
	Tmux         Tmux            `json:"tmux"`
	Owned        bool            `json:"owned"` // closing it ends the pane
	Turn         sessions.Turn   `json:"turn"`
	CreatedAt    time.Time       `json:"created_at"`
	LastOutputAt time.Time       `json:"last_output_at,omitzero"`
	EndedAt      time.Time       `json:"ended_at,omitzero"`
	Exit         *sessions.Exit  `json:"exit,omitempty"`
	Lines        int64           `json:"lines"` // number of the newest line
	Source       sessions.Source `json:"source,omitzero"`
	Bindings     []Binding       `json:"bindings"` // never null
	// Prompt is the id of the question that's open, or being answered; "": none.
	Prompt string `json:"prompt,omitempty"`
}

// Tmux says in which pane a session lives.
type Tmux struct {
	Server  string `json:"server"`
	Session string `json:"session"`
	Pane    string `json:"pane"`
}

// newSession shows a session. To anybody but the command line it has no secrets: programs and people choose names,
// folders and reasons.
func (a *api) newSession(s sessions.Session) Session {
	asked, _ := a.opts.Sessions.PromptOf(s.ID)
	for _, text := range []*string{&s.Name, &s.Reason, &s.Cwd, &s.Pane.Session} {
		*text = a.shownText(*text)
	}
	s.Turn = a.shownTurn(s.Turn)
	return Session{
		ID: s.ID, Name: s.Name, Agent: s.Agent, State: s.State, Reason: s.Reason, Cwd: s.Cwd, Since: a.opts.Broker.Since(s.ID),
		Tmux:  Tmux{Server: s.Pane.Server, Session: s.Pane.Session, Pane: s.Pane.ID},
		Owned: s.Owned, Turn: s.Turn, CreatedAt: s.CreatedAt, LastOutputAt: s.LastOutputAt,
		EndedAt: s.EndedAt, Exit: s.Exit, Lines: s.Lines, Source: s.Source, Bindings: a.bindings(s.ID),
		Prompt: asked.ID,
	}
}

func (a *api) newSessions(list []sessions.Session) []Session {
	out := make([]Session, 0, len(list))
	for _, s := range list {
		out = append(out, a.newSession(s))
	}
	return out
}

// Agents are the programs that can be begun as sessions, and where those were looked for that
// the configuration doesn't name.
type Agents struct {
	Agents    []string `json:"agents"`     // names, sorted; never null
	LookedFor []string `json:"looked_for"` // names of programs
	LookedIn  []string `json:"looked_in"`  // folders
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

// Anyway is the body of POST /api/v1/receipts/{id}/anyway: the receipt's field of the
// same name, as it was when somebody looked at the screen.
type Anyway struct {
	Quoted string `json:"quoted"`
	// Revival is one of the receipt's revivals: the agent is begun again, and then gets
	// the text. "": the text goes to what's in front now.
	Revival sessions.Revival `json:"revival,omitempty"`
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
	// Secrets say where secrets stand in Lines.
	Secrets []Secret `json:"secrets,omitempty"`
}

// Failure is a turn that failed, as GET /api/v1/sessions/{id}/failures lists them. Why has its
// secrets masked.
type Failure struct {
	Turn      int64     `json:"turn"`
	After     int64     `json:"after"` // number of the turn's last line; 0: there's none before its end
	Why       string    `json:"why"`   // in the program's words, on one line
	StartedAt time.Time `json:"started_at,omitzero"`
	EndedAt   time.Time `json:"ended_at,omitzero"`
}

// The events of GET /api/v1/events, by name.
const (
	EventOutput = "output"
	EventLive   = "live"
	EventTurn   = "turn"
	EventState  = "state"
	EventGap    = "gap"
	EventExit   = "exit"
	EventPrompt = "prompt" // its data is a Prompt
)

// OutputEvent is the data of an output event.
type OutputEvent struct {
	Session sessions.ID     `json:"session"`
	First   int64           `json:"first"` // number of the first of Lines
	Lines   []sessions.Line `json:"lines"` // never empty, numbered without holes
	// Secrets say where secrets stand in Lines; in streams of one session only.
	Secrets []Secret `json:"secrets,omitempty"`
}

// LiveEvent is the data of a live event: the whole live region as it is now, with its
// secrets masked.
type LiveEvent struct {
	Session   sessions.ID `json:"session"`
	Rows      []string    `json:"rows"` // never null
	Alternate bool        `json:"alternate"`
	CursorX   int         `json:"cursor_x"`
	CursorY   int         `json:"cursor_y"`
	// Of a known agent program: what it's writing, until that comes as lines, and what
	// it says it's doing. See sessions.Live.
	Known   bool     `json:"known,omitempty"`
	Writing []string `json:"writing,omitempty"`
	Status  string   `json:"status,omitempty"`
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
