package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/inbound"
	"github.com/panebridge/panebridge/sessions"
)

// What people do in chats is rare beside what sessions print. So its statements
// aren't prepared ahead: each costs some 20 µs more.

var _ inbound.Store = (*Store)(nil)

const (
	keepWaiting = 8 * 24 * time.Hour  // longer than the offers that lead to it
	keepOrigins = 7 * 24 * time.Hour  // that are done: for edits of their messages
	loseOrigins = 30 * 24 * time.Hour // that never were done
	keepReplies = 24 * time.Hour      // nobody waits longer for an answer
)

// exec1 writes by one statement of its own.
func (s *Store) exec1(ctx context.Context, doing, query string, args ...any) error {
	err := s.write.queue.do(ctx, 1, func(ctx context.Context) error {
		_, err := s.write.conn.ExecContext(ctx, query, args...)
		return err
	})
	return s.explain(doing, err)
}

// accept is exec1 for something new: see unsound.
func (s *Store) accept(ctx context.Context, doing, query string, args ...any) error {
	if err := s.unsound(); err != nil {
		return err
	}
	return s.exec1(ctx, doing, query, args...)
}

// list reads rows.
func list[T any](ctx context.Context, s *Store, doing string, scan func(row *sql.Rows) (T, error), query string, args ...any) (all []T, err error) {
	r := s.reader()
	defer func() { err = r.explain(doing, err) }()
	rows, err := r.db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		x, err := scan(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, x)
	}
	return all, rows.Err()
}

// unknown is what it means that there's no row.
func unknown(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return sessions.ErrUnknown
	}
	return err
}

// MessageSession returns the session that a message shows: see inbound.Store.
func (s *Store) MessageSession(ctx context.Context, adapter, chat, message string) (sessions.ID, error) {
	m, err := s.SentMessage(ctx, adapter, chat, message)
	return m.Session, err
}

// MoveChat has all that's kept for a chat follow it: see inbound.Store. Numbers of messages are
// those of the chat that's gone, and forgotten.
func (s *Store) MoveChat(ctx context.Context, adapter, from, to string) error {
	err := s.write.queue.do(ctx, 10, func(ctx context.Context) error {
		for _, query := range []string{
			`UPDATE offers SET chat = ?3 WHERE adapter = ?1 AND chat = ?2`,
			`UPDATE origins SET chat = ?3, message = '', reply = '', told = CASE told WHEN 'held' THEN '' ELSE told END WHERE adapter = ?1 AND chat = ?2 AND NOT done`,
			`UPDATE OR IGNORE preferences SET chat = ?3 WHERE adapter = ?1 AND chat = ?2`,
			`UPDATE OR IGNORE prompt_messages SET chat = ?3, message = '', shows = '' WHERE adapter = ?1 AND chat = ?2`,
			`DELETE FROM prompt_messages WHERE adapter = ?1 AND chat = ?2`,
			`UPDATE OR IGNORE prompt_writers SET chat = ?3 WHERE adapter = ?1 AND chat = ?2`,
			`UPDATE OR IGNORE missed SET chat = ?3 WHERE adapter = ?1 AND chat = ?2`,
			`UPDATE grants SET chat = ?3 WHERE adapter = ?1 AND chat = ?2`,
			`DELETE FROM standing WHERE adapter = ?1 AND chat = ?2`,
		} {
			if _, err := s.write.conn.ExecContext(ctx, query, clean(adapter), clean(from), clean(to)); err != nil {
				return err
			}
		}
		return nil
	})
	return s.explain("have chat "+from+" follow to "+to, err)
}

// Followed says whether everything has followed a chat: see inbound.Store.
func (s *Store) Followed(ctx context.Context, m adapters.Move) (bool, error) {
	all, err := list(ctx, s, "read whether a chat was followed", func(row *sql.Rows) (followed bool, err error) {
		err = row.Scan(&followed)
		return followed, err
	}, `SELECT followed FROM moves WHERE adapter = ? AND from_chat = ? AND to_chat = ?`, clean(m.Adapter), clean(m.From), clean(m.To))
	return len(all) > 0 && all[0], err
}

// PutFollowed keeps that everything has followed a chat: see inbound.Store.
func (s *Store) PutFollowed(ctx context.Context, m adapters.Move) error {
	return s.exec1(ctx, "store that a chat was followed", `INSERT INTO moves (adapter, from_chat, to_chat, followed) VALUES (?, ?, ?, 1)
	ON CONFLICT (adapter, from_chat) DO UPDATE SET to_chat = excluded.to_chat, followed = 1`, clean(m.Adapter), clean(m.From), clean(m.To))
}

// ForgetInbound drops what has expired: see inbound.Store.
func (s *Store) ForgetInbound(ctx context.Context, before time.Time) error {
	err := s.write.queue.do(ctx, 100, func(ctx context.Context) error {
		for _, d := range []struct {
			query string
			than  time.Time
		}{
			{`DELETE FROM offers WHERE expires_at < ?`, before},
			{`DELETE FROM codes WHERE expires_at < ?`, before},
			{`DELETE FROM waiting WHERE kept_at < ?`, before.Add(-keepWaiting)},
			{`DELETE FROM origins WHERE done AND at < ?`, before.Add(-keepOrigins)},
			{`DELETE FROM origins WHERE at < ?`, before.Add(-loseOrigins)},
			{`DELETE FROM prompt_messages WHERE closed AND at < ?`, before.Add(-keepPromptMessages)},
			{`DELETE FROM prompt_messages WHERE at < ? AND prompt NOT IN (SELECT id FROM prompts WHERE open)`, before.Add(-loseOrigins)},
			{`DELETE FROM prompt_writers WHERE expires < ?`, before},
			{`DELETE FROM missed WHERE at < ?`, before.Add(-loseOrigins)},
			{`DELETE FROM replies WHERE at < ?`, before.Add(-keepReplies)},
		} {
			if _, err := s.write.conn.ExecContext(ctx, d.query, nanos(d.than)); err != nil {
				return err
			}
		}
		return nil
	})
	return s.explain("forget what has expired", err)
}
