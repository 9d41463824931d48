package typing

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// How a text is sent though a dialog's phrase is on the screen.
const (
	// stillSeconds is how long nothing has to come out of a pane until its screen is one
	// that a person can look at.
	stillSeconds = 2
	// restlessFor is how long Enter waits for a screen that doesn't stand still before
	// that's said.
	restlessFor = 10 * time.Second
)

// isPhraseQuoted reports whether only a dialog's phrase is on a screen: no dialog is known or
// recognised there. Of a program whose input box is known, and isn't on the screen, it
// isn't taken as quoted: that's rather a dialog of a form that nobody knows yet.
func (t *typist) isPhraseQuoted(s *sessions.Snapshot) bool {
	return t.opt.Dialog(s.Rows) != "" && !t.readInputBox(s).Known && t.opt.Dialogs.Read(t.sessionID(), s, nil) == nil && (t.desk == nil || !t.desk.AsksNow())
}

// holdForDialog says what keeps a text back (ReceiptHeld), or its Enter (ReceiptTyped): a
// dialog, or only its phrase. Then it may be sent anyway once the screen stands still.
func (t *typist) holdForDialog(ctx context.Context, s *sessions.Snapshot, state sessions.ReceiptState) {
	dialog, sent := "a dialog is open in the session; it's typed when the dialog has closed", "it's typed"
	if state == sessions.ReceiptTyped {
		dialog, sent = "a dialog has opened; Enter is pressed when it has closed", "Enter is pressed"
	}
	if !t.isPhraseQuoted(s) {
		t.stood = ""
		t.holdBack(ctx, heldByDialog, state, dialog)
		return
	}
	words := "a dialog's words, “" + t.opt.Dialog(s.Rows) + "”, are on the screen"
	if quoted := t.printStanding(s); quoted != "" {
		t.holdBackAs(ctx, heldByDialog, state, words+", but no dialog is recognised; "+sent+" when they have gone, or at once if somebody who may answer dialogs sends it anyway", quoted)
		return
	}
	t.holdBack(ctx, heldByDialog, state, words+"; "+sent+" when they have gone")
}

// printStanding is printScreen for a screen that stands still, as it stood at the look before; "": it doesn't.
func (t *typist) printStanding(s *sessions.Snapshot) string {
	was := t.stood
	if t.stood = t.printScreen(s); t.stood == was && !t.isRestless(s) && t.asked.Unix()-s.Activity >= stillSeconds {
		return t.stood
	}
	return ""
}

// printScreen stands for a screen: see Receipt.Quoted. It's another one after each go-ahead
// that came to nothing.
func (t *typist) printScreen(s *sessions.Snapshot) string {
	h := sha256.New()
	_, _ = fmt.Fprintln(h, s.Server, s.Pane, s.PID, s.Width, s.Height, s.HistorySize, s.CursorX, s.CursorY, s.Alternate, sessions.Letters(s.Title), t.refused)
	for _, row := range s.Rows {
		_, _ = fmt.Fprintln(h, strings.TrimRight(row, " \t"))
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// guardStillness is the guard that has something typed only while nothing has come out of the
// pane since it was looked at. What else it checks says the same in other ways.
func (t *typist) guardStillness(s *sessions.Snapshot) sessions.PaneGuard {
	rows := sessions.TellingRows(s.Rows, 0, len(s.Rows), checkedRows)
	rows = slices.DeleteFunc(rows, func(row int) bool { // tmux has the mark in it still
		return slices.ContainsFunc(s.Marks, func(m sessions.Mark) bool { return m.Row == row })
	})
	return sessions.PaneGuard{Pane: t.pane, Server: s.Server, Phrases: absentPhrases(t.opt.Phrases, s), Saw: s, Rows: rows, Still: true, Front: s.Front}
}

// isRestless reports whether something came out of the pane in the second in which it was
// looked at: then nobody could say whether more did. Or the program hasn't read yet what
// was typed, and may open a dialog by it.
func (t *typist) isRestless(s *sessions.Snapshot) bool {
	return t.asked.Unix() <= s.Activity || t.term.Unread > 0
}

func (t *typist) takeAhead() {
	if t.strict {
		return // nobody sends a preview anyway
	}
	if ahead := t.desk.TakeGoAhead(t.receipt.ID); ahead != nil {
		t.ahead = ahead
	}
}

// answerAhead says what came of a go-ahead, if there's one.
func (t *typist) answerAhead(err error) {
	if t.ahead == nil {
		return
	}
	if err != nil {
		t.refused++
	}
	t.ahead.Answer(err)
	t.ahead = nil
}

// dropAhead is for a go-ahead that comes to nothing because the receipt is final, or
// panebridge stops.
func (t *typist) dropAhead(ctx context.Context) {
	err := sessions.Refuse("the input isn't held any more")
	if ctx.Err() != nil {
		err = fmt.Errorf("%w: panebridge is stopping", sessions.ErrUnavailable)
	}
	t.answerAhead(err)
	t.takeAhead()
	t.answerAhead(err)
}

// guardAsSeen is guardScreen for the very screen that somebody has looked at before sending the text
// anyway; false: it isn't that one.
func (t *typist) guardAsSeen(s *sessions.Snapshot) (sessions.PaneGuard, bool) {
	if t.ahead == nil || t.printScreen(s) != t.ahead.Quoted || !t.isPhraseQuoted(s) || t.isRestless(s) {
		return sessions.PaneGuard{}, false
	}
	t.by = t.ahead.By
	seen := *s
	t.cleared = &seen
	return t.guardStillness(s), true
}

// asCleared reports whether a screen is the one on which the text was sent anyway, with
// nothing new but the text: what stood above the cursor does so still, and elsewhere
// there's no phrase in what has changed, but the text's own. The text is shown there:
// where it has gone again something else may have the screen, with the same words on it.
func (t *typist) asCleared(s *sessions.Snapshot) bool {
	was := t.cleared
	if was == nil || was.PID != s.PID || was.Width != s.Width || was.Height != s.Height || was.Alternate != s.Alternate || !t.isPhraseQuoted(s) {
		return false
	}
	up := s.HistorySize - was.HistorySize // rows that have gone up since
	if up < 0 {
		return false
	}
	var changed []string
	for i := range max(len(s.Rows), was.CursorY-up) {
		same := i < len(s.Rows) && i+up < len(was.Rows) && strings.TrimRight(s.Rows[i], " \t") == strings.TrimRight(was.Rows[i+up], " \t")
		switch {
		case same:
		case i+up < was.CursorY:
			return false
		default:
			changed = append(changed, s.Rows[i])
		}
	}
	return t.onlyOwn(changed) && (sameScreen(was, s) || t.showsOwn(changed))
}

// showsOwn reports whether the text's last line is among rows, however they are broken.
func (t *typist) showsOwn(rows []string) bool {
	shown, own := strings.Join(rows, ""), lastLine(t.receipt.Text)
	if only := sessions.Letters(own); only != "" {
		return strings.Contains(sessions.Letters(shown), only)
	}
	return strings.Contains(withoutSpace(shown), withoutSpace(own))
}

// onlyOwn reports whether rows have no phrases but those of the text that was pasted
// there. How the program breaks rows and draws around them is no matter.
func (t *typist) onlyOwn(rows []string) bool {
	shown := sessions.Letters(strings.ToLower(strings.Join(rows, "")))
	for line := range strings.SplitSeq(strings.ToLower(t.receipt.Text), "\n") {
		if own := sessions.Letters(line); t.hasPhrase(own) {
			before, behind, _ := strings.Cut(shown, own)
			shown = before + "\x00" + behind
		}
	}
	return !t.hasPhrase(shown)
}

func (t *typist) hasPhrase(shown string) bool {
	return slices.ContainsFunc(t.opt.Phrases, func(phrase string) bool { return strings.Contains(shown, sessions.Letters(phrase)) })
}

// errOtherFront says that a text was typed, and not submitted: another program has the
// foreground by now.
var errOtherFront = errors.New("it was typed, but Enter wasn't pressed")

// reaches is the same for the typist's text.
func (t *typist) reaches(front sessions.Program) bool {
	return t.desk == nil || t.desk.Reaches(t.receipt.To, front, t.receipt.CreatedAt)
}

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
		t.heldFor, t.waits = heldByFront, true
		if err := t.lookAgain(ctx, s); err != nil {
			return err
		}
	}
	front := t.frontOf(s)
	for began := time.Now(); t.runsLine(front) && time.Since(began) < reactWithin; front = t.frontOf(s) {
		if err := t.lookAgain(ctx, s); err != nil {
			return err
		}
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

// runsLine reports whether the program in the foreground may be what an earlier line of
// the text has begun: a shell that reads line by line runs each as it comes.
func (t *typist) runsLine(front sessions.Program) bool {
	return !t.entered && (t.receipt.To == "" || t.receipt.To.IsShell()) && front.Kind == sessions.ProgramOther && !t.reaches(front) &&
		strings.Contains(t.receipt.Text, "\n") && !front.Started.Before(t.receipt.CreatedAt)
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
		if err := t.lookAgain(ctx, s); err != nil {
			return err
		}
		if !t.reaches(t.frontOf(s)) {
			return t.checkReach(ctx, s)
		}
	}
	return errBegunAnew
}

// awaitAddressee holds the text while another program has the foreground than the one
// that it was written to; waits says that it does. Somebody who may can have it typed
// there all the same, or have the agent begun again.
func (t *personText) awaitAddressee(ctx context.Context) (waits bool, err error) {
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
func (t *personText) frontPrint(p sessions.Program) string {
	sum := sha256.Sum256([]byte(fmt.Sprintln("front", t.pane, p.Kind, p.Name, p.Run, t.refused)))
	return hex.EncodeToString(sum[:8])
}

func (t *personText) holdForFront(ctx context.Context, front sessions.Program) {
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

func (t *personText) revivals(agent string) (ways []sessions.Revival) {
	for _, way := range []sessions.Revival{sessions.ReviveNew, sessions.ReviveResume} {
		if _, ok := t.reviveLine(agent, way); ok {
			ways = append(ways, way)
		}
	}
	return ways
}

// reviveLine is the command line of a revival; false: it can't be done.
func (t *personText) reviveLine(agent string, way sessions.Revival) (string, bool) {
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

// reviveWithin is how long the command that begins an agent again may take to be typed:
// whoever asked for it waits.
const reviveWithin = 6 * time.Second

// beginAgentAgain types the command line that begins the agent again into the shell that has its
// place, if nothing else stands in the shell's line.
func (t *personText) beginAgentAgain(ctx context.Context, agent string, way sessions.Revival) error {
	line, ok := t.reviveLine(agent, way)
	if !ok {
		return sessions.Refuse("it isn't known how %s is begun again", agent)
	}
	if b := t.readInputBox(&t.before); !b.Shell || !b.Open || b.Text != "" {
		return sessions.Refuse("the shell isn't at an empty prompt")
	}
	finishing, cancel := withFinishTime(ctx)
	defer cancel()
	finishing, late := context.WithTimeout(finishing, reviveWithin)
	defer late()
	err := runSteps(finishing, &reviving{typist: t.typist, line: line})
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

func (t *reviving) nextStep(ctx context.Context) (paneStep, error) {
	if t.typed.IsZero() {
		guard := sessions.PaneGuard{Pane: t.pane, Server: t.before.Server, Saw: &t.before, Front: t.before.Front, Lines: t.term.Canonical}
		return paneStep{srv: t.srv, guard: guard, text: t.line}, nil
	}
	for time.Since(t.typed) < reactWithin {
		if err := sessions.Pause(ctx, lookEvery); err != nil {
			return paneStep{}, err
		}
		snap, err := t.lookAtPane(ctx)
		if err != nil {
			return paneStep{}, err
		}
		if withoutSpace(t.readInputBox(&snap).Text) == withoutSpace(t.line) && t.term.Unread == 0 {
			return paneStep{srv: t.srv, guard: sessions.PaneGuard{Pane: t.pane, Server: snap.Server, Saw: &snap, Front: snap.Front}, keys: enterKey}, nil
		}
	}
	return paneStep{}, errNotTaken
}

func (t *reviving) afterStep(_ context.Context, s paneStep, out sessions.GuardOutcome, err error) (done bool, failed error) {
	switch {
	case err == nil && out != sessions.Done && s.text != "":
		return false, sessions.ErrOtherScreen
	case err == nil && out != sessions.Done:
		return false, nil
	case s.text != "":
		t.typed = time.Now()
		return false, err
	}
	t.desk.NoteTyped(t.line)
	return true, err
}
