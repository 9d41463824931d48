package typing

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// personal is the policy of a text that a person has written: it's held while something is in
// the way, and its receipt says how far it is.
type personal struct {
	*typist

	began  time.Time          // when it was this text's turn
	drawn  time.Time          // when the program was first seen to have drawn something; zero: it wasn't
	goesTo sessions.Addressee // whom it's for from when it's pasted on; "": as before
	letGo  bool               // somebody has said so
}

// TypeText types a text, and holds it while something is in the way.
func (h *Hand) TypeText(ctx context.Context, r sessions.Receipt) {
	t := &personal{typist: &typist{Hand: h, receipt: r}, began: time.Now()}
	if t.policy = t; h.opt.Box != nil {
		t.readBox = func(s *sessions.Snapshot) sessions.Box { return h.opt.Box(h.desk.ID(), s) }
	}
	t.typeInTurn(ctx)
}

func (t *personal) typeInTurn(ctx context.Context) {
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
	hand, cancel := inHand(ctx)
	defer cancel()
	for i := 0; i < len(steps); i++ {
		err := steps[i](hand)
		if errors.Is(err, errEmptied) {
			if !t.continueAfter(ctx, t.pasteAgain(ctx)) {
				return
			}
			i, steps, err = -1, []func(context.Context) error{t.settleText, t.pressEnter}, nil // who wrote it is told
		}
		if !t.continueAfter(hand, err) {
			return
		}
	}
}

// continueAfter says whether the next step is due, given what came of one.
func (t *personal) continueAfter(ctx context.Context, err error) bool {
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

func (t *personal) findPane() (sessions.Session, sessions.Server, error) { return t.desk.Living() }

// unseen waits until the connection comes back, or the session ends.
func (t *personal) unseen(ctx context.Context, _ error) error { return t.wait(ctx, heldEvery) }

// wait fails when the receipt was closed meanwhile.
func (t *personal) wait(ctx context.Context, d time.Duration) error {
	if err := sessions.Pause(ctx, d); err != nil {
		return err
	}
	if !t.desk.IsOpen(t.receipt.ID) {
		return errDone
	}
	return nil
}

func (t *personal) keepReceipt(ctx context.Context, change func(*sessions.Receipt) bool) (sessions.Receipt, bool) {
	return t.desk.SetReceipt(ctx, t.receipt.ID, change)
}

func (t *personal) allowPaste(ctx context.Context, tries *int) (g sessions.Guard, ok bool, err error) {
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
func (t *personal) isClear(ctx context.Context) bool {
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

func (t *personal) pasted(ctx context.Context) error {
	if t.letGo {
		t.receipt.To = t.goesTo
		t.desk.Address(ctx, t.goesTo)
	}
	t.answerAhead(nil)
	t.desk.Typed(t.receipt.Text)
	if t.receipt.Submit && !t.setState(ctx, sessions.ReceiptTyped, "") {
		return errDone
	}
	return nil
}

// notPasted takes up what surely didn't reach the pane again.
func (t *personal) notPasted(ctx context.Context, out sessions.Outcome, err error, _ int) error {
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
func (t *personal) forgetAhead() {
	t.giveKeyboardBack()
	t.answerAhead(sessions.ErrOtherScreen)
	t.by, t.cleared = "", nil
}

// pasteAgain types a text again that the program has taken out of its box.
func (t *personal) pasteAgain(ctx context.Context) error {
	t.giveKeyboardBack()
	t.holdBack(ctx, heldElse, sessions.ReceiptStored, notReady)
	t.again, t.echoed, t.stirred, t.size, t.at = true, false, 0, paneSize{}, sessions.Snapshot{}
	t.alone, t.whole, t.beside, t.inRow, t.queued, t.by, t.cleared = false, false, false, false, false, "", nil
	return t.pasteText(ctx)
}

// checkLineLengths refuses a line that the kernel would cut.
func (t *personal) checkLineLengths() error {
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
func (t *personal) leaveTyped(ctx context.Context) error {
	t.setState(ctx, sessions.ReceiptTyped, "")
	return errDone
}

// hiddenText stands for a text where a program that reads line by line shows nothing of it.
const hiddenText = "(not shown: the program hides what's typed)"

// tellAuthor has those who follow the session know who wrote what comes next. It's the last
// thing before Enter: what the program prints about the text stands below it.
func (t *personal) tellAuthor(ctx context.Context) error {
	r := t.receipt
	if t.term.Canonical && !t.term.Echo && strings.TrimSpace(r.Text) != "" {
		r.Text = hiddenText // a password, say
	}
	if err := t.desk.TellAuthor(ctx, r); err != nil && ctx.Err() == nil {
		t.desk.Log().Warn("an input goes on without its author being shown", "err", err)
	}
	return ctx.Err()
}

// obstacle is why a text isn't typed yet, though no dialog is open.
type obstacle struct {
	why    string                // a sentence; "": nothing is in the way
	state  sessions.ReceiptState // of the receipt meanwhile
	unsure bool                  // a person may see that nothing is: see Receipt.Quoted
}

// findObstacle looks for what's in the way of a text.
func (t *personal) findObstacle(s *sessions.Snapshot) obstacle {
	if t.receipt.Text == "" {
		return obstacle{} // an Enter is for what stands in the box
	}
	b := t.readInputBox(s)
	if t.drawn.IsZero() && !noRows(s) {
		t.drawn = time.Now()
	}
	switch waited := time.Since(t.began); {
	case !t.term.Canonical && t.term.Unread > 0:
		return obstacle{why: "the program hasn't read yet what was typed before", state: sessions.ReceiptStored}
	case t.mayShow(s):
		return obstacle{why: "the program has read a text and shows nothing of it yet; this is typed when it draws something", state: sessions.ReceiptHeld, unsure: true}
	case !b.Known && t.asksUnread():
		return obstacle{why: "its screen asks something, which a text would answer; it's typed when that's answered", state: sessions.ReceiptHeld, unsure: true}
	case !b.Known && blank(s) && t.young:
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
	case noRows(s), t.term.Canonical: // it has drawn nothing yet, or hasn't come to reading keys
		return obstacle{why: notReady, state: sessions.ReceiptHeld, unsure: true}
	case time.Since(t.drawn) < blankFor: // its box may be yet to come, or was there between two looks
		return obstacle{why: notReady, state: sessions.ReceiptStored}
	case t.opt.Dialogs.Read(t.id(), s, nil) != nil:
		return obstacle{why: "its screen looks like a question; it's typed when that's answered", state: sessions.ReceiptHeld}
	}
	return obstacle{}
}

// reviveWithin is how long the command that begins an agent again may take to be typed:
// whoever asked for it waits.
const reviveWithin = 6 * time.Second

// reaches is the same for the typist's text.
func (t *typist) reaches(front sessions.Program) bool {
	return t.desk == nil || t.desk.Reaches(t.receipt.To, front, t.receipt.CreatedAt)
}

// awaitAddressee holds the text while another program has the foreground than the one
// that it was written to; waits says that it does. Somebody who may can have it typed
// there all the same, or have the agent begun again.
func (t *personal) awaitAddressee(ctx context.Context) (waits bool, err error) {
	front := t.frontOf(&t.before)
	t.into, t.goesTo, t.letGo = front, "", false
	if t.reaches(front) {
		if to := front.Addressee(); t.receipt.To != to && (front.Kind == sessions.ProgramAgent || t.receipt.To == "") {
			t.goesTo = to
		}
		return false, nil
	}
	t.takeAhead()
	if t.ahead != nil && t.ahead.Quoted == t.frontPrint(front) {
		if t.ahead.Revival == "" {
			t.by, t.goesTo, t.letGo = t.ahead.By, front.Addressee(), true
			return false, nil
		}
		t.answerAhead(t.beginAgentAgain(ctx, t.receipt.To.Agent(), t.ahead.Revival))
	}
	t.giveKeyboardBack()
	t.answerAhead(sessions.ErrOtherScreen)
	t.holdForFront(ctx, front)
	return true, t.wait(ctx, heldEvery)
}

// frontPrint stands for one run of a program that has the foreground: see Receipt.Quoted.
func (t *personal) frontPrint(p sessions.Program) string {
	sum := sha256.Sum256([]byte(fmt.Sprintln("front", t.pane, p.Kind, p.Name, p.Run, t.refused)))
	return hex.EncodeToString(sum[:8])
}

// holdForFront says who has the foreground, and how the text may go on.
func (t *personal) holdForFront(ctx context.Context, front sessions.Program) {
	to := t.receipt.To
	agent := to.Agent()
	var why string
	var revivals []sessions.Revival
	switch {
	case agent != "" && front.Kind == sessions.ProgramAgent:
		why = "it was written to " + agent + ", and " + front.Name + " has its place; it's typed when " + agent + " is back"
	case agent != "" && front.Kind == sessions.ProgramShell:
		why = agent + " has ended, and " + front.Name + " would run it as a command; it's typed when " + agent + " is back"
		revivals = t.revivals(agent)
	case agent != "":
		why = "it was written to " + agent + ", and " + front.Name + " has the foreground; it's typed when " + agent + " is back"
	case to != "" && to != "own" && !to.IsShell():
		why = "the program that it was written to doesn't have the foreground, " + front.Name + " has"
	case front.Kind == sessions.ProgramAgent:
		why = front.Name + " was begun after this was written; it's typed when the shell is back"
	case to.IsShell() && front.Kind == sessions.ProgramShell:
		why = "another shell (" + front.Name + ") has the foreground; it's typed when that has ended"
	default:
		why = front.Name + " has the foreground; it's typed when that has ended"
	}
	t.holdBackWith(ctx, func(r *sessions.Receipt) {
		r.SetState(sessions.ReceiptHeld, "", why)
		r.Quoted, r.Front, r.Revivals = t.frontPrint(front), front.Name, revivals
	})
}

// revivals are the ways in which an agent can be begun again in the session.
func (t *personal) revivals(agent string) (ways []sessions.Revival) {
	for _, way := range []sessions.Revival{sessions.ReviveNew, sessions.ReviveResume} {
		if _, ok := t.reviveLine(agent, way); ok {
			ways = append(ways, way)
		}
	}
	return ways
}

// reviveLine is the command line of a revival; false: it can't be done.
func (t *personal) reviveLine(agent string, way sessions.Revival) (string, bool) {
	if t.opt.Revive == nil || agent == "" {
		return "", false
	}
	conversation := ""
	if way == sessions.ReviveResume {
		if conversation = t.desk.LastConversation(agent); conversation == "" {
			return "", false
		}
	}
	return t.opt.Revive(t.desk.ID(), agent, conversation)
}

// beginAgentAgain types the command line that begins the agent again into the shell that has its
// place, if nothing else stands in the shell's line.
func (t *personal) beginAgentAgain(ctx context.Context, agent string, way sessions.Revival) error {
	line, ok := t.reviveLine(agent, way)
	if !ok {
		return sessions.Refuse("it isn't known how %s is begun again", agent)
	}
	if b := t.readInputBox(&t.before); !b.Shell || !b.Open || b.Text != "" {
		return sessions.Refuse("the shell isn't at an empty prompt")
	}
	hand, cancel := inHand(ctx)
	defer cancel()
	hand, late := context.WithTimeout(hand, reviveWithin)
	defer late()
	err := run(hand, &reviving{typist: t.typist, line: line})
	if errors.Is(err, errNotTaken) {
		return errors.New("the command that begins " + agent + " again stands in the shell's line, and couldn't be submitted; look at the session")
	}
	return err
}

// reviving types a command line into a shell at an empty prompt.
type reviving struct {
	*typist

	line  string
	typed time.Time // when it was; zero: it wasn't
}

func (t *reviving) next(ctx context.Context) (step, error) {
	if t.typed.IsZero() {
		guard := sessions.Guard{Pane: t.pane, Server: t.before.Server, Saw: &t.before, Front: t.before.Front, Lines: t.term.Canonical}
		return step{srv: t.srv, guard: guard, text: t.line}, nil
	}
	for time.Since(t.typed) < reactWithin {
		if err := sessions.Pause(ctx, lookEvery); err != nil {
			return step{}, err
		}
		snap, err := t.lookAtPane(ctx)
		if err != nil {
			return step{}, err
		}
		if withoutSpace(t.readInputBox(&snap).Text) == withoutSpace(t.line) && t.term.Unread == 0 {
			return step{srv: t.srv, guard: sessions.Guard{Pane: t.pane, Server: snap.Server, Saw: &snap, Front: snap.Front}, keys: enterKey}, nil
		}
	}
	return step{}, errNotTaken
}

func (t *reviving) after(_ context.Context, s step, out sessions.Outcome, err error) (done bool, failed error) {
	switch {
	case err == nil && out != sessions.Done && s.text != "":
		return false, sessions.ErrOtherScreen
	case err == nil && out != sessions.Done:
		return false, nil
	case s.text != "":
		t.typed = time.Now()
		return false, err
	}
	t.desk.Typed(t.line)
	return true, err
}
