package sessions

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"
)

// Hand types into one session's pane: the Manager says what, and when. Its methods block until
// it's done, or surely can't be. Whoever calls one but TypeText or PressKeys has the session's keyboard.
type Hand interface {
	// TypeText types a text, and holds it while something is in the way. It returns when the
	// receipt is final, when ctx ends, or shortly after that if the text is in the pane.
	TypeText(ctx context.Context, r Receipt)
	// TypePreview types a preview, if nothing speaks against it now: see Manager.TypePreview.
	TypePreview(ctx context.Context, p Preview) (sent bool, why string, err error)
	// FinishPreview submits a preview that stands in the input box: see Manager.FinishPreview.
	FinishPreview(ctx context.Context, p Preview) (end PreviewEnd, why string)
	// GiveAnswer gives the answer of a prompt that counts.
	GiveAnswer(ctx context.Context, p Prompt) Given
	// PressKeys presses keys as soon as the screen is one on which they may be.
	PressKeys(ctx context.Context, p KeyPress) (Outcome, error)
	// ReadWhole reads a dialog of which part stands on the screen, in a pane that's made taller
	// for a moment, or very high. ErrNotWhole says that it can't be seen whole so.
	ReadWhole(ctx context.Context, part *Dialog, high bool) (*Dialog, error)
}

// Preview is a text that's typed and submitted now or not at all: it tells somebody of
// something that's kept elsewhere.
type Preview struct {
	Text string
	// Command says that the text is a command of panebridge's own, which a shell may run.
	// Any other text is typed into no shell.
	Command bool
	// Plain is what's typed in place of a text that isn't a command into a program that's no
	// known agent: it may run what it's given, as a shell at the other end of ssh does, or an
	// interpreter. So it has no words of others. "": nothing is.
	Plain string
	// Fit makes Text or Plain one for the program in the pane, which may need another word
	// for a command than others. Nil: it's typed as it is.
	Fit   func(text string, s *Snapshot) string
	Box   func(*Snapshot) Box  // reads the input box of the program in the pane
	Shell func(*Snapshot) bool // says whether that's a shell
	// Stop is closed when only what needs no waiting for others is still to be done. Nil:
	// never; a Manager's own Run sees to it.
	Stop <-chan struct{}
}

// PreviewEnd is what became of a preview whose typing was cut off.
type PreviewEnd int

// The ends.
const (
	// PreviewUnknown: it's gone, or it can't be told.
	PreviewUnknown PreviewEnd = iota
	// PreviewFinished: it stood in the input box, and is submitted.
	PreviewFinished
	// PreviewUnclear: what's in the way may pass.
	PreviewUnclear
)

// Given is what became of an answer that counted.
type Given struct {
	State  PromptState // PromptOpen: it's to be answered again
	Reason string      // of PromptClosed
	Doubt  string      // of PromptOpen: why the prompt may go though nobody answers it in the pane; "": nothing was pressed
	Err    error       // for who answered
}

// Desk is what the hand of one session knows of it, and tells of what it types there. Its
// methods may be called from any goroutine.
type Desk struct {
	m  *Manager
	id ID
}

// holds reports whether the session is known, and something holds of it. f is called with the registry
// locked, and may change what it's given.
func (d *Desk) holds(f func(e *entry) bool) bool {
	d.m.mu.Lock()
	defer d.m.mu.Unlock()
	e := d.m.entries[d.id]
	return e != nil && f(e)
}

// ID is the session's.
func (d *Desk) ID() ID { return d.id }

// Log returns a logger whose lines name the session.
func (d *Desk) Log() *slog.Logger { return d.m.log.With("session", d.id) }

// Living returns the session and its tmux server; ErrEnded or ErrUnknown if it has ended.
func (d *Desk) Living() (Session, Server, error) { return d.m.living(d.id) }

// Keyboard returns who may type into the session; nil: there's no such session any more.
func (d *Desk) Keyboard() Keyboard { return d.m.keyboardOf(d.id) }

// Typed tells the session's poller that a text was typed; "": Enter or other keys.
func (d *Desk) Typed(text string) { d.m.opt.Pollers.Typed(d.id, text) }

// SetReceipt changes a waiting receipt, if change says so, and stores and tells it. change
// is called with the registry locked. ok is false if nothing was changed: the receipt is final, or
// what's about to be done couldn't be stored.
func (d *Desk) SetReceipt(ctx context.Context, receipt string, change func(*Receipt) bool) (r Receipt, ok bool) {
	r, ok, _ = d.m.setReceipt(ctx, d.id, receipt, change) // a failure to store it is logged
	return r, ok
}

// IsOpen reports whether a receipt is the first of the session, and still to be worked on.
func (d *Desk) IsOpen(receipt string) bool {
	return d.holds(func(e *entry) bool { return len(e.queue) > 0 && e.queue[0].ID == receipt && !e.queue[0].Final() })
}

// TakeLeft reports whether a receipt was being typed when the daemon's last run ended. It
// says so once.
func (d *Desk) TakeLeft(receipt string) bool {
	return d.holds(func(e *entry) bool {
		left := e.left && len(e.queue) > 0 && e.queue[0].ID == receipt
		e.left = e.left && !left
		return left
	})
}

// TakeGoAhead takes the go-ahead that somebody has left for a receipt; nil: nobody has.
// Who takes it has to answer it.
func (d *Desk) TakeGoAhead(receipt string) (ahead *GoAhead) {
	d.holds(func(e *entry) bool {
		if e.ahead != nil && e.ahead.Receipt == receipt {
			ahead, e.ahead = e.ahead, nil
		}
		return true
	})
	return ahead
}

// AwaitProof begins to look for a text among what the session's agent is asked from a time on.
func (d *Desk) AwaitProof(r Receipt, from time.Time) { d.m.awaitProof(r, from) }

// IsProved reports whether a text is known to be one that the agent was asked.
func (d *Desk) IsProved(receipt string) bool {
	return d.holds(func(e *entry) bool { return e.proved(receipt) })
}

// TellAuthor writes into the session's log who wrote what's about to be submitted.
func (d *Desk) TellAuthor(ctx context.Context, r Receipt) error {
	author := inShort(cmp.Or(r.Name, r.Author), maxName)
	if author == "" || strings.TrimSpace(r.Text) == "" {
		return nil
	}
	var lines []Line
	for text := range strings.SplitSeq(strings.Trim(r.Text, "\n"), "\n") {
		lines = append(lines, Line{Kind: KindUser, Text: text, Author: author, Origin: r.Origin, Begins: lines == nil})
	}
	if err := d.m.publish(ctx, r.Session, lines); err != nil {
		return fmt.Errorf("write who wrote an input: %w", err)
	}
	return nil
}

// Reaches reports whether a text that was written to somebody at a time is read by them, if
// it's typed now.
func (d *Desk) Reaches(to Addressee, front Program, written time.Time) bool {
	return d.holds(func(e *entry) bool {
		inside := to.Agent() != "" && to.Agent() == e.Source.Program && time.Since(front.Started) > settledIn &&
			(front.Kind == ProgramOther || front.Kind == ProgramOwn)
		return inside || to.reaches(front, written)
	})
}

// Address makes a program the one that people write to.
func (d *Desk) Address(ctx context.Context, to Addressee) { d.m.setAddressee(ctx, d.id, to) }

// Yields reports whether another program becomes the session's addressee by itself.
func (d *Desk) Yields(to Addressee) bool {
	return d.holds(func(e *entry) bool { return e.Addressee.yieldsTo(to) })
}

// LastConversation is the id of the one that an agent had in the session; "": it isn't known.
func (d *Desk) LastConversation(agent string) (id string) {
	d.holds(func(e *entry) bool {
		if e.was.Program == agent && conversationIDs.MatchString(e.was.Conversation) {
			id = e.was.Conversation
		}
		return true
	})
	return id
}

// Shown is the dialog on the screen, nil: none, as the poller told last; known: it has told.
func (d *Desk) Shown() (shown *Dialog, known bool) { return d.m.shownOf(d.id) }

// AsksNow reports whether a dialog is known to be open.
func (d *Desk) AsksNow() bool {
	return d.holds(func(e *entry) bool {
		return e.prompt != nil && e.prompt.Kind() != PromptLine || e.shown != nil && e.shown.Kind != PromptLine
	})
}

// HadSeen reports whether a dialog was open when a person saw the screen: see KeyPress.Seen.
func (d *Desk) HadSeen(dialog *Dialog, seen time.Time) bool {
	if seen.IsZero() {
		return true
	}
	return d.holds(func(e *entry) bool {
		if dialog == nil { // one that can't be read, and so has no prompt
			return e.State == StateWaiting
		}
		return e.prompt != nil && e.prompt.Dialog.Print == dialog.Print && !e.prompt.OpenedAt.After(seen)
	})
}

// TurnBeganSince reports whether a turn of the session's program began at a time or later.
func (d *Desk) TurnBeganSince(at time.Time) bool {
	return d.holds(func(e *entry) bool {
		return !at.IsZero() && e.Turn.Number > 0 && e.Turn.StartedAt.After(at.Add(-submitSlack))
	})
}

// NoteGiven notes that a step of an answer was done; last: what ends the session now, the
// answer did.
func (d *Desk) NoteGiven(last bool) {
	d.holds(func(e *entry) bool { e.gave = last; return true })
}

// SamePart returns a dialog under the Print of the part that was seen first, if it's another part of
// the same.
func (d *Desk) SamePart(dialog *Dialog) *Dialog { return d.m.samePartOf(d.id, dialog) }

// NoteBack notes that the pane is as high as it was before it was made taller.
func (d *Desk) NoteBack() {
	d.holds(func(e *entry) bool { e.backAt = time.Now(); return true })
}

// WasTaller reports whether the pane was taller a moment ago: its program may be drawing it anew.
func (d *Desk) WasTaller() bool {
	return d.holds(func(e *entry) bool { return time.Since(e.backAt) < BackWithin })
}

// LookLater runs f, which looks at the session, for as long as it takes.
func (d *Desk) LookLater(f func(ctx context.Context)) { d.m.lookLater(d.id, f) }

// Keyboard is who may type into a session: one at a time. A typist has it from its
// paste until its Enter was taken, who gives an answer from the first look to the last.
// Without it an answer's keys could come between a text and its Enter, and a text into
// a dialog on whose way an answer is. Keys that a person presses don't ask for it: they
// come at once, as from the pane's own keyboard, and the guards see to the rest.
type Keyboard chan struct{}

func newKeyboard() Keyboard { return make(Keyboard, 1) }

// Take waits until nobody else has it.
func (k Keyboard) Take(ctx context.Context) error {
	select {
	case k <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// TakeWithin is Take for those who'd rather be told.
func (k Keyboard) TakeWithin(ctx context.Context, d time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	if err := k.Take(ctx); err != nil {
		return fmt.Errorf("%w: somebody's text is being typed into the session; answer again in a moment", ErrUnavailable)
	}
	return nil
}

// GiveBack lets the next have it.
func (k Keyboard) GiveBack() { <-k }

// keyboardOf is the keyboard of a session; nil: there's no such session any more.
func (m *Manager) keyboardOf(id ID) Keyboard {
	m.mu.Lock()
	defer m.mu.Unlock()
	if e := m.entries[id]; e != nil {
		return e.keyboard
	}
	return nil
}
