package telegram

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"
)

// Condition is how well updates come in.
type Condition string

// The conditions.
const (
	Well     Condition = "ok"
	Degraded Condition = "degraded" // it fails since less than a minute
	Down     Condition = "down"
)

// Health says how well updates come in.
type Health struct {
	Condition Condition
	Detail    string    // what's wrong and what to do, as a sentence; "": nothing
	LastOK    time.Time // the last real success; zero: never
}

// downAfter is how long something fails until somebody must look.
const downAfter = time.Minute

// vitals watches a part that calls Telegram again and again.
type vitals struct {
	log  *slog.Logger
	part string // for the log: "polling"

	mu     sync.Mutex
	lastOK time.Time
	since  time.Time // failing; zero: it isn't
	detail string
	final  bool
}

// well says that it has just worked.
func (v *vitals) well(ctx context.Context) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.lastOK = time.Now()
	if !v.since.IsZero() {
		v.log.InfoContext(ctx, v.part+" works again", "after", time.Since(v.since).Round(time.Millisecond))
	}
	v.since, v.detail = time.Time{}, ""
}

// ill says what's wrong. It's logged once, until that changes.
func (v *vitals) ill(ctx context.Context, detail string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.since.IsZero() {
		v.since = time.Now()
	}
	if v.detail != detail {
		v.detail = detail
		v.log.WarnContext(ctx, v.part+" fails; it's tried again", "why", detail)
	}
}

// dead says that it's over for good.
func (v *vitals) dead(ctx context.Context, detail string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.detail, v.final = detail, true
	v.log.ErrorContext(ctx, v.part+" has ended", "why", detail)
}

// health is how it is.
func (v *vitals) health() Health {
	v.mu.Lock()
	defer v.mu.Unlock()
	h := Health{Condition: Well, Detail: v.detail, LastOK: v.lastOK}
	switch {
	case v.final || !v.since.IsZero() && time.Since(v.since) >= downAfter:
		h.Condition = Down
	case !v.since.IsZero():
		h.Condition = Degraded
	}
	return h
}

// maxRest is the longest rest that we choose ourselves.
const maxRest = 30 * time.Second

// restAfter is how long to rest after so many failures in a row: from a second to
// half a minute, less up to a third by chance.
func restAfter(fails int) time.Duration {
	d := min(time.Second<<min(fails-1, 5), maxRest)
	return d - rand.N(d/3)
}

// pause lets time pass, or ctx end.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
