package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/sessions"
)

const (
	sqlBindings = `SELECT b.id, b.session, b.adapter, b.chat, b.thread, b.view, b.input, b.origin, b.disabled, b.unbound, b.resting, b.created_at,
	d.shown_line, d.shown_byte, d.turn, d.announced, d.chat, d.thread,
	d.doubt_line, d.doubt_byte, d.doubt_turn, d.doubt_screen, d.tail, d.stale, d.intent
	FROM bindings b JOIN documents d ON d.binding = b.seq ORDER BY b.created_at, b.seq`
	// One row for each session and target. Inserting another is a conflict that
	// fails, unless it's the same binding.
	sqlPutBinding = `INSERT INTO bindings (id, session, adapter, chat, thread, view, input, origin, disabled, unbound, resting, created_at)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
	ON CONFLICT (id) DO UPDATE SET session = excluded.session, adapter = excluded.adapter, chat = excluded.chat,
	thread = excluded.thread, view = excluded.view, input = excluded.input, origin = excluded.origin,
	disabled = excluded.disabled, unbound = excluded.unbound, resting = excluded.resting, created_at = excluded.created_at`
	sqlDropBinding = `DELETE FROM bindings WHERE id = ?`
)

var _ adapters.Store = (*Store)(nil)

// Bindings returns all bindings with their documents: see adapters.Store.
func (s *Store) Bindings(ctx context.Context) (all []adapters.Kept, err error) {
	r := s.reader()
	defer func() { err = r.explain("read bindings", err) }()
	rows, err := r.bindings.QueryContext(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		k, err := scanBinding(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, k)
	}
	return all, rows.Err()
}

func scanBinding(rows *sql.Rows) (k adapters.Kept, err error) {
	var created int64
	var stored documentRow
	b := &k.Binding
	into := []any{
		&b.ID, &b.Session, &b.Target.Adapter, &b.Target.Chat, &b.Target.Thread,
		&b.View, &b.Input, &b.Origin, &b.Disabled, &b.Unbound, &b.Resting, &created,
	}
	if err := rows.Scan(append(into, stored.columns()...)...); err != nil {
		return k, err
	}
	b.CreatedAt = fromNanos(created)
	if k.Document, err = stored.document(); err != nil {
		return k, fmt.Errorf("binding %s: %w", b.ID, err)
	}
	return k, nil
}

// PutBinding inserts or replaces a binding: see adapters.Store.
func (s *Store) PutBinding(ctx context.Context, b adapters.Binding, d *adapters.Document) error {
	doing := "store the binding of " + string(b.Session) + " to " + b.Target.String()
	var args []any
	if d != nil {
		var err error
		if args, err = documentArgs(b.ID, *d); err != nil {
			return s.explain(doing, err)
		}
	}
	err := s.write.queue.do(ctx, 2, func(ctx context.Context) error {
		_, err := s.write.putBinding.ExecContext(
			ctx,
			clean(b.ID), clean(b.Session), clean(b.Target.Adapter), clean(b.Target.Chat), clean(b.Target.Thread),
			clean(b.View), b.Input, clean(b.Origin), clean(b.Disabled), b.Unbound, b.Resting, nanos(b.CreatedAt),
		)
		if err != nil {
			return asConflict(err)
		}
		if d == nil {
			return nil
		}
		_, err = s.write.putDocument.ExecContext(ctx, args...)
		return err
	})
	return s.explain(doing, err)
}

// asConflict names what a broken UNIQUE means.
func asConflict(err error) error {
	if isUnique(err) {
		return fmt.Errorf("%w: that target mirrors the session already: %w", sessions.ErrConflict, err)
	}
	return err
}

// DropBinding deletes a binding with its document: see adapters.Store.
func (s *Store) DropBinding(ctx context.Context, id adapters.BindingID) error {
	return s.explain("drop binding "+string(id), s.write.exec(ctx, &s.write.dropBinding, clean(id)))
}

// NewSessions returns the sessions that weren't taken up yet: see adapters.Store.
func (s *Store) NewSessions(ctx context.Context) ([]sessions.ID, error) {
	return list(ctx, s, "read which sessions are new", func(row *sql.Rows) (id sessions.ID, err error) {
		err = row.Scan(&id)
		return id, err
	}, `SELECT id FROM sessions WHERE fresh ORDER BY seq`)
}

// TakeUp keeps that a session isn't new any more: see adapters.Store.
func (s *Store) TakeUp(ctx context.Context, id sessions.ID) error {
	return s.exec1(ctx, "store that session "+string(id)+" was taken up", `UPDATE sessions SET fresh = 0 WHERE id = ?`, clean(id))
}

// Moves returns the chats that have another id: see adapters.Store.
func (s *Store) Moves(ctx context.Context) ([]adapters.Move, error) {
	return list(ctx, s, "read which chats have moved", func(row *sql.Rows) (m adapters.Move, err error) {
		err = row.Scan(&m.Adapter, &m.From, &m.To)
		return m, err
	}, `SELECT adapter, from_chat, to_chat FROM moves ORDER BY seq`)
}

// PutMove keeps that a chat has another id: see adapters.Store.
func (s *Store) PutMove(ctx context.Context, m adapters.Move) error {
	return s.exec1(ctx, "store that a chat has moved", `INSERT OR IGNORE INTO moves (adapter, from_chat, to_chat) VALUES (?, ?, ?)`,
		clean(m.Adapter), clean(m.From), clean(m.To))
}
