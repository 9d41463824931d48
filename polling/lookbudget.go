package polling

import "time"

// LookBudget bounds what looks at a pane take of the time, on average. It isn't safe for concurrent use.
type LookBudget struct {
	Share int           // looks take at most 1 / (Share + 1) of the time
	Burst time.Duration // by how much they may be ahead of that: the looks of one write needn't wait for each other

	paidAt time.Time // when Share times what looks have taken will have passed beside them
}

// Charge takes in a look that has ended now.
func (b *LookBudget) Charge(now time.Time, took time.Duration) {
	b.paidAt = latest(b.paidAt, now.Add(-took)).Add(time.Duration(b.Share+1) * took)
}

// NextAt is when the next look may begin. It may be past.
func (b *LookBudget) NextAt() time.Time { return b.paidAt.Add(-b.Burst) }

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
