package typing

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/panebridge/panebridge/sessions"
)

// How an answer is given. The waits for a program are a typist's.
const (
	giveSteps   = 40               // keys and texts on the way to one answer
	giveWithin  = 10 * time.Second // all of them
	unsureLooks = 3                // at a screen without the dialog, or with another: it may be half drawn
	// alikeLooks are at one that may be drawn for another size yet: what asks in the same words about
	// something else, or in place of a dialog that's known one that nobody knows, as Qwen Code 0.15.10
	// looks for 0.2 s after its pane was taller.
	alikeLooks  = 20
	checkedRows = 60 // of a dialog, by the guard
)

// giver gives one answer, in a closed loop: look, have the profile say what to do next,
// do it if the very same dialog is still there, wait until the dialog shows it. It ends with errDone, and end.
type giver struct {
	*Hand

	prompt  sessions.Prompt
	dialog  *sessions.Dialog // what has to stand there
	tall    *taller          // the pane is made taller for what's answered there; nil: it isn't
	srv     sessions.TmuxServer
	pane    sessions.Pane
	marks   bool // the dialog has to be seen with its colours
	checks  checks
	pressed bool // something was

	looks int
	now   dialogSnapshot      // the last of them
	due   sessions.DialogStep // the step that's done on it
	end   sessions.AnswerResult
}

// dialogSnapshot is a look at the screen and what was read there.
type dialogSnapshot struct {
	snap   sessions.Snapshot
	styled *sessions.Screen
	dialog *sessions.Dialog // nil: none
	unread int              // bytes that the program hasn't read yet
}

// mayBecome reports whether what was seen may be a dialog that's half drawn yet.
func (s *dialogSnapshot) mayBecome(d *sessions.Dialog) bool {
	return s.dialog != nil && (s.dialog.AsksLike(d) || s.dialog.Kind == sessions.PromptUnread && d.Kind != sessions.PromptUnread)
}

// mayReturn reports whether a screen without the dialog may be half drawn: its program was given
// another size a moment ago, or draws no input box either.
func (g *giver) mayReturn(now *dialogSnapshot) bool {
	return g.desk.WasTaller() || g.opt.Box != nil && g.opt.Box(g.desk.ID(), &now.snap).Missing()
}

// errMoving says that two looks at a screen didn't show the same.
var errMoving = errors.New("the screen is being redrawn")

// GiveAnswer gives the answer that counts.
func (h *Hand) GiveAnswer(ctx context.Context, p sessions.Prompt) sessions.AnswerResult {
	s, srv, err := h.desk.Living()
	if err != nil {
		return sessions.AnswerResult{State: sessions.PromptClosed, Reason: "the session has ended", Err: err}
	}
	g := &giver{Hand: h, prompt: p, dialog: &p.Dialog, srv: srv, pane: s.Pane}
	return g.giveInTime(ctx)
}

// answeredBy is what comes of an answer that was given. Its last key may come to stand in an input
// box; "": it can't.
func (g *giver) answeredBy(key string) sessions.AnswerResult {
	if key != "" && g.opt.Box != nil {
		g.desk.LookLater(func(ctx context.Context) { g.takeLateKey(ctx, key) })
	}
	return sessions.AnswerResult{State: sessions.PromptAnswered}
}

// giveInTime gives the answer in its time, in a taller pane if it has to be there.
func (g *giver) giveInTime(ctx context.Context) sessions.AnswerResult {
	tall, most := g.prompt.Dialog.Tall != "" && !g.prompt.Refuses(), giveWithin
	if tall {
		most += wholeWithin
	}
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	if !tall {
		return g.giveByKeys(ctx)
	}
	g.tall = &taller{Hand: g.Hand, srv: g.srv, pane: g.pane}
	defer g.shrinkPane(ctx)
	if end, over := g.growPane(ctx); over {
		return end
	}
	return g.giveByKeys(ctx)
}

func (g *giver) giveByKeys(ctx context.Context) sessions.AnswerResult {
	_ = runSteps(ctx, g) // end says what came of it
	return g.end
}

func (g *giver) endWith(end sessions.AnswerResult) (paneStep, error) {
	g.end = end
	return paneStep{}, errDone
}

func (g *giver) nextStep(ctx context.Context) (paneStep, error) {
	for ; g.looks < giveSteps; g.looks++ {
		var err error
		if g.now, err = g.awaitDialog(ctx); err != nil {
			return g.endWith(g.explainUnseen(err))
		}
		d := g.now.dialog
		if d == nil || !d.Asks(g.dialog) {
			return g.endWith(g.closeAsGone(d))
		}
		if err := d.Takes(*g.prompt.Answer); err != nil { // less of it can be seen now
			return g.endWith(g.reopenPrompt(err))
		}
		if g.frontOf(&g.now.snap).Kind == sessions.ProgramShell { // it asks nothing: who asked has left its dialog behind
			return g.endWith(g.closeAsGone(nil))
		}
		if g.now.unread > 0 { // of the pane's own keyboard, say: what it does has to be seen first
			if err := sessions.Pause(ctx, lookEvery); err != nil {
				return g.endWith(g.explainUnseen(err))
			}
			continue
		}
		switch g.decideWithoutKey(ctx, d) {
		case sessions.DecidedHere:
			g.pressed = true
			g.desk.NoteGiven(true)
			end, _ := g.watchStep(ctx, sessions.DialogStep{Last: true}, &g.now)
			return g.endWith(end)
		case sessions.DecidedElsewhere:
			return g.endWith(g.closeAsGone(nil))
		case sessions.NotDecided:
		}
		if young := sessions.DrawnFor - time.Since(g.prompt.OpenedAt); young > 0 {
			if err := sessions.Pause(ctx, young); err != nil {
				return g.endWith(g.explainUnseen(err))
			}
			continue
		}
		if g.due, err = g.opt.Dialogs.Next(g.desk.ID(), d, *g.prompt.Answer); err == nil {
			return g.stepOn(&g.now)
		}
		if g.marks || errors.Is(err, sessions.ErrInvalid) {
			return g.endWith(g.reopenPrompt(err))
		}
		g.marks = true
	}
	return g.endWith(g.reopenPrompt(fmt.Errorf("%w: the screen doesn't stand still, or the way to the answer is too long", sessions.ErrUnavailable)))
}

// stepOn is the step that's due, on the screen that was seen, letter by letter where the dialog
// stands.
func (g *giver) stepOn(now *dialogSnapshot) (paneStep, error) {
	rows := sessions.TellingRows(now.snap.Rows, now.dialog.First, now.dialog.Last, len(now.snap.Rows))
	if g.tall == nil {
		rows = rows[:min(len(rows), checkedRows)]
	} else {
		rows = sampleRows(rows)
	}
	if len(rows) == 0 {
		return g.endWith(g.reopenPrompt(fmt.Errorf("%w: the question can't be told from what stands above it; answer it in the session", sessions.ErrConflict)))
	}
	g.checks.key = strings.Join(g.due.Keys, " ")
	guard := sessions.PaneGuard{Pane: g.pane.ID, Server: g.pane.Identity, Saw: &now.snap, Rows: rows, Front: now.snap.Front}
	return paneStep{srv: g.srv, guard: guard, text: g.due.Text, keys: g.due.Keys}, nil
}

func (g *giver) afterStep(ctx context.Context, _ paneStep, out sessions.GuardOutcome, err error) (done bool, failed error) {
	if out == sessions.Done || errors.Is(err, sessions.ErrUncertain) {
		g.pressed = true
		g.desk.NoteGiven(g.due.Last && out == sessions.Done)
		g.desk.NoteTyped("")
	}
	g.looks++
	switch {
	case errors.Is(err, sessions.ErrUncertain):
		_, err = g.endWith(g.reopenPrompt(fmt.Errorf("%w: the connection to tmux was lost while it was answered; look at the session before you answer again: %w", sessions.ErrUnavailable, err)))
		return false, err
	case err != nil:
		_, err = g.endWith(g.explainUnseen(err))
		return false, err
	case out == sessions.Dead:
		_, err = g.endWith(sessions.AnswerResult{State: sessions.PromptClosed, Reason: "the session's program has ended", Err: sessions.ErrDead})
		return false, err
	case out != sessions.Done:
		if err := sessions.Pause(ctx, lookEvery); err != nil {
			_, err = g.endWith(g.explainUnseen(err))
			return false, err
		}
		return false, nil
	}
	end, over := g.watchStep(ctx, g.due, &g.now)
	g.end = end
	return over, nil
}

// decideWithoutKey gives the answer without a key, where that's possible.
func (g *giver) decideWithoutKey(ctx context.Context, d *sessions.Dialog) sessions.Decided {
	decide := g.opt.Decide
	if decide == nil || g.tall != nil || g.pressed {
		return sessions.NotDecided
	}
	return decide(ctx, g.desk.ID(), d, *g.prompt.Answer)
}

// watchStep waits until the dialog shows a step, or the program had time to; over says that
// this was the end.
func (g *giver) watchStep(ctx context.Context, step sessions.DialogStep, before *dialogSnapshot) (end sessions.AnswerResult, over bool) {
	begin := time.Now()
	read := begin
	for since := time.Duration(0); since < reactWithin; since = time.Since(read) {
		err := sessions.Pause(ctx, lookEvery)
		if err != nil {
			break
		}
		now, err := g.lookAtDialog(ctx)
		switch {
		case errors.Is(err, errMoving):
			continue
		case step.Last && (errors.Is(err, sessions.ErrEnded) || errors.Is(err, sessions.ErrUnknown)):
			return sessions.AnswerResult{State: sessions.PromptAnswered}, true // that was what ended it
		case err != nil:
			return g.explainUnseen(err), true
		}
		if now.unread > 0 {
			read = time.Now()
			continue
		}
		if step.Last {
			if g.takeOutLateKey(ctx, step, &now) {
				return g.closeAsGone(nil), true
			}
			if now.dialog == nil || !now.dialog.Asks(before.dialog) {
				return g.answeredBy(singleKey(step)), true //nolint:contextcheck // the look for the key outlives the answer
			}
		} else if hasReacted(step, before, &now, since) && (step.Text == "" || since >= settleFor) {
			return sessions.AnswerResult{}, false
		}
	}
	if step.Last && before.dialog.Kind == sessions.PromptUnread {
		return sessions.AnswerResult{State: sessions.PromptAnswered}, true // that the key was pressed is all that's known of it
	}
	if step.Last {
		end = g.reopenPrompt(fmt.Errorf("%w: the answer was given, but the question still stands; look at the session before you answer again", sessions.ErrUnavailable))
	} else {
		end = g.reopenPrompt(fmt.Errorf("%w: the session doesn't react to keys; look at it before you answer again", sessions.ErrUnavailable))
	}
	return end, true
}

// hasReacted reports whether a dialog shows a step that was done since ago. That its rows
// changed alone may be anything, a clock say; the mark may move a moment later, or before: Gemini CLI
// 0.61.0 moves it to an option up to 0.2 s before it draws its check, and a key that's pressed again
// in between takes the check away.
func hasReacted(step sessions.DialogStep, before, now *dialogSnapshot, since time.Duration) bool {
	a, b := before.dialog, now.dialog
	if i := step.Toggles - 1; b != nil && i >= 0 && i < min(len(a.Options), len(b.Options)) && since < settleFor {
		return a.Options[i].Checked != b.Options[i].Checked
	}
	if b == nil || a.Print != b.Print || a.Marked != b.Marked || !slices.Equal(a.Options, b.Options) || a.Typed != b.Typed {
		return true
	}
	return since >= settleFor && !slices.Equal(before.dialogRows(), now.dialogRows())
}

// dialogRows are those that the dialog stands in, with colours if they were looked at.
func (s *dialogSnapshot) dialogRows() []string {
	from := s.snap.Rows
	if s.styled != nil {
		from = s.styled.Rows
	}
	return from[max(0, min(s.dialog.First, len(from))):max(0, min(s.dialog.Last+1, len(from)))]
}

// awaitDialog looks until the dialog is seen, or surely isn't there.
func (g *giver) awaitDialog(ctx context.Context) (dialogSnapshot, error) {
	for looks := 0; ; {
		now, err := g.lookAtDialog(ctx)
		switch {
		case err == nil && now.dialog != nil && now.dialog.Asks(g.dialog):
			return now, nil
		case err == nil:
			if looks++; looks >= alikeLooks || looks >= unsureLooks && !now.mayBecome(g.dialog) && (now.dialog != nil || !g.mayReturn(&now)) {
				return now, nil
			}
		case !errors.Is(err, errMoving) && !errors.Is(err, sessions.ErrUnavailable):
			return now, err
		}
		if wait := sessions.Pause(ctx, lookEvery); wait != nil {
			return now, errors.Join(wait, err)
		}
	}
}

func (g *giver) lookAtDialog(ctx context.Context) (dialogSnapshot, error) {
	now, err := g.readDialog(ctx)
	if err == nil {
		g.checks.recallChecks(now.dialog)
	}
	return now, err
}

// readDialog is lookAtDialog without what was seen before.
func (g *giver) readDialog(ctx context.Context) (dialogSnapshot, error) {
	if g.tall != nil {
		return g.tall.readDialog(ctx, g.marks)
	}
	now, err := g.seeDialog(ctx, g.srv, g.pane, sessions.RowWindow{})
	if err != nil {
		return now, err
	}
	if now.dialog = g.desk.SamePart(now.dialog); now.dialog == nil || !now.dialog.Styled && !g.marks {
		return now, nil
	}
	screen, err := g.srv.Screen(ctx, g.pane.ID)
	if err != nil {
		return now, err
	}
	if !screen.Shows(&now.snap) {
		return now, errMoving
	}
	now.styled = &screen
	now.dialog = g.desk.SamePart(g.opt.Dialogs.Read(g.desk.ID(), &now.snap, &screen))
	return now, nil
}

// seeDialog looks at a session's pane, and reads the dialog there without its colours.
func (h *Hand) seeDialog(ctx context.Context, srv sessions.TmuxServer, pane sessions.Pane, w sessions.RowWindow) (dialogSnapshot, error) {
	snap, err := srv.Snapshot(ctx, pane.ID, w)
	if err == nil {
		err = snap.Ended(pane.Identity)
	}
	if err != nil {
		return dialogSnapshot{}, err
	}
	now := dialogSnapshot{snap: snap}
	if term, err := srv.Terminal(snap.TTY); err == nil {
		now.unread = term.Unread
	}
	now.dialog = h.opt.Dialogs.Read(h.desk.ID(), &snap, nil)
	return now, nil
}

// reopenPrompt opens the prompt again. If something was pressed, the dialog may still go by it.
func (g *giver) reopenPrompt(err error) sessions.AnswerResult {
	out := sessions.AnswerResult{State: sessions.PromptOpen, Err: err}
	if g.pressed {
		out.Doubt = sessions.ClosedMeantime
	}
	return out
}

// closeAsGone closes the prompt: another dialog is there, or none.
func (g *giver) closeAsGone(now *sessions.Dialog) sessions.AnswerResult {
	if !g.pressed {
		return sessions.GoneBefore(now)
	}
	return sessions.AnswerResult{State: sessions.PromptClosed, Reason: sessions.ClosedMeantime, Err: fmt.Errorf("%w: the question went while the answer was being given; look at the session", sessions.ErrConflict)}
}

// explainUnseen is what comes of a screen that can't be looked at.
func (g *giver) explainUnseen(err error) sessions.AnswerResult {
	switch {
	case errors.Is(err, sessions.ErrEnded), errors.Is(err, sessions.ErrUnknown):
		return sessions.AnswerResult{State: sessions.PromptClosed, Reason: "the session has ended", Err: fmt.Errorf("%w: the question is gone", sessions.ErrEnded)}
	case errors.Is(err, context.DeadlineExceeded):
		err = fmt.Errorf("the session couldn't be seen within %s: %w", giveWithin, err)
	}
	if g.pressed {
		return g.reopenPrompt(fmt.Errorf("%w: the answer was begun; look at the session before you answer again: %w", sessions.ErrUnavailable, err))
	}
	return g.reopenPrompt(fmt.Errorf("%w: nothing was answered: %w", sessions.ErrUnavailable, err))
}

// A key that was read behind another, which answered the question, may come to stand in the input box
// of the program. It's taken away there, for all that's written would wait behind it.
const (
	// lateLooks is in how many looks an answer waits for that.
	lateLooks = 3
	// keyLateWithin is for how long it's looked for after the answer: a program that goes on to do what
	// was allowed draws its box some 0.3 s later. A person who begins to write with that very
	// character needs longer.
	keyLateWithin = 2 * time.Second
	keyLateEvery  = 100 * time.Millisecond
	lookWithin    = 10 * time.Second // until tmux has answered
)

// singleKey is the key of a step that may come to stand in an input box; "": none does.
func singleKey(s sessions.DialogStep) string {
	if s.Text != "" || len(s.Keys) != 1 || utf8.RuneCountInString(s.Keys[0]) != 1 {
		return ""
	}
	return s.Keys[0]
}

// takeOutLateKey reports whether the key of a step stands in the program's input box instead of having
// answered: somebody at the pane had. It's taken away then. now is the look without the question.
func (g *giver) takeOutLateKey(ctx context.Context, step sessions.DialogStep, now *dialogSnapshot) bool {
	key := singleKey(step)
	if key == "" || now.dialog != nil || g.opt.Box == nil {
		return false
	}
	for look := 1; ; look++ {
		switch g.lateKey(&now.snap, key) {
		case keyElsewhere:
			return false
		case keyInBox:
			g.takeOut(ctx, g.srv, g.pane, &now.snap)
			return true
		case keyNotSeen:
		}
		if look == lateLooks || sessions.Pause(ctx, lookEvery) != nil {
			return false
		}
		again, err := g.lookAtDialog(ctx)
		if err != nil || again.dialog != nil {
			return false
		}
		*now = again
	}
}

// lateKeyAt says where the key of an answer is after the question has gone.
type lateKeyAt int

const (
	keyNotSeen   lateKeyAt = iota // the box is empty, or isn't drawn
	keyInBox                      // and nothing else
	keyElsewhere                  // the box has something else, or none is known
)

func (h *Hand) lateKey(snap *sessions.Snapshot, key string) lateKeyAt {
	switch b := h.opt.Box(h.desk.ID(), snap); {
	case !b.Known, b.Shell, b.Open && b.Text != "" && b.Text != key:
		return keyElsewhere
	case b.Open && b.Text == key:
		return keyInBox
	}
	return keyNotSeen
}

// takeOut takes the one character away that stands in the box. Where that fails it stands there for a
// person to see.
func (h *Hand) takeOut(ctx context.Context, srv sessions.TmuxServer, pane sessions.Pane, snap *sessions.Snapshot) {
	guard := sessions.PaneGuard{Pane: pane.ID, Server: pane.Identity, Saw: snap, Rows: h.opt.Box(h.desk.ID(), snap).Rows, Phrases: absentPhrases(h.opt.Phrases, snap), Front: snap.Front}
	taking := paneStep{srv: srv, guard: guard, keys: []string{"BSpace"}}
	_, _ = taking.touchPane(ctx)
}

// takeLateKey looks for a while for the key of an answer in the box, and takes it away there. Who
// answered isn't told otherwise: a question that shows up, or a text that's typed, ends the search.
func (h *Hand) takeLateKey(ctx context.Context, key string) {
	for until := time.Now().Add(keyLateWithin); time.Now().Before(until) && sessions.Pause(ctx, keyLateEvery) == nil; {
		if done := h.lookForLateKey(ctx, key); done {
			return
		}
	}
}

func (h *Hand) lookForLateKey(ctx context.Context, key string) (done bool) {
	s, srv, err := h.desk.Living()
	keys := h.desk.Keyboard()
	if err != nil || keys == nil {
		return true
	}
	if keys.TakeWithin(ctx, lookEvery) != nil { // somebody types, or answers the next
		return false
	}
	defer keys.GiveBack()
	look, cancel := context.WithTimeout(ctx, lookWithin)
	defer cancel()
	snap, err := srv.Snapshot(look, s.Pane.ID, sessions.RowWindow{})
	switch {
	case err != nil || snap.Server != s.Pane.Identity:
		return false
	case h.opt.Dialogs.Read(h.desk.ID(), &snap, nil) != nil:
		return true
	}
	at := h.lateKey(&snap, key)
	if at == keyInBox {
		h.desk.Log().Info("took the key of an answer out of the input box: the question had gone")
		h.takeOut(ctx, srv, s.Pane, &snap)
	}
	return at != keyNotSeen
}

// checks are what was seen of a list of which a part is on the screen at a time, while an
// answer goes through it: which options are checked.
type checks struct {
	key     string // that was pressed last
	print   string // of the dialog
	marked  int    // see ListWindow
	checked map[int]bool
}

// recallChecks adds what was seen before to a look at a list. Where the mark stands somewhere else
// than the keys have moved it, somebody at the pane has: what was seen before counts no more.
func (c *checks) recallChecks(d *sessions.Dialog) {
	if d == nil || d.Window == nil {
		return
	}
	moved := max(d.Window.Marked-c.marked, c.marked-d.Window.Marked)
	if d.Print != c.print || moved > 1 && c.key != strconv.Itoa(d.Window.Marked) {
		c.checked = map[int]bool{}
	}
	c.print, c.marked = d.Print, d.Window.Marked
	for i := range d.Options {
		o := &d.Options[i]
		if !o.Hidden {
			c.checked[i] = o.Checked
		} else if seen, ok := c.checked[i]; ok {
			o.Checked, o.Hidden = seen, false
		}
	}
}
