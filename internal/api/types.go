package api

import (
	"context"
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
	// Usage is what its agents have used, and how the account stands; null: they've said nothing of that.
	Usage *sessions.Usage `json:"usage,omitempty"`
	// Continuation is what it goes on with by itself when its limit is over; null: it doesn't.
	Continuation *Continuation `json:"continuation,omitempty"`
	// Exhibit is the id of what its programs have shown people last, since the daemon's start; "": nothing.
	Exhibit string `json:"exhibit,omitempty"`
	// In lists that are asked for with "ended" only, each without secrets and a few hundred characters long: what
	// an agent says it's doing, and the last line that says something.
	Doing    string `json:"doing,omitempty"`
	LastLine string `json:"last_line,omitempty"`
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
		Prompt: asked.ID, Usage: s.Usage, Continuation: a.continuationOf(s.ID),
		Exhibit: a.newestExhibit(s.ID),
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
	Resume  string   `json:"resume,omitempty"` // PastConversation.ID
	Tmux    string   `json:"tmux,omitempty"`
	// Key is the sender's name for the request, at most 64 bytes, as an input has one: the same key begins one session.
	Key string `json:"key,omitempty"`
}

// Rename is the body of POST /api/v1/sessions/{id}/name.
type Rename struct {
	Name string `json:"name"`
}

// Input is the body of POST /api/v1/sessions/{id}/input. Submit is true unless
// given.
type Input struct {
	Text   string `json:"text"`
	Submit *bool  `json:"submit,omitempty"`
	// Key is the sender's name for the text, at most 64 bytes, for one who may send it again, not knowing whether it
	// was taken: the same text with the same key is typed once. "": each is another.
	Key string `json:"key,omitempty"`
}

// Withdrawal is the body of POST /api/v1/sessions/{id}/input/withdraw: that of the input, with its key.
type Withdrawal struct {
	Input

	// OnlyLate takes it back only if it hasn't come.
	OnlyLate bool `json:"only_late,omitempty"`
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
	// Frame is the number of the frame that was seen as they were pressed, see FrameEvent; 0: none was.
	Frame int64 `json:"frame,omitempty"`
}

// Output is the answer of GET /api/v1/sessions/{id}/output.
type Output struct {
	Lines []sessions.Line `json:"lines"` // never null
	Gaps  []sessions.Gap  `json:"gaps"`  // never null
	Next  int64           `json:"next"`  // the number to ask for next
	// Oldest is the number of the oldest line that's kept; that of the line to come: none is.
	Oldest int64 `json:"oldest"`
	// Secrets say where secrets stand in Lines.
	Secrets []Secret `json:"secrets,omitempty"`
}

// PlacedTurn is a turn, as GET /api/v1/sessions/{id}/turns lists them. Its texts have their secrets
// masked.
type PlacedTurn struct {
	Turn      int64     `json:"turn"`
	Open      bool      `json:"open,omitempty"`
	First     int64     `json:"first"`            // number of its first line, or of the one that would be
	After     int64     `json:"after"`            // number of the line behind which it ended; 0: before the first
	Asked     string    `json:"asked,omitempty"`  // the first line of what a person wrote to begin it
	Why       string    `json:"why,omitempty"`    // why it failed, in the program's words, on one line
	Status    *int      `json:"status,omitempty"` // exit status of a shell's command
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

// Sessions is what the API needs of sessions.Manager. All methods may be
// called by many requests at once. Errors wrap those of package sessions.
type Sessions interface {
	// List returns all known sessions, ended ones that are still kept included.
	// It does no I/O.
	List() []sessions.Session
	// Get returns one by id or by unique name. It does no I/O.
	Get(idOrName string) (sessions.Session, error)
	// Agents are the names of the programs that can be started, sorted. SearchAgents says which
	// of them the configuration doesn't name, and where they were looked for. Both look at files.
	Agents() []string
	SearchAgents() sessions.AgentSearch
	// New and Adopt run tmux commands and may take seconds.
	New(ctx context.Context, r sessions.NewRequest) (sessions.Session, error)
	Adopt(ctx context.Context, r sessions.AdoptRequest) ([]sessions.Session, error)
	// Close ends the mirroring, and the pane if panebridge made it. It returns
	// when the session has ended.
	Close(ctx context.Context, id sessions.ID) error
	// Restart ends a session's program and starts it anew in its pane; of one that has ended
	// another begins with its name. ErrConflict if the pane wasn't made here. It runs tmux
	// commands and may take seconds.
	Restart(ctx context.Context, id sessions.ID) (sessions.Session, error)
	// Rename gives a living session another name. ErrInvalid, ErrConflict if another has it. It does disk I/O.
	Rename(ctx context.Context, id sessions.ID, name string) (sessions.Session, error)
	// Forget drops a session that has ended, with its output log. ErrConflict while
	// it lives.
	Forget(ctx context.Context, id sessions.ID) error
	// Input stores a text to be typed. It returns when the text is stored; how
	// far it gets is asked for by Receipt.
	Input(ctx context.Context, id sessions.ID, r sessions.InputRequest) (sessions.Receipt, error)
	// Receipt returns the present state of an input.
	Receipt(ctx context.Context, id string) (sessions.Receipt, error)
	// Cancel takes back an input that isn't typed yet; ErrConflict when it is.
	Cancel(ctx context.Context, receiptID string) (sessions.Receipt, error)
	// Forestall cancels the input that's still on its way with r.Key. One that has come stays as it is: the receipt says so.
	Forestall(ctx context.Context, id sessions.ID, r sessions.InputRequest) (sessions.Receipt, error)
	// Withdraw does the same, and cancels one that has come and isn't typed.
	Withdraw(ctx context.Context, id sessions.ID, r sessions.InputRequest) (sessions.Receipt, error)
	// Waiting returns a session's inputs that aren't done, in their order. It does no I/O.
	Waiting(id sessions.ID) []sessions.Receipt
	// SendAnyway sends a text that only a dialog's phrase holds, on the screen that quoted
	// stands for: see sessions.Receipt. It returns when that's done, or surely isn't, which
	// may take some seconds. ErrConflict says why it isn't.
	SendAnyway(ctx context.Context, receiptID, quoted, by string) (sessions.Receipt, error)
	// Revive begins the agent again that a held text was written to, in one of the
	// receipt's Revivals; else as SendAnyway.
	Revive(ctx context.Context, receiptID, quoted, by string, way sessions.Revival) (sessions.Receipt, error)
	// Keys presses keys, named as tmux names them.
	Keys(ctx context.Context, id sessions.ID, p sessions.KeyPress) error
	// Prompts returns the questions that are open or being answered, oldest first, and
	// PromptOf a session's. They do no I/O.
	Prompts() []sessions.Prompt
	PromptOf(id sessions.ID) (sessions.Prompt, bool)
	// Prompt returns one, whatever became of it.
	Prompt(ctx context.Context, id string) (sessions.Prompt, error)
	// Answer answers one. It returns when that was done in the pane, which may take ten
	// seconds, or surely wasn't. ErrConflict when it was answered already or is gone.
	Answer(ctx context.Context, id string, answer sessions.Answer) (sessions.Prompt, error)
	// Screen captures the pane.
	Screen(ctx context.Context, id sessions.ID) (sessions.Screen, error)
}

// Log is the output log as the API reads it. All methods do disk I/O and may
// be called by many requests at once.
type Log interface {
	// Read returns at most limit lines with numbers ≥ from (0: from the oldest
	// kept), oldest first, and the gaps that stand before or between them; one
	// right behind the last line may come with the page asked for next only.
	Read(ctx context.Context, id sessions.ID, from int64, limit int) (sessions.Output, error)
	// ReadSince reads on from a position: line is the number of the newest line
	// seen (-1: none, and lines that were dropped aren't wanted), gap the row of
	// the newest gap seen (0: none of those behind that line). It returns at most
	// limit lines with greater numbers, and the gaps of greater rows that stand
	// behind line, between these lines and right behind the last of them, in the
	// order in which they stand, which is that of their rows. Where lines behind
	// line were dropped, a gap that has no row may say so first. nextLine and
	// nextGap are the position behind all that.
	ReadSince(ctx context.Context, id sessions.ID, line, gap int64, limit int) (out sessions.Output, nextLine, nextGap int64, err error)
	// TurnsWithin returns the turns of which something stands between the lines from … to, or
	// which ended right behind one of them (0: before the first): at most limit, the newest
	// first, or with q.Oldest the oldest first.
	TurnsWithin(ctx context.Context, id sessions.ID, from, to int64, q sessions.TurnQuery, limit int) ([]sessions.PlacedTurn, error)
	// ToolUse returns the call and the result of a tool's use, one of which begins at line n, as far
	// as they're kept; sessions.ErrUnknown: neither is there, or it isn't kept.
	ToolUse(ctx context.Context, id sessions.ID, n int64) (sessions.ToolUse, error)
	// AnsweredPrompts returns the prompts that were answered between two times, the newest first,
	// at most limit.
	AnsweredPrompts(ctx context.Context, id sessions.ID, from, to time.Time, limit int) ([]sessions.Prompt, error)
	// Head returns the position behind everything that is in the log now.
	Head(ctx context.Context, id sessions.ID) (line, gap int64, err error)
}
