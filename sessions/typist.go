package sessions

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// How a text is typed. The figures were found with six agent programs: Codex
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

// startTypist has a session's inputs typed, if nobody is at it.
func (m *Manager) startTypist(id ID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.entries[id]
	if e == nil || e.typing || m.ctx == nil || m.ctx.Err() != nil {
		return
	}
	e.typing = true
	ctx := m.ctx
	m.typists.Go(func() {
		for {
			r := m.nextInput(id)
			if r == nil {
				return
			}
			(&typist{m: m, id: id, receipt: *r}).run(ctx)
			if ctx.Err() != nil {
				return
			}
		}
	})
}

// nextInput drops finished receipts and returns the first that's open.
func (m *Manager) nextInput(id ID) *Receipt {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.entries[id]
	for len(e.queue) > 0 && e.queue[0].Final() {
		e.queue = e.queue[1:]
	}
	if len(e.queue) == 0 {
		e.typing = false
		return nil
	}
	r := *e.queue[0]
	return &r
}

// typist types one input.
type typist struct {
	m       *Manager
	id      ID
	receipt Receipt
	pane    string
	srv     Server
	term    Terminal
	before  Snapshot // the look the paste was decided on
	echoed  bool
}

// errDone ends the typing of an input whose receipt is final.
var errDone = errors.New("done")

func (t *typist) run(ctx context.Context) {
	for _, step := range []func(context.Context) error{t.paste, t.settle, t.tell, t.enter} {
		err := step(ctx)
		switch {
		case err == nil:
		case errors.Is(err, errDone), ctx.Err() != nil:
			return
		default:
			t.set(ctx, ReceiptFailed, err.Error())
			return
		}
	}
}

// set moves the receipt on; false: it was cancelled or failed meanwhile, or what's
// about to be done couldn't be stored.
func (t *typist) set(ctx context.Context, state ReceiptState, reason string) bool {
	_, ok, _ := t.m.setReceipt(ctx, t.id, t.receipt.ID, func(r *Receipt) bool {
		r.State, r.Reason = state, reason
		return true
	})
	return ok
}

// hold says that the input waits, without writing the same twice.
func (t *typist) hold(ctx context.Context, state ReceiptState, reason string) {
	_, _, _ = t.m.setReceipt(ctx, t.id, t.receipt.ID, func(r *Receipt) bool { // a failure to store it is logged
		if r.State == state && r.Reason == reason {
			return false
		}
		r.State, r.Reason = state, reason
		return true
	})
}

// open reports whether the receipt is still to be worked on.
func (t *typist) open() bool {
	t.m.mu.Lock()
	defer t.m.mu.Unlock()
	e := t.m.entries[t.id]
	return e != nil && len(e.queue) > 0 && e.queue[0].ID == t.receipt.ID && !e.queue[0].Final()
}

// wait sleeps; it fails when the receipt was closed meanwhile.
func (t *typist) wait(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
	}
	if !t.open() {
		return errDone
	}
	return nil
}

// look takes a snapshot of the screen and its terminal, however long tmux takes
// to answer.
func (t *typist) look(ctx context.Context) (Snapshot, error) {
	for {
		s, srv, err := t.m.living(t.id)
		if err != nil {
			return Snapshot{}, err
		}
		t.pane, t.srv = s.Pane.ID, srv
		snap, err := srv.Snapshot(ctx, t.pane, Window{})
		switch {
		case err == nil && snap.Server != s.Pane.Identity:
			return snap, fmt.Errorf("%w: its tmux server was started anew", ErrEnded)
		case err == nil && snap.Dead:
			return snap, fmt.Errorf("%w: its program has ended", ErrEnded)
		case err == nil:
			if t.term, err = srv.Terminal(snap.TTY); err == nil {
				return snap, nil
			}
		case errors.Is(err, ErrUnknown), ctx.Err() != nil:
			return snap, err
		}
		if err := t.wait(ctx, heldEvery); err != nil { // the connection comes back, or the session ends
			return snap, err
		}
	}
}

// paste looks, decides and pastes, until it's done or can't be.
func (t *typist) paste(ctx context.Context) error {
	for tries := 0; ; tries++ {
		var err error
		if t.before, err = t.look(ctx); err != nil {
			return err
		}
		if err := t.fits(); err != nil {
			return err
		}
		g := Guard{Pane: t.pane, Server: t.before.Server, Phrases: t.m.opt.Phrases, Saw: &t.before}
		if tries >= movedTries {
			g.Saw = nil // a screen that never stands still: the search for dialogs, atomic as well, has to do
		}
		out := Held
		if t.m.opt.Dialog(t.before.Rows) == "" {
			if !t.set(ctx, ReceiptTyping, "") {
				if err := t.wait(ctx, heldEvery); err != nil { // it was closed
					return err
				}
				tries--  // it's not the screen's fault
				continue // the disk is full, say; nothing is typed that nobody would know of after a crash
			}
			if out, err = t.pasteGuarded(ctx, g); err != nil {
				return err
			}
		}
		switch out {
		case Done:
			t.m.opt.Pollers.Typed(t.id, t.receipt.Text)
			return t.typed(ctx)
		case Dead:
			return fmt.Errorf("%w: its program has ended", ErrEnded)
		case Held:
			t.hold(ctx, ReceiptHeld, "a dialog is open in the session; it's typed when the dialog has closed")
			err = t.wait(ctx, heldEvery)
		case Moved:
			err = t.wait(ctx, lookEvery)
		}
		if err != nil {
			return err
		}
	}
}

// pasteGuarded pastes the text; an empty one needs only its Enter. What surely
// didn't reach the pane goes back to stored and is tried again.
func (t *typist) pasteGuarded(ctx context.Context, g Guard) (Outcome, error) {
	if t.receipt.Text == "" {
		return Done, nil
	}
	out, err := t.srv.Paste(context.WithoutCancel(ctx), g, t.receipt.Text)
	switch {
	case errors.Is(err, ErrUncertain):
		return "", fmt.Errorf("the connection to tmux was lost while it was being typed; look at the session before you send it again: %w", err)
	case errors.Is(err, ErrUnavailable):
		t.hold(ctx, ReceiptStored, "tmux takes no commands at the moment")
		return Moved, nil
	}
	return out, err
}

// fits refuses a line that the kernel would cut.
func (t *typist) fits() error {
	if !t.term.Canonical {
		return nil
	}
	for line := range strings.SplitSeq(t.receipt.Text, "\n") {
		if len(line) > t.term.MaxLine {
			return fmt.Errorf("%w input: the program reads line by line, and its terminal cuts lines at %d bytes; this one has %d", ErrInvalid, t.term.MaxLine, len(line))
		}
	}
	return nil
}

func (t *typist) typed(ctx context.Context) error {
	if !t.set(ctx, ReceiptTyped, "") || !t.receipt.Submit {
		return errDone
	}
	return nil
}

// settle waits until the program has read the text, so that text and Enter
// don't arrive in one read, and has had time to work it in.
func (t *typist) settle(ctx context.Context) error {
	if t.receipt.Text == "" || t.term.Canonical {
		return nil // the kernel makes the line
	}
	begin := time.Now()
	read := begin
	for time.Since(read) < settleFor {
		if err := t.wait(ctx, lookEvery); err != nil {
			return err
		}
		s, err := t.look(ctx)
		if err != nil {
			return err
		}
		t.echoed = t.echoed || !sameScreen(&t.before, &s)
		if t.term.Canonical {
			return nil
		}
		if t.term.Unread > 0 {
			read = time.Now()
		}
		if time.Since(begin) > readWithin {
			return errors.New("the program doesn't read its input; the text waits there, Enter was not pressed")
		}
	}
	return nil
}

// tell has those who follow the session know who wrote what comes next. It's the last
// thing before Enter: what the program prints about the text stands below it.
func (t *typist) tell(ctx context.Context) error {
	if err := t.m.said(ctx, t.receipt); err != nil && ctx.Err() == nil {
		t.m.log.Warn("an input goes on without its author being shown", "session", t.id, "err", err)
	}
	return ctx.Err()
}

// enter presses Enter and looks whether the screen took it; once more at most.
func (t *typist) enter(ctx context.Context) error {
	for range 2 {
		before, err := t.look(ctx)
		if err != nil {
			return err
		}
		if err := t.pressEnter(ctx); err != nil {
			return err
		}
		t.m.opt.Pollers.Typed(t.id, "")
		if t.term.Canonical {
			t.set(ctx, ReceiptSubmitted, "")
			return errDone
		}
		took, err := t.took(ctx, &before)
		if err != nil {
			return err
		}
		if took {
			t.set(ctx, ReceiptSubmitted, "")
			return errDone
		}
		if !t.echoed {
			t.set(ctx, ReceiptSubmitted, "unverified: the program doesn't show what is typed")
			return errDone
		}
	}
	return errors.New("the text is in the session's input box, but two Enters didn't submit it")
}

// pressEnter waits while a dialog is open: an Enter would answer it.
func (t *typist) pressEnter(ctx context.Context) error {
	for {
		out, err := t.srv.Press(context.WithoutCancel(ctx), Guard{Pane: t.pane, Server: t.before.Server, Phrases: t.m.opt.Phrases}, "Enter")
		switch {
		case err != nil:
			return fmt.Errorf("the text is typed, but Enter may not be: %w", err)
		case out == Dead:
			return fmt.Errorf("%w: its program has ended", ErrEnded)
		case out == Done:
			return nil
		}
		t.hold(ctx, ReceiptTyped, "a dialog has opened; Enter is pressed when it has closed")
		if err := t.wait(ctx, heldEvery); err != nil {
			return err
		}
	}
}

// took reports whether the screen changed after Enter. The time for it runs
// from when the program has read the key.
func (t *typist) took(ctx context.Context, before *Snapshot) (bool, error) {
	within := reactWithin
	if !t.echoed {
		within = settleFor // it doesn't show what it reads, so why should it show this
	}
	begin := time.Now()
	for read := begin; time.Since(read) < within; {
		if err := t.wait(ctx, lookEvery); err != nil {
			return false, err
		}
		s, err := t.look(ctx)
		if errors.Is(err, ErrEnded) || errors.Is(err, ErrUnknown) {
			return true, nil // that was its last input
		}
		if err != nil {
			return false, err
		}
		if !sameScreen(before, &s) || t.term.Canonical {
			return true, nil
		}
		if t.term.Unread > 0 && time.Since(begin) < readWithin {
			read = time.Now()
		}
	}
	return false, nil
}

// sameScreen compares what a person would see.
func sameScreen(a, b *Snapshot) bool {
	return a.CursorX == b.CursorX && a.CursorY == b.CursorY && a.HistorySize == b.HistorySize &&
		a.Alternate == b.Alternate && slices.Equal(a.Rows, b.Rows)
}
