package typing

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// Options say what hands read on screens, and how.
type Options struct {
	Phrases []string                   // of open dialogs, see sessions.PaneGuard
	Dialog  func(rows []string) string // finds one of Phrases in rows, "" for none
	Dialogs sessions.Dialogs           // reads the dialogs of the programs; nil: there are none
	// Box reads the input box of a session's program. Nil: none can be read.
	Box func(id sessions.ID, s *sessions.Snapshot) sessions.InputBox
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
	find func() (sessions.Session, sessions.TmuxServer, error)

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
	return func(desk *sessions.Desk) sessions.Hand { return &Hand{opt: opt, desk: desk, find: desk.Living} }
}

// NewLonely returns the hand of a pane of which no manager knows: it types previews alone. phrases and
// dialog are as in Options.
func NewLonely(srv sessions.TmuxServer, pane sessions.Pane, phrases []string, dialog func(rows []string) string) *Hand {
	return &Hand{
		opt:  Options{Phrases: phrases, Dialog: dialog, Dialogs: sessions.NoDialogs{}},
		find: func() (sessions.Session, sessions.TmuxServer, error) { return sessions.Session{Pane: pane}, srv, nil },
	}
}

func (h *Hand) frontOf(s *sessions.Snapshot) sessions.Program {
	if h.opt.Front == nil {
		return sessions.Program{}
	}
	return h.opt.Front(s)
}

// sessionID is the session's; "": there's none.
func (h *Hand) sessionID() sessions.ID {
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
		h.desk.NoteTyped(text)
	}
}

// How long programs take. The figures were found with six agent programs: Codex
// takes an Enter within 120 ms of text as a line break, Gemini needed up to
// half a second.
const (
	settleFor   = 500 * time.Millisecond // between the program having read a paste and Enter
	lookEvery   = 50 * time.Millisecond
	heldEvery   = 500 * time.Millisecond // between looks whether a dialog has closed
	reactWithin = 3 * time.Second        // a program that has read Enter shows it within this
	readWithin  = 60 * time.Second       // a program that doesn't read its input at all
	movedTries  = 40                     // looks at a screen that doesn't stand still
)

// paneStep is one touch of a pane: a text that's pasted, or keys that are pressed, if the guard
// holds. One with neither touches nothing.
type paneStep struct {
	srv   sessions.TmuxServer
	guard sessions.PaneGuard
	text  string
	keys  []string
}

var enterKey = []string{"Enter"} //nolint:gochecknoglobals // a constant

// stepper is something that's typed step by step. Its methods may block as long as it takes, and end
// the work with an error, which may only say that nothing more is to be done.
type stepper interface {
	// nextStep looks at the pane, waits for what's in the way, and returns the step that's due
	// on the screen as it is.
	nextStep(ctx context.Context) (paneStep, error)
	// afterStep sees to what came of the step, and reports whether it was the last one. With
	// ErrUncertain nobody knows whether it was done; with any other error it wasn't.
	afterStep(ctx context.Context, s paneStep, out sessions.GuardOutcome, err error) (done bool, failed error)
}

// runSteps does a work step by step. All that panebridge types goes through it.
func runSteps(ctx context.Context, w stepper) error {
	for {
		s, err := w.nextStep(ctx)
		if err != nil {
			return err
		}
		out, err := s.touchPane(ctx)
		if done, err := w.afterStep(ctx, s, out, err); done || err != nil {
			return err
		}
	}
}

// touchPane does the step. What has begun is carried through: what came of it has to be known.
func (s *paneStep) touchPane(ctx context.Context) (sessions.GuardOutcome, error) {
	ctx = context.WithoutCancel(ctx)
	switch {
	case s.text != "":
		return s.srv.Paste(ctx, s.guard, s.text)
	case len(s.keys) > 0:
		return s.srv.Press(ctx, s.guard, s.keys...)
	}
	return sessions.Done, nil
}

// keysTries is how often keys are tried on a screen that changes meanwhile.
const keysTries = 20

// PressKeys presses keys as soon as the screen is one on which they may be.
func (h *Hand) PressKeys(ctx context.Context, p sessions.KeyPress) (out sessions.GuardOutcome, err error) {
	s, srv, err := h.desk.Living()
	if err != nil {
		return "", err
	}
	w := &pressing{Hand: h, srv: srv, pane: s.Pane, keys: p}
	err = runSteps(ctx, w)
	return w.out, err
}

// pressing presses keys that a person has chosen.
type pressing struct {
	*Hand

	srv   sessions.TmuxServer
	pane  sessions.Pane
	keys  sessions.KeyPress
	tries int
	out   sessions.GuardOutcome // of the last try
}

func (w *pressing) nextStep(ctx context.Context) (paneStep, error) {
	s := paneStep{srv: w.srv, guard: sessions.PaneGuard{Pane: w.pane.ID, Server: w.pane.Identity}, keys: w.keys.Keys}
	if onlyRefuse(w.keys.Keys) {
		return s, nil
	}
	snap, err := w.srv.Snapshot(ctx, w.pane.ID, sessions.RowWindow{})
	if err == nil {
		err = snap.Ended(w.pane.Identity)
	}
	if err == nil {
		s.guard, err = w.keysGuard(&snap, w.keys)
	}
	return s, err
}

func (w *pressing) afterStep(ctx context.Context, _ paneStep, out sessions.GuardOutcome, err error) (done bool, failed error) {
	w.out = out
	if w.tries++; err != nil || onlyRefuse(w.keys.Keys) || out != sessions.Moved && (out != sessions.Held || !w.keys.Answers) {
		return true, err
	}
	err = sessions.Pause(ctx, lookEvery)
	return w.tries == keysTries, err
}

// onlyRefuse reports whether keys can only refuse what's asked.
func onlyRefuse(keys []string) bool {
	return !slices.ContainsFunc(keys, func(k string) bool { return k != "Escape" && k != "C-c" })
}

// keysGuard says when keys may be pressed: while no dialog is open, or while the one that
// the person has seen stands there, if it's theirs to answer.
func (h *Hand) keysGuard(snap *sessions.Snapshot, p sessions.KeyPress) (sessions.PaneGuard, error) {
	t := &typist{Hand: h, pane: snap.Pane}
	g, open := t.guardScreen(snap)
	d := h.opt.Dialogs.Read(h.desk.ID(), snap, nil)
	if !open && d == nil {
		g.Saw, g.Front = nil, "" // a spinner, or what's printed, changes nothing
		if len(g.Rows) > 0 {
			g.Saw = snap
		}
		return g, nil
	}
	switch {
	case !p.Answers:
		return g, sessions.ErrNotToAnswer
	case !h.desk.HadSeen(d, p.Seen):
		return g, sessions.ErrNewDialog
	}
	g.Phrases, g.Saw, g.Rows = nil, snap, nil
	if d != nil {
		g.Rows = sessions.TellingRows(snap.Rows, d.First, d.Last, checkedRows)
	}
	return g, nil
}
