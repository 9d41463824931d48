package sessions

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Answer answers a question by pressing what the person would press. Exactly one answer
// counts; who comes later gets ErrConflict, with the prompt that says who answered what.
// It returns when the answer was given, or surely wasn't. ErrInvalid says what would be
// right; ErrConflict also that the question has changed or is gone, and ErrUnavailable
// that the session doesn't react: the prompt says whether it's open again.
func (m *Manager) Answer(ctx context.Context, id string, a Answer) (Prompt, error) {
	p, err := m.claimPrompt(ctx, id, a)
	if err != nil {
		return p, err
	}
	run, done, err := m.withRunLife(ctx)
	if err != nil {
		return m.settleAnswer(ctx, p, AnswerResult{State: PromptOpen, Err: err})
	}
	defer done()
	end := AnswerResult{State: PromptOpen, Doubt: ClosedMeantime, Err: fmt.Errorf("%w: panebridge failed while it answered; look at the session before you answer again", ErrUnavailable)}
	m.containPanic(ctx, p.Session, WorkerAnswer, func() { end = m.giveAnswer(run, p) })
	return m.settleAnswer(ctx, p, end)
}

// withRunLife is a context that ends with Run and not with the request: what has
// begun is carried through. Run waits for done.
func (m *Manager) withRunLife(ctx context.Context) (run context.Context, done func(), err error) {
	run, cancel := context.WithCancel(context.WithoutCancel(ctx))
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ctx == nil {
		return run, cancel, nil
	}
	if m.ctx.Err() != nil {
		cancel()
		return nil, nil, fmt.Errorf("%w: panebridge is stopping", ErrUnavailable)
	}
	m.typists.Add(1)
	stop := context.AfterFunc(m.ctx, cancel)
	return run, func() { stop(); cancel(); m.typists.Done() }, nil
}

// claimPrompt makes an answer the one that counts, if none does yet. That's stored before a
// key is pressed.
func (m *Manager) claimPrompt(ctx context.Context, id string, a Answer) (Prompt, error) {
	m.asks.Lock()
	defer m.asks.Unlock()
	p, open := m.openPrompt(id)
	if !open {
		was, err := m.Prompt(ctx, id)
		if err != nil {
			return was, err
		}
		return was, was.conflictError()
	}
	if p.State != PromptOpen {
		return p, p.conflictError()
	}
	if err := p.Dialog.Takes(a); err != nil {
		return p, err
	}
	if p, err := m.checkDiff(ctx, p, a); err != nil {
		return p, err
	}
	claimed := p
	claimed.State, claimed.Answer = PromptAnswering, &a
	if err := m.putPrompt(ctx, claimed); err != nil {
		return p, err
	}
	m.withEntry(p.Session, func(e *sessionEntry) bool {
		e.giving, e.gave, e.doubt, e.swaps = true, false, "", 0
		if e.endReading != nil {
			e.endReading()
		}
		return true
	})
	return claimed, nil
}

// How long an answer waits until nobody else types, and looks meanwhile whether its question is gone.
const (
	keyboardWithin = 5 * time.Second
	turnEvery      = 50 * time.Millisecond
)

func (m *Manager) giveAnswer(ctx context.Context, p Prompt) AnswerResult {
	e, err := m.entryWithHand(p.Session)
	if err != nil {
		return AnswerResult{State: PromptClosed, Reason: "the session has ended", Err: err}
	}
	if end, gone := m.awaitTurn(ctx, p, e.keyboard); gone {
		return end
	}
	defer e.keyboard.GiveBack()
	end := e.hand.GiveAnswer(ctx, p)
	if ctx.Err() != nil && end.State != PromptAnswered {
		return AnswerResult{State: PromptAnswering, Err: fmt.Errorf("%w: panebridge stopped while it was answered; look at the session", ErrUnavailable)}
	}
	return end
}

// awaitTurn takes the keyboard. While somebody else's text is typed the question may go,
// and then nobody waits for that. A reading ends for the answer, and it's waited for.
func (m *Manager) awaitTurn(ctx context.Context, p Prompt, keys Keyboard) (end AnswerResult, gone bool) {
	for until := time.Now().Add(keyboardWithin); ; {
		err := keys.TakeWithin(ctx, turnEvery)
		if err == nil {
			return AnswerResult{}, false
		}
		if shown, known := m.shownOf(p.Session); known && (shown == nil || !shown.Asks(&p.Dialog)) {
			return GoneBefore(shown), true
		}
		isRead := m.withEntry(p.Session, func(e *sessionEntry) bool { return e.endReading != nil })
		if ctx.Err() != nil || time.Now().After(until) && !isRead {
			return AnswerResult{State: PromptOpen, Err: err}, true
		}
	}
}

// GoneBefore returns what becomes of an answer of which nothing was pressed, and whose question is
// gone. now is the question that stands there instead; nil: none does.
func GoneBefore(now *Dialog) AnswerResult {
	if now != nil {
		return AnswerResult{State: PromptClosed, Reason: ClosedByOther, Err: fmt.Errorf("%w: the question has changed; nothing was answered", ErrConflict)}
	}
	return AnswerResult{State: PromptClosed, Reason: ClosedInPane, Err: fmt.Errorf("%w: the question is gone; nothing was answered", ErrConflict)}
}

// settleAnswer ends a claim, and takes in what was shown meanwhile.
func (m *Manager) settleAnswer(ctx context.Context, p Prompt, end AnswerResult) (Prompt, error) {
	m.asks.Lock()
	defer m.asks.Unlock()
	if end.State == PromptAnswering { // the daemon stops; the next run finds out
		return p, end.Err
	}
	next := p
	switch end.State {
	case PromptAnswered:
		next = p.asAnswered()
	case PromptClosed:
		next = p.asClosed(end.Reason)
	default:
		next.State, next.Answer = PromptOpen, nil
	}
	m.mu.Lock()
	e := m.entries[p.Session]
	ours := e != nil && e.prompt != nil && e.prompt.ID == p.ID
	if e != nil {
		e.giving = false
		e.noteRefused(next)
	}
	m.mu.Unlock()
	if !ours { // the session ended meanwhile
		if was, err := m.Prompt(ctx, p.ID); err == nil {
			next = was
		}
		if next.State == PromptAnswered {
			end.Err = nil
		}
		return next, end.Err
	}
	if err := m.putPrompt(ctx, next); err != nil {
		m.reopenPrompt(next) // nothing can be stored, and nobody is at it any more
	}
	m.mu.Lock()
	if again := e.shown != nil && e.shown.Asks(&p.Dialog); next.Final() && again {
		e.done = e.shown.Print
	}
	if next.Final() { // what stands there now may be a part of another
		e.whole, e.reading, e.parts = nil, "", nil
	}
	e.doubt = end.Doubt
	done := e.done
	m.mu.Unlock()
	m.reconcilePromptHeld(ctx, p.Session)
	if done != "" {
		m.lookLater(p.Session, func(ctx context.Context) { m.lookForAgain(ctx, p.Session, done) }) //nolint:contextcheck // its life is Run's
	}
	return next, end.Err
}

// reopenPrompt takes a claim back that couldn't be taken back on the disk: who reads it there
// compares it with what's shown.
func (m *Manager) reopenPrompt(p Prompt) {
	m.withEntry(p.Session, func(e *sessionEntry) bool { e.prompt = &p; return true })
	m.opt.Feed.PublishPrompt(p)
}

// A dialog that's just like the one before it is no news for the poller if it comes
// before the poller has looked. So it's looked for, when there was time for that.
const (
	lookAgainAfter = time.Second
	lookAgainTries = 5
)

// lookLater runs f, which looks at a session, for as long as it takes.
func (m *Manager) lookLater(id ID, f func(ctx context.Context)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ctx == nil || m.ctx.Err() != nil {
		return
	}
	ctx := m.ctx
	m.goContained(ctx, id, WorkerLook, func() { f(ctx) })
}

// lookForAgain looks some times whether what was answered stands there still, and asks it again then.
func (m *Manager) lookForAgain(ctx context.Context, id ID, done string) {
	for range lookAgainTries {
		if Pause(ctx, lookAgainAfter) != nil {
			return
		}
		showsNothingElse := m.withEntry(id, func(e *sessionEntry) bool { return e.done == done })
		if !showsNothingElse || m.askAgain(ctx, id, done) {
			return
		}
	}
}

// askAgain looks, and reports whether what was answered stands there, and is asked again.
func (m *Manager) askAgain(ctx context.Context, id ID, done string) bool {
	s, srv, err := m.livingSession(id)
	if err != nil {
		return true
	}
	look, cancel := context.WithTimeout(ctx, tmuxTimeout)
	defer cancel()
	snap, err := srv.Snapshot(look, s.Pane.ID, RowWindow{})
	if err != nil || snap.Server != s.Pane.Identity {
		return false
	}
	d := m.samePartOf(id, m.opt.Dialogs.Read(id, &snap, nil))
	if d == nil || d.Print != done {
		return false // the poller will say so, unless it comes again before it looks
	}
	m.asks.Lock()
	defer m.asks.Unlock()
	m.withEntry(id, func(e *sessionEntry) bool {
		if e.done == done {
			e.done = ""
		}
		return true
	})
	m.reconcilePromptHeld(ctx, id)
	return true
}

func (p Prompt) asAnswered() Prompt {
	p.State, p.Reason, p.ClosedAt = PromptAnswered, "", time.Now()
	return p
}

func (p Prompt) authorName() string {
	if p.Answer == nil {
		return ""
	}
	return p.Answer.Author
}

// Chosen says what was answered: the labels of the options, or the text; "" while
// nobody has answered.
func (p Prompt) Chosen() string {
	if p.Answer == nil {
		return ""
	}
	if len(p.Answer.Options) == 0 {
		return p.Answer.Text
	}
	var labels []string
	for _, i := range p.Answer.Options {
		if i >= 0 && i < len(p.Dialog.Options) {
			labels = append(labels, p.Dialog.Options[i].Label)
		}
	}
	return strings.Join(labels, ", ")
}

// Who is whose answer counts, as people are called; "" while nobody has answered.
func (p Prompt) Who() string {
	if p.Answer == nil {
		return ""
	}
	return cmp.Or(p.Answer.Name, p.Answer.Author)
}

// conflictError says why a prompt can't be answered any more.
func (p Prompt) conflictError() error {
	const most = 200 // characters
	chosen := shortLine(p.Chosen(), most)
	switch p.State {
	case PromptAnswering:
		return fmt.Errorf("%w: %s is answering already: %s", ErrConflict, p.Who(), chosen)
	case PromptAnswered:
		return fmt.Errorf("%w: %s has answered already: %s", ErrConflict, p.Who(), chosen)
	case PromptOpen, PromptClosed:
	}
	return fmt.Errorf("%w: the question is closed: %s", ErrConflict, p.Reason)
}

// Takes reports whether an answer fits a dialog, or what would. It's the one place that
// says what nobody may choose who hasn't seen all of the question.
func (d *Dialog) Takes(a Answer) error {
	if err := d.checkFit(a); err != nil {
		return err
	}
	blind := (d.Unseen || d.Masked) && (a.Text != "" || len(a.Options) == 0)
	for _, i := range a.Options {
		blind = blind || !d.Offers(i)
	}
	if !blind {
		return nil
	}
	refusals := *d
	if refusals.Text = ""; d.Kind == PromptMulti {
		refusals.Kind = PromptChoice
	}
	return fmt.Errorf("%w answer: not all of the question can be seen, so it takes %s", ErrInvalid, refusals.describeChoices())
}

func (d *Dialog) checkFit(a Answer) error {
	multi := d.Kind == PromptMulti
	switch {
	case a.Text != "" && len(a.Options) > 0:
		return fmt.Errorf("%w answer: it's options or a text, not both", ErrInvalid)
	case a.Text != "" && d.Text == "":
		return fmt.Errorf("%w answer: this question takes no text; it takes %s", ErrInvalid, d.describeChoices())
	case a.Text != "":
		return checkText(a.Text, false)
	case len(a.Options) == 0 && (!multi || a.Options == nil), len(a.Options) > 1 && !multi:
		return fmt.Errorf("%w answer: it takes %s", ErrInvalid, d.describeChoices())
	}
	had := map[int]bool{}
	for _, i := range a.Options {
		if i < 0 || i >= len(d.Options) {
			return fmt.Errorf("%w answer: there is no option %d; it takes %s", ErrInvalid, i+1, d.describeChoices())
		}
		if had[i] {
			return fmt.Errorf("%w answer: option %d is given twice", ErrInvalid, i+1)
		}
		had[i] = true
	}
	return nil
}

// describeChoices says what a dialog takes.
func (d *Dialog) describeChoices() string {
	var all []string
	for i, o := range d.Options {
		if !d.Offers(i) {
			continue
		}
		all = append(all, strconv.Itoa(i+1)+" “"+shortLine(o.Label, maxName)+"”")
	}
	if d.Kind == PromptLine {
		return "a line, by “input” or in a chat, as any text for the session"
	}
	out := "one of " + strings.Join(all, ", ")
	switch {
	case len(all) == 0 && d.Text == "":
		return "nothing from here; answer it in the session"
	case len(all) == 0:
		return "a text"
	case d.Kind == PromptMulti:
		out = "any of " + strings.Join(all, ", ")
	}
	if d.Text != "" {
		out += ", or a text"
	}
	return out
}

// closedFirst is why a prompt is closed that was said to be refused, where a key at the pane came first.
const closedFirst = "somebody at the pane was first: what was refused here was done"

// refusedPrompt is a prompt that was refused here, and the turn in which.
type refusedPrompt struct {
	prompt Prompt
	turn   int64
}

// CallMade takes in that the program of a session has carried out a call, by its record. If that was
// refused here in this turn, the refusal came too late: a key at the pane was read already, and not
// shown yet. That's said then. It returns at once.
func (m *Manager) CallMade(id ID, call string) {
	if m.withEntry(id, func(e *sessionEntry) bool { return e.refused != nil && e.refused.prompt.Dialog.toldCall() == call }) {
		m.runLater(func(ctx context.Context) { m.takeRefusalBack(ctx, id, call) })
	}
}

func (m *Manager) takeRefusalBack(ctx context.Context, id ID, call string) {
	m.asks.Lock()
	defer m.asks.Unlock()
	var p Prompt
	if !m.withEntry(id, func(e *sessionEntry) bool {
		if e.refused == nil || e.refused.prompt.Dialog.toldCall() != call || e.refused.turn != e.Turn.Number {
			return false
		}
		p, e.refused = e.refused.prompt, nil
		return true
	}) {
		return
	}
	said := fmt.Sprintf("%q came too late: somebody at the pane was first, and it was done: %s", p.Chosen(), shortLine(p.Dialog.About(), 200))
	p.State, p.Reason, p.Answer = PromptClosed, closedFirst, nil
	if err := m.opt.Store.PutPrompt(ctx, p); err != nil {
		m.log.Error("store a prompt", "session", id, "prompt", p.ID, "err", err)
	}
	m.log.Info("a refusal came too late", "session", id, "prompt", p.ID)
	m.opt.Feed.PublishPrompt(p)
	if err := m.Note(ctx, id, said); err != nil {
		m.log.Error("say that a refusal came too late", "session", id, "err", err)
	}
}

// noteRefused keeps what was refused here, or that it isn't the last any more; m.mu is held.
func (e *sessionEntry) noteRefused(p Prompt) {
	if e.refused = nil; p.State == PromptAnswered && p.Refuses() && p.Dialog.toldCall() != "" {
		e.refused = &refusedPrompt{p, e.Turn.Number}
	}
}
