package redisbucket

import (
	"context"
	"time"

	"github.com/panebridge/panebridge/qos"
)

// tap is the process's ledger. What's read from it can be merged into Redis.
type tap struct {
	qos.Ledger
	budget *Budget
}

func (t *tap) Load(ctx context.Context, since time.Time) (qos.Kept, error) {
	kept, err := t.Ledger.Load(ctx, since)
	if err == nil {
		t.budget.restore(time.Now(), kept)
	}
	return kept, err
}

// restore takes in what was kept before a restart.
func (b *Budget) restore(now time.Time, kept qos.Kept) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range kept.Slots {
		_, l := limitOf(b.limits, s.Chat, s.Family)
		at := now.Add(s.Stamp.Sub(now)) // with a monotonic reading
		if latest := now.Add(b.opt.CallTimeout + grace); at.After(latest) {
			at = latest
		}
		b.grants[s.Permit] = &grant{id: s.Permit, lane: l, state: settled, stamp: at}
	}
	for _, p := range kept.Penalties {
		p.Until = now.Add(p.Until.Sub(now))
		if p.Until.After(now) {
			b.penalties[p.Scope] = p
		}
	}
	b.loaded = true
	b.poke()
}
