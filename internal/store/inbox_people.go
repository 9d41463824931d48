package store

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/internal/inbox"
	"github.com/panebridge/panebridge/sessions"
)

const (
	sqlShown    = `INSERT INTO mail_messages (adapter, chat, message, mail) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET mail = excluded.mail`
	sqlLetterAt = `SELECT mail FROM mail_messages WHERE adapter = ? AND chat = ? AND message = ?`
	// A pane must not get the same twice. A person may: better than not at all.
	sqlTellAgain = `UPDATE mail SET preview = 'waiting' WHERE preview = 'typing' AND recipient LIKE 'person:%'`
)

// Shown keeps which message in a chat shows a mail: see inbound.Mail.
func (s *Inbox) Shown(ctx context.Context, place adapters.Target, message, id string) error {
	return s.write(ctx, "keep which message shows "+id, func(ctx context.Context, conn *sql.Conn) error {
		_, err := conn.ExecContext(ctx, sqlShown, clean(place.Adapter), clean(place.Chat), clean(message), clean(id))
		return err
	})
}

// LetterAt returns the mail that a message in a chat shows: see inbound.Mail.
func (s *Inbox) LetterAt(ctx context.Context, place adapters.Target, message string) (id string, err error) {
	err = s.query(ctx, "look for a mail by the message that shows it", sqlLetterAt, []any{clean(place.Adapter), clean(place.Chat), clean(message)}, func(rows *sql.Rows) error {
		return rows.Scan(&id)
	})
	if err == nil && id == "" {
		err = fmt.Errorf("%w message", sessions.ErrUnknown)
	}
	return id, err
}

// TellPeopleAgain has mail to people wait that was being shown when the daemon ended.
func (s *Inbox) TellPeopleAgain(ctx context.Context) error {
	return s.write(ctx, "have mail to people wait", func(ctx context.Context, conn *sql.Conn) error {
		_, err := conn.ExecContext(ctx, sqlTellAgain)
		return err
	})
}

// One returns a mail; sessions.ErrUnknown if there's none of that id.
func (s *Inbox) One(ctx context.Context, id string) (inbox.Mail, error) {
	all, err := s.Mail(ctx, inbox.Query{ID: id})
	if err != nil {
		return inbox.Mail{}, err
	}
	if len(all) == 0 {
		return inbox.Mail{}, fmt.Errorf("%w message %q", sessions.ErrUnknown, id)
	}
	return all[0], nil
}
