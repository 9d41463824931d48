package sessions

import "context"

// Hand types into one session's pane: the Manager says what, and when. Its methods block until
// it's done, or surely can't be. Whoever calls one but TypeText or PressKeys has the session's keyboard.
type Hand interface {
	// TypeText types a text, and holds it while something is in the way. It returns when the
	// receipt is final, when ctx ends, or shortly after that if the text is in the pane.
	TypeText(ctx context.Context, r Receipt)
	// TypePreview types a preview, if nothing speaks against it now: see Manager.TypePreview.
	TypePreview(ctx context.Context, p Preview) (sent bool, why string, err error)
	// FinishPreview submits a preview that stands in the input box: see Manager.FinishPreview.
	FinishPreview(ctx context.Context, p Preview) (end PreviewEnd, why string)
	// GiveAnswer gives the answer of a prompt that counts.
	GiveAnswer(ctx context.Context, p Prompt) Given
	// PressKeys presses keys as soon as the screen is one on which they may be.
	PressKeys(ctx context.Context, p KeyPress) (Outcome, error)
	// ReadWhole reads a dialog of which part stands on the screen, in a pane that's made taller
	// for a moment, or very high. ErrNotWhole says that it can't be seen whole so.
	ReadWhole(ctx context.Context, part *Dialog, high bool) (*Dialog, error)
}

// Preview is a text that's typed and submitted now or not at all: it tells somebody of
// something that's kept elsewhere.
type Preview struct {
	Text string
	// Command says that the text is a command of panebridge's own, which a shell may run.
	// Any other text is typed into no shell.
	Command bool
	// Plain is what's typed in place of a text that isn't a command into a program that's no
	// known agent: it may run what it's given, as a shell at the other end of ssh does, or an
	// interpreter. So it has no words of others. "": nothing is.
	Plain string
	// Fit makes Text or Plain one for the program in the pane, which may need another word
	// for a command than others. Nil: it's typed as it is.
	Fit   func(text string, s *Snapshot) string
	Box   func(*Snapshot) Box  // reads the input box of the program in the pane
	Shell func(*Snapshot) bool // says whether that's a shell
	// Stop is closed when only what needs no waiting for others is still to be done. Nil:
	// never; a Manager's own Run sees to it.
	Stop <-chan struct{}
}

// PreviewEnd is what became of a preview whose typing was cut off.
type PreviewEnd int

// The ends.
const (
	// PreviewUnknown: it's gone, or it can't be told.
	PreviewUnknown PreviewEnd = iota
	// PreviewFinished: it stood in the input box, and is submitted.
	PreviewFinished
	// PreviewUnclear: what's in the way may pass.
	PreviewUnclear
)

// Given is what became of an answer that counted.
type Given struct {
	State  PromptState // PromptOpen: it's to be answered again
	Reason string      // of PromptClosed
	Doubt  string      // of PromptOpen: why the prompt may go though nobody answers it in the pane; "": nothing was pressed
	Err    error       // for who answered
}
