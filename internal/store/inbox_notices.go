package store

import (
	"cmp"
	"context"
	"database/sql"
	"slices"

	"github.com/panebridge/panebridge/internal/inbox"
)

const (
	sqlAddNotice   = `INSERT INTO notices (recipient, at, sender, session, type, text) VALUES (?, ?, ?, ?, ?, ?)`
	sqlBells       = `SELECT bell FROM listeners WHERE session = ?1 OR (common AND ?1 = '')`
	sqlAnyNotice   = `SELECT EXISTS (SELECT 1 FROM notices WHERE recipient = ?1 AND lease = 0) OR (?2 AND EXISTS (SELECT 1 FROM notices WHERE recipient = '' AND lease = 0))`
	sqlTakeNotices = `UPDATE notices SET lease = ?1 WHERE seq IN (
	SELECT seq FROM notices WHERE lease = 0 AND (recipient = ?2 OR (?3 AND recipient = '')) ORDER BY seq LIMIT ?4)
	RETURNING seq, recipient, at, sender, type, text, redelivered`
	sqlDropNotices  = `DELETE FROM notices WHERE lease = ? AND seq <= ?`
	sqlAddListener  = `INSERT INTO listeners (session, common, pid, started, bell) VALUES (?, ?, ?, ?, ?) RETURNING id`
	sqlListeners    = `SELECT id, session, common, pid, started, bell FROM listeners ORDER BY id`
	sqlFreeNotices  = `UPDATE notices SET lease = 0, redelivered = 1 WHERE lease = ?`
	sqlDropListener = `DELETE FROM listeners WHERE id = ?`
)

// AddNotice stores a notice and returns the bells of those who listen for it: see
// inbox.NoticeStore.
func (s *Inbox) AddNotice(ctx context.Context, n inbox.Notice) (bells []string, err error) {
	err = s.accept(ctx, "store the notice", func(ctx context.Context, conn *sql.Conn) error {
		bells = nil
		if _, err := conn.ExecContext(ctx, sqlAddNotice, clean(n.To), nanos(n.At), clean(n.From), clean(n.Session), clean(n.Type), clean(n.Msg)); err != nil {
			return err
		}
		rows, err := conn.QueryContext(ctx, sqlBells, clean(n.To))
		if err != nil {
			return err
		}
		defer func() { _ = rows.Close() }()
		for rows.Next() {
			var bell string
			if err := rows.Scan(&bell); err != nil {
				return err
			}
			bells = append(bells, bell)
		}
		return rows.Err()
	})
	return bells, err
}

// AnyNotice says whether there's something for a listener to take: see inbox.NoticeStore.
func (s *Inbox) AnyNotice(ctx context.Context, l inbox.Listener) (found bool, err error) {
	err = s.query(ctx, "look for notices", sqlAnyNotice, []any{clean(l.Session), l.Common}, func(rows *sql.Rows) error { return rows.Scan(&found) })
	return found, err
}

// TakeNotices gives a listener the lease of notices that are free: see inbox.NoticeStore.
func (s *Inbox) TakeNotices(ctx context.Context, l inbox.Listener, limit int) (taken []inbox.Notice, err error) {
	err = s.write(ctx, "take notices", func(ctx context.Context, conn *sql.Conn) error {
		taken = nil
		rows, err := conn.QueryContext(ctx, sqlTakeNotices, l.ID, clean(l.Session), l.Common, limit)
		if err != nil {
			return err
		}
		defer func() { _ = rows.Close() }()
		for rows.Next() {
			var n inbox.Notice
			var at int64
			if err := rows.Scan(&n.Seq, &n.To, &at, &n.From, &n.Type, &n.Msg, &n.Redelivered); err != nil {
				return err
			}
			n.At = fromNanos(at)
			taken = append(taken, n)
		}
		return rows.Err()
	})
	slices.SortFunc(taken, func(a, b inbox.Notice) int { return cmp.Compare(a.Seq, b.Seq) })
	return taken, err
}

// DropNotices deletes what a listener has printed: see inbox.NoticeStore.
func (s *Inbox) DropNotices(ctx context.Context, listener, last int64) error {
	return s.write(ctx, "delete notices that were printed", func(ctx context.Context, conn *sql.Conn) error {
		_, err := conn.ExecContext(ctx, sqlDropNotices, listener, last)
		return err
	})
}

// AddListener takes in a listener, and gives it an id: see inbox.NoticeStore.
func (s *Inbox) AddListener(ctx context.Context, l inbox.Listener) (id int64, err error) {
	err = s.write(ctx, "begin to listen", func(ctx context.Context, conn *sql.Conn) error {
		return conn.QueryRowContext(ctx, sqlAddListener, clean(l.Session), l.Common, l.Process.PID, l.Process.Started, l.Bell).Scan(&id)
	})
	return id, err
}

// Listeners returns all listeners, those that have died included: see inbox.NoticeStore.
func (s *Inbox) Listeners(ctx context.Context) (all []inbox.Listener, err error) {
	err = s.query(ctx, "read who listens", sqlListeners, nil, func(rows *sql.Rows) error {
		var l inbox.Listener
		err := rows.Scan(&l.ID, &l.Session, &l.Common, &l.Process.PID, &l.Process.Started, &l.Bell)
		all = append(all, l)
		return err
	})
	return all, err
}

// DropListener takes a listener away and frees what it held: see inbox.NoticeStore.
func (s *Inbox) DropListener(ctx context.Context, id int64) (freed int64, err error) {
	err = s.write(ctx, "end listening", func(ctx context.Context, conn *sql.Conn) error {
		done, err := conn.ExecContext(ctx, sqlFreeNotices, id)
		if err != nil {
			return err
		}
		if freed, err = done.RowsAffected(); err != nil {
			return err
		}
		_, err = conn.ExecContext(ctx, sqlDropListener, id)
		return err
	})
	return freed, err
}

// Undelivered returns how many notices are there that haven't been printed.
func (s *Inbox) Undelivered(ctx context.Context) (n int, err error) {
	err = s.query(ctx, "count notices", `SELECT count(*) FROM notices`, nil, func(rows *sql.Rows) error { return rows.Scan(&n) })
	return n, err
}
