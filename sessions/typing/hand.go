package typing

import (
	"context"
	"sync"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// Options say what hands read on screens, and how.
type Options struct {
	Phrases []string                   // of open dialogs, see Guard
	Dialog  func(rows []string) string // finds one of Phrases in rows, "" for none
	Dialogs sessions.Dialogs           // reads the dialogs of the programs; nil: there are none
	// Box reads the input box of a session's program. Nil: none can be read.
	Box func(id sessions.ID, s *sessions.Snapshot) sessions.Box
	// Front tells what has the foreground of the pane of a screen that was just looked at.
	// Nil: nothing is known of it.
	Front func(s *sessions.Snapshot) sessions.Program
	// Revive is the command line by which a shell begins an agent again that has a
	// profile of this name; conversation is the agent's own id of the one to go on with,
	// "" for a new one. false: it isn't known. Nil: it never is.
	Revive func(id sessions.ID, program, conversation string) (line string, ok bool)
	// Decide gives an answer to a dialog without a key, if the program waits for it in
	// another way, and may wait some seconds until the program has said what came of it. Nil:
	// none does.
	Decide func(ctx context.Context, id sessions.ID, d *sessions.Dialog, a sessions.Answer) sessions.Decided
}

// Hand types into one session's pane.
type Hand struct {
	opt  Options
	desk *sessions.Desk // nil: no manager knows of the pane

	mu sync.Mutex // guards what's below: what's known of the session's line, never held during I/O

	boxSeen  bool // the program's input box was on the screen
	unshown  bool // a text was read, of which nothing was seen up to the second drawn
	drawn    int64
	hasTaken bool // a program's run was seen to take a text: takenBy, see Program.Run
	takenBy  string
	takenAt  time.Time  // the first of it
	begun    string     // what was submitted last in a shell, with what it went on with
	bare     []barePart // rows that somebody has said to be empty prompts
	prompts  []string   // of a shell that doesn't edit its line, with nothing before them
}

// New returns what makes the hand of each session: see sessions.Options.
func New(opt Options) func(*sessions.Desk) sessions.Hand {
	if opt.Dialogs == nil {
		opt.Dialogs = sessions.NoDialogs{}
	}
	return func(desk *sessions.Desk) sessions.Hand { return &Hand{opt: opt, desk: desk} }
}

// frontOf tells what has the foreground of the pane of a screen.
func (h *Hand) frontOf(s *sessions.Snapshot) sessions.Program {
	if h.opt.Front == nil {
		return sessions.Program{}
	}
	return h.opt.Front(s)
}

// id is the session's; "": there's none.
func (h *Hand) id() sessions.ID {
	if h.desk == nil {
		return ""
	}
	return h.desk.ID()
}

// shownDialog is the dialog on the session's screen, as the poller told last; nil: none, or nobody has told.
func (h *Hand) shownDialog() *sessions.Dialog {
	if h.desk == nil {
		return nil
	}
	d, _ := h.desk.Shown()
	return d
}

// noteTyped has the session looked at now, into which a text was typed; "": Enter or other keys.
func (h *Hand) noteTyped(text string) {
	if h.desk != nil {
		h.desk.Typed(text)
	}
}

// asksUnread reports whether the session's screen shows a dialog that nobody knows.
func (h *Hand) asksUnread() bool {
	d := h.shownDialog()
	return d != nil && d.Kind == sessions.PromptUnread
}
