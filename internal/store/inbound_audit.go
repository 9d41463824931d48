package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/adapters/cards"
	"github.com/panebridge/panebridge/adapters/inbound"
)

const (
	keptEntries  = 100_000 // of the audit log, some 20 MB
	entryColumns = `key, at, adapter, chat, thread, person, name, kind, what, session, bytes, hash, outcome`
)

// BeginEntry adds an entry to the audit log: see inbound.AuditStore.
func (s *Store) BeginEntry(ctx context.Context, e inbound.Entry) (before *inbound.Entry, err error) {
	err = s.write.queue.do(ctx, 1, func(ctx context.Context) error {
		before = nil
		conn := s.write.conn
		row := conn.QueryRowContext(ctx, `SELECT `+entryColumns+` FROM audit WHERE key = ?`, clean(e.Key))
		was, err := scanEntry(row)
		if err == nil {
			before = &was
			return nil
		}
		if !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		var seq int64
		err = conn.QueryRowContext(
			ctx, `INSERT INTO audit (`+entryColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '') RETURNING seq`,
			clean(e.Key), nanos(e.At), clean(e.Place.Adapter), clean(e.Place.Chat), clean(e.Place.Thread), clean(e.Person), clean(e.Name),
			clean(e.Kind), clean(e.What), clean(e.Session), e.Bytes, clean(e.Hash),
		).Scan(&seq)
		if err != nil || seq%100 != 0 {
			return err
		}
		_, err = conn.ExecContext(ctx, `DELETE FROM audit WHERE seq <= ?`, seq-keptEntries)
		return err
	})
	return before, s.explain("begin an entry of the audit log", err)
}

// EndEntry fills in what became of an input: see inbound.AuditStore.
func (s *Store) EndEntry(ctx context.Context, e inbound.Entry, replies []cards.Reply) error {
	err := s.write.queue.do(ctx, 1+len(replies), func(ctx context.Context) error {
		_, err := s.write.conn.ExecContext(
			ctx, `UPDATE audit SET what = ?, session = ?, outcome = ? WHERE key = ?`,
			clean(e.What), clean(e.Session), clean(e.Outcome), clean(e.Key),
		)
		for _, r := range replies {
			if err != nil {
				return err
			}
			_, err = s.write.conn.ExecContext(ctx, `INSERT INTO replies (id, session, at, post) VALUES (?, ?, ?, ?)`, r.ID, clean(r.Session), nanos(r.At), r.Post)
		}
		return err
	})
	return s.explain("end an entry of the audit log", err)
}

// Replies returns the answers that weren't dropped: see cards.ReplyStore.
func (s *Store) Replies(ctx context.Context) ([]cards.Reply, error) {
	return list(ctx, s, "read the answers that nobody has seen", func(row *sql.Rows) (r cards.Reply, err error) {
		var at int64
		err = row.Scan(&r.ID, &r.Session, &at, &r.Post)
		r.At = fromNanos(at)
		return r, err
	}, `SELECT id, session, at, post FROM replies ORDER BY seq`)
}

// DropReplies drops answers: see cards.ReplyStore.
func (s *Store) DropReplies(ctx context.Context, ids []string) error {
	err := s.write.queue.do(ctx, len(ids), func(ctx context.Context) error {
		for _, id := range ids {
			if _, err := s.write.conn.ExecContext(ctx, `DELETE FROM replies WHERE id = ?`, clean(id)); err != nil {
				return err
			}
		}
		return nil
	})
	return s.explain("drop answers that were seen", err)
}

// Entries returns the newest entries: see inbound.AuditStore.
func (s *Store) Entries(ctx context.Context, limit int) ([]inbound.Entry, error) {
	return list(ctx, s, "read the audit log", func(row *sql.Rows) (inbound.Entry, error) { return scanEntry(row) },
		`SELECT `+entryColumns+` FROM audit ORDER BY seq DESC LIMIT ?`, limit)
}

// Visits returns who has done something where: see inbound.AuditStore.
func (s *Store) Visits(ctx context.Context, since time.Time) ([]access.Visit, error) {
	return list(ctx, s, "read who uses places", func(row *sql.Rows) (u access.Visit, err error) {
		var at int64
		err = row.Scan(&u.Place.Adapter, &u.Place.Chat, &u.Place.Thread, &u.Person.ID, &u.Person.Name, &at)
		u.At = fromNanos(at)
		return u, err
	}, `SELECT adapter, chat, thread, person, name, max(at) FROM audit WHERE at >= ? AND person <> ''
		GROUP BY adapter, chat, thread, person ORDER BY max(at)`, nanos(since))
}

func scanEntry(row interface{ Scan(into ...any) error }) (e inbound.Entry, err error) {
	var at int64
	err = row.Scan(
		&e.Key, &at, &e.Place.Adapter, &e.Place.Chat, &e.Place.Thread, &e.Person, &e.Name, &e.Kind, &e.What, &e.Session,
		&e.Bytes, &e.Hash, &e.Outcome,
	)
	e.At = fromNanos(at)
	return e, err
}
