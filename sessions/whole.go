package sessions

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
)

// How a dialog is read of which the screen shows a part: its pane is made taller for a
// moment, so that the program draws it whole. See docs/adr/0026.
const (
	// DrawnFor is how long a dialog has to stand before a key is for it: Claude Code 2.1.329
	// passes over what's pressed in the first 130 ms to 200 ms.
	DrawnFor = 500 * time.Millisecond
	// BackWithin is how long the program may take to draw it as it was before.
	BackWithin = 2 * time.Second
	// wholeLate is until it may draw another part of one that can only be refused: Qwen Code
	// 0.15.10 did 2 s after its pane was as high as before, on a busy machine.
	wholeLate  = 10 * time.Second
	wholeTries = 3                // at a dialog that isn't seen whole in a taller pane either
	wholeNext  = 3 * time.Second  // until the next of them
	wholeAgain = 15 * time.Second // until the next try where somebody is at the terminal
	// Of a program that asks something else whenever it's drawn anew, wholeSwaps questions in a
	// row are read at once, and others after wholeRest: nobody could answer them otherwise.
	wholeSwaps = 3
	wholeRest  = time.Minute
)

// ErrNotWhole says that a taller pane doesn't show all of a dialog, or not surely.
var ErrNotWhole = fmt.Errorf("%w: not all of the question can be seen", ErrConflict)

// toldDialog is a dialog as people are told of it: with all of it, if that was read.
func (a *openQuestion) toldDialog() *Dialog {
	d, w := a.shown, a.whole
	if d == nil || w == nil || d.Print != w.Print || !d.Unseen || d.Disputed {
		return d
	}
	all := *w
	all.Call = d.Call
	return &all
}

// isPartial reports whether a dialog is one of which the screen shows a part, and of which
// something could be allowed if all of it were seen.
func isPartial(d *Dialog) bool {
	return d != nil && d.Unseen && !d.Disputed && d.Kind != PromptUnread &&
		(d.Text != "" || slices.ContainsFunc(d.Options, func(o DialogOption) bool { return !o.Refuses }))
}

// readWhole has the dialog on a session's screen read whole, if the screen shows a part of
// it. m.mu is held.
func (m *Manager) readWhole(e *sessionEntry) {
	d := e.toldDialog()
	if m.ctx == nil || m.ctx.Err() != nil || e.hand == nil || !isPartial(d) || e.reading == d.Print {
		return
	}
	ctx, id, part, wait := m.ctx, e.ID, d.Print, DrawnFor
	e.reading = part
	if e.swaps++; time.Since(e.backAt) > wholeLate {
		e.swaps = 0
	}
	if e.swaps >= wholeSwaps {
		wait = wholeRest
	}
	m.goContained(ctx, id, WorkerWhole, func() { m.tryWhole(ctx, id, part, wait) })
}

// tryWhole tries, after a wait, to read a dialog whole for as long as its prompt is open. Somebody
// who's attached reads it there.
func (m *Manager) tryWhole(ctx context.Context, id ID, part string, wait time.Duration) {
	for tries := 0; tries < wholeTries; {
		if Pause(ctx, wait) != nil {
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
		err := m.lookWhole(ctx, id, d, tries > 0)
		switch {
		case err == nil:
			return
		case errors.Is(err, ErrNotWhole):
			wait = wholeNext
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
	open = m.withEntry(id, func(e *sessionEntry) bool {
		if !e.giving {
			d = e.shown
		}
		return e.reading == part && e.prompt != nil && e.shown != nil && e.shown.Print == part && isPartial(e.toldDialog())
	})
	return d, open
}

// lookWhole has a dialog read whole of which part stands on the screen, and people told of it.
func (m *Manager) lookWhole(ctx context.Context, id ID, part *Dialog, high bool) error {
	e, err := m.entryWithHand(id)
	if err != nil {
		return err
	}
	if err := e.keyboard.TakeWithin(ctx, previewKeyboard); err != nil {
		return err
	}
	defer e.keyboard.GiveBack()
	ctx, ended := m.beginReading(ctx, id)
	defer ended()
	whole, err := e.hand.ReadWhole(ctx, part, high)
	if err != nil {
		return err
	}
	all := *whole
	all.Tall, all.High, all.Print = whole.Print, high, part.Print
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

// tellWhole takes in that a dialog was read whole; its Print is that of the part.
func (m *Manager) tellWhole(ctx context.Context, id ID, whole *Dialog) {
	m.asks.Lock()
	defer m.asks.Unlock()
	m.mu.Lock()
	if e := m.entries[id]; e != nil && e.reading == whole.Print && e.shown != nil && e.shown.Print == whole.Print {
		e.whole, e.swaps = whole, 0
	}
	m.mu.Unlock()
	m.reconcilePromptHeld(ctx, id)
}

// AsksLike reports whether two dialogs ask in the same words and take the same answers,
// whatever they're about.
func (d *Dialog) AsksLike(other *Dialog) bool {
	return d.Kind == other.Kind && d.Form == other.Form && d.Title == other.Title && d.Text == other.Text &&
		slices.EqualFunc(d.Options, other.Options, func(a, b DialogOption) bool {
			return a.Label == b.Label && a.Detail == b.Detail && a.Refuses == b.Refuses
		})
}

// overlapsWith reports whether more than half of what one of two dialogs shows is shown by the other, too,
// in order. Either may show a part.
func (d *Dialog) overlapsWith(other *Dialog) bool {
	some, others := inkRows(d.Body), inkRows(other.Body)
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

// IsWholeOf reports whether a dialog is all of one of which part was seen: it asks the same
// and takes the same answers, and what was seen of the one stands in the other, in order.
func (d *Dialog) IsWholeOf(part *Dialog) bool {
	if d.Unseen || d.Cut || d.Partial || d.Disputed || !d.AsksLike(part) {
		return false
	}
	const own = 2 // rows that only say that there are more, or are cut off themselves
	all, seen := inkRows(d.Body), inkRows(part.Body)
	missing := len(seen) - rowsShared(seen, all)
	return missing <= own && 2*missing <= len(seen) && len(all) >= len(seen)
}

// inkRows are the rows of a text that have letters or signs, without blanks.
func inkRows(text string) []string {
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

// Refuses reports whether what was answered allows nothing.
func (p *Prompt) Refuses() bool {
	a := p.Answer
	return a.Text == "" && len(a.Options) > 0 && !slices.ContainsFunc(a.Options, func(i int) bool { return !p.Dialog.Options[i].Refuses })
}
