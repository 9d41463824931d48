package typing

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// A text whose typing was cut off is in one of these places. Whoever typed it is gone:
// panebridge was ended, or the program that it was for.
const (
	// freshFor is how long after a text was typed its Enter is still what its writer
	// wants: an older one is taken out of the line instead.
	freshFor = 10 * time.Minute
	// wipeSteps is how often the keys that empty a line are pressed at most. Each empties
	// one of its rows.
	wipeSteps = 200
)

// takeUp looks what became of a text that was being typed when the daemon's last run
// ended. One that stands in its input line with nothing beside it still gets its Enter;
// nil says that it's due. Else the receipt says what's known.
func (t *personal) takeUp(ctx context.Context) error {
	t.entered = t.receipt.Pressed
	stands, err := t.whereItStands(ctx)
	if err != nil {
		return err
	}
	switch {
	case stands == lineHasIt && !t.receipt.Submit:
		t.setState(ctx, sessions.ReceiptTyped, "")
		return errDone
	case stands == lineHasIt && time.Since(t.receipt.UpdatedAt) > freshFor:
		return t.wipeText(ctx, errors.New("panebridge stopped before it had pressed Enter, and that was long ago"))
	case stands == lineHasIt:
		t.boxed = t.readInputBox(&t.before).Open
		t.front, t.into, t.alone, t.echoed = t.before.Front, t.frontOf(&t.before), t.boxed, true
		return nil
	case stands == lineHasMore && t.receipt.Pressed:
		return errors.New("panebridge was stopped before it saw whether the text was submitted; it, or a part of it, stands in the session's input line with something else, and nobody knows; look at the session")
	case stands == lineHasMore:
		return errors.New("panebridge stopped before it had pressed Enter, and something stands beside it in the session's input line; look at the session")
	case !t.receipt.Pressed && stands == lineHidden:
		return errors.New("panebridge stopped before it had pressed Enter, and the session's input line can't be read: the text may stand there; look at the session")
	case t.receipt.Pressed && (stands == lineHidden || !t.readInputBox(&t.before).Known):
		return errors.New("panebridge was stopped before it saw whether the text was submitted, and nobody knows; look at the session before you send it again")
	case t.receipt.Pressed:
		t.setSubmitted(ctx, unverified("panebridge was stopped before it saw the text taken; it isn't in the input line any more"))
		return errDone
	}
	return errors.New("panebridge stopped before it had pressed Enter, and the text isn't in the session's input line; look at the session before you send it again")
}

// lineState says what stands in the line or box that a text was typed into.
type lineState int

const (
	lineHidden  lineState = iota // it can't be seen
	lineWithout                  // nothing of the text
	lineHasIt                    // the text, and nothing else
	lineHasMore                  // the text and something else, or what may be a part of it
)

// whereItStands looks until the line says the same for settleFor, without input on its
// way to the program. It waits while a dialog is open or the program shows no line.
func (t *typist) whereItStands(ctx context.Context) (lineState, error) {
	var last lineState
	var first *sessions.Snapshot
	var since, hidden time.Time
	for began := time.Now(); ; {
		if err := t.takeKeyboard(ctx); err != nil {
			return lineHidden, err
		}
		var err error
		if t.before, err = t.lookAtPane(ctx); err != nil {
			return lineHidden, err
		}
		if err := t.checkReach(ctx, &t.before); err != nil {
			return lineHidden, err
		}
		if first == nil {
			seen := t.before
			first = &seen
		}
		now := t.lineState(&t.before)
		pause := lookEvery
		switch {
		case t.term.Unread > 0 && time.Since(began) < readWithin:
			since = time.Time{}
		case now == lineHidden && t.opt.Dialog(t.before.Rows) != "":
			hidden = time.Time{}
			t.giveKeyboardBack()
			t.holdBack(ctx, heldByDialog, sessions.ReceiptTyped, "panebridge was stopped while it was being typed, and a dialog is open; whether it was submitted shows when it has closed")
			pause = heldEvery
		case now == lineHidden:
			if hidden.IsZero() {
				hidden = time.Now()
			}
			if time.Since(hidden) > readyWithin {
				return lineHidden, nil
			}
		case now != last || since.IsZero():
			last, since, hidden = now, time.Now(), time.Time{}
		case now == lineWithout && !t.receipt.Pressed && time.Since(t.receipt.UpdatedAt) < t.showsWithin(first):
			// A program that's at work may have read it, and show it when it has time.
		case time.Since(since) >= settleFor:
			return now, nil
		}
		if err := t.wait(ctx, pause); err != nil {
			return lineHidden, err
		}
	}
}

// showsWithin is how long after it was typed a text may come to stand in its box: one that
// draws nothing may be at work.
func (t *typist) showsWithin(first *sessions.Snapshot) time.Duration {
	if sameScreen(first, &t.before) || t.size.broken() {
		return frozenWithin
	}
	return shownWithin
}

// lineState reads the line once.
func (t *typist) lineState(s *sessions.Snapshot) lineState {
	b, own := t.readInputBox(s), withoutSpace(t.receipt.Text)
	switch {
	case b.Known && !b.Open:
		return lineHidden
	case !b.Known:
		return t.rowState(s)
	case withoutSpace(b.Text) == own:
		return lineHasIt
	case b.Text == "":
		return lineWithout
	case places(t.receipt.Text, b.Text) != nil, strings.HasPrefix(b.Text, "["), strings.Contains(own, withoutSpace(b.Text)):
		return lineHasMore
	}
	return lineWithout
}

// rowState reads the row before the cursor, of a program whose input box isn't known. Of a
// text of several lines the last is there alone: the others are lines that were read.
func (t *typist) rowState(s *sessions.Snapshot) lineState {
	before, _ := aroundCursor(s)
	text := lastLine(t.receipt.Text)
	prompt, ok := strings.CutSuffix(strings.TrimRight(before, " "), strings.TrimRight(text, " "))
	switch {
	case t.term.Canonical && !t.term.Echo:
		return lineHasMore // nobody can see what stands there
	case !ok && text != "" && strings.Contains(before, text):
		return lineHasMore
	case !ok || strings.TrimSpace(text) == "":
		return lineWithout
	case strings.TrimSpace(prompt) == "", asks.MatchString(prompt), t.isBare(prompt):
		return lineHasIt
	}
	return lineHasMore
}

// errOtherFront says that a text was typed, and not submitted: another program has the
// foreground by now.
var errOtherFront = errors.New("it was typed, but Enter wasn't pressed")

// checkFront looks who has the foreground, where it isn't the program that the text was
// pasted into. The program may only have another name by now.
func (t *typist) checkFront(ctx context.Context) error {
	var err error
	if t.at, err = t.lookAtPane(ctx); err != nil {
		return err
	}
	if err := t.checkReach(ctx, &t.at); err != nil {
		return err
	}
	t.front = t.at.Front
	return nil
}

// checkReach fails when another program has the foreground than the one that the text was
// written to. What of the text has come to stand in that one's line is taken away.
func (t *typist) checkReach(ctx context.Context, s *sessions.Snapshot) error {
	for t.strict && s.Front != t.front { // it's for none but the one that it was pasted into
		if err := t.waitForOthers(ctx, heldByFront, lookEvery); err != nil {
			return err
		}
		snap, err := t.lookAtPane(ctx)
		if err != nil {
			return err
		}
		*s = snap
	}
	front := t.frontOf(s)
	for began := time.Now(); t.runsLine(front) && time.Since(began) < reactWithin; front = t.frontOf(s) {
		if err := t.wait(ctx, lookEvery); err != nil {
			return err
		}
		snap, err := t.lookAtPane(ctx)
		if err != nil {
			return err
		}
		*s = snap
	}
	if t.reaches(front) {
		return t.checkRun(ctx, s)
	}
	t.before = *s
	if t.entered {
		t.setSubmitted(ctx, unverified("Enter was pressed, and "+front.Name+" has the foreground by now"))
		return errDone
	}
	gone := fmt.Errorf("%w, because %s has the foreground by now", errOtherFront, front.Name)
	if front.Kind != sessions.ProgramShell {
		return gone
	}
	for began := time.Now(); time.Since(began) < settleFor; { // what wasn't read comes to the shell now
		snap, err := t.lookAtPane(ctx)
		if err != nil {
			return gone
		}
		if t.before = snap; t.lineState(&snap) == lineHasIt && t.term.Unread == 0 {
			return t.wipeText(ctx, gone)
		}
		if sessions.Pause(ctx, lookEvery) != nil {
			return gone
		}
	}
	return gone
}

// errBegunAnew says that the program that had read the text has ended with it.
var errBegunAnew = errors.New("it was typed, but the program was started anew before its Enter; nothing was submitted")

// checkRun fails when the program that the text was pasted into has been started anew since,
// unless it stands in the new one's box: what nobody had read comes to that.
func (t *typist) checkRun(ctx context.Context, s *sessions.Snapshot) error {
	if !t.isBegunAnew(t.frontOf(s)) {
		return nil
	}
	if t.entered {
		t.setSubmitted(ctx, endedWithIt)
		return errDone
	}
	var opened time.Time // when its box was there
	for began := time.Now(); time.Since(began) < readyWithin && (opened.IsZero() || time.Since(opened) < settleFor); {
		if t.lineState(s) == lineHasIt {
			t.into = t.frontOf(s)
			return nil
		}
		if opened.IsZero() && t.readInputBox(s).Open {
			opened = time.Now()
		}
		if err := t.wait(ctx, lookEvery); err != nil {
			return err
		}
		snap, err := t.lookAtPane(ctx)
		if err != nil {
			return err
		}
		*s = snap
		if !t.reaches(t.frontOf(s)) {
			return t.checkReach(ctx, s)
		}
	}
	return errBegunAnew
}

// runsLine reports whether the program in the foreground may be what an earlier line of
// the text has begun: a shell that reads line by line runs each as it comes.
func (t *typist) runsLine(front sessions.Program) bool {
	return !t.entered && (t.receipt.To == "" || t.receipt.To.IsShell()) && front.Kind == sessions.ProgramOther && !t.reaches(front) &&
		strings.Contains(t.receipt.Text, "\n") && !front.Started.Before(t.receipt.CreatedAt)
}

// wipeText takes the text out of the line that it stands in alone, and returns why with what
// came of that.
func (t *typist) wipeText(ctx context.Context, why error) error {
	hand, cancel := inHand(ctx)
	defer cancel()
	return fmt.Errorf("%w; %w", why, run(hand, &wiping{typist: t}))
}

// What came of taking a text out of its line.
var (
	errWiped      = errors.New("it was taken out of the input line again")
	errNotWiped   = errors.New("it stands in the input line still: send it or take it away there")
	errWipeUnseen = errors.New("it may stand there still: look at the session")
	errWipeFailed = errors.New("it stands there still: look at the session")
)

// wiping takes a text out of its line. Each step is pressed only while the screen is the one
// that was seen. It ends with one of the errors above.
type wiping struct {
	*typist

	steps, moved int
}

func (t *wiping) next(context.Context) (step, error) {
	s := t.before
	if t.steps++; t.steps > wipeSteps || t.moved > movedTries || !t.endsWithOwn(&s) {
		return step{}, errNotWiped
	}
	g := sessions.Guard{Pane: t.pane, Server: s.Server, Phrases: absent(t.opt.Phrases, &s), Saw: &s, Front: s.Front}
	return step{srv: t.srv, guard: g, keys: t.wipeKeys(&s)}, nil
}

func (t *wiping) after(ctx context.Context, did step, out sessions.Outcome, err error) (done bool, failed error) {
	if err != nil || out == sessions.Dead {
		return false, errWipeFailed
	}
	if out != sessions.Done {
		t.moved++
	}
	for began := time.Now(); time.Since(began) < reactWithin; {
		if sessions.Pause(ctx, lookEvery) != nil {
			return false, errWipeUnseen
		}
		if t.before, err = t.lookAtPane(ctx); err != nil {
			return false, errWipeUnseen
		}
		if out != sessions.Done || t.term.Unread == 0 && !sameScreen(did.guard.Saw, &t.before) {
			break
		}
	}
	if t.lineState(&t.before) == lineWithout {
		return false, errWiped
	}
	return false, nil
}

// endsWithOwn reports whether all that stands in the line is the text, or its beginning:
// what's left of it while it's taken away. Of one that lost its beginning it's the end.
func (t *typist) endsWithOwn(s *sessions.Snapshot) bool {
	b := t.readInputBox(s)
	if !b.Known {
		return t.lineState(s) == lineHasIt
	}
	return b.Open && b.Text != "" && strings.HasPrefix(withoutSpace(t.receipt.Text), withoutSpace(b.Text)) || t.isTorn(s)
}

// wipeKeys empty a line: the kernel's own key where it makes the lines; else to the end
// of the row, all of it, and the line break before it.
func (t *typist) wipeKeys(s *sessions.Snapshot) []string {
	switch {
	case t.term.Canonical:
		return []string{"C-u"}
	case strings.Contains(t.readInputBox(s).Text, "\n"):
		return []string{"C-e", "C-u", "BSpace"}
	}
	return []string{"C-e", "C-u"}
}
