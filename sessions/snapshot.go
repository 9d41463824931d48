package sessions

import (
	"fmt"
	"time"
)

// Snapshot is a pane's state and some of its grid rows, taken at one instant:
// tmux reads no pane output while it answers one command line, so state and
// rows always agree (0 of 9,000 disagreed against a printer at full speed; with
// two calls two thirds did).
//
// Grid rows are counted from 0, the oldest row of history; the visible screen
// starts at row HistorySize.
type Snapshot struct {
	Server        ServerIdentity // which run of the tmux server answered: pane ids are reused
	Pane          string         // tmux pane id
	PID           int            // process id of the pane's program
	Width, Height int            // of the visible screen, in cells
	HistorySize   int            // rows above the visible screen
	HistoryLimit  int            // rows tmux keeps; on reaching it, tmux drops a tenth at once
	CursorX       int            // column from 0; may equal Width
	CursorY       int            // visible row from 0
	CursorVisible bool
	Alternate     bool   // the alternate screen is shown; history is the normal screen's and stands still
	InMode        bool   // copy mode or another tmux mode covers the pane; rows are the program's all the same
	Dead          bool   // the program has ended and the pane remains
	DeadStatus    int    // exit status of a dead pane; -1 unknown
	DeadSignal    string // signal that ended it, if tmux tells
	Title         string
	Front         string // name of the program in the foreground as tmux knows it, "?" for characters other than letters, digits and " _.-"; see Guard.Front
	Activity      int64  // second since 1970 of the last output in the pane's window
	TTY           string

	First   int      // grid row of Rows[0]
	Rows    []string // with the trailing blanks of used cells
	Styled  []string // the same rows with SGR escape sequences, each from default attributes on; nil: not asked for
	Wrapped []bool   // Wrapped[i]: row i goes on in row i+1
	Marks   []Mark   // of a shell, cut from Rows
	At      time.Time
}

// Ended is ErrEnded where a look at a pane of one run of the tmux server found another run,
// or the pane's program dead; nil: neither.
func (s *Snapshot) Ended(pane ServerIdentity) error {
	switch {
	case s.Server != pane:
		return fmt.Errorf("%w: its tmux server was started anew", ErrEnded)
	case s.Dead:
		return ErrDead
	}
	return nil
}

// ErrDead says that the program of a session has ended.
var ErrDead = fmt.Errorf("%w: its program has ended", ErrEnded)

// Window says which rows a snapshot is to hold, relative to the top of the
// visible screen: -100 is a hundred rows up in history. The zero Window is the
// visible screen.
type Window struct {
	Start int // first row, at most 0; clamped to the oldest row
	Rows  int // how many rows; 0: to the bottom of the screen
	// Styled asks for Snapshot.Styled, too: another capture at the same instant. Input
	// boxes can't be judged without.
	Styled bool
	// Tall asks for the pane as it is while it's taller for a moment (Server.Grow). Without
	// it that's ErrUnavailable.
	Tall bool
}

// PaneInfo is a pane as found by a look at all panes of a tmux server.
type PaneInfo struct {
	ID      string // tmux pane id
	Session string // tmux session name
	Mark    ID     // the pane's option @panebridge_id, "" if unset
	PID     int
	Cwd     string
	Command string // name of the program in the foreground
	Dead    bool
}

// Glance is one pane in a cheap look at all panes of a server.
type Glance struct {
	Pane     string // tmux pane id
	Activity int64  // second since 1970 of the last output in its window
	State    string // compared only: changes when the pane's size, history, cursor, process or death does
}

// CursorLine is the line that the cursor stands in, up to its row: indexes of Rows. ok is false
// where the cursor's row isn't among them.
func (s *Snapshot) CursorLine() (first, cursor int, ok bool) {
	cursor = s.HistorySize + s.CursorY - s.First
	if cursor < 0 || cursor >= len(s.Rows) {
		return 0, 0, false
	}
	first = cursor
	for first > 0 && first <= len(s.Wrapped) && s.Wrapped[first-1] {
		first--
	}
	return first, cursor, true
}
