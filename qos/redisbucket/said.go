package redisbucket

import (
	"time"

	"github.com/panebridge/panebridge/qos"
)

// What the platform said, other than how it answered: to be silent, and how much is left
// of a limit.

// Penalize implements qos.Budget.
func (b *Budget) Penalize(now time.Time, p qos.Penalty) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.local.Penalize(now, p)
	if old, ok := b.penalties[p.Scope]; ok {
		p.Until = later(p.Until, old.Until)
	}
	b.penalties[p.Scope] = p
	b.tell(operation{kind: penalty, scope: p.Scope})
}

// news is how much later a penalty must end than is known: each time it's told again,
// it's so by the time that the telling took.
const news = 100 * time.Millisecond

// heard takes in penalties that other processes reported.
func (b *Budget) heard(now time.Time, penalties []qos.Penalty) {
	for _, p := range penalties {
		b.mu.Lock()
		old, known := b.penalties[p.Scope]
		fresh := p.Until.After(now) && (!known || p.Until.Sub(old.Until) > news)
		if fresh {
			b.penalties[p.Scope] = p
			b.local.Penalize(now, p)
		}
		hear := b.hear
		b.mu.Unlock()
		if fresh {
			hear(p)
		}
	}
}

// Learn implements qos.Budget.
func (b *Budget) Learn(now time.Time, scope qos.Scope, learned qos.Learned) {
	b.mu.Lock()
	defer b.mu.Unlock()
	// Not local's: what it counts of that isn't given back with a slot.
	b.learned[scope] = learned
	b.tell(operation{kind: learn, scope: scope})
}

// learnedUntil is until when nothing is left of a limit that the platform told. b.mu
// is held.
func (b *Budget) learnedUntil(now time.Time, q *question) time.Time {
	at := now
	for _, s := range scopes(q.lane) {
		if l, ok := b.learned[s]; ok && l.Remaining <= 0 && !q.ask.Unguarded {
			at = later(at, l.Reset)
		}
	}
	return at
}

// countLearned counts a grant in what was learned. b.mu is held.
func (b *Budget) countLearned(q *question) {
	for _, s := range scopes(q.lane) {
		if l, ok := b.learned[s]; ok {
			l.Remaining--
			b.learned[s] = l
		}
	}
}
