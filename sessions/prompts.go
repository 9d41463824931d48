package sessions

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Why prompts are closed.
const (
	ClosedInPane   = "it was answered in the pane"
	closedByLine   = "it has its line"
	ClosedByOther  = "another question took its place"
	closedByCrash  = "panebridge stopped while it was answered; look at the session"
	ClosedMeantime = "it went while an answer was being given; look at the session"
)

// promptAgainAfter is when a change of a prompt that couldn't be stored is tried again.
const promptAgainAfter = time.Second

// openQuestion is what's known of a session's questions.
type openQuestion struct {
	prompt *Prompt // open, or being answered; never changed in place
	shown  *Dialog // stands on the screen, as the poller told last
	heard  bool    // the poller told in this run of the daemon
	// giving says that an answer is being given. Who gives it decides what becomes of the
	// prompt; what's shown is taken in afterwards.
	giving bool
	gave   bool // the last step of that answer was done
	// refused is what was refused here last; nil: something else was answered last.
	refused *refusedPrompt
	// doubt is why the prompt may go though nobody answers it in the pane: an answer was
	// given and nothing came of it. "": none was.
	doubt string
	// whole is the dialog of which the screen shows a part, as it was read in a taller
	// pane; its Print is that of the part. nil: it wasn't. reading is the Print of the part
	// that somebody reads, or has given up to read; parts are those by which the program
	// drew the same again when the pane was as high as before.
	whole   *Dialog
	reading string
	parts   []string
	// backAt is when the pane was made as high as before; endReading ends the look at the
	// taller one, nil: nobody looks.
	backAt     time.Time
	endReading context.CancelFunc
	// swaps counts the questions in a row that came in the place of one that was read, of which
	// none was read whole or answered.
	swaps int
	// away says that the poller told that nothing is shown right after that: the program may
	// have cleared its screen to draw it anew. What was shown counts for a moment more.
	away bool
	// done is the Print of a prompt that's final while its dialog is still shown: the
	// poller hasn't looked since. It isn't asked again.
	done string
}

// Prompts returns the questions that are open, or being answered, oldest first.
func (m *Manager) Prompts() []Prompt {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := []Prompt{}
	for _, e := range m.entries {
		if e.prompt != nil {
			out = append(out, *e.prompt)
		}
	}
	slices.SortFunc(out, func(a, b Prompt) int {
		return cmp.Or(a.OpenedAt.Compare(b.OpenedAt), cmp.Compare(a.ID, b.ID))
	})
	return out
}

// PromptOf returns a session's question, if one is open or being answered.
func (m *Manager) PromptOf(id ID) (p Prompt, ok bool) {
	ok = m.withEntry(id, func(e *sessionEntry) bool {
		if e.prompt != nil {
			p = *e.prompt
		}
		return e.prompt != nil
	})
	return p, ok
}

// shownOf is the dialog on a session's screen, nil: none, as the poller told last; known:
// it has told.
func (m *Manager) shownOf(id ID) (shown *Dialog, known bool) {
	known = m.withEntry(id, func(e *sessionEntry) bool { shown = e.shown; return e.heard })
	return shown, known
}

// Prompt returns a question as it is now, whatever became of it; ErrUnknown if there's
// none, or none any more.
func (m *Manager) Prompt(ctx context.Context, id string) (Prompt, error) {
	if p, ok := m.openPrompt(id); ok {
		return p, nil
	}
	p, err := m.opt.Store.Prompt(ctx, id)
	if errors.Is(err, ErrUnknown) {
		return p, fmt.Errorf("%w prompt %q", ErrUnknown, id)
	}
	return p, err
}

func (m *Manager) openPrompt(id string) (Prompt, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, e := range m.entries {
		if e.prompt != nil && e.prompt.ID == id {
			return *e.prompt, true
		}
	}
	return Prompt{}, false
}

// noteShown takes in what a poller's event says about the dialog on the screen; m.mu is held.
// The first one of a run that shows something counts, whether it's news for the poller
// or not: the prompt of the last run has to be compared with it.
func (e *sessionEntry) noteShown(ev OutputEvent) bool {
	if !ev.Asked && (e.heard || ev.Prompt == nil) {
		return false
	}
	if e.away = ev.Prompt == nil && e.shown != nil && e.prompt != nil && !e.gave && time.Since(e.backAt) < BackWithin; e.away {
		return false
	}
	e.heard, e.shown = true, e.samePart(ev.Prompt)
	e.forgetWhole()
	if e.shown == nil || e.shown.Print != e.done {
		e.done = ""
	}
	return true
}

// awaitReturn takes in that a session shows no dialog, if none has come back by then. m.mu is held.
func (m *Manager) awaitReturn(e *sessionEntry) {
	if m.ctx == nil || m.ctx.Err() != nil {
		return
	}
	ctx, id, wait := m.ctx, e.ID, BackWithin-time.Since(e.backAt)
	m.goContained(ctx, id, WorkerLook, func() {
		if Pause(ctx, wait) == nil && m.takeAway(id) {
			m.reconcilePrompt(ctx, id)
		}
	})
}

// takeAway takes in that what was shown hasn't come back; false: it has.
func (m *Manager) takeAway(id ID) bool {
	return m.withEntry(id, func(e *sessionEntry) bool {
		if !e.away {
			return false
		}
		e.away, e.shown, e.done = false, nil, ""
		e.forgetWhole()
		return true
	})
}

func (a *openQuestion) forgetWhole() {
	if a.whole != nil && (a.shown == nil || a.shown.Print != a.whole.Print) {
		a.whole = nil
	}
	if a.shown == nil || a.shown.Print != a.reading {
		a.reading, a.parts = "", nil
	}
}

// samePart is a dialog by the Print of the part that was seen first. What's drawn when the
// pane has just been made as high as it was, and asks the same, is another part of it.
func (a *openQuestion) samePart(d *Dialog) *Dialog {
	if d == nil || !d.Unseen || a.reading == "" || d.Print == a.reading {
		return d
	}
	if !slices.Contains(a.parts, d.Print) {
		past, was := time.Since(a.backAt), a.shown
		if was == nil || was.Print != a.reading || !d.AsksLike(was) {
			return d
		}
		switch {
		case a.whole == nil && past <= wholeLate && d.overlapsWith(was): // it can only be refused
		case a.whole != nil && past <= BackWithin && a.whole.IsWholeOf(d):
		default:
			return d
		}
		a.parts = append(a.parts, d.Print)
	}
	same := *d
	same.Print = a.reading
	return &same
}

// samePartOf is samePart for a session.
func (m *Manager) samePartOf(id ID, d *Dialog) *Dialog {
	m.withEntry(id, func(e *sessionEntry) bool { d = e.samePart(d); return true })
	return d
}

// reconcilePrompt brings a session's prompt in line with what's shown.
func (m *Manager) reconcilePrompt(ctx context.Context, id ID) {
	m.asks.Lock()
	defer m.asks.Unlock()
	m.reconcilePromptHeld(ctx, id)
}

// reconcilePromptHeld is reconcilePrompt with m.asks held.
func (m *Manager) reconcilePromptHeld(ctx context.Context, id ID) {
	m.mu.Lock()
	e := m.entries[id]
	if e == nil || e.State == StateEnded || !e.heard || e.giving {
		m.mu.Unlock()
		return
	}
	now := e.openQuestion
	m.mu.Unlock()
	p := now.prompt
	d := m.maskDialog(m.withDiff(id, now.toldDialog(), p))
	var err error
	switch {
	case p != nil && d != nil && p.Dialog.Asks(d):
		same := *p
		same.State, same.Answer, same.Dialog = PromptOpen, nil, *d
		if same.Dialog.Was = ""; d.Call == "" || d.Disputed {
			same.Dialog.Was = p.Dialog.toldCall()
		}
		// In the last run it was being answered, or another part of it can be seen. What it would change isn't stored with it.
		if p.State == PromptAnswering || !p.Dialog.TellsAs(d) || len(p.Dialog.Edits) != len(d.Edits) {
			err = m.putPrompt(ctx, same)
		}
	case p != nil:
		err = m.putPrompt(ctx, p.asClosed(now.whyGone()))
		p = nil
		fallthrough
	default:
		if p == nil && d != nil && d.Print != now.done && err == nil {
			err = m.putPrompt(ctx, Prompt{ID: randomID("pr_"), Session: id, Dialog: *d, State: PromptOpen, OpenedAt: time.Now()})
		}
	}
	m.mu.Lock()
	if e := m.entries[id]; e != nil && e.prompt != nil && !e.giving {
		m.readWhole(e) //nolint:contextcheck // its life is Run's
	}
	m.mu.Unlock()
	if err != nil {
		time.AfterFunc(promptAgainAfter, func() { m.runLater(func(ctx context.Context) { m.reconcilePrompt(ctx, id) }) })
	}
}

// maskDialog is a dialog of which it's known whether people are shown all of what it's about.
func (m *Manager) maskDialog(d *Dialog) *Dialog {
	if d == nil || d.Kind != PromptPermission && d.Kind != PromptPlan || m.opt.Hides == nil {
		return d
	}
	hides := m.opt.Hides(d.About()) || m.opt.Hides(Legible(d.Title)) || d.hidesSide(m.opt.Hides)
	for _, o := range d.Options {
		hides = hides || m.opt.Hides(Legible(o.Label)) || m.opt.Hides(Legible(o.Detail))
	}
	if !hides {
		return d
	}
	out := *d
	out.Masked = true
	return &out
}

func (a *openQuestion) whyGone() string {
	switch {
	case a.prompt.State == PromptAnswering:
		return closedByCrash
	case a.doubt != "":
		return a.doubt
	case a.prompt.Kind() == PromptLine:
		return closedByLine
	case a.shown != nil:
		return ClosedByOther
	}
	return ClosedInPane
}

func (p Prompt) asClosed(reason string) Prompt {
	p.State, p.Reason, p.Answer, p.ClosedAt = PromptClosed, reason, nil, time.Now()
	return p
}

// putPrompt stores a prompt, takes it into the registry and tells about it; m.asks is
// held. What's final is so even if it can't be stored: it was done, or is over. After a
// crash it's found out again.
func (m *Manager) putPrompt(ctx context.Context, p Prompt) error {
	if err := m.opt.Store.PutPrompt(context.WithoutCancel(ctx), p); err != nil {
		m.log.Error("store a prompt", "session", p.Session, "prompt", p.ID, "state", p.State, "err", err)
		if !p.Final() {
			return fmt.Errorf("store the prompt: %w", err)
		}
	}
	m.mu.Lock()
	if e := m.entries[p.Session]; e != nil {
		if e.prompt = &p; p.Final() {
			e.prompt, e.doubt = nil, ""
		}
	}
	m.mu.Unlock()
	m.log.Info("prompt", "session", p.Session, "prompt", p.ID, "kind", p.Dialog.Kind, "state", p.State, "reason", p.Reason, "author", p.authorName())
	m.opt.Feed.PublishPrompt(p)
	return nil
}

// endPrompt closes the prompt of a session whose program has ended. If it ended by the
// answer, that's what was wanted.
func (m *Manager) endPrompt(ctx context.Context, id ID, reason string) {
	m.asks.Lock()
	defer m.asks.Unlock()
	m.mu.Lock()
	e := m.entries[id]
	if e == nil {
		m.mu.Unlock()
		return
	}
	p, gave := e.prompt, e.gave
	e.shown, e.done = nil, ""
	e.forgetWhole()
	m.mu.Unlock()
	if p == nil {
		return
	}
	end := p.asClosed(reason)
	if p.State == PromptAnswering && gave {
		end = p.asAnswered()
	}
	_ = m.putPrompt(ctx, end) // a failure to store it is logged
}

// loadPrompts takes up the questions of the daemon's last run. Whether they still stand
// is seen when the poller tells what's shown.
func (m *Manager) loadPrompts(ctx context.Context, open []Prompt) {
	m.asks.Lock()
	defer m.asks.Unlock()
	for _, p := range open {
		m.mu.Lock()
		e := m.entries[p.Session]
		lives := e != nil && e.State != StateEnded
		var before *Prompt
		if lives {
			before, e.prompt = e.prompt, &p
			if e.whole = nil; p.Dialog.Tall != "" {
				e.whole = &p.Dialog
			}
		}
		m.mu.Unlock()
		if !lives {
			_ = m.putPrompt(ctx, p.asClosed("the session has ended")) // a failure to store it is logged
		}
		if before != nil { // a change that couldn't be stored
			_ = m.opt.Store.PutPrompt(ctx, before.asClosed(ClosedByOther)) // nobody knows of it
		}
	}
}

// NoDialogs knows none.
type NoDialogs struct{}

// Read finds none.
func (NoDialogs) Read(ID, *Snapshot, *Screen) *Dialog { return nil }

// Next knows no way.
func (NoDialogs) Next(ID, *Dialog, Answer) (DialogStep, error) {
	return DialogStep{}, fmt.Errorf("%w answer: it isn't known how; answer it in the session", ErrInvalid)
}
