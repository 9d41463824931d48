package sessions

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
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
	GiveAnswer(ctx context.Context, p Prompt) AnswerResult
	// PressKeys presses keys as soon as the screen is one on which they may be.
	PressKeys(ctx context.Context, p KeyPress) (GuardOutcome, error)
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
	Box   func(*Snapshot) InputBox // reads the input box of the program in the pane
	Shell func(*Snapshot) bool     // says whether that's a shell
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

// AnswerResult is what became of an answer that counted.
type AnswerResult struct {
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

func (d *Desk) withEntry(f func(e *sessionEntry) bool) bool { return d.m.withEntry(d.id, f) }

// ID is the session's.
func (d *Desk) ID() ID { return d.id }

// Log returns a logger whose lines name the session.
func (d *Desk) Log() *slog.Logger { return d.m.log.With("session", d.id) }

// Living returns the session and its tmux server; ErrEnded or ErrUnknown if it has ended.
func (d *Desk) Living() (Session, TmuxServer, error) { return d.m.livingSession(d.id) }

// Keyboard returns who may type into the session; nil: there's no such session any more.
func (d *Desk) Keyboard() (k Keyboard) {
	d.withEntry(func(e *sessionEntry) bool { k = e.keyboard; return true })
	return k
}

// NoteTyped tells the session's poller that a text was typed; "": Enter or other keys.
func (d *Desk) NoteTyped(text string) { d.m.opt.Pollers.NoteTyped(d.id, text) }

// SetReceipt changes a waiting receipt, if change says so, and stores and tells it. change
// is called with the registry locked. ok is false if nothing was changed: the receipt is final, or
// what's about to be done couldn't be stored.
func (d *Desk) SetReceipt(ctx context.Context, receipt string, change func(*Receipt) bool) (r Receipt, ok bool) {
	r, ok, _ = d.m.setReceipt(ctx, d.id, receipt, change) // a failure to store it is logged
	return r, ok
}

// IsOpen reports whether a receipt is the first of the session, and still to be worked on.
func (d *Desk) IsOpen(receipt string) bool {
	return d.withEntry(func(e *sessionEntry) bool { return len(e.queue) > 0 && e.queue[0].ID == receipt && !e.queue[0].Final() })
}

// TakeLeft reports whether a receipt was being typed when the daemon's last run ended. It
// says so once.
func (d *Desk) TakeLeft(receipt string) bool {
	return d.withEntry(func(e *sessionEntry) bool {
		left := e.left && len(e.queue) > 0 && e.queue[0].ID == receipt
		e.left = e.left && !left
		return left
	})
}

// TakeGoAhead takes the go-ahead that somebody has left for a receipt; nil: nobody has.
// Who takes it has to answer it.
func (d *Desk) TakeGoAhead(receipt string) (ahead *GoAhead) {
	d.withEntry(func(e *sessionEntry) bool {
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
	return d.withEntry(func(e *sessionEntry) bool { return e.isProved(receipt) })
}

// TellAuthor writes into the session's log who wrote what's about to be submitted.
func (d *Desk) TellAuthor(ctx context.Context, r Receipt) error {
	author := shortLine(cmp.Or(r.Name, r.Author), maxName)
	if author == "" || strings.TrimSpace(r.Text) == "" {
		return nil
	}
	var lines []Line
	for text := range strings.SplitSeq(strings.Trim(r.Text, "\n"), "\n") {
		lines = append(lines, Line{Kind: KindUser, Text: text, Author: author, Origin: r.Origin, Begins: lines == nil, Receipt: r.ID})
	}
	if err := d.m.publishLines(ctx, r.Session, lines); err != nil {
		return fmt.Errorf("write who wrote an input: %w", err)
	}
	return nil
}

// Reaches reports whether a text that was written to somebody at a time is read by them, if
// it's typed now.
func (d *Desk) Reaches(to Addressee, front Program, written time.Time) bool {
	return d.withEntry(func(e *sessionEntry) bool {
		inside := to.Agent() != "" && to.Agent() == e.Source.Program && time.Since(front.Started) > settledIn &&
			(front.Kind == ProgramOther || front.Kind == ProgramOwn)
		return inside || to.reaches(front, written)
	})
}

// Address makes a program the one that people write to.
func (d *Desk) Address(ctx context.Context, to Addressee) { d.m.setAddressee(ctx, d.id, to) }

// Yields reports whether another program becomes the session's addressee by itself.
func (d *Desk) Yields(to Addressee) bool {
	return d.withEntry(func(e *sessionEntry) bool { return e.Addressee.yieldsTo(to) })
}

// LastConversation is the id of the one that an agent had in the session; "": it isn't known.
func (d *Desk) LastConversation(agent string) (id string) {
	d.withEntry(func(e *sessionEntry) bool {
		if e.was.Program == agent && conversationIDs.MatchString(e.was.Conversation) {
			id = e.was.Conversation
		}
		return true
	})
	return id
}

// Shown returns the dialog on the screen as the poller told last; nil: there's none. known is false until the
// poller has told.
func (d *Desk) Shown() (shown *Dialog, known bool) { return d.m.shownOf(d.id) }

// AsksNow reports whether a dialog is known to be open.
func (d *Desk) AsksNow() bool {
	return d.withEntry(func(e *sessionEntry) bool {
		return e.prompt != nil && e.prompt.Kind() != PromptLine || e.shown != nil && e.shown.Kind != PromptLine
	})
}

// HadSeen reports whether a dialog was open when a person saw the screen: see KeyPress.Seen.
func (d *Desk) HadSeen(dialog *Dialog, seen time.Time) bool {
	if seen.IsZero() {
		return true
	}
	return d.withEntry(func(e *sessionEntry) bool {
		if dialog == nil { // one that can't be read, and so has no prompt
			return e.State == StateWaiting
		}
		return e.prompt != nil && e.prompt.Dialog.Print == dialog.Print && !e.prompt.OpenedAt.After(seen)
	})
}

// TurnBeganSince reports whether a turn of the session's program began at a time or later.
func (d *Desk) TurnBeganSince(at time.Time) bool {
	return d.withEntry(func(e *sessionEntry) bool {
		return !at.IsZero() && e.Turn.Number > 0 && e.Turn.StartedAt.After(at.Add(-submitSlack))
	})
}

// NoteGiven notes that a step of an answer was done; last: what ends the session now, the
// answer did.
func (d *Desk) NoteGiven(last bool) {
	d.withEntry(func(e *sessionEntry) bool { e.gave = last; return true })
}

// SamePart returns a dialog under the Print of the part that was seen first, if it's another part of
// the same.
func (d *Desk) SamePart(dialog *Dialog) *Dialog { return d.m.samePartOf(d.id, dialog) }

// NoteBack notes that the pane is as high as it was before it was made taller.
func (d *Desk) NoteBack() {
	d.withEntry(func(e *sessionEntry) bool { e.backAt = time.Now(); return true })
}

// WasTaller reports whether the pane was taller a moment ago: its program may be drawing it anew.
func (d *Desk) WasTaller() bool {
	return d.withEntry(func(e *sessionEntry) bool { return time.Since(e.backAt) < BackWithin })
}

// LookLater runs f, which looks at the session, for as long as it takes.
func (d *Desk) LookLater(f func(ctx context.Context)) { d.m.lookLater(d.id, f) }

// Keyboard is who may type into a session: one at a time. A typist has it from its
// paste until its Enter was taken, who gives an answer from the first look to the last.
// Without it an answer's keys could come between a text and its Enter, and a text into
// a dialog on whose way an answer is. Keys that a person presses don't ask for it: they
// come at once, as from the pane's own keyboard, and the guards see to the rest.
type Keyboard chan struct{}

// Take waits until nobody else has it.
func (k Keyboard) Take(ctx context.Context) error {
	select {
	case k <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// TakeWithin is Take that fails with ErrUnavailable after a time.
func (k Keyboard) TakeWithin(ctx context.Context, d time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	if err := k.Take(ctx); err != nil {
		return fmt.Errorf("%w: somebody's text is being typed into the session; answer again in a moment", ErrUnavailable)
	}
	return nil
}

// GiveBack gives it to the next who waits.
func (k Keyboard) GiveBack() { <-k }

// previewKeyboard is how long a preview, or the reading of a dialog, waits until nobody else types.
const previewKeyboard = 2 * time.Second

// errPreviewPanicked says that nobody knows whether a preview was typed.
var errPreviewPanicked = fmt.Errorf("%w: panebridge failed while it typed the preview", ErrUncertain)

// TypePreview types a preview into a session if nothing speaks against it: the program is
// working, a dialog is open, an input waits or something stands in the input box. sent is
// false if it surely isn't typed, and why says why. If it is, why says what has kept it
// from being submitted, "" for nothing. After an error it's unknown.
func (m *Manager) TypePreview(ctx context.Context, id ID, p Preview) (sent bool, why string, err error) {
	s, e, err := m.entryForPreview(id, &p)
	if err != nil {
		return false, err.Error(), nil // it's the reason
	}
	m.mu.Lock()
	waiting := len(e.queue) > 0 || e.typing
	m.mu.Unlock()
	switch {
	case s.State == StateWorking || s.State == StateStarting:
		return false, "it's " + string(s.State) + "; it's told when it's idle", nil
	case s.State == StateWaiting:
		return false, m.whyWaits(s), nil
	case waiting:
		return false, "an input is being typed", nil
	}
	if err := e.keyboard.TakeWithin(ctx, previewKeyboard); err != nil {
		return false, "an input is being typed", nil // it's the reason
	}
	defer e.keyboard.GiveBack()
	err = errPreviewPanicked
	m.containPanic(ctx, id, WorkerPreview, func() { sent, why, err = e.hand.TypePreview(ctx, p) })
	return sent, why, err
}

// FinishPreview looks what became of a preview that was being typed into a session by
// somebody who has ended, and submits it if it stands in the input box with nothing
// beside it. It's not typed again. why says what has kept it from being submitted, or
// why nobody knows. That the program is working, or nothing is known of it yet, is no
// reason to wait, as it is for one that isn't typed: what stands in the box keeps others
// from typing, and hides what an agent's state is read from.
func (m *Manager) FinishPreview(ctx context.Context, id ID, p Preview) (end PreviewEnd, why string) {
	s, e, err := m.entryForPreview(id, &p)
	if err != nil {
		return PreviewUnknown, err.Error()
	}
	if s.State == StateWaiting {
		return PreviewUnclear, m.whyWaits(s)
	}
	if err := e.keyboard.TakeWithin(ctx, previewKeyboard); err != nil {
		return PreviewUnclear, "an input is being typed"
	}
	defer e.keyboard.GiveBack()
	end, why = PreviewUnknown, errPreviewPanicked.Error()
	m.containPanic(ctx, id, WorkerPreview, func() { end, why = e.hand.FinishPreview(ctx, p) })
	return end, why
}

// entryForPreview is the session that a preview is for, which stops waiting for others when Run ends.
func (m *Manager) entryForPreview(id ID, p *Preview) (Session, *sessionEntry, error) {
	e, err := m.entryWithHand(id)
	if err != nil {
		return Session{}, nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ctx != nil {
		p.Stop = m.ctx.Done()
	}
	return e.Session, e, nil
}

// whyWaits says what a session that waits waits for: a dialog, or what its state says.
func (m *Manager) whyWaits(s Session) string {
	if shown, known := m.shownOf(s.ID); known && (shown == nil || shown.Kind == PromptLine) && s.Reason != "" {
		return s.Reason
	}
	return "a dialog is open"
}

// KeyPress is keys that a person presses in a session's pane.
type KeyPress struct {
	Keys   []string // 1 to 100, by tmux's names for them
	Author string   // who presses them
	// Answers says that the person may answer dialogs. Without it only keys that refuse
	// (Escape, C-c) are pressed while one is open.
	Answers bool
	// Seen is when the person saw the screen at the latest: a dialog that has come up since
	// isn't what the keys are for. Zero: it isn't known, and isn't asked.
	Seen time.Time
}

const maxKeys = 100

// ErrNotToAnswer says that keys would answer a dialog, which isn't that person's to do.
var ErrNotToAnswer = Refuse("a question is on the screen, which these keys may answer; that takes somebody who may answer questions")

// ErrNewDialog says that a person can't have seen the dialog on the screen.
var ErrNewDialog = Refuse("a question has just come up, or has changed, on the screen; look at it before you press keys")

// Keys presses keys in a session's pane. They may answer a dialog: so the check for one
// and the keys are one step, and what changes on the screen without one doesn't matter.
// ErrConflict says that a dialog is in the way, ErrInvalid that a key has no such name.
func (m *Manager) Keys(ctx context.Context, id ID, p KeyPress) error {
	if len(p.Keys) == 0 || len(p.Keys) > maxKeys {
		return fmt.Errorf("%w keys: give 1 to %d", ErrInvalid, maxKeys)
	}
	for _, k := range p.Keys {
		if !isKeyName(k) {
			return fmt.Errorf("%w key %q: give names like Enter, Escape, Tab, BTab, BSpace, Up, PageDown, F5, C-c, M-x, or single characters", ErrInvalid, k)
		}
	}
	e, err := m.entryWithHand(id)
	if err != nil {
		return err
	}
	out, err := e.hand.PressKeys(ctx, p)
	switch {
	case err != nil:
		return err
	case out == Dead:
		return fmt.Errorf("%s: %w: its program has ended", id, ErrEnded)
	case out == Held:
		return ErrNewDialog
	case out == Moved:
		return fmt.Errorf("%w: the screen with the question doesn't stand still; press again", ErrUnavailable)
	}
	m.log.Info("keys pressed", "session", id, "count", len(p.Keys), "author", p.Author)
	m.opt.Pollers.NoteTyped(id, "")
	return nil
}

// isKeyName reports whether tmux takes s as the name of one key.
func isKeyName(s string) bool {
	base, modifiers := s, ""
	for len(base) > 2 && (strings.HasPrefix(base, "C-") || strings.HasPrefix(base, "M-") || strings.HasPrefix(base, "S-")) {
		base, modifiers = base[2:], modifiers+base[:1]
	}
	if modifiers != "" && !isModifiable(base, modifiers) {
		return false
	}
	switch base {
	case "Enter", "Escape", "Tab", "BTab", "BSpace", "Space", "Up", "Down", "Left", "Right", "Home", "End",
		"PageUp", "PageDown", "PPage", "NPage", "IC", "DC", "Insert", "Delete",
		"F1", "F2", "F3", "F4", "F5", "F6", "F7", "F8", "F9", "F10", "F11", "F12":
		return true
	}
	r, n := utf8.DecodeRuneInString(base)
	return n == len(base) && r > ' ' && r != 0x7f && r != utf8.RuneError
}

// isModifiable reports whether tmux knows a key with modifiers (letters of C, M and S). What it doesn't know it types as text, or
// leaves out.
func isModifiable(base, modifiers string) bool {
	hasCtrl, hasShift := strings.Contains(modifiers, "C"), strings.Contains(modifiers, "S")
	switch {
	case base == "Enter" || base == "Escape" || base == "BSpace" || base == "Tab" || base == "BTab":
		return !hasCtrl && !hasShift
	case base == "Space" || utf8.RuneCountInString(base) == 1:
		return !hasShift && (!hasCtrl || base == "Space" || len(base) == 1 && strings.ContainsAny(strings.ToLower(base), `abcdefghijklmnopqrstuvwxyz@[\]^_?`))
	}
	return true
}

// PaneGuard says when something may be typed into a pane. The check and the typing
// are one atomic step.
type PaneGuard struct {
	Pane   string         // tmux pane id
	Server ServerIdentity // of that run of the server alone; zero: of any
	// Phrases are regular expressions (POSIX extended, each matching within
	// one row, case ignored) of which none may be on the screen.
	Phrases []string
	// Saw, if set, is the look the decision was made on: cursor, history size
	// and title must still be the same.
	Saw *Snapshot
	// Rows, if set, are rows of the screen (from 0) that must be as Saw has them, to the
	// letter and in the same place. Saw then is a look at all of the screen. None of them
	// may be blank, or be like one above it: tmux searches from the top.
	Rows []int
	// Front, if set, must be the name of the program in the pane's foreground, as
	// Snapshot.Front has it.
	Front string
	// Still says that nothing may have come out of the pane since Saw, which was asked for
	// when the second of Saw.Activity was over.
	Still bool
	// Lines says that a shell has the foreground, Front, and its terminal collects lines. What's
	// pasted there isn't bracketed, though a program that was killed has left that switched on:
	// such a shell doesn't know brackets.
	Lines bool
}

// GuardOutcome is what became of a guarded step.
type GuardOutcome string

// The outcomes. Only Done touched the pane.
const (
	Done  GuardOutcome = "done"
	Held  GuardOutcome = "held"  // one of the phrases is on the screen
	Moved GuardOutcome = "moved" // the screen isn't the one that was seen
	Dead  GuardOutcome = "dead"  // the program has ended
)

// TellingRows are the rows from first to last, at most so many, by which a part of a
// screen is known again: those that have text, and the same doesn't stand above them,
// where tmux's search would find it first. See PaneGuard.Rows.
func TellingRows(rows []string, first, last, most int) []int {
	var out []int
	above := map[string]bool{"": true}
	for i, row := range rows {
		row = strings.TrimRight(row, " \t")
		if i >= first && i <= last && !above[row] && len(out) < most {
			out = append(out, i)
		}
		above[row] = true
	}
	return out
}

// InputBox is a program's input box as it stands on the screen. The zero value: nothing is
// known of the program's box.
type InputBox struct {
	Known bool // the program's kind of box is known
	Open  bool // it's on the screen
	// Torn says that tmux has broken its frame: the pane has got narrower, and the program
	// hasn't drawn it anew. It isn't Open then.
	Torn bool
	// Shell says that it's the line of a shell, behind its prompt. One that isn't Open
	// has a prompt that nobody knows, or is at work.
	Shell bool
	// Text is what stands in it, with its rows joined by "\n" and without blanks around
	// them; "": nothing. A program may show something else in place of a long text:
	// "[Pasted text #1 +61 lines]".
	Text string
	// Unsure says that Text may be the program's own, who writes there what could be asked:
	// a person may see that.
	Unsure bool
	// Unfinished is what of a command stands above the line, which goes on with it; "": none.
	Unfinished string
	// Rows are visible rows of it or below it, from 0, that are like none above them: as
	// long as they stand there, the box does.
	Rows []int
	// Queued says that the program keeps something that was submitted until it has time.
	Queued bool
}

// Missing reports whether a program that's known to draw such a box doesn't show it: its screen may be
// half drawn.
func (b InputBox) Missing() bool { return b.Known && !b.Shell && !b.Open && !b.Torn }

// Letters are the letters and digits of a text: a box breaks rows and draws around them.
func Letters(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, text)
}
