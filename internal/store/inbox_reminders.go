package store

import (
	"context"
	"database/sql"

	"github.com/panebridge/panebridge/internal/inbox"
	"github.com/panebridge/panebridge/sessions"
)

const (
	sqlReminders   = `SELECT session, conversation, reminded_at FROM reminders`
	sqlPutReminder = `INSERT INTO reminders (session, conversation, reminded_at) VALUES (?, ?, ?)
	ON CONFLICT DO UPDATE SET conversation = excluded.conversation, reminded_at = excluded.reminded_at`
)

// Reminders are what directors' agents were told last.
func (s *Inbox) Reminders(ctx context.Context) (map[sessions.ID]inbox.Reminded, error) {
	all := map[sessions.ID]inbox.Reminded{}
	err := s.query(ctx, "read what directors were told", sqlReminders, nil, func(rows *sql.Rows) error {
		var id sessions.ID
		var r inbox.Reminded
		var at int64
		err := rows.Scan(&id, &r.Conversation, &at)
		r.At = fromNanos(at)
		all[id] = r
		return err
	})
	return all, err
}

// PutReminder keeps what a director's agent was told last.
func (s *Inbox) PutReminder(ctx context.Context, id sessions.ID, r inbox.Reminded) error {
	return s.write(ctx, "keep what "+string(id)+" was told", func(ctx context.Context, conn *sql.Conn) error {
		_, err := conn.ExecContext(ctx, sqlPutReminder, clean(id), clean(r.Conversation), nanos(r.At))
		return err
	})
}
