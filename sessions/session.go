package sessions

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"
)

// ID is a session's stable identity: "pb_" and 12 hexadecimal digits. It is
// kept in the pane's tmux option @panebridge_id, so that a session is found
// again after a restart of the daemon, whatever its window is called by then.
type ID string

// NewID returns a fresh random ID.
func NewID() ID { return ID(randomID("pb_")) }

func randomID(prefix string) string {
	var b [6]byte
	_, _ = rand.Read(b[:]) // documented never to fail
	return prefix + hex.EncodeToString(b[:])
}

var sessionIDs = regexp.MustCompile(`^pb_[A-Za-z0-9_]{1,60}$`)

// Valid reports whether it may be a session's: the option that keeps it is anybody's to
// set.
func (id ID) Valid() bool { return sessionIDs.MatchString(string(id)) }

// State is what a session is doing.
type State string

// The states of a session. StateEnded is final.
const (
	StateStarting State = "starting" // created or adopted, nothing read yet
	StateIdle     State = "idle"     // its turn has ended, or its pane is quiet
	StateWorking  State = "working"  // its pane is changing
	StateWaiting  State = "waiting"  // a dialog is on the screen
	StateError    State = "error"    // its output can't be read at the moment; see Session.Reason
	StateEnded    State = "ended"    // its pane is gone or it was closed
)

// States are all states that a session may have.
func States() []State {
	return []State{StateStarting, StateIdle, StateWorking, StateWaiting, StateError, StateEnded}
}

// ServerIdentity tells one run of a tmux server from the next: pane ids are
// reused after a restart.
type ServerIdentity struct {
	PID   int   `json:"pid"`
	Start int64 `json:"start"` // seconds since 1970, tmux's #{start_time}
}

// Pane says where a session lives.
type Pane struct {
	Server   string         `json:"server"`   // the configured tmux server: its socket name or path
	Identity ServerIdentity `json:"identity"` // which run of that server
	ID       string         `json:"id"`       // tmux pane id, "%12"
	Session  string         `json:"session"`  // tmux session name, for people only: never used as an address
}

// Exit is how a session's program ended.
type Exit struct {
	Status int    `json:"status"`           // exit status; -1 when unknown
	Signal string `json:"signal,omitempty"` // name of the signal that ended it, if tmux told
}

// Turn is the stretch from an input (or the first output after the previous
// turn) to the agent's end of answer.
type Turn struct {
	Number    int64     `json:"number"` // counts from 1; 0: there was none yet
	Open      bool      `json:"open"`
	StartedAt time.Time `json:"started_at,omitzero"`
	EndedAt   time.Time `json:"ended_at,omitzero"`
	FirstLine int64     `json:"first_line"` // number of the turn's first line
	LastLine  int64     `json:"last_line"`  // number of its last line; valid when it has ended
	// Status is the exit status of a shell's command; nil: unknown, or it's no command.
	Status *int `json:"status,omitempty"`
	// Failed is why the turn of a known program failed, in its own words on one line; "": it
	// went well, or nobody knows.
	Failed string `json:"failed,omitempty"`
}

// Well reports whether nothing says that the turn failed.
func (t Turn) Well() bool { return t.Failed == "" && (t.Status == nil || *t.Status == 0) }

// PlacedTurn is a turn with where it stands in the output log.
type PlacedTurn struct {
	Turn
	// After is the number of the line behind which it ended: its last, or where it has none that
	// of the turns before it; 0: before the first. It's of no use while the turn is open.
	After int64
	// Asked is the first line of what a person wrote to begin it; "": nobody did, or it's further
	// down than is looked.
	Asked string
}

// TurnQuery says which turns are wanted, and in which order.
type TurnQuery struct {
	Oldest bool // the oldest first, else the newest
	// Notable wants those alone that have ended and failed, or took that long; 0: all.
	Notable time.Duration
}

// Session is one agent (or shell) in one tmux pane. It is a value: a copy
// handed out by Manager does not change afterwards.
type Session struct {
	ID           ID        `json:"id"`
	Name         string    `json:"name"`              // the tmux session's name unless given
	Agent        string    `json:"agent"`             // key of the configuration's agents; "" for a plain shell or an adopted pane
	Program      string    `json:"program,omitempty"` // the name of the program that it was made with; "" for an agent of the configuration, the user's shell or an adopted pane
	Cwd          string    `json:"cwd"`
	RealCwd      string    `json:"-"` // Cwd's path without links, as it was when the session began; "": nobody knows
	State        State     `json:"state"`
	Reason       string    `json:"reason,omitempty"` // why the state is what it is, as a sentence
	Pane         Pane      `json:"pane"`
	Owned        bool      `json:"owned"` // panebridge made the pane and ends it on close
	Turn         Turn      `json:"turn"`
	CreatedAt    time.Time `json:"created_at"`
	LastOutputAt time.Time `json:"last_output_at,omitzero"`
	EndedAt      time.Time `json:"ended_at,omitzero"`
	Exit         *Exit     `json:"exit,omitempty"`
	Lines        int64     `json:"lines"` // number of the newest line; 0: none yet
	Source       Source    `json:"source,omitzero"`
	Usage        *Usage    `json:"usage,omitempty"` // nil: its agent has said nothing of that
	Addressee    Addressee `json:"-"`               // whom people write to here
}

// NewRequest asks for a session in a pane of its own.
type NewRequest struct {
	Name    string   // unique among living sessions, at most 100 bytes without control characters; "" for one made from Agent or "shell"
	Agent   string   // key of the configuration's agents, or ""
	Cwd     string   // absolute folder; "" for the daemon's user's home
	Command []string // program and arguments; empty: the agent's, else the user's shell
	Server  string   // configured tmux server; "" for the first
	// Resume is the agent's own id of the conversation that it goes on with; "": a new
	// one. It doesn't go with Command.
	Resume string
}

// AdoptRequest asks to mirror a pane that exists.
type AdoptRequest struct {
	Tmux   string // pane id ("%12"), or the exact name of a tmux session, all of whose panes are adopted
	Server string // configured tmux server; "" for the first that has it
	Name   string // as in NewRequest; "" for the tmux session's name
}

// InputRequest is text for a session.
type InputRequest struct {
	Text   string // at most MaxInputBytes, valid UTF-8, no control characters but newline and tab
	Submit bool   // press Enter behind it
	Author string // who wrote it
	Name   string // what people call the author; "": Author
	Origin string // the place it was written at, as a target of adapters; "": none of theirs
	// Key names the input for whoever may ask for it again, not knowing whether it was
	// taken: the same key gives the same receipt, and nothing is typed again. "": each
	// request is an input of its own.
	Key string
}

// MaxInputBytes bounds one input: tmux takes 1 MB in one command line in about
// 75 ms and 5 MB in 380 ms, during which it serves nobody else (measured on
// tmux 3.3a).
const MaxInputBytes = 1 << 20

// LineKind is where a line's text comes from.
type LineKind string

// The kinds of line.
const (
	KindPane   LineKind = "pane"   // read from the pane
	KindAnswer LineKind = "answer" // an agent's answer, exact Markdown from its transcript
	KindUser   LineKind = "user"   // what a person wrote
	KindTool   LineKind = "tool"   // a tool call or result, in short
	KindNotice LineKind = "notice" // said by panebridge itself
	// KindThought is what an agent has thought before it answered or called a tool, from its transcript.
	KindThought LineKind = "thought"
)

// NameKind says beside a line's text what it is; "": its program printed it.
func (k LineKind) NameKind() string {
	return map[LineKind]string{KindAnswer: "answer", KindUser: "written", KindTool: "tool", KindNotice: "panebridge", KindThought: "thought"}[k]
}

// Line is one settled logical line of a session: rows that tmux wrapped are
// joined, trailing blanks are cut.
type Line struct {
	N    int64     `json:"n"` // counts from 1 within the session, without holes
	Kind LineKind  `json:"kind"`
	Text string    `json:"text"` // valid UTF-8 without control characters other than tab
	At   time.Time `json:"at"`   // when panebridge read it
	// Begins says that it's the first line of a block of the agent's transcript: an
	// answer, say. The text of a block is its lines, joined with "\n".
	Begins bool `json:"begins,omitempty"`
	// Tool says of which call of a tool the block is a part; of the first line of a block of KindTool.
	Tool *ToolPart `json:"tool,omitempty"`
	// Author is who wrote it, as people are called; of KindUser only.
	Author string `json:"author,omitempty"`
	// Origin is the place that it was written at, as a target of adapters; "": none of
	// theirs. Who's there has seen it.
	Origin string `json:"-"`
	// Receipt is the id of the input that it's of, "": it's of none that was written to panebridge, or of one whose
	// text isn't shown.
	Receipt string `json:"-"`
}

// Gap stands where output was, or may have been, lost.
type Gap struct {
	After   int64  `json:"after"`    // it stands behind the line of this number; 0: before the first
	AtLeast int64  `json:"at_least"` // lines known to be missing; 0: possibly some
	Reason  string `json:"reason"`   // a sentence
}

// GapOverrun is the reason of a gap where more was printed between two looks than tmux's history keeps.
const GapOverrun = "more was printed between two looks than tmux's history keeps"

// Live is the live region: the part of a screen that is still being redrawn.
// It is shown, never emitted as lines.
type Live struct {
	Rows      []string `json:"rows"`      // top to bottom, trailing blank rows cut
	Alternate bool     `json:"alternate"` // the program draws on the alternate screen: all of it is live
	CursorX   int      `json:"cursor_x"`  // column of the cursor, from 0
	CursorY   int      `json:"cursor_y"`  // row of the cursor within Rows, from 0; -1: hidden or outside
	// Of a known agent program: Writing is the text of the answer that's being written,
	// as far as the screen shows it, until its block is finished and comes as lines.
	// Status says what it's doing: "✢ Osmosing… (3s · ↓ 28 tokens)".
	Writing []string `json:"writing,omitempty"`
	Status  string   `json:"status,omitempty"`
	Known   bool     `json:"known,omitempty"` // the program is known; Writing and Status say all that's new
}

// OutputEvent tells what one poll of a session brought. Its lines and gaps are
// in the output log before anybody hears of them.
type OutputEvent struct {
	Session  ID
	Seq      int64  // counts a session's events from 1 within one run of the daemon
	First    int64  // number of the first of Lines; 0 when there are none
	Lines    []Line // in order, numbered without holes
	Gaps     []Gap  // in order
	Live     *Live  // nil: unchanged since the event before
	Complete bool   // a turn ended with these lines
	Turn     Turn   // the turn after this event
	Exit     *Exit  // the program ended; this is the session's last event but its end
	State    State  // "" when unchanged
	Reason   string // of State
	// Prompt is the dialog that stands on the screen now; nil: none. Asked says that it's
	// another than at the event before.
	Prompt *Dialog
	Asked  bool
	Usage  *Usage // what was used, and how things stand; nil: unchanged
}

// Errors of this package; find them with errors.Is.
var (
	// ErrUnknown: there is no session (or receipt) of that id or name.
	ErrUnknown = errors.New("unknown")
	// ErrEnded: the session has ended; nothing can be typed into it.
	ErrEnded = errors.New("session has ended")
	// ErrConflict: the request contradicts what is (a second adoption, a name in use, a receipt already typed).
	ErrConflict = errors.New("conflict")
	// ErrInvalid: the request itself is wrong.
	ErrInvalid = errors.New("invalid")
	// ErrUnavailable: what is needed for it (a tmux server, the disk) isn't there at the moment.
	ErrUnavailable = errors.New("unavailable")
	// ErrUncertain: the connection was lost in between, so it's unknown whether it was done.
	ErrUncertain = errors.New("it's unknown whether it was done")
)

// RefusedError is an ErrConflict with its reason for people.
type RefusedError struct{ Why string }

// Error says that it's a conflict, and why.
func (e *RefusedError) Error() string { return ErrConflict.Error() + ": " + e.Why }

// Is reports whether target is ErrConflict.
func (e *RefusedError) Is(target error) bool { return target == ErrConflict }

// Refuse returns a RefusedError.
func Refuse(format string, args ...any) error {
	return &RefusedError{Why: fmt.Sprintf(format, args...)}
}

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

// run is the run of a program that's none of those which people write to by themselves.
func (a Addressee) run() (string, bool) { return strings.CutPrefix(string(a), "run:") }

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
		if o != e && o.State != StateEnded && src.isSame(o.Source) {
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

// isSame reports whether two sources are, or may be, one conversation.
func (s Source) isSame(o Source) bool {
	return s.Transcript != "" && s.Transcript == o.Transcript && (s.Conversation == o.Conversation || s.Conversation == "" || o.Conversation == "")
}
