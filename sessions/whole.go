package sessions

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
	"unicode"
)

// How a dialog is read of which the screen shows a part: its pane is made taller for a
// moment, so that the program draws it whole. See docs/adr/0026.
const (
	wholeFirst = 250  // that the pane is made high at first
	wholeRows  = 1000 // and if that isn't enough; of what's longer only refusals are taken
	// wholeStands is how long a dialog stands whole until it counts: a program may write a
	// screen of that height in parts (Qwen Code takes 0.4 s).
	wholeStands = time.Second
	wholeWithin = 5 * time.Second // until it stands so long
	// elseWithin is how long something else may stand there before a reading ends, since
	// nobody sees the pane meanwhile. Until a program draws, its question stands there as it
	// was; it takes 0.4 s for a screen of that height.
	elseWithin = 700 * time.Millisecond
	// tornWithin is the same of what may be half drawn: nothing, or a dialog that nobody knows.
	tornWithin = 1400 * time.Millisecond
	// wholeBack is how long the program may take to draw it as it was before.
	wholeBack = 2 * time.Second
	// wholeLate is until it may draw another part of one that can only be refused: Qwen Code
	// 0.15.10 did 2 s after its pane was as high as before, on a busy machine.
	wholeLate = 10 * time.Second
	// wholeMost is until tmux itself makes a pane as high as it was, whatever becomes of
	// panebridge: longer than an answer takes.
	wholeMost  = 45 * time.Second
	wholeTries = 3                // at a dialog that isn't seen whole in a taller pane either
	wholeNext  = 3 * time.Second  // until the next of them
	wholeAgain = 15 * time.Second // until the next try where somebody is at the terminal
	// Of a program that asks something else whenever it's drawn anew, wholeSwaps questions in a
	// row are read at once, and others after wholeRest: nobody could answer them otherwise.
	wholeSwaps = 3
	wholeRest  = time.Minute
)

// errNotWhole says that a taller pane doesn't show all of a dialog, or not surely.
var errNotWhole = fmt.Errorf("%w: not all of the question can be seen", ErrConflict)

// errElse says that the taller pane shows another question, or none.
var errElse = fmt.Errorf("%w: something else stands there", errNotWhole)

// told is a dialog as people are told of it: with all of it, if that was read.
func (a *asking) told() *Dialog {
	d, w := a.shown, a.whole
	if d == nil || w == nil || d.Print != w.Print || !d.Unseen || d.Disputed {
		return d
	}
	all := *w
	all.Call = d.Call
	return &all
}

// partOf reports whether a dialog is one of which the screen shows a part, and of which
// something could be allowed if all of it were seen.
func partOf(d *Dialog) bool {
	return d != nil && d.Unseen && !d.Disputed && d.Kind != PromptUnread &&
		(d.Text != "" || slices.ContainsFunc(d.Options, func(o DialogOption) bool { return !o.Refuses }))
}

// readWhole has the dialog on a session's screen read whole, if the screen shows a part of
// it. m.mu is held.
func (m *Manager) readWhole(e *entry) {
	d := e.told()
	if m.ctx == nil || m.ctx.Err() != nil || !partOf(d) || e.reading == d.Print {
		return
	}
	ctx, id, part, wait := m.ctx, e.ID, d.Print, drawnFor
	e.reading = part
	if e.swaps++; time.Since(e.backAt) > wholeLate {
		e.swaps = 0
	}
	if e.swaps >= wholeSwaps {
		wait = wholeRest
	}
	m.typists.Go(func() {
		m.containPanic(ctx, id, WorkerWhole, func() { m.tryWhole(ctx, id, part, wait) })
	})
}

// tryWhole tries, after a wait, to read a dialog whole for as long as its prompt is open. Somebody
// who's attached reads it there.
func (m *Manager) tryWhole(ctx context.Context, id ID, part string, wait time.Duration) {
	rows := wholeFirst
	for tries := 0; tries < wholeTries; {
		if rest(ctx, wait) != nil {
			return
		}
		wait = wholeAgain
		d, open := m.standsInPart(id, part)
		if !open {
			return
		}
		if d == nil {
			continue // an answer is being given
		}
		err := m.lookWhole(ctx, id, d, rows)
		switch {
		case err == nil:
			return
		case errors.Is(err, errNotWhole):
			wait, rows = wholeNext, wholeRows
			tries++
		case errors.Is(err, ErrUnavailable), errors.Is(err, context.Canceled): // an answer came
			wait = wholeNext
		}
		m.log.Debug("a question isn't read whole", "session", id, "err", err)
	}
}

// standsInPart is the dialog of which a part is shown, nil while it's being answered; open:
// its prompt is.
func (m *Manager) standsInPart(id ID, part string) (d *Dialog, open bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.entries[id]
	if e == nil || e.reading != part || e.prompt == nil || e.shown == nil || e.shown.Print != part || !partOf(e.told()) {
		return nil, false
	}
	if e.giving {
		return nil, true
	}
	return e.shown, true
}

// lookWhole reads a dialog whole of which part stands on the screen, and has people told of
// it.
func (m *Manager) lookWhole(ctx context.Context, id ID, part *Dialog, rows int) error {
	s, srv, err := m.living(id)
	if err != nil {
		return err
	}
	keys := m.keyboardOf(id)
	if keys == nil {
		return fmt.Errorf("%w: the session is gone", ErrEnded)
	}
	if err := keys.takeWithin(ctx, previewKeyboard); err != nil {
		return err
	}
	defer keys.giveBack()
	ctx, ended := m.beginReading(ctx, id)
	defer ended()
	t := &taller{m: m, id: id, srv: srv, pane: s.Pane}
	defer t.settle(ctx)
	now, err := t.read(ctx, false)
	if err != nil {
		return err
	}
	if now.dialog == nil || m.samePartOf(id, now.dialog).Print != part.Print {
		return fmt.Errorf("%w: the question has changed", ErrUnavailable)
	}
	whole, err := t.grow(ctx, rows, part, func(d *Dialog) bool { return d.isWholeOf(part) })
	if errors.Is(err, errElse) {
		return err // settle makes it as high as it was
	}
	again, back := t.shrink(ctx, part)
	if err == nil {
		err = back
	}
	if err == nil && (again == nil || !whole.isWholeOf(again)) {
		err = errNotWhole
	}
	if err != nil {
		return err
	}
	all := *whole
	all.Tall, all.Print = whole.Print, part.Print
	m.tellWhole(ctx, id, &all)
	return nil
}

// beginReading notes that a session's pane is about to be made taller for a reading, until
// ended. The context ends with what's done meanwhile: an answer doesn't wait for a reading,
// which is made for who answers.
func (m *Manager) beginReading(ctx context.Context, id ID) (reading context.Context, ended func()) {
	reading, stop := context.WithCancel(ctx)
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.entries[id]
	if e == nil || e.giving {
		stop()
		return reading, stop
	}
	e.endReading = stop
	return reading, func() {
		stop()
		m.mu.Lock()
		defer m.mu.Unlock()
		e.endReading = nil
	}
}

// isRead reports whether a session's pane is taller for a reading.
func (m *Manager) isRead(id ID) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.entries[id]
	return e != nil && e.endReading != nil
}

// wasTaller reports whether a session's pane was taller a moment ago: its program may be drawing it
// anew.
func (m *Manager) wasTaller(id ID) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.entries[id]
	return e != nil && time.Since(e.backAt) < wholeBack
}

// noteBack notes that a session's pane is as high as it was before a reading.
func (m *Manager) noteBack(id ID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if e := m.entries[id]; e != nil {
		e.backAt = time.Now()
	}
}

// tellWhole takes in that a dialog was read whole; its Print is that of the part.
func (m *Manager) tellWhole(ctx context.Context, id ID, whole *Dialog) {
	m.asks.Lock()
	defer m.asks.Unlock()
	m.mu.Lock()
	if e := m.entries[id]; e != nil && e.reading == whole.Print && e.shown != nil && e.shown.Print == whole.Print {
		e.whole, e.swaps = whole, 0
	}
	m.mu.Unlock()
	m.takeInHeld(ctx, id)
}

// asksLike reports whether two dialogs ask in the same words and take the same answers,
// whatever they're about.
func (d *Dialog) asksLike(other *Dialog) bool {
	return d.Kind == other.Kind && d.Form == other.Form && d.Title == other.Title && d.Text == other.Text &&
		slices.EqualFunc(d.Options, other.Options, func(a, b DialogOption) bool {
			return a.Label == b.Label && a.Detail == b.Detail && a.Refuses == b.Refuses
		})
}

// overlaps reports whether more than half of what one of two dialogs shows is shown by the other, too,
// in order. Either may show a part.
func (d *Dialog) overlaps(other *Dialog) bool {
	some, others := telling(d.Body), telling(other.Body)
	fewer := min(len(some), len(others))
	return 2*rowsShared(some, others) > fewer
}

// rowsShared is the most rows that two texts have in the same order: rows of a command may
// occur again.
func rowsShared(some, others []string) int {
	shared := make([]int, len(others)+1) // by the rows of some so far and the first n of others
	for _, row := range some {
		before := 0 // what shared[n] was for the rows before
		for n, other := range others {
			was := shared[n+1]
			if row == other {
				shared[n+1] = before + 1
			} else {
				shared[n+1] = max(was, shared[n])
			}
			before = was
		}
	}
	return shared[len(others)]
}

// isWholeOf reports whether a dialog is all of one of which part was seen: it asks the same
// and takes the same answers, and what was seen of the one stands in the other, in order.
func (d *Dialog) isWholeOf(part *Dialog) bool {
	if d.Unseen || d.Cut || d.Partial || d.Disputed || !d.asksLike(part) {
		return false
	}
	const own = 2 // rows that only say that there are more, or are cut off themselves
	all, seen := telling(d.Body), telling(part.Body)
	missing := len(seen) - rowsShared(seen, all)
	return missing <= own && 2*missing <= len(seen) && len(all) >= len(seen)
}

// telling are the rows of a text that have letters or signs, without blanks.
func telling(text string) []string {
	var out []string
	for row := range strings.SplitSeq(text, "\n") {
		row = strings.Map(func(r rune) rune {
			if unicode.IsSpace(r) {
				return -1
			}
			return r
		}, row)
		if row != "" {
			out = append(out, row)
		}
	}
	return out
}

// taller is a pane that's taller for a moment. Whoever makes it so has the keyboard.
type taller struct {
	m     *Manager
	id    ID
	srv   Server
	pane  Pane
	grown bool
	// touched says that it was made taller, and settle has to follow.
	touched bool
}

// read looks at the pane, however high it is.
func (t *taller) read(ctx context.Context, styled bool) (seen, error) {
	now, err := t.m.seeDialog(ctx, t.id, t.srv, t.pane, Window{Tall: true, Styled: styled})
	if err != nil || now.dialog == nil || !styled {
		return now, err
	}
	snap := &now.snap
	now.styled = &Screen{Width: snap.Width, Height: snap.Height, Rows: snap.Styled}
	now.dialog = t.m.opt.Dialogs.Read(t.id, snap, now.styled)
	return now, nil
}

// grow makes the pane taller and returns the dialog that's accepted, once it has stood there
// for some time. What tmux alone makes of a taller pane doesn't count: it puts history above
// the old screen, in which anything may stand. So it has to be another one than was read
// then: the program has drawn it since. Where something else than part stands for elseWithin,
// it's errElse; no part: it's waited for.
func (t *taller) grow(ctx context.Context, rows int, part *Dialog, accept func(*Dialog) bool) (*Dialog, error) {
	before, err := t.srv.Grow(ctx, t.pane.ID, t.pane.Identity, rows, wholeMost)
	if err != nil {
		return nil, err
	}
	t.grown, t.touched = true, true
	was := t.m.opt.Dialogs.Read(t.id, &before, nil)
	var last seen
	var since time.Time
	like := time.Now() // when what stood there was last like part
	for end := time.Now().Add(wholeWithin); time.Now().Before(end); {
		if err := rest(ctx, lookEvery); err != nil {
			return nil, err
		}
		now, err := t.read(ctx, false)
		if d := now.dialog; part == nil || d != nil && d.asksLike(part) && (d.Unseen || accept(d)) {
			like = time.Now()
		}
		switch {
		case err != nil:
			return nil, err
		case time.Since(like) >= elseWithin:
			return nil, errElse
		case now.dialog == nil || now.dialog.Unseen || !accept(now.dialog):
			last, since = seen{}, time.Time{}
		case was != nil && was.Print == now.dialog.Print:
			last, since = seen{}, time.Time{}
		case last.dialog == nil || !slices.Equal(last.rows(), now.rows()):
			last, since = now, time.Now()
		case time.Since(since) >= wholeStands:
			return now.dialog, nil
		}
	}
	return nil, errNotWhole
}

// shrink makes the pane as high as it was, and returns the dialog that its program has drawn
// then, which asks like part; nil: it had time to draw one, and there's none. What
// it draws a moment later is the same question, too: see samePart. No part: nobody waits for
// one.
func (t *taller) shrink(ctx context.Context, part *Dialog) (*Dialog, error) {
	if !t.grown {
		return nil, nil
	}
	t.grown = false
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tmuxTimeout)
	defer cancel()
	if err := t.srv.Shrink(ctx, t.pane.ID); err != nil {
		return nil, err
	}
	t.m.noteBack(t.id)
	if part == nil {
		return nil, rest(ctx, settleFor)
	}
	var last *Dialog
	var since time.Time
	like := time.Now() // when what stood there was last like part
	for end := time.Now().Add(wholeBack); time.Now().Before(end); {
		now, err := t.read(ctx, false)
		if err != nil {
			return nil, err
		}
		most := elseWithin
		if now.dialog == nil || now.mayBecome(part) {
			most = tornWithin
		}
		if now.dialog != nil && now.dialog.asksLike(part) {
			like = time.Now()
		}
		switch d := now.dialog; {
		case time.Since(like) >= most:
			return nil, errElse
		case d == nil || !d.Unseen || !d.asksLike(part): // it stands there as it was drawn for the taller pane, say
			last = nil
		case last == nil || last.Print != d.Print:
			last, since = d, time.Now()
			t.m.samePartOf(t.id, d)
		case time.Since(since) >= settleFor:
			return d, nil
		}
		if err := rest(ctx, lookEvery); err != nil {
			return nil, err
		}
	}
	return last, nil
}

// settle lets others see the pane. After a panic it may still be taller.
func (t *taller) settle(ctx context.Context) {
	if t.grown {
		_, _ = t.shrink(ctx, nil) // tmux does it later
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

// refuses reports whether what was answered allows nothing.
func (p *Prompt) refuses() bool {
	a := p.Answer
	return a.Text == "" && len(a.Options) > 0 && !slices.ContainsFunc(a.Options, func(i int) bool { return !p.Dialog.Options[i].Refuses })
}

// grow makes the pane taller for an answer, which is one to the whole that was read alone;
// over says that it can't be given.
func (g *giver) grow(ctx context.Context) (end outcome, over bool) {
	whole := g.prompt.Dialog
	whole.Print, whole.Tall = whole.Tall, ""
	g.dialog = &whole
	rows := wholeFirst
	if strings.Count(whole.Body, "\n") > wholeFirst/2 {
		rows = wholeRows
	}
	_, err := g.tall.grow(ctx, rows, nil, func(d *Dialog) bool { return d.Asks(&whole) })
	if err == nil {
		return outcome{}, false
	}
	if errors.Is(err, errNotWhole) { // another may stand there by now, whose part looks the same
		return outcome{state: PromptClosed, reason: closedByOther, err: fmt.Errorf("%w: the question isn't the one that was shown; nothing was answered", ErrConflict)}, true
	}
	return g.unseen(err), true
}

// shrink makes the pane as it was before the answer.
func (g *giver) shrink(ctx context.Context) {
	defer g.tall.settle(ctx)
	part := &g.prompt.Dialog
	if g.pressed {
		part = nil // it has gone, or somebody looks
	}
	if _, err := g.tall.shrink(ctx, part); err != nil && !errors.Is(err, errElse) {
		g.m.log.Warn("make a pane as high as it was", "session", g.prompt.Session, "err", err)
	}
}
