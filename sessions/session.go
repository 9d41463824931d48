package sessions

import (
	"crypto/rand"
	"encoding/hex"
	"regexp"
	"time"
)

// ID is a session's stable identity: "pb_" and 12 hexadecimal digits. It is
// kept in the pane's tmux option @panebridge_id, so that a session is found
// again after a restart of the daemon, whatever its window is called by then.
type ID string

// NewID returns a fresh random ID.
func NewID() ID {
	var b [6]byte
	_, _ = rand.Read(b[:]) // documented never to fail
	return ID("pb_" + hex.EncodeToString(b[:]))
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

// Session is one agent (or shell) in one tmux pane. It is a value: a copy
// handed out by Manager does not change afterwards.
type Session struct {
	ID           ID        `json:"id"`
	Name         string    `json:"name"`  // the tmux session's name unless given
	Agent        string    `json:"agent"` // key of the configuration's agents; "" for a plain shell or an adopted pane
	Cwd          string    `json:"cwd"`
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
	Addressee    Addressee `json:"-"` // whom people write to here
}
