package typing

import (
	"context"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

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

// step is one touch of a pane: a text that's pasted, or keys that are pressed, if the guard
// holds. One with neither touches nothing.
type step struct {
	srv   sessions.Server
	guard sessions.Guard
	text  string
	keys  []string
}

// enterKey submits what stands in a line.
var enterKey = []string{"Enter"} //nolint:gochecknoglobals // a constant

// work is something that's typed step by step. Its methods may block as long as it takes, and end
// the work with an error, which may only say that nothing more is to be done.
type work interface {
	// next looks at the pane, waits for what's in the way, and returns the step that's due
	// on the screen as it is.
	next(ctx context.Context) (step, error)
	// after sees to what came of the step, and reports whether it was the last one. With
	// ErrUncertain nobody knows whether it was done; with any other error it wasn't.
	after(ctx context.Context, s step, out sessions.Outcome, err error) (done bool, failed error)
}

// run does a work step by step. All that panebridge types goes through it.
func run(ctx context.Context, w work) error {
	for {
		s, err := w.next(ctx)
		if err != nil {
			return err
		}
		out, err := s.touchPane(ctx)
		if done, err := w.after(ctx, s, out, err); done || err != nil {
			return err
		}
	}
}

// touchPane does the step. What has begun is carried through: what came of it has to be known.
func (s *step) touchPane(ctx context.Context) (sessions.Outcome, error) {
	ctx = context.WithoutCancel(ctx)
	switch {
	case s.text != "":
		return s.srv.Paste(ctx, s.guard, s.text)
	case len(s.keys) > 0:
		return s.srv.Press(ctx, s.guard, s.keys...)
	}
	return sessions.Done, nil
}
