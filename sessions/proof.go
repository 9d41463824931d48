package sessions

import (
	"context"
	"slices"
	"strings"
	"time"
)

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

// prune drops what's too old.
func (p *proofs) prune(now time.Time) {
	p.typed = slices.DeleteFunc(p.typed, func(t *proof) bool { return now.Sub(t.from) > proofFor })
	p.typed = p.typed[max(0, len(p.typed)-maxProofs):]
}

// take takes in what an agent was asked, and returns the receipts of the texts in it.
func (p *proofs) take(a Asked, now time.Time) (proved []string) {
	p.prune(now)
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

// proved reports whether a text is known to be one that the agent was asked.
func (p *proofs) proved(receipt string) bool {
	return slices.ContainsFunc(p.typed, func(t *proof) bool { return t.receipt == receipt && (t.heard || t.read) })
}

// awaitProof begins to look for a text among what the agent is asked from a time on.
func (m *Manager) awaitProof(r Receipt, from time.Time) {
	if m.opt.Asked == nil || Letters(r.Text) == "" {
		return
	}
	m.mu.Lock()
	if e := m.entries[r.Session]; e != nil && !slices.ContainsFunc(e.typed, func(t *proof) bool { return t.receipt == r.ID }) {
		e.typed = append(e.typed, &proof{receipt: r.ID, text: r.Text, from: from})
		e.prune(time.Now())
	}
	m.mu.Unlock()
	m.followAsked(r.Session)
	time.AfterFunc(proofFor+time.Second, func() { m.later(func(context.Context) { m.followAsked(r.Session) }) })
}

// drop drops a text of which all is known.
func (p *proofs) drop(receipt string) {
	p.typed = slices.DeleteFunc(p.typed, func(t *proof) bool { return t.receipt == receipt })
}

// hearAsked takes in what a session's agent was asked.
func (m *Manager) hearAsked(id ID, a Asked) {
	m.mu.Lock()
	var proved []string
	e := m.entries[id]
	if e != nil {
		proved = e.take(a, time.Now())
	}
	m.mu.Unlock()
	for _, r := range proved {
		m.later(func(ctx context.Context) { m.prove(ctx, id, r) })
	}
	if e != nil && !a.Hook {
		m.hearTurn(id, turnNews{at: time.Now(), what: turnAsked, text: a.Text})
	}
}

// isProved reports whether a text is known to be one that the agent was asked.
func (m *Manager) isProved(id ID, receipt string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.entries[id]
	return e != nil && e.proved(receipt)
}

// prove moves the receipt of a text on that was said not to be delivered, and takes back
// that nobody knows whether it was. One that's being typed its typist moves on.
func (m *Manager) prove(ctx context.Context, id ID, receipt string) {
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
	m.mu.Lock()
	if e := m.entries[id]; e != nil {
		for _, q := range e.queue {
			if q.ID == receipt {
				*q = r
			}
		}
		for _, w := range e.awaited {
			if w.receipt.ID == receipt {
				w.receipt = r
			}
		}
	}
	m.mu.Unlock()
	m.opt.Feed.PublishReceipt(r)
	m.writing.Unlock()
	if before.State == ReceiptFailed {
		m.awaitAnswer(ctx, r, before.UpdatedAt)
	}
}
