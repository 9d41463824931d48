package intake

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
	Degraded Condition = "degraded" // it fails since less than ten seconds
	Down     Condition = "down"
)

// Health says how well a platform's updates come in.
type Health struct {
	Condition Condition
	Detail    string    // what's wrong and what to do, as a sentence; "": nothing
	LastOK    time.Time // the last real success; zero: never
}

// Worse returns the one of two that somebody should hear of: of the same condition
// the first that has something to say.
func (h Health) Worse(other Health) Health {
	rank := map[Condition]int{Degraded: 1, Down: 2}
	if rank[other.Condition] > rank[h.Condition] || rank[other.Condition] == rank[h.Condition] && h.Detail == "" {
		h.Condition, h.Detail = other.Condition, other.Detail
	}
	return h
}

// DownAfter is how long something fails until somebody must look.
const DownAfter = 10 * time.Second

// Vitals watches a part that does something again and again. Set its fields before
// its first use. It's safe for concurrent use.
type Vitals struct {
	Log  *slog.Logger
	Part string // for the log: "polling Telegram"

	mu     sync.Mutex
	lastOK time.Time
	since  time.Time // failing; zero: it isn't
	detail string
	denied bool // a person must do something
	waits  bool // it hasn't failed as yet, and hasn't worked either
}

// Works says that the part has just worked.
func (v *Vitals) Works(ctx context.Context) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.lastOK = time.Now()
	if !v.since.IsZero() && !v.waits {
		v.Log.InfoContext(ctx, "a part works again", "part", v.Part, "after", time.Since(v.since).Round(time.Millisecond))
	}
	v.since, v.detail, v.denied, v.waits = time.Time{}, "", false, false
}

// Waits says what the part waits for, which is neither success nor failure. Health is Down if that lasts ten seconds.
func (v *Vitals) Waits(detail string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.since.IsZero() {
		v.since, v.detail, v.waits = time.Now(), detail, true
	}
}

// Fails says what's wrong. It's logged when it changes.
func (v *Vitals) Fails(ctx context.Context, detail string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.since.IsZero() {
		v.since = time.Now()
	}
	v.denied, v.waits = false, false
	if v.detail != detail {
		v.detail = detail
		v.Log.WarnContext(ctx, "a part fails; it's tried again", "part", v.Part, "why", detail)
	}
}

// Denied says what's wrong that only a person can change. It's logged when it changes, and Health is Down at
// once.
func (v *Vitals) Denied(ctx context.Context, detail string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.since.IsZero() {
		v.since = time.Now()
	}
	if !v.denied || v.detail != detail {
		v.Log.ErrorContext(ctx, "a part is refused; it's tried again now and then", "part", v.Part, "why", detail)
	}
	v.detail, v.denied, v.waits = detail, true, false
}

// Health is how it is.
func (v *Vitals) Health() Health {
	v.mu.Lock()
	defer v.mu.Unlock()
	h := Health{Condition: Well, Detail: v.detail, LastOK: v.lastOK}
	switch {
	case v.denied || !v.since.IsZero() && time.Since(v.since) >= DownAfter:
		h.Condition = Down
	case v.waits:
		h.Detail = ""
	case !v.since.IsZero():
		h.Condition = Degraded
	}
	return h
}

// maxRest is the longest rest that we choose ourselves.
const maxRest = 30 * time.Second

// RestAfter returns how long a platform's reader rests after so many failures in a row: from a second to half
// a minute, less up to a third by chance.
func RestAfter(fails int) time.Duration {
	d := min(time.Second<<min(max(fails, 1)-1, 5), maxRest)
	return d - rand.N(d/3)
}

// RestDenied is how long to rest after a call that was refused as if a person had to do
// something first, so many times in a row: about 5 s, then longer, up to 45 s. What's refused
// once may be a server in trouble.
func RestDenied(times int) time.Duration {
	d := min(5*time.Second<<min(max(times, 1)-1, 4), maxDenied)
	return d - rand.N(d/5)
}

// maxDenied is the longest rest after a refusal.
const maxDenied = 45 * time.Second
