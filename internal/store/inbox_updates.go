package store

import (
	"context"
	"database/sql"
	"time"

	"github.com/panebridge/panebridge/adapters/intake"
)

// sqlKeepSettled keeps of an update that it was handled, whether it's new or waits.
const sqlKeepSettled = `INSERT INTO updates (adapter, key, kept_at, raw, tries, outcome) VALUES (?1, ?2, ?3, x'', 0, ?4)
	ON CONFLICT (adapter, key) DO UPDATE SET raw = x'', outcome = ?4 WHERE outcome = ''`

// KeepUpdates stores updates of an adapter that came while no daemon took them: its next start handles them, in this
// order, but for the one whose key is handled, which it takes for handled. What's known by its key already isn't taken
// twice, now and when the platform sends it again. When it returns nil they're on the disk, as for intake.Journal;
// after an error none is.
func (s *Inbox) KeepUpdates(ctx context.Context, adapter string, updates []intake.Update, handled string) error {
	if err := Unsound(s.path); err != nil {
		return err
	}
	adapter, now := clean(adapter), nanos(time.Now())
	keep := func(ctx context.Context, conn *sql.Conn) error {
		for _, u := range updates {
			query, last := sqlAddUpdate, any(u.Raw)
			if u.Key == handled {
				query, last = sqlKeepSettled, string(intake.Handled)
			}
			if _, err := conn.ExecContext(ctx, query, adapter, clean(u.Key), now, last); err != nil {
				return err
			}
		}
		return nil
	}
	ctx = context.WithoutCancel(ctx)
	return s.writeAs(ctx, "keep updates of "+adapter, func(conn *sql.Conn) error {
		if _, err := conn.ExecContext(ctx, "PRAGMA synchronous = FULL"); err != nil { // see durable.go
			return err
		}
		defer func() { _, _ = conn.ExecContext(ctx, "PRAGMA synchronous = NORMAL") }() // what isn't so waits longer, no more
		return s.transact(ctx, conn, keep)
	})
}
