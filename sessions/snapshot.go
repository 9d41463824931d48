package sessions

import (
	"context"
	"fmt"
	"strings"
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
	Front         string // name of the program in the foreground as tmux knows it, "?" for characters other than letters, digits and " _.-"; see PaneGuard.Front
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

// RowWindow says which rows a snapshot is to hold, relative to the top of the
// visible screen: -100 is a hundred rows up in history. The zero RowWindow is the
// visible screen.
type RowWindow struct {
	Start int // first row, at most 0; clamped to the oldest row
	Rows  int // how many rows; 0: to the bottom of the screen
	// Styled asks for Snapshot.Styled, too: another capture at the same instant. Input
	// boxes can't be judged without.
	Styled bool
	// Tall asks for the pane as it is while it's taller for a moment (TmuxServer.Grow). Without
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

// Screen is a pane as it looks now.
type Screen struct {
	Width, Height int
	Rows          []string // Height rows, top to bottom, with SGR escape sequences; each row starts with default attributes
	CursorX       int      // column from 0
	CursorY       int      // row from 0
	CursorVisible bool
	Alternate     bool   // the program draws on the alternate screen
	Title         string // set by the program
	Dead          bool   // the program has ended and tmux shows what it left
	TTY           string // the pane's terminal
}

// Shows reports whether a screen has the rows of a look at all of it.
func (s *Screen) Shows(snap *Snapshot) bool {
	for i := range max(len(s.Rows), len(snap.Rows)) {
		var a, b string
		if i < len(s.Rows) {
			a = unstyled(s.Rows[i])
		}
		if i < len(snap.Rows) {
			b = snap.Rows[i]
		}
		if strings.TrimRight(a, " ") != strings.TrimRight(b, " ") {
			return false
		}
	}
	return true
}

// unstyled is a row without what tmux writes into it for attributes: CSI sequences,
// links (OSC 8) and shifts between character sets.
func unstyled(row string) string {
	if !strings.ContainsAny(row, "\x1b\x0e\x0f") {
		return row
	}
	var b strings.Builder
	for i := 0; i < len(row); i++ {
		switch c := row[i]; {
		case c == 0x0e || c == 0x0f:
		case c != 0x1b:
			b.WriteByte(c)
		case i+1 < len(row) && row[i+1] == ']':
			end := strings.Index(row[i:], "\x1b\\")
			if end < 0 {
				return b.String()
			}
			i += end + 1
		default:
			i += 2
			for i < len(row) && (row[i] < 0x40 || row[i] > 0x7e) {
				i++
			}
		}
	}
	return b.String()
}

// Screen shows a session's pane as it is now.
func (m *Manager) Screen(ctx context.Context, id ID) (Screen, error) {
	s, srv, err := m.livingSession(id)
	if err != nil {
		return Screen{}, err
	}
	if now, up := srv.Identity(); up && now != s.Pane.Identity {
		return Screen{}, fmt.Errorf("%s: %w: its tmux server was started anew", s.Name, ErrEnded)
	}
	return srv.Screen(ctx, s.Pane.ID)
}

// PromptScreen returns the screen on which a question stands, with its colours. If that one
// has gone, or can't be seen, it's what's known of the question's rows.
func (m *Manager) PromptScreen(ctx context.Context, p Prompt) Screen {
	if s, srv, err := m.livingSession(p.Session); err == nil && !p.Final() {
		snap, err := srv.Snapshot(ctx, s.Pane.ID, RowWindow{})
		screen, fail := srv.Screen(ctx, s.Pane.ID)
		if err == nil && fail == nil && snap.Server == s.Pane.Identity && screen.Shows(&snap) {
			if d := m.samePartOf(p.Session, m.opt.Dialogs.Read(p.Session, &snap, nil)); d != nil && d.Print == p.Dialog.Print {
				return screen
			}
		}
	}
	out := Screen{Rows: strings.Split(p.Dialog.Body, "\n"), CursorY: -1}
	for _, row := range out.Rows {
		out.Width = max(out.Width, len([]rune(row)))
	}
	out.Height = len(out.Rows)
	return out
}

// Mark is something that a shell with panebridge's integration has written into its
// prompt, or into the row of a command: characters without a width, which are part of
// the row's cells and so stay where they are, whatever happens to the rows. They are
// cut from the rows where these are read, so nothing else sees them.
type Mark struct {
	Row  int // in Snapshot.Rows
	At   int // bytes of that row before it
	Kind MarkKind
	// Of a prompt's end:
	Status int // exit status of the command before it; -1: unknown
	Count  int // of commands that were run, modulo 4
	Above  int // rows of the prompt above this one
	Width  int // characters of the prompt's first row; 0: the shell doesn't know; FreshRow
	// Inferred: it's no mark of a shell's, the row looks like a prompt.
	Inferred bool
}

// FreshRow is the width of a prompt that always begins its row.
const FreshRow = 80

// MarkKind is what stands at a mark.
type MarkKind int

// The kinds of mark.
const (
	MarkPrompt  MarkKind = iota + 1 // the end of a prompt; what's behind it is typed
	MarkCommand                     // in the first cell of the last row of a command that was submitted
	MarkBroken                      // behind the sign with which zsh says that output had no last line end
)

// LinesFrom says whose lines are a session's.
type LinesFrom string

// One at a time, so that nothing comes twice.
const (
	TextPane       LinesFrom = "pane"       // those of the pane
	TextHeld       LinesFrom = "held"       // it isn't decided; the pane's are held back
	TextTranscript LinesFrom = "transcript" // those of the agent's transcript; the pane's are dropped
)

// Why a session waits whose program reads a line. What stands in its row isn't said: some
// of it may have been typed.
const (
	ReasonAsksLine   = "its program asks for a line, and waits for it"
	ReasonAsksHidden = "its program asks for something that it doesn't show, a password perhaps, and waits for it"
)

// Poll is what a poller's look at a pane brought, as the observer of its program is told it.
type Poll struct {
	Screen *Snapshot // goes down to the bottom of the screen; nil: not looked at, or the pane is gone
	Dialog string    // the phrase of the profile that's on the screen; "": none
	Marked bool      // a turn marker was seen
	Typed  []Typed   // what panebridge typed since the last look
	Last   bool      // there will be no other: the session ends
	Now    time.Time
}

// Typed is something that panebridge typed into a pane.
type Typed struct {
	Text string // "": Enter or other keys
	At   time.Time
}

// Observation is what an observer makes of a poll, with all that it knows of the program in the pane.
type Observation struct {
	Text  LinesFrom
	Lines []Line // of the transcript, since the last look; N isn't set
	// Known says that an agent program runs. Then what follows is about it, and needs no
	// guess from how its screen changes.
	Known        bool
	State        State
	Reason       string
	Began, Ended bool   // a turn began, or ended, with this look
	Failed       string // why the turn failed that ended, in one line; "": it went well, or nobody knows
	// Writing are the rows of the screen that show text which isn't in the transcript
	// yet, and Status is the row that says what the program is doing.
	Writing []string
	Status  string
	// Prompt is the dialog on the screen, as far as it can be answered; nil: there's
	// none. Prompts says that the look could tell.
	Prompt  *Dialog
	Prompts bool
	// Ending says that the program has ended, and its last rows may still come: what's read of the pane is held until
	// Said decides about it.
	Ending bool
	// Said, if set, says that the program has ended, and the pane's lines are the
	// session's again. It reports whether a row shows what the transcript had.
	Said func(row string) bool
	// Quiet is how long nothing has to change until the turn is over, where neither an
	// agent program runs nor a shell says where its commands end; 0: that's no sign.
	Quiet time.Duration
	// Front is the name of the program that the pane's shell runs in its foreground, where
	// no agent program does; "": it runs none, or that isn't known.
	Front string
	// Asks is why a program that isn't known waits for a line that a person has to type,
	// as a sentence; "": it doesn't.
	Asks string
	// Spent is what answers took that were told of with this look, and Usage is how things stand behind
	// them, without sums; nil: as before.
	Spent []Spending
	Usage *Usage
	Again time.Time // when to look again though nothing changes; zero: no need
	More  bool      // there's more to tell, at once and without another look
	Keep  []byte    // JSON: what's needed to go on behind this look
}
