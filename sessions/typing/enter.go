package typing

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

const (
	enters = 2 // that are pressed at most
	// lateWithin is how long the last Enter's effect may take to be seen: programs that are
	// at work read at once, and draw late.
	lateWithin = 10 * time.Second
	// frozenWithin is the same of a program that leaves its input box alone meanwhile, though
	// a sign that it's at work may move, and until what was read before it has shown.
	frozenWithin = 30 * time.Second
)

// pressEnter presses Enter and looks whether the screen took it; once more at most.
func (t *typist) pressEnter(ctx context.Context) error { return runSteps(ctx, &entering{typist: t}) }

type entering struct {
	*typist

	pressed int       // Enters
	began   time.Time // when this one was due; zero: it isn't yet
	held    bool      // it was, and may be pressed now
	// narrow is the guard by which Enter may be pressed on a screen with a dialog's phrase;
	// nil: it's tried where there's none. by and cleared are as they were before.
	narrow  *sessions.PaneGuard
	by      string
	cleared *sessions.Snapshot
}

func (t *entering) nextStep(ctx context.Context) (paneStep, error) {
	if t.narrow != nil {
		return paneStep{srv: t.srv, guard: *t.narrow, keys: enterKey}, nil
	}
	if t.began.IsZero() {
		t.began = time.Now()
	}
	covered, err := t.standsAlone(ctx)
	if t.held && errors.Is(err, errTakenAway) {
		err = t.explainEmptied(ctx)
	}
	if err != nil {
		return paneStep{}, err
	}
	for t.held = false; ; {
		if err := t.takeKeyboard(ctx); err != nil {
			return paneStep{}, err
		}
		if t.markPressed(ctx) {
			break
		}
		t.giveKeyboardBack()
		if err := t.wait(ctx, heldEvery); err != nil { // the disk is full, say
			return paneStep{}, err
		}
	}
	if covered { // the dialog may go before a key comes, and the text may have gone behind it
		return paneStep{}, nil
	}
	g := sessions.PaneGuard{Pane: t.pane, Server: t.before.Server, Phrases: t.opt.Phrases, Front: t.front}
	if t.alone && t.stirred < movedTries {
		g.Saw = &t.at // what somebody types beside the text moves the cursor
	}
	if t.strict && t.stirred < movedTries {
		t.keepRows(&g)
	}
	return paneStep{srv: t.srv, guard: g, keys: enterKey}, nil
}

func (t *entering) afterStep(ctx context.Context, did paneStep, out sessions.GuardOutcome, err error) (done bool, failed error) {
	if len(did.keys) == 0 {
		out = sessions.Held
	}
	switch {
	case t.narrow != nil:
		t.answerNarrow(out, err)
	case out == sessions.Held && err == nil:
		if out = t.decideNarrow(ctx); out == sessions.Done {
			return false, nil // it's pressed by that guard
		}
	case out == sessions.Moved && err == nil:
		err = t.checkFront(ctx)
	}
	t.entered = t.entered || out == sessions.Done || errors.Is(err, sessions.ErrUncertain)
	switch {
	case errors.Is(err, errOtherFront):
		return false, err
	case err != nil:
		return false, &enterError{err}
	case out == sessions.Dead:
		return false, sessions.ErrDead
	case out == sessions.Done:
		t.began = time.Time{}
		return false, t.seeEnter(ctx)
	case out == sessions.Moved && (t.typist.cleared == nil || time.Since(t.began) < restlessFor):
		t.stirred++
		return false, t.wait(ctx, lookEvery)
	}
	t.giveKeyboardBack()
	if out == sessions.Moved {
		t.holdBack(ctx, heldElse, sessions.ReceiptTyped, "the screen doesn't stand still; Enter is pressed when it does")
	} else {
		t.holdForDialog(ctx, &t.at, sessions.ReceiptTyped)
	}
	if err := t.wait(ctx, heldEvery); err != nil {
		return false, err
	}
	t.held = true
	if err = t.awaitShown(ctx); errors.Is(err, errNotShown) {
		err = t.explainEmptied(ctx)
	}
	return false, err
}

// decideNarrow looks whether Enter may be pressed though a dialog's phrase is on the screen: it's only
// quoted, and the program's box is there, or the screen is one that somebody has looked at. Then it's Done,
// and narrow is the guard.
func (t *entering) decideNarrow(ctx context.Context) sessions.GuardOutcome {
	var err error
	if t.at, err = t.lookAtPane(ctx); err != nil {
		t.at = sessions.Snapshot{}
		return sessions.Held // nothing was pressed; the next look tells
	}
	t.by, t.cleared = t.typist.by, t.typist.cleared
	if b := t.lineOrBox(&t.at); (t.alone || t.isCoveredOrGone(&t.at, b)) && t.lacksText(&t.at, b) {
		return sessions.Held // it may have been taken away; the next look tells
	}
	t.takeAhead()
	g, out := t.enterGuard(&t.at)
	failed := sessions.ErrOtherScreen
	if out == sessions.Done && t.ahead != nil && !t.setState(ctx, sessions.ReceiptTyped, "") { // who sent it anyway is on the disk first
		out, failed = sessions.Held, errNotStored
	}
	if out == sessions.Done {
		t.narrow = &g
		return out
	}
	t.answerAhead(failed)
	t.typist.by, t.typist.cleared = t.by, t.cleared
	return out
}

func (t *entering) answerNarrow(out sessions.GuardOutcome, err error) {
	t.narrow = nil
	if out == sessions.Done && err == nil {
		t.answerAhead(nil)
		return
	}
	t.answerAhead(cmp.Or(err, sessions.ErrOtherScreen))
	t.typist.by, t.typist.cleared = t.by, t.cleared
}

// seeEnter looks what came of an Enter that was pressed. It's nil if the next is due.
func (t *entering) seeEnter(ctx context.Context) error {
	t.pressed++
	t.noteTyped("")
	if t.shell {
		t.noteSubmitted(t.receipt.Text, t.goesOn)
		t.shell = false
	}
	if t.term.Canonical {
		return t.awaitLineRead(ctx)
	}
	took, err := t.awaitEffect(ctx, t.at, t.pressed == enters)
	if err != nil {
		return err
	}
	if took {
		unsure, err := t.confirmTaken(ctx, &t.at)
		if err == nil {
			t.setSubmitted(ctx, cmp.Or(unsure, t.submittedHow()))
			err = errDone
		}
		return err
	}
	if !t.echoed {
		t.setSubmitted(ctx, unverified("the program doesn't show what is typed"))
		return errDone
	}
	t.entered = t.entered && !t.stands // else that one changed nothing
	switch {
	case t.pressed < enters:
		return nil
	case !t.boxed:
		return errNothingChanged
	}
	return errNotTaken
}

// enterError says that the text is typed, but Enter may not be.
type enterError struct{ err error }

func (e *enterError) Error() string {
	return "the text is typed, but Enter may not be: " + e.err.Error()
}

func (e *enterError) Unwrap() error { return e.err }

var errNothingChanged = errors.New("the program has taken the text in, but two Enters changed nothing on its screen; look at the session")

var errNotTaken = errors.New("the text is in the session's input box, but two Enters didn't submit it")

// endedWithIt is what's known of a text whose program ended behind its Enter: that may
// have been its last input, or have ended it first.
var endedWithIt = unverified("the program has ended since") //nolint:gochecknoglobals // a constant

// awaitLineRead waits until the program has read the line that the kernel made. One that takes
// the terminal over first gets it as mere text: for a shell that's the same, and a
// program with an input box takes it as a text with a line break.
func (t *typist) awaitLineRead(ctx context.Context) error {
	waited := false
	for begin := time.Now(); time.Since(begin) < reactWithin; {
		s, err := t.lookAtPane(ctx)
		switch {
		case errors.Is(err, sessions.ErrEnded), errors.Is(err, sessions.ErrUnknown):
			t.setSubmitted(ctx, endedWithIt)
			return errDone
		case err != nil:
			return err
		case t.term.Canonical && t.term.Unread == 0, !t.term.Canonical && !waited:
			t.setSubmitted(ctx, submitDoubt{})
			return errDone
		case !t.term.Canonical && t.readInputBox(&s).Known && !t.readInputBox(&s).Shell:
			return errors.New("the program was just starting, and may have taken the text without its Enter; look at the session before you send it again")
		}
		waited = true
		if err := t.wait(ctx, lookEvery); err != nil {
			return err
		}
	}
	t.setSubmitted(ctx, unverified("the program wasn't seen to read it"))
	return errDone
}

// awaitEffect reports whether the program took Enter: the screen changed after it, or the agent
// says so. The time for it runs from when the program has read the key. last: it won't be
// pressed again.
func (t *typist) awaitEffect(ctx context.Context, before sessions.Snapshot, last bool) (bool, error) {
	e := effect{before: before, sizes: t.size.count, last: last, read: time.Now(), frozen: true}
	begin := e.read
	for time.Since(e.read) < t.effectWithin(&e) {
		if err := t.wait(ctx, lookEvery); err != nil {
			return false, err
		}
		s, err := t.lookAtPane(ctx)
		if errors.Is(err, sessions.ErrEnded) || errors.Is(err, sessions.ErrUnknown) {
			t.ended = true
			return true, nil
		}
		if err != nil {
			return false, err
		}
		took, err := t.takeInEffect(ctx, &e, &s)
		if took || err != nil {
			t.late = t.boxed && time.Since(begin) > reactWithin
			return took, err
		}
		if t.term.Unread > 0 && time.Since(begin) < readWithin {
			e.read = time.Now()
		}
	}
	return false, nil
}

// effect is what was seen since an Enter.
type effect struct {
	before sessions.Snapshot
	sizes  int  // changes of the pane's size before it
	last   bool // no other is pressed
	read   time.Time
	frozen bool // the screen, or its input box at least, has stood still
}

func (t *typist) effectWithin(e *effect) time.Duration {
	switch {
	case !t.echoed:
		return settleFor // it doesn't show what it reads, so why should it show this
	case !e.last || !t.boxed:
		return reactWithin
	case e.frozen:
		return frozenWithin
	}
	return lateWithin
}

// takeInEffect works in one look behind Enter, and reports whether the program took that.
func (t *typist) takeInEffect(ctx context.Context, e *effect, s *sessions.Snapshot) (bool, error) {
	if t.wasEnded(s) {
		t.ended = true
		return true, nil
	}
	stands := t.lineState(s)
	t.stands = stands == lineHasIt || stands == lineHasMore
	changed := !sameScreen(&e.before, s)
	if e.frozen && changed && !t.size.isBroken() && !t.sameBox(&e.before, s) {
		e.frozen, e.read = false, time.Now() // it goes on, and takes its time from here
	}
	switch {
	case t.isProved():
		return true, nil
	case !t.boxed && t.size.count != e.sizes:
		t.resized = changed
		return changed || t.term.Canonical, nil
	case !t.boxed:
		return changed || t.term.Canonical, nil
	case !t.strict && t.isCovered(&e.before, s): // with a preview the keyboard would be kept from who answers
		e.read, t.away, t.empty = time.Now(), time.Time{}, 0
		return false, t.awaitUncovered(ctx)
	case !changed:
		return false, nil
	}
	return t.hasLeft(s), nil
}

// standsAlone looks, and waits until Enter is for the text and nothing else, where that was seen to
// stand in the input box: somebody at the pane may have typed something beside it, which
// Enter would submit too, or have sent it, or the screen is half drawn. It returns at once if
// a dialog covers the box: nobody knows then what stands in it.
func (t *typist) standsAlone(ctx context.Context) (covered bool, failed error) {
	var away time.Time // since when the box isn't on the screen; zero: it is
	for gone, torn, part := 0, 0, 0; ; {
		var err error
		if t.at, err = t.lookAtPane(ctx); err != nil {
			return false, err
		}
		if err := t.checkReach(ctx, &t.at); err != nil {
			return false, err
		}
		t.noteAlone(&t.at) // a dialog may have covered it until now
		if t.isTorn(&t.at) {
			if torn++; torn > tornLooks {
				t.before = t.at
				return false, t.wipeText(ctx, errTorn)
			}
			if err := t.wait(ctx, lookEvery); err != nil {
				return false, err
			}
			continue
		}
		pause, b := lookEvery, t.lineOrBox(&t.at)
		if !t.alone && !t.strict && !t.isCoveredOrGone(&t.at, b) {
			return false, nil
		}
		if b.Open {
			away = time.Time{}
		}
		without := t.lacksText(&t.at, b)
		if !without {
			gone = 0
		}
		switch {
		case !b.Known:
			return false, nil
		case !b.Open && t.opt.Dialog(t.at.Rows) != "":
			return true, nil
		case !b.Open && away.IsZero():
			away = time.Now()
		case !b.Open && time.Since(away) >= awayFor:
			t.giveKeyboardBack()
			t.holdBack(ctx, heldNoBox, sessions.ReceiptTyped, "the program shows something else than its input box; Enter is pressed when the box is back")
			pause = heldEvery
		case !b.Open:
		case without && t.size.isBroken():
			gone = 0
		case without: // a screen that's half drawn may show a box without it
			if gone++; gone > 1 {
				return false, errTakenAway
			}
		case t.strict && t.alone && !t.isIn(b): // something else has its place
			return false, errTakenAway
		case t.hasMoreBeside(b), t.beside && cutAround(t.receipt.Text, b.Text) == nil, !t.isIn(b) && t.strict:
			t.beside = true
			t.giveKeyboardBack()
			t.holdBack(ctx, heldBeside, sessions.ReceiptTyped, "somebody at the pane has typed something beside it; Enter is pressed when that was taken away")
			pause = heldEvery
		case t.alone && !t.isIn(b): // what may be a part of it has its place, or the box is half drawn
			if part++; t.size.isBroken() {
				part = 0
			} else if part > tornLooks {
				return false, errTakenAway
			}
		case t.strict || t.keys != nil:
			return false, nil
		default:
			if err := t.takeKeyboard(ctx); err != nil {
				return false, err
			}
		}
		if err := t.wait(ctx, pause); err != nil {
			return false, err
		}
	}
}

// isCoveredOrGone reports of a text that was never seen to stand alone in its box whether a dialog
// covers the box, or the box is there and empty.
func (t *typist) isCoveredOrGone(s *sessions.Snapshot, b sessions.InputBox) bool {
	if !t.boxed || b.Shell || strings.TrimSpace(lastLine(t.receipt.Text)) == "" {
		return false
	}
	return b.Known && !b.Open && t.opt.Dialog(s.Rows) != "" || b.Open && b.Text == ""
}

// awayFor is how long a box must be away until it's more than half drawn.
const awayFor = 500 * time.Millisecond

// hasLeft reports whether the text has left the program's box: it's empty, or something
// else has taken its place. An Enter may only have taken a completion, which changes the
// screen too.
func (t *typist) hasLeft(s *sessions.Snapshot) bool {
	b := t.readInputBox(s)
	t.queued = t.queued || b.Queued
	if b.Torn || t.size.isBroken() {
		t.away, t.empty = time.Time{}, 0
		return false
	}
	if t.lacksText(s, b) {
		t.empty++ // a screen that's half drawn may show an old box without its text
		return t.empty > 1
	}
	t.empty = 0
	if b.Open {
		t.away = time.Time{}
		return false
	}
	if t.away.IsZero() {
		t.away = time.Now()
	}
	return time.Since(t.away) >= awayFor
}

// lacksText reports whether a box is there without the text: it's empty, or something else
// has taken the text's place, where that was seen to stand in it.
func (t *typist) lacksText(s *sessions.Snapshot, b sessions.InputBox) bool {
	return b.Open && (b.Text == "" || t.alone && t.lineState(s) == lineWithout || t.strict && !t.isIn(b) && b.Text != t.readInputBox(&t.at).Text)
}

func (t *typist) submittedHow() submitDoubt {
	switch {
	case t.queued && !t.ended:
		return submitDoubt{sessions.CauseQueued, "queued: the agent is at work, and takes it up when it has time"}
	case t.isProved():
		return submitDoubt{}
	case t.ended:
		return endedWithIt
	case t.resized:
		return unverified("the pane got another size as Enter was pressed")
	}
	return submitDoubt{}
}

// coveredBytes is how much of a text is looked for: more may be cut.
const coveredBytes = 40

// isCovered reports whether a dialog has taken the box's place before it was seen whether
// the text had left the box: it may have come while the text stood there still. A text
// that stands on the screen as often as with the box was submitted.
func (t *typist) isCovered(before, now *sessions.Snapshot) bool {
	if t.readInputBox(now).Open || t.opt.Dialog(now.Rows) == "" {
		return false
	}
	n := t.countOwn(now.Rows)
	return sessions.Letters(t.receipt.Text) == "" || n == 0 || n < t.countOwn(before.Rows)
}

// countOwn is how often rows have the text, or its beginning.
func (t *typist) countOwn(rows []string) int {
	text := sessions.Letters(t.receipt.Text)
	return strings.Count(sessions.Letters(strings.Join(rows, "")), text[:min(len(text), coveredBytes)])
}

// awaitUncovered waits while a dialog is there. Somebody may answer it.
func (t *typist) awaitUncovered(ctx context.Context) error {
	t.giveKeyboardBack()
	t.holdBack(ctx, heldByDialog, sessions.ReceiptTyped, "a dialog has opened; whether the text was submitted shows when it has closed")
	return t.wait(ctx, heldEvery)
}

// errTakenAway says that Enter waited for something, and then there was nothing to submit.
var errTakenAway = errors.New("it was typed, but is no longer in the session's input box: somebody at the pane may have sent it, or taken it away; look at the session")

// errEmptied says that the program has emptied its box behind a dialog: the text is to be typed again.
var errEmptied = errors.New("the program has emptied its input box behind a dialog")

// emptyFor is how long a box must stay empty behind a dialog until it isn't one that's half drawn.
const emptyFor = 2 * time.Second

// explainEmptied is why a text doesn't stand in its box behind a dialog that opened before Enter. Some
// programs draw the box before they ask something as they start, and begin anew when that's answered:
// Gemini CLI asks so whether it may trust the folder. Where the program had just begun, no Enter was pressed, the box stays empty,
// and nothing of the text is seen anywhere, it's typed again, once.
func (t *typist) explainEmptied(ctx context.Context) error {
	if t.entered || t.again || !t.early || sessions.Letters(t.receipt.Text) == "" {
		return errTakenAway
	}
	for began, since := time.Now(), time.Now(); time.Since(since) < emptyFor; {
		s, err := t.lookAtPane(ctx)
		if err != nil {
			return err
		}
		b := t.readInputBox(&s)
		switch {
		case b.Text != "", t.isHeardOf(&t.before, &s), time.Since(began) > readyWithin:
			return errTakenAway
		case !b.Open:
			since = time.Now()
		}
		if err := t.wait(ctx, lookEvery); err != nil {
			return err
		}
	}
	return errEmptied
}

// A program that starts may draw its input box before it works in what it reads, and may
// empty the box when it's done: Qwen Code was seen to lose a text so. That the box is empty
// doesn't tell then that a text was submitted: something else has to be seen of the first
// that a run of a program takes, and of those in its first readyWithin and in as long behind
// that one: one that's slow to begin may be at it still.

// lostAtStart is what's known of a text that left its box, of which nothing else was seen.
var lostAtStart = unverified("the text has left the input box, but the program had just begun and shows nothing else of it; look at the session before you send it again") //nolint:gochecknoglobals // a constant

// leftLate is what's known of a text that left its box long behind Enter, of which nothing
// else was seen. A program may have refused it, and somebody at the pane taken it away.
var leftLate = unverified("the text has left the input box, but long after Enter was pressed, and the program shows nothing else of it; somebody at the pane may have taken it away") //nolint:gochecknoglobals // a constant

// confirmTaken waits, where the text is the first that this run of the program takes, or it was
// taken late, until something of it is seen elsewhere than in its box. It returns what's to
// be known of it.
func (t *typist) confirmTaken(ctx context.Context, before *sessions.Snapshot) (submitDoubt, error) {
	first := t.isFirst(before)
	if !first && !t.late || t.ended || t.strict {
		return submitDoubt{}, nil
	}
	stands := lineWithout
	for began := time.Now(); time.Since(began) < lateWithin; {
		s, err := t.lookAtPane(ctx)
		if err != nil {
			return submitDoubt{}, err
		}
		if t.wasEnded(&s) {
			t.ended = true
			return submitDoubt{}, nil
		}
		if t.isHeardOf(before, &s) {
			t.noteTaken(t.into.Run)
			return submitDoubt{}, nil
		}
		stands = t.lineState(&s)
		if err := t.wait(ctx, lookEvery); err != nil {
			return submitDoubt{}, err
		}
	}
	switch has := stands == lineHasIt || stands == lineHasMore; {
	case has && !first:
		return submitDoubt{}, errNotTaken
	case t.late:
		return leftLate, nil
	case has:
		return submitDoubt{}, errors.New("the program had just begun and has taken the text without its Enter; it stands in the session's input box: send it or take it away there")
	}
	return lostAtStart, nil
}

// isFirst reports whether no text was seen to be taken by this run of a program with an
// input box, or it may still be starting. A command of the program's own may show nothing,
// and there's nothing to be seen of a text without letters.
func (t *typist) isFirst(s *sessions.Snapshot) bool {
	if b := t.readInputBox(s); !b.Known || b.Shell || strings.HasPrefix(t.receipt.Text, "/") || sessions.Letters(t.receipt.Text) == "" {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return !t.hasTaken || t.takenBy != t.into.Run || time.Since(t.into.Started) < readyWithin || time.Since(t.takenAt) < readyWithin
}

// isHeardOf reports whether the program has the text: it says so, shows it, or keeps some
// text until it has time, or has begun to work since Enter was pressed. The last two may be
// others' texts where this one was taken late.
func (t *typist) isHeardOf(before, now *sessions.Snapshot) bool {
	if t.isProved() || !t.late && (t.queued || t.readInputBox(now).Queued || t.desk.TurnBeganSince(before.At)) {
		return true
	}
	n := t.countOwn(now.Rows) - t.countOwn([]string{t.readInputBox(now).Text})
	return n > 0 && n >= t.countOwn(before.Rows)
}

func (h *Hand) noteTaken(run string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.hasTaken || h.takenBy != run {
		h.hasTaken, h.takenBy, h.takenAt = true, run, time.Now()
	}
}
