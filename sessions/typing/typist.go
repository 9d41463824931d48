package typing

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// typist types one input.
type typist struct {
	*Hand

	receipt sessions.Receipt
	pane    string
	srv     sessions.Server
	term    sessions.Terminal
	before  sessions.Snapshot // the look the paste was decided on
	echoed  bool
	entered bool               // Enter was pressed
	young   bool               // the session has just been made
	early   bool               // the program had just begun when it was pasted
	again   bool               // it's typed a second time
	ended   bool               // and then the program ended
	stands  bool               // the text stood in its line when that was looked at last behind Enter
	stirred int                // times that Enter wasn't pressed because the screen had changed
	front   string             // Snapshot.Front when it was pasted
	into    sessions.Program   // that it was pasted into
	goesTo  sessions.Addressee // whom it's for from when it's pasted on; "": as before
	letGo   bool               // somebody has said so
	boxed   bool               // the text was pasted into an input box that can be read
	shell   bool               // that's a shell, and Enter wasn't pressed yet
	goesOn  bool               // its line goes on with an unfinished command
	alone   bool               // it was seen to stand there alone
	whole   bool               // it was seen to stand there whole
	beside  bool               // something else was seen to stand beside it
	inRow   bool               // it was seen before the cursor of a program whose box isn't known
	queued  bool               // the program keeps it until it has time
	resized bool               // what was seen of Enter may be what a change of the pane's size has made
	away    time.Time          // since when its box isn't on the screen; zero: it is
	empty   int                // looks in succession at which the box had nothing in it
	began   time.Time          // when it was this text's turn
	drawn   time.Time          // when the program was first seen to have drawn something; zero: it wasn't
	keys    sessions.Keyboard  // of the session, while it's taken
	asked   time.Time          // when the last look was asked for
	size    paneSize
	at      sessions.Snapshot // the look that Enter was decided on
	// Of a text that only a dialog's phrase holds:
	stood   string             // the screen at the last look, see print
	ahead   *sessions.GoAhead  // that was taken, and not answered yet; nil: none
	refused int                // go-aheads that came to nothing
	by      string             // who sent it anyway; "": nobody
	cleared *sessions.Snapshot // the screen on which that was done; nil: none
	late    bool               // its Enter took effect later than programs take that read it
}

// errNotStored says that nobody would know of it after a crash.
var errNotStored = fmt.Errorf("%w: what's about to be done can't be stored; nothing was sent", sessions.ErrUnavailable)

// errDone ends the typing of an input whose receipt is final.
var errDone = errors.New("done")

// TypeText types a text, and holds it while something is in the way.
func (h *Hand) TypeText(ctx context.Context, r sessions.Receipt) {
	t := &typist{Hand: h, receipt: r, began: time.Now()}
	t.run(ctx)
}

func (t *typist) run(ctx context.Context) {
	defer t.dropAhead(ctx)
	defer t.release()
	steps := []func(context.Context) error{t.settle, t.tell, t.enter}
	if !t.receipt.Submit {
		steps = []func(context.Context) error{t.settle, t.leave}
	}
	begin := t.paste
	if t.desk.TakeLeft(t.receipt.ID) {
		t.desk.AwaitProof(t.receipt, t.receipt.UpdatedAt)
		begin, steps = t.takeUp, steps[1:]
	}
	if !t.goOn(ctx, begin(ctx)) {
		return
	}
	hand, cancel := inHand(ctx)
	defer cancel()
	for i := 0; i < len(steps); i++ {
		err := steps[i](hand)
		if errors.Is(err, errEmptied) {
			if !t.goOn(ctx, t.pasteAgain(ctx)) {
				return
			}
			i, steps, err = -1, []func(context.Context) error{t.settle, t.enter}, nil // who wrote it is told
		}
		if !t.goOn(hand, err) {
			return
		}
	}
}

// goOn says whether the next step is due, given what came of one.
func (t *typist) goOn(ctx context.Context, err error) bool {
	switch {
	case err == nil:
		return true
	case errors.Is(err, errDone), ctx.Err() != nil:
	case t.entered && (errors.Is(err, sessions.ErrEnded) || errors.Is(err, sessions.ErrUnknown)):
		t.setSubmitted(ctx, endedWithIt)
	case t.entered && errors.Is(err, errTakenAway):
		t.setSubmitted(ctx, t.submittedHow())
	default:
		t.set(ctx, sessions.ReceiptFailed, err.Error())
	}
	return false
}

// finishWithin is how long what's in a pane without its Enter may take when panebridge
// stops. What isn't submitted by then is taken up at the next start.
const finishWithin = 4 * time.Second

// inHand is a context for what has been pasted: it ends finishWithin after ctx.
func inHand(ctx context.Context) (hand context.Context, cancel func()) {
	hand, end := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		defer end()
		_ = sessions.Pause(hand, finishWithin)
	})
	return hand, func() { stop(); end() }
}

// take takes the session's Keyboard, and waits for it.
func (t *typist) take(ctx context.Context) error {
	if t.keys != nil {
		return nil
	}
	keys := t.desk.Keyboard()
	if keys == nil {
		return errDone
	}
	if err := keys.Take(ctx); err != nil {
		return err
	}
	t.keys = keys
	return nil
}

// release gives the keyboard back: what's waited for now, a dialog's end, somebody else
// may bring about.
func (t *typist) release() {
	if t.keys != nil {
		t.keys.GiveBack()
		t.keys = nil
	}
}

// set moves the receipt on; false: it was cancelled or failed meanwhile, or what's
// about to be done couldn't be stored.
func (t *typist) set(ctx context.Context, state sessions.ReceiptState, reason string) bool {
	return t.setAs(ctx, state, verdict{reason: reason})
}

// setSubmitted ends the typing of a text that was submitted.
func (t *typist) setSubmitted(ctx context.Context, v verdict) {
	t.setAs(ctx, sessions.ReceiptSubmitted, v)
}

// verdict is what's to be known of a text that was submitted. The zero value: all is well.
type verdict struct {
	cause  sessions.Cause
	reason string
}

// unverified says why nobody knows that a program took its text.
func unverified(why string) verdict { return verdict{sessions.CauseUnverified, "unverified: " + why} }

func (t *typist) setAs(ctx context.Context, state sessions.ReceiptState, v verdict) bool {
	_, ok := t.desk.SetReceipt(ctx, t.receipt.ID, func(r *sessions.Receipt) bool {
		r.SetState(state, v.cause, v.reason)
		r.Quoted, r.Anyway, r.To = "", t.by, t.receipt.To
		return true
	})
	return ok
}

// markPressed stores that Enter is about to be pressed; false: the receipt was closed, or
// it can't be stored.
func (t *typist) markPressed(ctx context.Context) bool {
	r, ok := t.desk.SetReceipt(ctx, t.receipt.ID, func(r *sessions.Receipt) bool {
		r.SetState(sessions.ReceiptTyped, "", "")
		r.Quoted, r.Pressed = "", true
		return true
	})
	if ok {
		t.receipt.Pressed = r.Pressed
	}
	return ok
}

// hold says that the input waits, without writing the same twice.
func (t *typist) hold(ctx context.Context, state sessions.ReceiptState, reason string) {
	t.holdAs(ctx, state, reason, "")
}

// holdAs is hold for a text that may be sent anyway.
func (t *typist) holdAs(ctx context.Context, state sessions.ReceiptState, reason, quoted string) {
	t.holdWith(ctx, func(r *sessions.Receipt) {
		r.SetState(state, "", reason)
		r.Quoted, r.Front, r.Revivals = quoted, "", nil
	})
}

// holdWith is hold for a change of the receipt that says more.
func (t *typist) holdWith(ctx context.Context, change func(*sessions.Receipt)) {
	_, _ = t.desk.SetReceipt(ctx, t.receipt.ID, func(r *sessions.Receipt) bool {
		was := *r
		change(r)
		r.Anyway, r.Pressed = t.by, t.entered
		return r.State != was.State || r.Reason != was.Reason || r.Quoted != was.Quoted
	})
}

// open reports whether the receipt is still to be worked on.
func (t *typist) open() bool { return t.desk.IsOpen(t.receipt.ID) }

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
func (t *typist) look(ctx context.Context) (sessions.Snapshot, error) {
	for {
		s, srv, err := t.desk.Living()
		if err != nil {
			return sessions.Snapshot{}, err
		}
		t.pane, t.srv, t.young, t.asked = s.Pane.ID, srv, isYoung(&s), time.Now()
		snap, err := srv.Snapshot(ctx, t.pane, sessions.Window{Styled: true})
		switch {
		case err == nil:
			if ended := snap.Ended(s.Pane.Identity); ended != nil {
				return snap, ended
			}
			t.size.see(&snap, t.asked)
			if t.term, err = srv.Terminal(snap.TTY); err == nil {
				return snap, nil
			}
		case errors.Is(err, sessions.ErrUnknown), ctx.Err() != nil:
			return snap, err
		}
		if err := t.wait(ctx, heldEvery); err != nil { // the connection comes back, or the session ends
			return snap, err
		}
	}
}

// paste looks, decides and pastes, until it's done or can't be.
func (t *typist) paste(ctx context.Context) error { return run(ctx, &pasting{typist: t}) }

// pasting is the paste of a text; an empty one needs only its Enter.
type pasting struct {
	*typist

	tries int // looks at a screen that may not stand still
}

func (t *pasting) next(ctx context.Context) (step, error) {
	for ; ; t.tries++ {
		err := t.take(ctx)
		if err != nil {
			return step{}, err
		}
		if t.before, err = t.look(ctx); err != nil {
			return step{}, err
		}
		if err := t.fits(); err != nil {
			return step{}, err
		}
		if waits, err := t.awaitAddressee(ctx); err != nil {
			return step{}, err
		} else if waits {
			t.tries = 0 // it's not the screen's fault
			continue
		}
		g, dialog := t.pasteGuard(&t.before)
		if !dialog && t.isClear(ctx) {
			return step{srv: t.srv, guard: g, text: t.receipt.Text}, nil
		}
		t.forgetAhead()
		if dialog {
			t.heldBy(ctx, &t.before, sessions.ReceiptHeld)
		} else {
			t.tries-- // it's not the screen's fault
		}
		if err := t.wait(ctx, heldEvery); err != nil {
			return step{}, err
		}
	}
}

// after takes up what surely didn't reach the pane again.
func (t *pasting) after(ctx context.Context, _ step, out sessions.Outcome, err error) (done bool, failed error) {
	switch {
	case errors.Is(err, sessions.ErrUncertain):
		return false, fmt.Errorf("the connection to tmux was lost while it was being typed; look at the session before you send it again: %w", err)
	case errors.Is(err, sessions.ErrUnavailable):
		t.hold(ctx, sessions.ReceiptStored, "tmux takes no commands at the moment")
		out = sessions.Moved
	case err != nil:
		return false, err
	}
	if out != sessions.Done {
		t.forgetAhead()
	}
	t.tries++
	switch out {
	case sessions.Done:
		return true, t.pasted(ctx)
	case sessions.Dead:
		return false, sessions.ErrDead
	case sessions.Held:
		t.heldBy(ctx, &t.before, sessions.ReceiptHeld)
		return false, t.wait(ctx, heldEvery)
	case sessions.Moved:
	}
	return false, t.wait(ctx, lookEvery)
}

// pasted says that the text is in the pane.
func (t *typist) pasted(ctx context.Context) error {
	if t.letGo {
		t.receipt.To = t.goesTo
		t.desk.Address(ctx, t.goesTo)
	}
	t.answerAhead(nil)
	t.desk.Typed(t.receipt.Text)
	if t.receipt.Submit && !t.set(ctx, sessions.ReceiptTyped, "") {
		return errDone
	}
	return nil
}

// forgetAhead lets others type, since a text wasn't pasted. Who has sent it anyway has to look again.
func (t *typist) forgetAhead() {
	t.release()
	t.answerAhead(sessions.ErrOtherScreen)
	t.by, t.cleared = "", nil
}

// isClear reports whether nothing is in the text's way, where no dialog is open, and stores that it's
// about to be typed.
func (t *typist) isClear(ctx context.Context) bool {
	if o := t.obstacle(&t.before); o.why != "" && !t.pastObstacle(o) {
		t.release()
		t.answerAhead(sessions.Refuse("it isn't sent yet: %s", o.why))
		t.holdForObstacle(ctx, o)
		return false
	}
	if t.goesTo != "" && !t.letGo {
		t.receipt.To = t.goesTo
		if t.desk.Yields(t.goesTo) {
			t.desk.Address(ctx, t.goesTo)
		}
	}
	b := t.box(&t.before)
	t.boxed, t.shell, t.goesOn, t.front = b.Open, b.Shell, b.Unfinished != "", t.before.Front
	t.early = time.Since(t.frontOf(&t.before).Started) < readyWithin
	if !t.set(ctx, sessions.ReceiptTyping, "") {
		// It was closed; or the disk is full, say: nothing is typed that nobody would know
		// of after a crash.
		t.answerAhead(errNotStored)
		return false
	}
	t.desk.AwaitProof(t.receipt, time.Now())
	return true
}

// pasteGuard says when the text may be pasted, and whether a dialog is open instead, or
// only its phrase is there and nobody has sent it anyway.
func (t *pasting) pasteGuard(s *sessions.Snapshot) (g sessions.Guard, dialog bool) {
	t.takeAhead()
	if g, dialog = t.guard(s); dialog {
		if cleared, ok := t.anyway(s); ok {
			g, dialog = cleared, false
		}
	}
	if t.tries >= movedTries && len(g.Rows) == 0 && !g.Still {
		g.Saw = nil // a screen that never stands still: the search for dialogs, atomic as well, has to do
	}
	g.Lines = t.term.Canonical && g.Front != "" && t.frontOf(s).Kind == sessions.ProgramShell
	return g, dialog
}

// fits refuses a line that the kernel would cut.
func (t *typist) fits() error {
	if !t.term.Canonical {
		return nil
	}
	for line := range strings.SplitSeq(t.receipt.Text, "\n") {
		if len(line) > t.term.MaxLine {
			return fmt.Errorf("%w input: the program reads line by line, and its terminal cuts lines at %d bytes; this one has %d", sessions.ErrInvalid, t.term.MaxLine, len(line))
		}
	}
	return nil
}

// leave ends the typing of a text that's to stand in the line without an Enter: it does by
// now, and what's typed next sees it.
func (t *typist) leave(ctx context.Context) error {
	t.set(ctx, sessions.ReceiptTyped, "")
	return errDone
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
		t.noteAlone(&s)
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
	return t.shown(ctx)
}

// hiddenText stands for a text where a program that reads line by line shows nothing of it.
const hiddenText = "(not shown: the program hides what's typed)"

// tell has those who follow the session know who wrote what comes next. It's the last
// thing before Enter: what the program prints about the text stands below it.
func (t *typist) tell(ctx context.Context) error {
	r := t.receipt
	if t.term.Canonical && !t.term.Echo && strings.TrimSpace(r.Text) != "" {
		r.Text = hiddenText // a password, say
	}
	if err := t.desk.TellAuthor(ctx, r); err != nil && ctx.Err() == nil {
		t.desk.Log().Warn("an input goes on without its author being shown", "err", err)
	}
	return ctx.Err()
}
