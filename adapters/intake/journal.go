package intake

import (
	"context"
	"time"
)

// Update is one update of a platform, as it came.
type Update struct {
	// Key is the platform's own name for it: "8123". It's the same when the platform
	// sends the update again.
	Key string
	Raw []byte
	// KeptAt is when it came here.
	KeptAt time.Time

	// Seq is its number in the journal: what came later has a greater one. Tries is
	// how often it has been tried, the try under way included. The journal sets both.
	Seq   int64
	Tries int
}

// UpdateOutcome is what became of an update.
type UpdateOutcome string

// The outcomes.
const (
	// Handled: it has had its effect, or was none of our business.
	Handled UpdateOutcome = "handled"
	// SetAside: it can't be handled.
	SetAside UpdateOutcome = "set aside"
)

// Journal keeps the updates of one adapter over crashes, from before the platform
// is told that they've come until they're settled. All methods may do I/O and may
// be called at the same time. An error that wraps sessions.ErrUnavailable may pass;
// whatever the error, nothing was changed.
//
// What's settled stays known by its key, so that it isn't taken twice, until Forget.
// Its content doesn't stay, but for the newest that were set aside.
type Journal interface {
	// Keep stores updates in this order, and returns those it didn't know, with their
	// numbers. When it returns they're on the disk: the platform forgets what it's
	// been told has come.
	Keep(ctx context.Context, updates []Update) (fresh []Update, err error)
	// Waiting returns those with a greater number than after that aren't settled, by
	// number, at most limit.
	Waiting(ctx context.Context, after int64, limit int) ([]Update, error)
	// Try writes down how often an update has been tried.
	Try(ctx context.Context, seq int64, tries int) error
	// Settle says what became of an update.
	Settle(ctx context.Context, seq int64, o UpdateOutcome) error
	// Forget drops the keys of what was settled and came before a time, and of
	// all that was settled but the newest most.
	Forget(ctx context.Context, before time.Time, most int) error
}

// UpdateKeeper stores updates durably and sees to it that they're handled; Queue is one.
type UpdateKeeper interface {
	// Keep returns nil when the platform may forget the updates. It may be called again with the same ones, and
	// several times at once. It blocks while it writes to the journal.
	Keep(ctx context.Context, updates []Update) error
}
