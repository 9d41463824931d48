package typing

import (
	"cmp"
	"context"
	"errors"
	"slices"
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
func (t *typist) pressEnter(ctx context.Context) error { return run(ctx, &entering{typist: t}) }

// entering is the Enter behind a text.
type entering struct {
	*typist

	pressed int       // Enters
	began   time.Time // when this one was due; zero: it isn't yet
	held    bool      // it was, and may be pressed now
	// narrow is the guard by which Enter may be pressed on a screen with a dialog's phrase;
	// nil: it's tried where there's none. by and cleared are as they were before.
	narrow  *sessions.Guard
	by      string
	cleared *sessions.Snapshot
}

func (t *entering) next(ctx context.Context) (step, error) {
	if t.narrow != nil {
		return step{srv: t.srv, guard: *t.narrow, keys: enterKey}, nil
	}
	if t.began.IsZero() {
		t.began = time.Now()
	}
	err := t.standsAlone(ctx)
	if t.held && errors.Is(err, errTakenAway) {
		err = t.explainEmptied(ctx)
	}
	if err != nil {
		return step{}, err
	}
	for t.held = false; ; {
		if err := t.takeKeyboard(ctx); err != nil {
			return step{}, err
		}
		if t.markPressed(ctx) {
			break
		}
		t.giveKeyboardBack()
		if err := t.wait(ctx, heldEvery); err != nil { // the disk is full, say
			return step{}, err
		}
	}
	g := sessions.Guard{Pane: t.pane, Server: t.before.Server, Phrases: t.opt.Phrases, Front: t.front}
	if t.alone && t.stirred < movedTries {
		g.Saw = &t.at // what somebody types beside the text moves the cursor
	}
	if t.strict && t.stirred < movedTries {
		t.keepRows(&g)
	}
	return step{srv: t.srv, guard: g, keys: enterKey}, nil
}

func (t *entering) after(ctx context.Context, _ step, out sessions.Outcome, err error) (done bool, failed error) {
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
func (t *entering) decideNarrow(ctx context.Context) sessions.Outcome {
	var err error
	if t.at, err = t.lookAtPane(ctx); err != nil {
		t.at = sessions.Snapshot{}
		return sessions.Held // nothing was pressed; the next look tells
	}
	t.by, t.cleared = t.typist.by, t.typist.cleared
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

// answerNarrow tells who has sent the text anyway what came of its Enter.
func (t *entering) answerNarrow(out sessions.Outcome, err error) {
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
		return t.endSubmitted(ctx)
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

// endSubmitted says that the text was submitted, and what's to be known of that.
func (t *typist) endSubmitted(ctx context.Context) error {
	unsure, err := t.confirmTaken(ctx, &t.at)
	if err != nil {
		return err
	}
	t.setSubmitted(ctx, cmp.Or(unsure, t.submittedHow()))
	return errDone
}

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
			t.setSubmitted(ctx, verdict{})
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

// enterGuard says when Enter may be pressed on a screen with a dialog's phrase: Done;
// Moved has it looked at again at once.
func (t *typist) enterGuard(s *sessions.Snapshot) (sessions.Guard, sessions.Outcome) {
	g, dialog := t.guardScreen(s)
	if dialog {
		g, dialog = t.guardOwnPhrases(s)
	}
	switch {
	case !dialog && len(g.Rows) == 0 && len(g.Phrases) == len(t.opt.Phrases):
		return g, sessions.Held // the phrase has just gone
	case !dialog:
		return g, sessions.Done
	case t.asCleared(s) && t.isRestless(s):
		return g, sessions.Moved
	case t.asCleared(s):
		return t.guardStillness(s), sessions.Done
	}
	if g, ok := t.guardAsSeen(s); ok {
		return g, sessions.Done
	}
	return g, sessions.Held
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

// effectWithin is how long an Enter's effect may take to be seen.
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
	if e.frozen && changed && !t.size.broken() && !t.sameBox(&e.before, s) {
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

// sameBox reports whether the input box has the same in it, and the cursor in the same column.
func (t *typist) sameBox(before, s *sessions.Snapshot) bool {
	was, now := t.readInputBox(before), t.readInputBox(s)
	return was.Open && now.Open && was.Text == now.Text && before.CursorX == s.CursorX
}

// wasEnded reports whether the program that the text was pasted into, other than a shell,
// doesn't have the foreground any more.
func (t *typist) wasEnded(s *sessions.Snapshot) bool {
	now := t.frontOf(s)
	return t.isBegunAnew(now) || t.into.Kind != sessions.ProgramShell && now.Kind != sessions.ProgramUnknown && t.into.Kind != sessions.ProgramUnknown && (now.Kind != t.into.Kind || now.Addressee() != t.into.Addressee())
}

// isBegunAnew reports whether the program that has the foreground is another run of the one
// that the text was pasted into.
func (t *typist) isBegunAnew(now sessions.Program) bool {
	return t.into.Kind == sessions.ProgramAgent && now.Kind == sessions.ProgramAgent && t.into.Run != "" && now.Run != "" && now.Run != t.into.Run
}

// sameScreen compares what a person would see.
func sameScreen(a, b *sessions.Snapshot) bool {
	return a.CursorX == b.CursorX && a.CursorY == b.CursorY && a.HistorySize == b.HistorySize &&
		a.Alternate == b.Alternate && slices.Equal(a.Rows, b.Rows)
}

// standsAlone looks, and waits until Enter is for the text and nothing else, where that was seen to
// stand in the input box: somebody at the pane may have typed something beside it, which
// Enter would submit too, or have sent it, or the screen is half drawn. A dialog is waited
// for elsewhere.
func (t *typist) standsAlone(ctx context.Context) error {
	var away time.Time // since when the box isn't on the screen; zero: it is
	for gone, torn := 0, 0; ; {
		var err error
		if t.at, err = t.lookAtPane(ctx); err != nil {
			return err
		}
		if err := t.checkReach(ctx, &t.at); err != nil {
			return err
		}
		t.noteAlone(&t.at) // a dialog may have covered it until now
		if t.isTorn(&t.at) {
			if torn++; torn > tornLooks {
				t.before = t.at
				return t.wipeText(ctx, errTorn)
			}
			if err := t.wait(ctx, lookEvery); err != nil {
				return err
			}
			continue
		}
		if !t.alone && !t.strict {
			return nil
		}
		pause, b := lookEvery, t.lineOrBox(&t.at)
		if b.Open {
			away = time.Time{}
		}
		without := t.lacksText(&t.at, b)
		if !without {
			gone = 0
		}
		switch {
		case !b.Known, !b.Open && t.opt.Dialog(t.at.Rows) != "":
			return nil
		case !b.Open && away.IsZero():
			away = time.Now()
		case !b.Open && time.Since(away) >= awayFor:
			t.giveKeyboardBack()
			t.holdBack(ctx, heldNoBox, sessions.ReceiptTyped, "the program shows something else than its input box; Enter is pressed when the box is back")
			pause = heldEvery
		case !b.Open:
		case without && t.size.broken():
			gone = 0
		case without: // a screen that's half drawn may show a box without it
			if gone++; gone > 1 {
				return errTakenAway
			}
		case t.strict && t.alone && !t.isIn(b): // something else has its place
			return errTakenAway
		case t.hasMoreBeside(b), t.beside && !t.onlyOwnIn(b), !t.isIn(b) && t.strict:
			t.beside = true
			t.giveKeyboardBack()
			t.holdBack(ctx, heldBeside, sessions.ReceiptTyped, "somebody at the pane has typed something beside it; Enter is pressed when that was taken away")
			pause = heldEvery
		case t.strict || t.keys != nil:
			return nil
		default:
			if err := t.takeKeyboard(ctx); err != nil {
				return err
			}
		}
		if err := t.wait(ctx, pause); err != nil {
			return err
		}
	}
}

// tornLooks is in how many looks an input box must have the end of a text alone until it isn't
// one that's half drawn.
const tornLooks = 5

// errTorn says that only the end of a text has come to stand in its input box: what opened as
// it was typed has taken the rest as keys.
var errTorn = errors.New("its beginning went to something that opened as it was typed, a question perhaps; the rest was not submitted")

// isTorn reports whether only the end of the text has come to stand in an agent's box. That
// readInputBox has one row: of a text of several some programs show the last ones. A sign that the
// text begins with may have changed what the box is for.
func (t *typist) isTorn(s *sessions.Snapshot) bool {
	b, own := t.readInputBox(s), withoutSpace(t.receipt.Text)
	if !t.boxed || t.whole || !b.Open || b.Shell || b.Text == "" || strings.Contains(b.Text, "\n") {
		return false
	}
	head, ok := strings.CutSuffix(own, withoutSpace(b.Text))
	return ok && sessions.Letters(head) != ""
}

// isIn reports whether the text is seen in its box, or something that the program shows in place of a
// long one.
func (t *typist) isIn(b sessions.Box) bool {
	return places(t.receipt.Text, b.Text) != nil || strings.HasPrefix(b.Text, "[") && strings.HasSuffix(b.Text, "]")
}

// onlyOwnIn reports whether all of the text is seen in its box, and nothing else.
func (t *typist) onlyOwnIn(b sessions.Box) bool {
	return !t.hasMoreBeside(b) && places(t.receipt.Text, b.Text) != nil
}

// lineOrBox reads the box, or the row before the cursor where the program's box isn't
// known, but the text was seen to stand in that row.
func (t *typist) lineOrBox(s *sessions.Snapshot) sessions.Box {
	b := t.readInputBox(s)
	if b.Known || !t.inRow {
		return b
	}
	before, _ := aroundCursor(s)
	text := lastLine(t.receipt.Text)
	at := strings.LastIndex(before, text)
	if at < 0 {
		return b
	}
	return sessions.Box{Known: true, Open: true, Text: strings.TrimSpace(t.receipt.Text + before[at+len(text):])}
}

// lastLine is the last line of a text.
func lastLine(text string) string { return text[strings.LastIndexByte(text, '\n')+1:] }

// hasMoreBeside reports whether there's something beside the text in its box.
func (t *typist) hasMoreBeside(b sessions.Box) bool {
	around := places(t.receipt.Text, b.Text)
	return around != nil && (around[0] != "" || around[1] != "" && !completes(t.receipt.Text))
}

// noteAlone notes that the text stands in a box that can be read, or before the cursor of
// a program whose box isn't known: then what else stands there is somebody's. The box had
// nothing in it before.
func (t *typist) noteAlone(s *sessions.Snapshot) {
	b := t.readInputBox(s)
	if before, _ := aroundCursor(s); !b.Known && strings.TrimSpace(lastLine(t.receipt.Text)) != "" && strings.Contains(before, lastLine(t.receipt.Text)) {
		t.alone, t.inRow = true, true
		return
	}

	own := sessions.Letters(t.receipt.Text)
	t.whole = t.whole || b.Open && withoutSpace(b.Text) == withoutSpace(t.receipt.Text)
	t.alone = t.alone || b.Open && own != "" && (sessions.Letters(b.Text) == own || t.boxed && places(t.receipt.Text, b.Text) != nil)
}

// completes reports whether a program may put something behind a text: the rest of the
// file or command that its last word begins.
func completes(text string) bool {
	words := strings.Fields(text)
	return len(words) == 0 || strings.HasPrefix(words[len(words)-1], "@") || strings.HasPrefix(words[len(words)-1], "/")
}

// textRows is how many rows of the box Enter is guarded by.
const textRows = 16

// keepRows has Enter pressed only while the text stands in the box as it was seen. Not
// all programs have the cursor behind it, so a letter that somebody adds shows in its last
// row alone.
func (t *typist) keepRows(g *sessions.Guard) {
	s := &t.at
	g.Saw = s
	box := t.readInputBox(s)
	if !tells(box) {
		return
	}
	g.Rows, g.Phrases = box.Rows, absent(t.opt.Phrases, s)
	if len(g.Rows) == 0 {
		return
	}
	first, end := g.Rows[0], lastLetters(t.receipt.Text)
	for y := first; y < len(s.Rows) && end != ""; y++ {
		if strings.Contains(sessions.Letters(strings.Join(s.Rows[first:y+1], "")), end) {
			g.Rows = sessions.TellingRows(s.Rows, first, max(y, g.Rows[len(g.Rows)-1]), textRows)
			break
		}
	}
}
