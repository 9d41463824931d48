package sessions

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// How an answer is given. The waits for a program are a typist's.
const (
	giveSteps      = 40               // keys and texts on the way to one answer
	giveWithin     = 10 * time.Second // all of them
	keyboardWithin = 5 * time.Second  // until nobody else types
	// drawnFor is how long a dialog has to stand before a key is for it: Claude Code 2.1.329
	// passes over what's pressed in the first 130 ms to 200 ms.
	drawnFor    = 500 * time.Millisecond
	unsureLooks = 3 // at a screen without the dialog, or with another: it may be half drawn
	// alikeLooks are at one that may be drawn for another size yet: what asks in the same words about
	// something else, or in place of a dialog that's known one that nobody knows, as Qwen Code 0.15.10
	// looks for 0.2 s after its pane was taller.
	alikeLooks  = 20
	checkedRows = 60 // of a dialog, by the guard
)

// giver gives one answer, in a closed loop: look, have the profile say what to do next,
// do it if the very same dialog is still there, wait until the dialog shows it.
type giver struct {
	m       *Manager
	prompt  Prompt
	dialog  *Dialog // what has to stand there
	tall    *taller // the pane is made taller for what's answered there; nil: it isn't
	srv     Server
	pane    Pane
	marks   bool // the dialog has to be seen with its colours
	checks  checks
	pressed bool // something was
}

// seen is a look at the screen and what was read there.
type seen struct {
	snap   Snapshot
	styled *Screen
	dialog *Dialog // nil: none
	unread int     // bytes that the program hasn't read yet
}

// mayBecome reports whether what was seen may be a dialog that's half drawn yet.
func (s *seen) mayBecome(d *Dialog) bool {
	return s.dialog != nil && (s.dialog.asksLike(d) || s.dialog.Kind == PromptUnread && d.Kind != PromptUnread)
}

// mayReturn reports whether a screen without the dialog may be half drawn: its program was given
// another size a moment ago, or draws no input box either.
func (g *giver) mayReturn(now *seen) bool {
	return g.m.wasTaller(g.prompt.Session) || g.m.opt.Box != nil && g.m.opt.Box(g.prompt.Session, &now.snap).Missing()
}

// errMoving says that two looks at a screen didn't show the same.
var errMoving = errors.New("the screen is being redrawn")

// give gives the answer that counts.
func (m *Manager) give(ctx context.Context, p Prompt) outcome {
	s, srv, err := m.living(p.Session)
	if err != nil {
		return outcome{state: PromptClosed, reason: "the session has ended", err: err}
	}
	g := &giver{m: m, prompt: p, dialog: &p.Dialog, srv: srv, pane: s.Pane}
	keys := m.keyboardOf(p.Session)
	if keys == nil {
		return outcome{state: PromptClosed, reason: "the session is gone", err: fmt.Errorf("%w: the question is gone", ErrEnded)}
	}
	if end, gone := g.awaitTurn(ctx, keys); gone {
		return end
	}
	defer keys.giveBack()
	end := g.runWithin(ctx)
	if ctx.Err() != nil && end.state != PromptAnswered {
		return outcome{state: PromptAnswering, err: fmt.Errorf("%w: panebridge stopped while it was answered; look at the session", ErrUnavailable)}
	}
	return end
}

// awaitTurn takes the keyboard. While somebody else's text is typed the question may go,
// and then nobody waits for that. A reading ends for the answer, and it's waited for.
func (g *giver) awaitTurn(ctx context.Context, keys keyboard) (end outcome, gone bool) {
	for until := time.Now().Add(keyboardWithin); ; {
		err := keys.takeWithin(ctx, lookEvery)
		if err == nil {
			return outcome{}, false
		}
		if shown, known := g.m.shownOf(g.prompt.Session); known && (shown == nil || !shown.Asks(&g.prompt.Dialog)) {
			return g.lost(shown), true
		}
		if ctx.Err() != nil || time.Now().After(until) && !g.m.isRead(g.prompt.Session) {
			return outcome{state: PromptOpen, err: err}, true
		}
	}
}

// runWithin gives the answer in its time, in a taller pane if it has to be there.
func (g *giver) runWithin(ctx context.Context) outcome {
	tall, most := g.prompt.Dialog.Tall != "" && !g.prompt.refuses(), giveWithin
	if tall {
		most += wholeWithin
	}
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	if !tall {
		return g.run(ctx)
	}
	g.tall = &taller{m: g.m, id: g.prompt.Session, srv: g.srv, pane: g.pane}
	defer g.shrink(ctx)
	if end, over := g.grow(ctx); over {
		return end
	}
	return g.run(ctx)
}

func (g *giver) run(ctx context.Context) outcome {
	for range giveSteps {
		now, err := g.stands(ctx)
		if err != nil {
			return g.unseen(err)
		}
		if now.dialog == nil || !now.dialog.Asks(g.dialog) {
			return g.lost(now.dialog)
		}
		if err := now.dialog.takes(*g.prompt.Answer); err != nil { // less of it can be seen now
			return g.back(err)
		}
		if g.m.frontOf(&now.snap).Kind == ProgramShell { // it asks nothing: who asked has left its dialog behind
			return g.lost(nil)
		}
		if now.unread > 0 { // of the pane's own keyboard, say: what it does has to be seen first
			if err := rest(ctx, lookEvery); err != nil {
				return g.unseen(err)
			}
			continue
		}
		switch g.decide(ctx, now.dialog) {
		case DecidedHere:
			g.pressed = true
			g.m.gave(g.prompt.Session, true)
			end, _ := g.watch(ctx, DialogStep{Last: true}, &now)
			return end
		case DecidedElsewhere:
			return g.lost(nil)
		case NotDecided:
		}
		if young := drawnFor - time.Since(g.prompt.OpenedAt); young > 0 {
			if err := rest(ctx, young); err != nil {
				return g.unseen(err)
			}
			continue
		}
		step, err := g.m.opt.Dialogs.Next(g.prompt.Session, now.dialog, *g.prompt.Answer)
		if err != nil {
			if g.marks || errors.Is(err, ErrInvalid) {
				return g.back(err)
			}
			g.marks = true
			continue
		}
		g.checks.key = strings.Join(step.Keys, " ")
		out, err := g.do(ctx, step, &now)
		switch {
		case err != nil:
			return g.failed(err)
		case out == Dead:
			return outcome{state: PromptClosed, reason: "the session's program has ended", err: errDead}
		case out != Done:
			if err := rest(ctx, lookEvery); err != nil {
				return g.unseen(err)
			}
			continue
		}
		if end, over := g.watch(ctx, step, &now); over {
			return end
		}
	}
	return g.back(fmt.Errorf("%w: the screen doesn't stand still, or the way to the answer is too long", ErrUnavailable))
}

// decide gives the answer without a key, where that's possible.
func (g *giver) decide(ctx context.Context, d *Dialog) Decided {
	decide := g.m.opt.Decide
	if decide == nil || g.tall != nil || g.pressed {
		return NotDecided
	}
	return decide(ctx, g.prompt.Session, d, *g.prompt.Answer)
}

// do does one step, if the screen is the one that was seen, letter by letter where the
// dialog stands.
func (g *giver) do(ctx context.Context, step DialogStep, now *seen) (Outcome, error) {
	rows := TellingRows(now.snap.Rows, now.dialog.First, now.dialog.Last, len(now.snap.Rows))
	if g.tall == nil {
		rows = rows[:min(len(rows), checkedRows)]
	} else {
		rows = sampleRows(rows)
	}
	if len(rows) == 0 {
		return "", fmt.Errorf("%w: the question can't be told from what stands above it; answer it in the session", ErrConflict)
	}
	guard := Guard{Pane: g.pane.ID, Server: g.pane.Identity, Saw: &now.snap, Rows: rows, Front: now.snap.Front}
	ctx = context.WithoutCancel(ctx) // once begun, what came of it has to be known
	var out Outcome
	var err error
	if step.Text != "" {
		out, err = g.srv.Paste(ctx, guard, step.Text)
	} else {
		out, err = g.srv.Press(ctx, guard, step.Keys...)
	}
	if out == Done || errors.Is(err, ErrUncertain) {
		g.pressed = true
		g.m.gave(g.prompt.Session, step.Last && out == Done)
		g.m.opt.Pollers.Typed(g.prompt.Session, "")
	}
	return out, err
}

// gave notes that the last step of an answer was done: what ends the session now, the
// answer did.
func (m *Manager) gave(id ID, last bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if e := m.entries[id]; e != nil {
		e.gave = last
	}
}

// watch waits until the dialog shows a step, or the program had time to; over says that
// this was the end.
func (g *giver) watch(ctx context.Context, step DialogStep, before *seen) (end outcome, over bool) {
	begin := time.Now()
	read := begin
	for since := time.Duration(0); since < reactWithin; since = time.Since(read) {
		err := rest(ctx, lookEvery)
		if err != nil {
			break
		}
		now, err := g.see(ctx)
		switch {
		case errors.Is(err, errMoving):
			continue
		case step.Last && (errors.Is(err, ErrEnded) || errors.Is(err, ErrUnknown)):
			return outcome{state: PromptAnswered}, true // that was what ended it
		case err != nil:
			return g.unseen(err), true
		}
		if now.unread > 0 {
			read = time.Now()
			continue
		}
		if step.Last {
			if g.cameLate(ctx, step, &now) {
				return g.lost(nil), true
			}
			if now.dialog == nil || !now.dialog.Asks(before.dialog) {
				return outcome{state: PromptAnswered, key: step.single()}, true
			}
		} else if reacted(step, before, &now, since) && (step.Text == "" || since >= settleFor) {
			return outcome{}, false
		}
	}
	if step.Last && before.dialog.Kind == PromptUnread {
		return outcome{state: PromptAnswered}, true // that the key was pressed is all that's known of it
	}
	if step.Last {
		end = g.back(fmt.Errorf("%w: the answer was given, but the question still stands; look at the session before you answer again", ErrUnavailable))
	} else {
		end = g.back(fmt.Errorf("%w: the session doesn't react to keys; look at it before you answer again", ErrUnavailable))
	}
	return end, true
}

// reacted reports whether a dialog shows a step that was done since ago. That its rows
// changed alone may be anything, a clock say; the mark may move a moment later, or before: Gemini CLI
// 0.61.0 moves it to an option up to 0.2 s before it draws its check, and a key that's pressed again
// in between takes the check away.
func reacted(step DialogStep, before, now *seen, since time.Duration) bool {
	a, b := before.dialog, now.dialog
	if i := step.Toggles - 1; b != nil && i >= 0 && i < min(len(a.Options), len(b.Options)) && since < settleFor {
		return a.Options[i].Checked != b.Options[i].Checked
	}
	if b == nil || a.Print != b.Print || a.Marked != b.Marked || !slices.Equal(a.Options, b.Options) || a.Typed != b.Typed {
		return true
	}
	return since >= settleFor && !slices.Equal(before.rows(), now.rows())
}

// rows are those that the dialog stands in, with colours if they were looked at.
func (s *seen) rows() []string {
	from := s.snap.Rows
	if s.styled != nil {
		from = s.styled.Rows
	}
	return from[max(0, min(s.dialog.First, len(from))):max(0, min(s.dialog.Last+1, len(from)))]
}

// stands looks until the dialog is seen, or surely isn't there.
func (g *giver) stands(ctx context.Context) (seen, error) {
	for looks := 0; ; {
		now, err := g.see(ctx)
		switch {
		case err == nil && now.dialog != nil && now.dialog.Asks(g.dialog):
			return now, nil
		case err == nil:
			if looks++; looks >= alikeLooks || looks >= unsureLooks && !now.mayBecome(g.dialog) && (now.dialog != nil || !g.mayReturn(&now)) {
				return now, nil
			}
		case !errors.Is(err, errMoving) && !errors.Is(err, ErrUnavailable):
			return now, err
		}
		if wait := rest(ctx, lookEvery); wait != nil {
			return now, errors.Join(wait, err)
		}
	}
}

// see takes one look at the screen.
func (g *giver) see(ctx context.Context) (seen, error) {
	now, err := g.read(ctx)
	if err == nil {
		g.checks.recall(now.dialog)
	}
	return now, err
}

// read is see without what was seen before.
func (g *giver) read(ctx context.Context) (seen, error) {
	if g.tall != nil {
		return g.tall.read(ctx, g.marks)
	}
	now, err := g.m.seeDialog(ctx, g.prompt.Session, g.srv, g.pane, Window{})
	if err != nil {
		return now, err
	}
	if now.dialog = g.m.samePartOf(g.prompt.Session, now.dialog); now.dialog == nil || !now.dialog.Styled && !g.marks {
		return now, nil
	}
	screen, err := g.srv.Screen(ctx, g.pane.ID)
	if err != nil {
		return now, err
	}
	if !screen.shows(&now.snap) {
		return now, errMoving
	}
	now.styled = &screen
	now.dialog = g.m.samePartOf(g.prompt.Session, g.m.opt.Dialogs.Read(g.prompt.Session, &now.snap, &screen))
	return now, nil
}

// seeDialog looks at a session's pane, and reads the dialog there without its colours.
func (m *Manager) seeDialog(ctx context.Context, id ID, srv Server, pane Pane, w Window) (seen, error) {
	snap, err := srv.Snapshot(ctx, pane.ID, w)
	if err == nil {
		err = snap.ended(pane.Identity)
	}
	if err != nil {
		return seen{}, err
	}
	now := seen{snap: snap}
	if term, err := srv.Terminal(snap.TTY); err == nil {
		now.unread = term.Unread
	}
	now.dialog = m.opt.Dialogs.Read(id, &snap, nil)
	return now, nil
}

// back opens the prompt again. If something was pressed, the dialog may still go by it.
func (g *giver) back(err error) outcome {
	out := outcome{state: PromptOpen, err: err}
	if g.pressed {
		out.doubt = closedMeantime
	}
	return out
}

// lost closes the prompt: another dialog is there, or none.
func (g *giver) lost(now *Dialog) outcome {
	out := outcome{state: PromptClosed, reason: closedInPane, err: fmt.Errorf("%w: the question is gone; nothing was answered", ErrConflict)}
	switch {
	case g.pressed:
		out.reason = closedMeantime
		out.err = fmt.Errorf("%w: the question went while the answer was being given; look at the session", ErrConflict)
	case now != nil:
		out.reason = closedByOther
		out.err = fmt.Errorf("%w: the question has changed; nothing was answered", ErrConflict)
	}
	return out
}

// unseen is what comes of a screen that can't be looked at.
func (g *giver) unseen(err error) outcome {
	switch {
	case errors.Is(err, ErrEnded), errors.Is(err, ErrUnknown):
		return outcome{state: PromptClosed, reason: "the session has ended", err: fmt.Errorf("%w: the question is gone", ErrEnded)}
	case errors.Is(err, context.DeadlineExceeded):
		err = fmt.Errorf("the session couldn't be seen within %s: %w", giveWithin, err)
	}
	if g.pressed {
		return g.back(fmt.Errorf("%w: the answer was begun; look at the session before you answer again: %w", ErrUnavailable, err))
	}
	return g.back(fmt.Errorf("%w: nothing was answered: %w", ErrUnavailable, err))
}

// failed is what comes of a step that tmux didn't do, or not surely.
func (g *giver) failed(err error) outcome {
	switch {
	case errors.Is(err, ErrUncertain):
		return g.back(fmt.Errorf("%w: the connection to tmux was lost while it was answered; look at the session before you answer again: %w", ErrUnavailable, err))
	case errors.Is(err, ErrConflict):
		return g.back(err)
	}
	return g.unseen(err)
}

// rest waits.
func rest(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
