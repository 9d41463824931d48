package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/panebridge/panebridge/adapters/intake"
)

// setAsideKept is of how many updates the content stays that couldn't be handled:
// what was wrong with them can only be found with it.
const setAsideKept = 100

const (
	sqlAddUpdate = `INSERT INTO updates (adapter, key, kept_at, raw, tries, outcome) VALUES (?, ?, ?, ?, 0, '')
	ON CONFLICT DO NOTHING`
	sqlKeepUpdate     = sqlAddUpdate + ` RETURNING seq`
	sqlWaitingUpdates = `SELECT seq, key, kept_at, raw, tries FROM updates WHERE adapter = ? AND outcome = '' AND seq > ? ORDER BY seq LIMIT ? + 0`
	sqlTryUpdate      = `UPDATE updates SET tries = ?3 WHERE seq = ?2 AND adapter = ?1 AND outcome = ''`
	sqlSettleUpdate   = `UPDATE updates SET outcome = ?3, raw = CASE ?3 WHEN 'set aside' THEN raw ELSE x'' END
	WHERE seq = ?2 AND adapter = ?1 AND outcome = ''`
	sqlForgetUpdates = `DELETE FROM updates WHERE adapter = ?1 AND outcome <> '' AND (kept_at < ?2 OR seq <=
	(SELECT seq FROM updates WHERE adapter = ?1 AND outcome <> '' ORDER BY seq DESC LIMIT 1 OFFSET ?3))`
	sqlEmptyUpdates = `UPDATE updates SET raw = x'' WHERE adapter = ?1 AND outcome = 'set aside' AND raw <> x'' AND seq <=
	(SELECT seq FROM updates WHERE adapter = ?1 AND outcome = 'set aside' ORDER BY seq DESC LIMIT 1 OFFSET ?2)`
)

// journal keeps one adapter's updates.
type journal struct {
	store   *Store
	adapter string
}

// Journal returns the journal of an adapter. Several of the same name are the same
// journal.
func (s *Store) Journal(adapter string) intake.Journal {
	return journal{store: s, adapter: clean(adapter)}
}

// Keep implements intake.Journal.
func (j journal) Keep(ctx context.Context, updates []intake.Update) (fresh []intake.Update, err error) {
	err = j.store.write.queue.doDurable(ctx, len(updates), func(ctx context.Context) error {
		fresh = nil // it may be called again
		for _, u := range updates {
			raw := u.Raw
			if raw == nil {
				raw = []byte{}
			}
			err := j.store.write.keepUpdate.QueryRowContext(ctx, j.adapter, clean(u.Key), nanos(u.KeptAt), raw).Scan(&u.Seq)
			switch {
			case errors.Is(err, sql.ErrNoRows):
				continue // it's there
			case err != nil:
				return err
			}
			u.Tries = 0
			fresh = append(fresh, u)
		}
		return nil
	})
	if err != nil {
		return nil, j.store.explain(fmt.Sprintf("store %d updates of %s", len(updates), j.adapter), err)
	}
	return fresh, nil
}

// Waiting implements intake.Journal.
func (j journal) Waiting(ctx context.Context, after int64, limit int) (list []intake.Update, err error) {
	r := j.store.reader()
	defer func() { err = r.explain("read the updates of "+j.adapter, err) }()
	rows, err := r.waitingUpdates.QueryContext(ctx, j.adapter, after, limit)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var u intake.Update
		var kept int64
		if err := rows.Scan(&u.Seq, &u.Key, &kept, &u.Raw, &u.Tries); err != nil {
			return nil, err
		}
		u.KeptAt = fromNanos(kept)
		list = append(list, u)
	}
	return list, rows.Err()
}

// Try implements intake.Journal.
func (j journal) Try(ctx context.Context, seq int64, tries int) error {
	w := j.store.write
	return j.store.explain("count the tries of an update of "+j.adapter, w.exec(ctx, &w.tryUpdate, j.adapter, seq, tries))
}

// Settle implements intake.Journal.
func (j journal) Settle(ctx context.Context, seq int64, o intake.UpdateOutcome) error {
	w := j.store.write
	return j.store.explain("settle an update of "+j.adapter, w.exec(ctx, &w.settleUpdate, j.adapter, seq, string(o)))
}

// Forget implements intake.Journal.
func (j journal) Forget(ctx context.Context, before time.Time, most int) error {
	w := j.store.write
	err := errors.Join(
		w.exec(ctx, &w.forgetUpdates, j.adapter, nanos(before), most),
		w.exec(ctx, &w.emptyUpdates, j.adapter, setAsideKept),
	)
	return j.store.explain("forget old updates of "+j.adapter, err)
}
