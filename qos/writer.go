package qos

import (
	"context"
	"fmt"
	"time"
)

const (
	// ledgerRetry is how long after an error the ledger is tried again; until then
	// nothing is granted.
	ledgerRetry = time.Second
	// ledgerLast is how long the last write may take when the process ends.
	ledgerLast = 2 * time.Second
	// ledgerLastRetry is how long after an error that's tried again: what passes is tried often
	// within so short a time.
	ledgerLastRetry = 200 * time.Millisecond
	// pruneEvery is how often what doesn't matter any more is forgotten.
	pruneEvery = time.Minute
)

// Run implements Budget: it reads the ledger, then writes what's to be written,
// all that came during one write in the next.
func (b *LocalBudget) Run(ctx context.Context, hear func(Penalty), _ func(Chat)) error {
	if b.ledger != nil {
		if err := b.load(ctx, hear); err != nil {
			b.refuse(time.Now(), err)
			return nil // ended before it could be read: there's nothing to write
		}
	}
	tick := time.NewTicker(pruneEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return b.writeLast(context.WithoutCancel(ctx))
		case <-tick.C:
			b.forget(time.Now())
		case <-b.wake:
		}
		if err := b.write(ctx); err != nil {
			b.pauseFor(ctx, ledgerRetry)
		}
	}
}

// writeLast writes what's left when the process ends: a penalty may be among it.
func (b *LocalBudget) writeLast(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, ledgerLast)
	defer cancel()
	for {
		err := b.write(ctx)
		if err == nil || ctx.Err() != nil {
			return err
		}
		b.pauseFor(ctx, ledgerLastRetry)
	}
}

// load reads the ledger until that works or ctx ends.
func (b *LocalBudget) load(ctx context.Context, hear func(Penalty)) error {
	for {
		now := time.Now()
		kept, err := b.ledger.Load(ctx, now.Add(-b.span()))
		if err == nil {
			b.restore(now, kept, hear)
			return nil
		}
		b.refuse(now, fmt.Errorf("read the kept budget: %w", err))
		if b.pauseFor(ctx, ledgerRetry); ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

func (b *LocalBudget) span() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	return max(b.limits.longest(), b.limits.Bot.longest())
}

// restore takes in what was kept, and answers the questions that came before.
func (b *LocalBudget) restore(now time.Time, kept Kept, hear func(Penalty)) {
	for _, p := range kept.Penalties {
		p.Until = monotonic(now, p.Until)
		b.mu.Lock()
		b.penalize(p)
		p = b.penalties[p.Scope]
		b.mu.Unlock()
		hear(p)
	}
	for _, answer := range b.restoreSlots(now, kept.Slots) {
		answer()
	}
}

// restoreSlots also returns the answers to the early questions that are known at
// once.
func (b *LocalBudget) restoreSlots(now time.Time, slots []Slot) (answers []func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range slots {
		b.lastID = max(b.lastID, s.Permit)
		if b.permits[s.Permit] != nil {
			continue
		}
		s.Stamp = monotonic(now, s.Stamp)
		// A clock that was set back since would keep the slot for as long as that.
		// A stamp is never further ahead than a call's time, so this is late enough.
		if latest := now.Add(maxCallTimeout + answerGrace); s.Stamp.After(latest) {
			s.Stamp = latest
		}
		b.keep(&taken{Slot: s})
	}
	b.loaded = true
	early := b.early
	b.early = nil
	for _, w := range early {
		if a := b.decide(now, w.ask, w.reply); a.State != Pending {
			answers = append(answers, func() { w.reply(a) })
		}
	}
	return answers
}

// monotonic gives a wall clock time the monotonic reading it would have had.
func monotonic(now, wall time.Time) time.Time { return now.Add(wall.Sub(now)) }

// refuse answers the early questions with an error.
func (b *LocalBudget) refuse(now time.Time, err error) {
	b.mu.Lock()
	early := b.early
	b.early = nil
	b.mu.Unlock()
	for _, w := range early {
		w.reply(Answer{State: NotBefore, At: now.Add(ledgerRetry), Err: err})
	}
}

// write makes durable what has gathered, and answers the grants among it.
func (b *LocalBudget) write(ctx context.Context) error {
	b.mu.Lock()
	entries, grants := b.entries, b.grants
	b.entries, b.grants = nil, nil
	b.mu.Unlock()
	if len(entries) == 0 || b.ledger == nil {
		return nil
	}
	err := b.ledger.Write(ctx, entries)
	if err != nil {
		err = fmt.Errorf("keep the budget: %w", err)
		b.failed(time.Now(), entries, grants, err)
		return err
	}
	for _, g := range grants {
		g.reply(Answer{State: Granted, Permit: g.permit})
	}
	return nil
}

// failed takes back grants that couldn't be made durable, and keeps the rest for
// the next write. (A refund follows each, should the row be there after all.)
func (b *LocalBudget) failed(now time.Time, entries []Entry, grants []waiting, err error) {
	b.mu.Lock()
	again := make([]Entry, 0, len(entries))
	for _, e := range entries {
		if e.Kind == EntryTake {
			e.Kind = EntryRefund
		}
		again = append(again, e)
	}
	b.entries = append(again, b.entries...)
	for _, g := range grants {
		if t := b.permits[g.permit]; t != nil {
			b.giveBack(now, t)
		}
	}
	b.poke()
	b.mu.Unlock()
	for _, g := range grants {
		g.reply(Answer{State: NotBefore, At: now.Add(ledgerRetry), Err: err})
	}
}

// forget drops what doesn't matter any more, here and in the ledger.
func (b *LocalBudget) forget(now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pruneAll(now)
	b.note(Entry{Kind: EntryForget, Before: now.Add(-max(penaltyKept, b.limits.longest()))})
}

// note has an entry written; b.mu is held.
func (b *LocalBudget) note(e Entry) {
	if b.ledger != nil {
		b.entries = append(b.entries, e)
		b.poke()
	}
}

func (b *LocalBudget) poke() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// pauseFor waits so long after an error, or until ctx ends.
func (b *LocalBudget) pauseFor(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
