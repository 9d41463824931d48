package sessions

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// A text is answered by the end of the turn that it began. One that an agent has queued
// while it was at work is answered by the end of the turn that took it up: the one that ran
// then, if the agent has put it in there, or one that begins behind it. The agent's
// transcript tells when it was taken up. Else only that's known what turns have ended.
const (
	// takeUpWithin is how long behind the end of a turn an agent may take to begin the
	// next with what was queued: half a second is usual, hooks of the person's own may
	// run before.
	takeUpWithin = 10 * time.Second
	// startWithin is the same where no turn ran when the text was queued: programs that
	// start keep what's written until they have connected to their servers.
	startWithin = 2 * time.Minute
	// justNow is how far apart what a transcript says and the end of the turn before may
	// be told.
	justNow = 3 * time.Second
	// submitSlack is how long before Enter was pressed behind a text its turn may have
	// begun: the clock of turns is that of the poller's looks.
	submitSlack = 500 * time.Millisecond
	// answerFor is how long a text may wait for its turn to end.
	answerFor = 24 * time.Hour
	// maxAwaited bounds the texts of a session that wait for that.
	maxAwaited = 100
)

// ReasonPassed is what Receipt.Reason says with CausePassed: no turn runs any more.
const ReasonPassed = "queued by the agent, but no turn runs any more; whether it took this up can't be seen" //nolint:gosec // no credential

// turnNews is something that was told of a session's turns, in the order in which it was.
type turnNews struct {
	at   time.Time
	what turnWhat
	turn int64  // its number
	text string // of turnAsked
}

type turnWhat int

const (
	turnEnded turnWhat = iota
	turnBegan          // or was seen to run
	turnAsked          // the agent's transcript says that it was asked a text
)

// awaited is a text that was submitted and isn't answered yet.
type awaited struct {
	receipt Receipt
	queued  bool
	behind  int64     // the number of the turn that it waits behind
	until   time.Time // when another must have begun behind that, which has ended; zero: it runs, or none has to
	taken   time.Time // when the text was seen to be taken up; zero: it wasn't
	turn    int64     // the turn that has it; not above behind: it isn't known
	// answered or passed: that's to be told.
	answered, passed bool
}

// answers are a session's texts that wait for their turns to end. Manager.mu guards it.
type answers struct {
	awaited []*awaited  // in the order in which they were submitted
	running int64       // the last turn that was seen to run
	timer   *time.Timer // for the first of the waits
	stop    func()      // of what tells what the agent is asked; nil: nothing does
}

// awaitAnswer begins to wait for the answer of a text that was submitted. pressed is when
// its Enter was; zero: the daemon was started anew since.
func (m *Manager) awaitAnswer(ctx context.Context, r Receipt, pressed time.Time) {
	m.mu.Lock()
	e := m.entries[r.Session]
	if e == nil || e.State == StateEnded || strings.TrimSpace(r.Text) == "" {
		m.mu.Unlock()
		return
	}
	a := &awaited{receipt: r, queued: r.Queued(), behind: e.Turn.Number}
	from := pressed
	if pressed.IsZero() {
		from = r.UpdatedAt
	}
	t := e.Turn
	switch began := t.Number > 0 && t.StartedAt.After(from.Add(-submitSlack)); {
	case !t.Open && (began || pressed.IsZero() && !a.queued && t.EndedAt.After(from)):
		a.answered = true
	case t.Open && (began || !a.queued && (pressed.IsZero() || e.Source.Program == "")):
		a.behind, a.turn = t.Number-1, t.Number
	case !t.Open && a.queued:
		a.until = time.Now().Add(startWithin)
	default: // it waits behind the turn that's open, or for one to begin
	}
	e.awaited = append(e.awaited, a)
	e.awaited = e.awaited[max(0, len(e.awaited)-maxAwaited):]
	m.mu.Unlock()
	m.settleAnswers(ctx, r.Session)
}

// followAsked has what a session's agent is asked told while a text may be found there.
func (m *Manager) followAsked(id ID) {
	if m.opt.Asked == nil {
		return
	}
	begin := false
	var stop func()
	m.withEntry(id, func(e *sessionEntry) bool {
		e.pruneOld(time.Now())
		wanted := len(e.typed) > 0 || slices.ContainsFunc(e.awaited, func(a *awaited) bool { return a.queued && a.taken.IsZero() })
		if begin = wanted && e.stop == nil; begin {
			e.stop = func() {} // nobody else begins it
		} else if !wanted {
			stop, e.stop = e.stop, nil
		}
		return true
	})
	if begin {
		begun := m.opt.Asked(id, func(a Asked) { m.handleAsked(id, a) })
		if !m.withEntry(id, func(e *sessionEntry) bool {
			if e.stop != nil {
				e.stop = begun
			}
			return e.stop != nil
		}) {
			stop = begun // it isn't wanted any more
		}
	}
	if stop != nil {
		stop()
	}
}

func (m *Manager) handleTurn(id ID, n turnNews) {
	m.withEntry(id, func(e *sessionEntry) bool { e.noteTurn(n); return true })
	m.runLater(func(ctx context.Context) { m.settleAnswers(ctx, id) })
}

// turnNewsOf is what an event tells of turns; false: nothing that a text waits for.
// Manager.mu is held.
func (a *answers) turnNewsOf(ev OutputEvent) (turnNews, bool) {
	n := turnNews{at: time.Now(), turn: ev.Turn.Number}
	switch {
	case len(a.awaited) == 0:
		return n, false
	case ev.Complete:
		return n, true
	case ev.Turn.Open && ev.Turn.Number > a.running:
		n.what, a.running = turnBegan, ev.Turn.Number
		return n, true
	}
	return n, false
}

// noteTurn takes in what was told of the turns. Manager.mu is held.
func (a *answers) noteTurn(n turnNews) {
	asked := Letters(strings.ToLower(n.text))
	begun := false // the turn has taken one queued text up
	for _, w := range a.awaited {
		switch {
		case w.answered || w.passed:
		case n.what == turnEnded:
			w.turnEnds(n)
		case n.what == turnAsked:
			if w.queued && w.taken.IsZero() {
				if rest, ok := askedIn(asked, w.receipt.Text); ok {
					asked, w.taken = rest, n.at
				}
			}
		case n.turn <= w.behind || w.turn > w.behind:
		case w.queued && begun && w.taken.IsZero():
			w.behind, w.until = n.turn, time.Time{} // it waits behind this one, then
		default:
			w.turn, begun = n.turn, begun || w.queued
		}
	}
}

func (w *awaited) turnEnds(n turnNews) {
	switch {
	case w.turn > w.behind && n.turn >= w.turn,
		!w.queued && n.turn > w.behind,
		!w.taken.IsZero() && n.turn >= w.behind && n.at.Sub(w.taken) > justNow:
		w.answered = true
	case n.turn >= w.behind && w.turn <= w.behind:
		w.until = n.at.Add(takeUpWithin)
	}
}

// waitsOver ends the wait behind a turn for another to begin. It returns when that's due;
// zero: it isn't.
func (w *awaited) waitsOver(now time.Time) time.Time {
	switch {
	case w.until.IsZero(), w.turn > w.behind, w.answered, w.passed:
		return time.Time{}
	case now.Before(w.until):
		return w.until
	}
	w.answered = !w.queued || !w.taken.IsZero()
	w.passed = !w.answered
	return time.Time{}
}

// askedIn looks for a text in what an agent was asked, by its letters, and returns the rest
// of that: programs wrap, cut and join texts.
func askedIn(asked, text string) (rest string, ok bool) {
	const (
		most  = 400 // bytes of a text: more may be cut
		first = 8   // a text of so many is hardly the beginning of another by chance,
		part  = 20  // and of so many hardly a part
	)
	want := Letters(strings.ToLower(text))
	want = want[:min(len(want), most)]
	i := strings.Index(asked, want)
	if want == "" || i < 0 || asked != want && (i > 0 || len(want) < first) && len(want) < part {
		return asked, false
	}
	return asked[:i] + asked[i+len(want):], true
}

// settleAnswers stores and tells what became of a session's texts, and has itself called
// again when a wait is over.
func (m *Manager) settleAnswers(ctx context.Context, id ID) {
	m.writing.Lock()
	defer m.followAsked(id)
	defer m.writing.Unlock()
	m.mu.Lock()
	e := m.entries[id]
	if e == nil {
		m.mu.Unlock()
		return
	}
	now := time.Now()
	var next time.Time
	var done []Receipt
	e.awaited = slices.DeleteFunc(e.awaited, func(w *awaited) bool {
		if due := w.waitsOver(now); !due.IsZero() && (next.IsZero() || due.Before(next)) {
			next = due
		}
		switch r := w.receipt; {
		case w.answered:
			if r.State, r.UpdatedAt = ReceiptAnswered, now; !w.receipt.Unverified() { // else it may be proved yet
				r.Cause, r.Reason = "", ""
				e.dropReceipt(r.ID)
			}
			done = append(done, r)
		case w.passed:
			r.Cause, r.Reason, r.UpdatedAt = CausePassed, ReasonPassed, now
			done = append(done, r)
			e.dropReceipt(r.ID)
		default:
			return now.Sub(r.UpdatedAt) > answerFor
		}
		return true
	})
	if e.timer != nil {
		e.timer.Stop()
	}
	if !next.IsZero() {
		e.timer = time.AfterFunc(next.Sub(now), func() { m.runLater(func(ctx context.Context) { m.settleAnswers(ctx, id) }) })
	}
	m.mu.Unlock()
	for _, r := range done {
		if err := m.opt.Store.PutReceipt(context.WithoutCancel(ctx), r); err != nil {
			m.log.Error("store that a text was answered", "session", id, "receipt", r.ID, "err", err)
		}
		m.opt.Feed.PublishReceipt(r)
	}
}

// endAnswers is for a session that has ended: no turn of it will answer anything.
func (m *Manager) endAnswers(id ID) {
	var stop func()
	m.withEntry(id, func(e *sessionEntry) bool {
		if e.timer != nil {
			e.timer.Stop()
		}
		stop, e.answers, e.proofs = e.stop, answers{}, proofs{}
		return true
	})
	if stop != nil {
		stop()
	}
}

func (m *Manager) loadUnanswered(ctx context.Context) error {
	all, err := m.opt.Store.UnansweredReceipts(ctx, time.Now().Add(-answerFor))
	if err != nil {
		return fmt.Errorf("load texts that wait for their answers: %w", err)
	}
	slices.SortFunc(all, func(a, b Receipt) int { return cmp.Or(a.UpdatedAt.Compare(b.UpdatedAt), cmp.Compare(a.ID, b.ID)) })
	for _, r := range all {
		if (r.State == ReceiptFailed && r.Pressed || r.Unverified()) && time.Since(r.UpdatedAt) < proofFor {
			m.awaitProof(r, r.CreatedAt)
		}
		switch {
		case r.State == ReceiptFailed:
		case r.Cause != CausePassed:
			m.awaitAnswer(ctx, r, time.Time{})
		}
	}
	return nil
}

// What an agent says it was asked was delivered, whatever its screen showed when the text
// was typed: an agent that's at work may draw that late, and a pane that got another size
// shows for a while what nobody drew. See docs/adr/0030.
const (
	// proofFor is how long behind its typing a text may be found among what the agent was
	// asked: one that was queued is taken up by the end of a long turn.
	proofFor = 30 * time.Minute
	// maxProofs bounds the texts of a session that may be found there.
	maxProofs = 64
)

// Asked is something that an agent was asked, as it says itself.
type Asked struct {
	Text string
	At   time.Time // when, by the clock of this host; zero: it isn't known
	Hook bool      // a hook told of it, and the transcript may do so too
}

// proof is a text that was typed, and may be found among what the agent was asked.
type proof struct {
	receipt string
	text    string
	from    time.Time // what was asked before was something else
	// By each of its ways the agent tells of each text once, in their order.
	heard, read bool
}

// proofs are a session's texts of the last time, in the order in which they were typed.
// Manager.mu guards it.
type proofs struct {
	typed []*proof
}

func (p *proofs) pruneOld(now time.Time) {
	p.typed = slices.DeleteFunc(p.typed, func(t *proof) bool { return now.Sub(t.from) > proofFor })
	p.typed = p.typed[max(0, len(p.typed)-maxProofs):]
}

// matchAsked takes in what an agent was asked, and returns the receipts of the texts in it.
func (p *proofs) matchAsked(a Asked, now time.Time) (proved []string) {
	p.pruneOld(now)
	if a.At.IsZero() {
		return nil
	}
	asked := Letters(strings.ToLower(a.Text))
	for _, t := range p.typed {
		known := &t.read
		if a.Hook {
			known = &t.heard
		}
		if *known || a.At.Before(t.from.Add(-submitSlack)) {
			continue
		}
		if rest, ok := askedIn(asked, t.text); ok {
			*known, asked = true, rest
			proved = append(proved, t.receipt)
		}
	}
	return proved
}

func (p *proofs) isProved(receipt string) bool {
	return slices.ContainsFunc(p.typed, func(t *proof) bool { return t.receipt == receipt && (t.heard || t.read) })
}

// awaitProof begins to look for a text among what the agent is asked from a time on.
func (m *Manager) awaitProof(r Receipt, from time.Time) {
	if m.opt.Asked == nil || Letters(r.Text) == "" {
		return
	}
	m.withEntry(r.Session, func(e *sessionEntry) bool {
		if !slices.ContainsFunc(e.typed, func(t *proof) bool { return t.receipt == r.ID }) {
			e.typed = append(e.typed, &proof{receipt: r.ID, text: r.Text, from: from})
			e.pruneOld(time.Now())
		}
		return true
	})
	m.followAsked(r.Session)
	time.AfterFunc(proofFor+time.Second, func() { m.runLater(func(context.Context) { m.followAsked(r.Session) }) })
}

func (p *proofs) dropReceipt(receipt string) {
	p.typed = slices.DeleteFunc(p.typed, func(t *proof) bool { return t.receipt == receipt })
}

func (m *Manager) handleAsked(id ID, a Asked) {
	var proved []string
	known := m.withEntry(id, func(e *sessionEntry) bool { proved = e.matchAsked(a, time.Now()); return true })
	for _, r := range proved {
		m.runLater(func(ctx context.Context) { m.proveReceipt(ctx, id, r) })
	}
	if known && !a.Hook {
		m.handleTurn(id, turnNews{at: time.Now(), what: turnAsked, text: a.Text})
	}
}

// proveReceipt moves the receipt of a text on that was said not to be delivered, and takes back
// that nobody knows whether it was. One that's being typed its typist moves on.
func (m *Manager) proveReceipt(ctx context.Context, id ID, receipt string) {
	m.writing.Lock()
	r, err := m.Receipt(ctx, receipt)
	if err != nil || r.State != ReceiptFailed && !r.Unverified() || !r.Submit {
		m.writing.Unlock()
		return
	}
	before := r
	if r.Cause, r.Reason, r.UpdatedAt = "", "", time.Now(); r.State == ReceiptFailed {
		r.State = ReceiptSubmitted
	}
	if err := m.opt.Store.PutReceipt(context.WithoutCancel(ctx), r); err != nil {
		m.writing.Unlock()
		m.log.Error("store that a text was delivered after all", "session", id, "receipt", receipt, "err", err)
		return
	}
	m.withEntry(id, func(e *sessionEntry) bool {
		e.replaceReceipt(r)
		for _, w := range e.awaited {
			if w.receipt.ID == receipt {
				w.receipt = r
			}
		}
		return true
	})
	m.opt.Feed.PublishReceipt(r)
	m.writing.Unlock()
	if before.State == ReceiptFailed {
		m.awaitAnswer(ctx, r, before.UpdatedAt)
	}
}
