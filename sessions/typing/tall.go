package typing

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// How high a pane is made, and for how long something is waited for there. See docs/adr/0026.
const (
	wholeFirst = 250  // that the pane is made high at first
	wholeRows  = 1000 // and if that isn't enough; of what's longer only refusals are taken
	// wholeStands is how long a dialog stands whole until it counts: a program may write a
	// screen of that height in parts (Qwen Code takes 0.4 s).
	wholeStands = time.Second
	wholeWithin = 5 * time.Second // until it stands so long
	// answerWithin is the same for an answer: it has stood so before, and on a busy machine programs draw late.
	answerWithin = 10 * time.Second
	// elseWithin is how long something else may stand there before a reading ends, since
	// nobody sees the pane meanwhile. Until a program draws, its question stands there as it
	// was; it takes 0.4 s for a screen of that height.
	elseWithin = 700 * time.Millisecond
	// tornWithin is the same of what may be half drawn: nothing, or a dialog that nobody knows.
	tornWithin = 1400 * time.Millisecond
	// wholeMost is until tmux itself makes a pane as high as it was, whatever becomes of
	// panebridge: longer than an answer takes.
	wholeMost = 45 * time.Second
)

// errElse says that the taller pane shows another question, or none.
var errElse = fmt.Errorf("%w: something else stands there", sessions.ErrNotWhole)

// ReadWhole reads a dialog of which part stands on the screen in a pane that's taller for a
// moment, or very high.
func (h *Hand) ReadWhole(ctx context.Context, part *sessions.Dialog, high bool) (*sessions.Dialog, error) {
	s, srv, err := h.desk.Living()
	if err != nil {
		return nil, err
	}
	t := &taller{Hand: h, srv: srv, pane: s.Pane}
	defer t.settlePane(ctx)
	now, err := t.readDialog(ctx, false)
	if err != nil {
		return nil, err
	}
	if now.dialog == nil || h.desk.SamePart(now.dialog).Print != part.Print {
		return nil, fmt.Errorf("%w: the question has changed", sessions.ErrUnavailable)
	}
	rows := wholeFirst
	if high {
		rows = wholeRows
	}
	whole, err := t.growPane(ctx, tallPane{rows, wholeWithin}, part, func(d *sessions.Dialog) bool { return d.IsWholeOf(part) })
	if errors.Is(err, errElse) {
		return nil, err // settlePane makes it as high as it was
	}
	again, back := t.shrinkPane(ctx, part)
	if err == nil {
		err = back
	}
	if err == nil && (again == nil || !whole.IsWholeOf(again)) {
		err = sessions.ErrNotWhole
	}
	if err != nil {
		return nil, err
	}
	return whole, nil
}

// taller is a pane that's taller for a moment. Whoever makes it so has the keyboard.
type taller struct {
	*Hand

	srv   sessions.TmuxServer
	pane  sessions.Pane
	grown bool
	// touched says that it was made taller, and settlePane has to follow.
	touched bool
}

// readDialog looks at the pane, however high it is.
func (t *taller) readDialog(ctx context.Context, styled bool) (dialogSnapshot, error) {
	now, err := t.seeDialog(ctx, t.srv, t.pane, sessions.RowWindow{Tall: true, Styled: styled})
	if err != nil || now.dialog == nil || !styled {
		return now, err
	}
	snap := &now.snap
	now.styled = &sessions.Screen{Width: snap.Width, Height: snap.Height, Rows: snap.Styled}
	now.dialog = t.opt.Dialogs.Read(t.desk.ID(), snap, now.styled)
	return now, nil
}

// tallPane is how many rows a pane is to have, and for how long a dialog is waited for there.
type tallPane struct {
	rows   int
	within time.Duration
}

// growPane makes the pane taller and returns the dialog that's accepted, once it has stood there
// for some time. What tmux alone makes of a taller pane doesn't count: it puts history above
// the old screen, in which anything may stand. So it has to be another one than was read
// then: the program has drawn it since. Where something else than part stands for elseWithin,
// it's errElse; no part: it's waited for.
func (t *taller) growPane(ctx context.Context, to tallPane, part *sessions.Dialog, accept func(*sessions.Dialog) bool) (*sessions.Dialog, error) {
	before, err := t.srv.Grow(ctx, t.pane.ID, t.pane.Identity, to.rows, wholeMost)
	if err != nil {
		return nil, err
	}
	t.grown, t.touched = true, true
	was := t.opt.Dialogs.Read(t.desk.ID(), &before, nil)
	var last dialogSnapshot
	var since time.Time
	like := time.Now() // when what stood there was last like part
	for end := time.Now().Add(to.within); time.Now().Before(end); {
		if err := sessions.Pause(ctx, lookEvery); err != nil {
			return nil, err
		}
		now, err := t.readDialog(ctx, false)
		if d := now.dialog; part == nil || d != nil && d.AsksLike(part) && (d.Unseen || accept(d)) {
			like = time.Now()
		}
		switch {
		case err != nil:
			return nil, err
		case time.Since(like) >= elseWithin:
			return nil, errElse
		case now.dialog == nil || now.dialog.Unseen || !accept(now.dialog):
			last, since = dialogSnapshot{}, time.Time{}
		case was != nil && was.Print == now.dialog.Print:
			last, since = dialogSnapshot{}, time.Time{}
		case last.dialog == nil || !slices.Equal(last.dialogRows(), now.dialogRows()):
			last, since = now, time.Now()
		case time.Since(since) >= wholeStands:
			return now.dialog, nil
		}
	}
	return nil, sessions.ErrNotWhole
}

// shrinkPane makes the pane as high as it was, and returns the dialog that its program has drawn
// then, which asks like part; nil: it had time to draw one, and there's none. What
// it draws a moment later is the same question, too: see samePart. No part: nobody waits for
// one.
func (t *taller) shrinkPane(ctx context.Context, part *sessions.Dialog) (*sessions.Dialog, error) {
	if !t.grown {
		return nil, nil //nolint:nilnil // there's none
	}
	t.grown = false
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookWithin)
	defer cancel()
	if err := t.srv.Shrink(ctx, t.pane.ID); err != nil {
		return nil, err
	}
	t.desk.NoteBack()
	if part == nil {
		return nil, sessions.Pause(ctx, settleFor)
	}
	var last *sessions.Dialog
	var since time.Time
	like := time.Now() // when what stood there was last like part
	for end := time.Now().Add(sessions.BackWithin); time.Now().Before(end); {
		now, err := t.readDialog(ctx, false)
		if err != nil {
			return nil, err
		}
		most := elseWithin
		if now.dialog == nil || now.mayBecome(part) {
			most = tornWithin
		}
		if now.dialog != nil && now.dialog.AsksLike(part) {
			like = time.Now()
		}
		switch d := now.dialog; {
		case time.Since(like) >= most:
			return nil, errElse
		case d == nil || !d.Unseen || !d.AsksLike(part): // it stands there as it was drawn for the taller pane, say
			last = nil
		case last == nil || last.Print != d.Print:
			last, since = d, time.Now()
			t.desk.SamePart(d)
		case time.Since(since) >= settleFor:
			return d, nil
		}
		if err := sessions.Pause(ctx, lookEvery); err != nil {
			return nil, err
		}
	}
	return last, nil
}

// settlePane lets others see the pane. After a panic it may still be taller.
func (t *taller) settlePane(ctx context.Context) {
	if t.grown {
		_, _ = t.shrinkPane(ctx, nil) // tmux does it later
	}
	if t.touched {
		t.srv.Settle(t.pane.ID)
	}
}

// sampleRows are those of a dialog that the guard compares where there are more than it can:
// the lowest, which are the options, and some of the others by chance, so that nobody can
// know which.
func sampleRows(rows []int) []int {
	const options = 15
	if len(rows) <= checkedRows {
		return rows
	}
	from := len(rows) - options
	out := slices.Clone(rows[from:])
	for _, i := range rand.Perm(from)[:checkedRows-options] {
		out = append(out, rows[i])
	}
	return out
}

// growPane makes the pane taller for an answer, which is one to the whole that was read alone;
// endWith says that it can't be given.
func (g *giver) growPane(ctx context.Context) (end sessions.AnswerResult, over bool) {
	whole := g.prompt.Dialog
	whole.Print, whole.Tall = whole.Tall, ""
	g.dialog = &whole
	rows := wholeFirst
	if whole.High {
		rows = wholeRows
	}
	_, err := g.tall.growPane(ctx, tallPane{rows, answerWithin}, nil, func(d *sessions.Dialog) bool { return d.Asks(&whole) })
	if err == nil {
		return sessions.AnswerResult{}, false
	}
	if errors.Is(err, sessions.ErrNotWhole) { // another may stand there by now, whose part looks the same
		return sessions.AnswerResult{State: sessions.PromptClosed, Reason: sessions.ClosedByOther, Err: fmt.Errorf("%w: the question isn't the one that was shown; nothing was answered", sessions.ErrConflict)}, true
	}
	return g.explainUnseen(err), true
}

// shrinkPane makes the pane as it was before the answer.
func (g *giver) shrinkPane(ctx context.Context) {
	defer g.tall.settlePane(ctx)
	part := &g.prompt.Dialog
	if g.pressed {
		part = nil // it has gone, or somebody looks
	}
	if _, err := g.tall.shrinkPane(ctx, part); err != nil && !errors.Is(err, errElse) {
		g.desk.Log().Warn("make a pane as high as it was", "err", err)
	}
}
