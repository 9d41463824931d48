package typing

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// personText is the policy of a text that a person has written: it's held while something is in
// the way, and its receipt says how far it is.
type personText struct {
	*typist

	began  time.Time          // when it was this text's turn
	drawn  time.Time          // when the program was first seen to have drawn something; zero: it wasn't
	goesTo sessions.Addressee // whom it's for from when it's pasted on; "": as before
	letGo  bool               // somebody has said that it may go to another program than it was written to
}

// TypeText types a text, and holds it while something is in the way.
func (h *Hand) TypeText(ctx context.Context, r sessions.Receipt) {
	t := &personText{typist: &typist{Hand: h, receipt: r}, began: time.Now()}
	if t.policy = t; h.opt.Box != nil {
		t.readBox = func(s *sessions.Snapshot) sessions.InputBox { return h.opt.Box(h.desk.ID(), s) }
	}
	t.typeInTurn(ctx)
}

func (t *personText) typeInTurn(ctx context.Context) {
	defer t.dropAhead(ctx)
	defer t.giveKeyboardBack()
	steps := []func(context.Context) error{t.settleText, t.tellAuthor, t.pressEnter}
	if !t.receipt.Submit {
		steps = []func(context.Context) error{t.settleText, t.leaveTyped}
	}
	begin := t.pasteText
	if t.desk.TakeLeft(t.receipt.ID) {
		t.desk.AwaitProof(t.receipt, t.receipt.UpdatedAt)
		begin, steps = t.takeUp, steps[1:]
	}
	if !t.continueAfter(ctx, begin(ctx)) {
		return
	}
	finishing, cancel := withFinishTime(ctx)
	defer cancel()
	for i := 0; i < len(steps); i++ {
		err := steps[i](finishing)
		if errors.Is(err, errEmptied) {
			if !t.continueAfter(ctx, t.pasteAgain(ctx)) {
				return
			}
			i, steps, err = -1, []func(context.Context) error{t.settleText, t.pressEnter}, nil // who wrote it is told
		}
		if !t.continueAfter(finishing, err) {
			return
		}
	}
}

// continueAfter says whether the next step is due, given what came of one.
func (t *personText) continueAfter(ctx context.Context, err error) bool {
	switch {
	case err == nil:
		return true
	case errors.Is(err, errDone), ctx.Err() != nil:
	case t.entered && (errors.Is(err, sessions.ErrEnded) || errors.Is(err, sessions.ErrUnknown)):
		t.setSubmitted(ctx, endedWithIt)
	case t.entered && errors.Is(err, errTakenAway):
		t.setSubmitted(ctx, t.submittedHow())
	default:
		t.setState(ctx, sessions.ReceiptFailed, err.Error())
	}
	return false
}

// handleUnseen waits until the connection comes back, or the session ends.
func (t *personText) handleUnseen(ctx context.Context, _ error) error { return t.wait(ctx, heldEvery) }

// wait fails when the receipt was closed meanwhile.
func (t *personText) wait(ctx context.Context, d time.Duration) error {
	if err := sessions.Pause(ctx, d); err != nil {
		return err
	}
	if !t.desk.IsOpen(t.receipt.ID) {
		return errDone
	}
	return nil
}

func (t *personText) keepReceipt(ctx context.Context, change func(*sessions.Receipt) bool) (sessions.Receipt, bool) {
	return t.desk.SetReceipt(ctx, t.receipt.ID, change)
}

func (t *personText) allowPaste(ctx context.Context, tries *int) (g sessions.PaneGuard, ok bool, err error) {
	if err := t.checkLineLengths(); err != nil {
		return g, false, err
	}
	if waits, err := t.awaitAddressee(ctx); err != nil || waits {
		*tries = 0 // it's not the screen's fault
		return g, false, err
	}
	t.takeAhead()
	g, dialog := t.guardScreen(&t.before)
	if dialog {
		if cleared, ok := t.guardAsSeen(&t.before); ok {
			g, dialog = cleared, false
		}
	}
	if !dialog && t.isClear(ctx) {
		return t.pasteGuard(g, t.into.Kind == sessions.ProgramShell, *tries), true, nil
	}
	t.forgetAhead()
	if dialog {
		t.holdForDialog(ctx, &t.before, sessions.ReceiptHeld)
	} else {
		*tries-- // it's not the screen's fault
	}
	return g, false, t.wait(ctx, heldEvery)
}

// isClear reports whether nothing is in the text's way, where no dialog is open, and stores that it's
// about to be typed.
func (t *personText) isClear(ctx context.Context) bool {
	if o := t.findObstacle(&t.before); o.why != "" && !t.pastObstacle(o) {
		t.giveKeyboardBack()
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
	t.noteTarget()
	if !t.setState(ctx, sessions.ReceiptTyping, "") {
		// It was closed; or the disk is full, say: nothing is typed that nobody would know
		// of after a crash.
		t.answerAhead(errNotStored)
		return false
	}
	t.desk.AwaitProof(t.receipt, time.Now())
	return true
}

func (t *personText) notePasted(ctx context.Context) error {
	if t.letGo {
		t.receipt.To = t.goesTo
		t.desk.Address(ctx, t.goesTo)
	}
	t.answerAhead(nil)
	t.desk.NoteTyped(t.receipt.Text)
	if t.receipt.Submit && !t.setState(ctx, sessions.ReceiptTyped, "") {
		return errDone
	}
	return nil
}

// handleNotPasted takes up what surely didn't reach the pane again.
func (t *personText) handleNotPasted(ctx context.Context, out sessions.GuardOutcome, err error, _ int) error {
	switch {
	case errors.Is(err, sessions.ErrUncertain):
		return fmt.Errorf("the connection to tmux was lost while it was being typed; look at the session before you send it again: %w", err)
	case errors.Is(err, sessions.ErrUnavailable):
		t.holdBack(ctx, heldElse, sessions.ReceiptStored, "tmux takes no commands at the moment")
	case err != nil:
		return err
	}
	t.forgetAhead()
	switch out {
	case sessions.Dead:
		return sessions.ErrDead
	case sessions.Held:
		t.holdForDialog(ctx, &t.before, sessions.ReceiptHeld)
		return t.wait(ctx, heldEvery)
	case sessions.Moved, sessions.Done:
	}
	return t.wait(ctx, lookEvery)
}

// forgetAhead lets others type, since a text wasn't pasted. Who has sent it anyway has to look again.
func (t *personText) forgetAhead() {
	t.giveKeyboardBack()
	t.answerAhead(sessions.ErrOtherScreen)
	t.by, t.cleared = "", nil
}

// pasteAgain types a text again that the program has taken out of its box.
func (t *personText) pasteAgain(ctx context.Context) error {
	t.giveKeyboardBack()
	t.holdBack(ctx, heldElse, sessions.ReceiptStored, notReady)
	t.again, t.echoed, t.stirred, t.size, t.at = true, false, 0, paneSize{}, sessions.Snapshot{}
	t.alone, t.whole, t.beside, t.inRow, t.queued, t.by, t.cleared = false, false, false, false, false, "", nil
	return t.pasteText(ctx)
}

// checkLineLengths refuses a line that the kernel would cut.
func (t *personText) checkLineLengths() error {
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

// leaveTyped ends the typing of a text that's to stand in the line without an Enter: it does by
// now, and what's typed next sees it.
func (t *personText) leaveTyped(ctx context.Context) error {
	t.setState(ctx, sessions.ReceiptTyped, "")
	return errDone
}

// hiddenText stands for a text where a program that reads line by line shows nothing of it.
const hiddenText = "(not shown: the program hides what's typed)"

// tellAuthor has those who follow the session know who wrote what comes next. It's the last
// thing before Enter: what the program prints about the text stands below it.
func (t *personText) tellAuthor(ctx context.Context) error {
	r := t.receipt
	if t.term.Canonical && !t.term.Echo && strings.TrimSpace(r.Text) != "" {
		r.Text, r.ID = hiddenText, "" // a password, say: nothing leads to its text
	}
	if err := t.desk.TellAuthor(ctx, r); err != nil && ctx.Err() == nil {
		t.desk.Log().Warn("an input goes on without its author being shown", "err", err)
	}
	return ctx.Err()
}

// Why a text waits, whatever the program.
const (
	notReady  = "the program isn't ready for input yet"
	halfTyped = "something half-typed stands in the session's input line; it's typed when that was sent or taken away"
)

// obstacle is why a text isn't typed yet, though no dialog is open.
type obstacle struct {
	why    string                // a sentence; "": nothing is in the way
	state  sessions.ReceiptState // of the receipt meanwhile
	unsure bool                  // a person may see that nothing is: see Receipt.Quoted
}

func (t *personText) findObstacle(s *sessions.Snapshot) obstacle {
	if t.receipt.Text == "" {
		return obstacle{} // an Enter is for what stands in the box
	}
	b, shown := t.readInputBox(s), t.shownDialog()
	if t.drawn.IsZero() && !isEmptyScreen(s) {
		t.drawn = time.Now()
	}
	switch waited := time.Since(t.began); {
	case !t.term.Canonical && t.term.Unread > 0:
		return obstacle{why: "the program hasn't read yet what was typed before", state: sessions.ReceiptStored}
	case t.mayShow(s):
		return obstacle{why: "the program has read a text and shows nothing of it yet; this is typed when it draws something", state: sessions.ReceiptHeld, unsure: true}
	case !b.Known && shown != nil && shown.Kind == sessions.PromptUnread:
		return obstacle{why: "its screen asks something, which a text would answer; it's typed when that's answered", state: sessions.ReceiptHeld, unsure: true}
	case !b.Known && isBlankScreen(s) && t.young:
		return obstacle{why: notReady, state: sessions.ReceiptStored}
	case !b.Known:
		return t.rowObstacle(s)
	case b.Open && b.Text != "", b.Unfinished != "" && !t.beganCommand(b.Unfinished):
		return obstacle{why: halfTyped, state: sessions.ReceiptHeld, unsure: b.Shell || b.Unsure}
	case b.Open && b.Shell && t.mayBeAhead(s, t.term):
		return obstacle{why: typedAhead, state: sessions.ReceiptHeld, unsure: true}
	case b.Open:
		return obstacle{}
	case b.Shell && t.atBare(s):
		return obstacle{}
	case b.Shell && waited < promptWithin:
		return obstacle{why: notReady, state: sessions.ReceiptStored}
	case b.Shell:
		return t.promptObstacle(s)
	case waited < readyWithin:
		return obstacle{why: notReady, state: sessions.ReceiptStored}
	case t.wasBoxSeen():
		return obstacle{why: "the program shows something else than its input box; it's typed when the box is back", state: sessions.ReceiptHeld}
	case isEmptyScreen(s), t.term.Canonical: // it has drawn nothing yet, or hasn't come to reading keys
		return obstacle{why: notReady, state: sessions.ReceiptHeld, unsure: true}
	case time.Since(t.drawn) < blankFor: // its box may be yet to come, or was there between two looks
		return obstacle{why: notReady, state: sessions.ReceiptStored}
	case t.opt.Dialogs.Read(t.sessionID(), s, nil) != nil:
		return obstacle{why: "its screen looks like a question; it's typed when that's answered", state: sessions.ReceiptHeld}
	}
	return obstacle{}
}

// rowObstacle is findObstacle for a program whose input box isn't known: what stands before
// the cursor tells whether somebody has begun to write.
func (t *personText) rowObstacle(s *sessions.Snapshot) obstacle {
	before, _ := aroundCursor(s)
	if t.asksWith(before) {
		return obstacle{}
	}
	half := strings.TrimSpace(before) != "" && !asksPattern.MatchString(before)
	if t.frontOf(s).Kind == sessions.ProgramShell {
		switch {
		case t.term.Canonical: // one of its own commands may read a line
		case time.Since(t.began) < promptWithin:
			return obstacle{why: notReady, state: sessions.ReceiptStored}
		default:
			return obstacle{why: "the shell reads something else than a command: a search, say, or a single key", state: sessions.ReceiptHeld, unsure: true}
		}
		half = strings.TrimSpace(before) != "" && !asksLinePattern.MatchString(before)
	}
	if half && !t.isBare(before) {
		return obstacle{why: halfTyped, state: sessions.ReceiptHeld, unsure: true}
	}
	return obstacle{}
}

// promptObstacle is findObstacle for a shell that shows no prompt that's known.
func (t *personText) promptObstacle(s *sessions.Snapshot) obstacle {
	before, behind := aroundCursor(s)
	if strings.TrimSpace(before+behind) == "" {
		switch {
		case !t.term.Canonical: // it edits a line, behind a prompt that's empty
			return obstacle{}
		case time.Since(t.began) < readyWithin: // it reads its files, say
			return obstacle{why: notReady, state: sessions.ReceiptStored}
		}
	}
	if strings.TrimSpace(behind) == "" && t.term.Canonical && asksLinePattern.MatchString(before) {
		return obstacle{} // one of its own commands reads a line: read, say
	}
	if s.Alternate {
		return obstacle{
			why:   "a program that was ended has left its full screen on, where the shell's prompt can't be told from what stood there; 'reset' in the session ends it",
			state: sessions.ReceiptHeld, unsure: true,
		}
	}
	return obstacle{
		why:   "the shell's prompt isn't known here (sessions.prompts can say what it looks like), so something half-typed may stand there",
		state: sessions.ReceiptHeld, unsure: true,
	}
}

// atBare reports whether the cursor stands behind a row that somebody has said to be an
// empty prompt.
func (t *personText) atBare(s *sessions.Snapshot) bool {
	before, _ := aroundCursor(s)
	return t.isBare(before)
}

// pastObstacle reports whether somebody has looked at the very screen, and sends the text
// though it can't be seen here that nothing is in its way.
func (t *personText) pastObstacle(o obstacle) bool {
	s := &t.before
	if !o.unsure || t.ahead == nil || t.ahead.Revival != "" || t.printScreen(s) != t.ahead.Quoted || t.isRestless(s) {
		return false
	}
	t.by = t.ahead.By
	before, _ := aroundCursor(s)
	t.learnBare(before)
	return true
}

// holdForObstacle says what's in the way. If that isn't sure the text may be sent anyway
// once the screen stands still.
func (t *personText) holdForObstacle(ctx context.Context, o obstacle) {
	quoted := t.printStanding(&t.before)
	if !o.unsure {
		quoted = ""
	}
	t.holdBackAs(ctx, heldElse, o.state, o.why, quoted)
}

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
func (t *personText) takeUp(ctx context.Context) error {
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
	if sameScreen(first, &t.before) || t.size.isBroken() {
		return frozenWithin
	}
	return shownWithin
}
