package store

import (
	"context"
	"database/sql"

	"github.com/panebridge/panebridge/adapters/cards"
)

// Standings returns which messages stand: see cards.StandingStore.
func (s *Store) Standings(ctx context.Context) ([]cards.Standing, error) {
	return list(ctx, s, "read which messages stand", func(row *sql.Rows) (c cards.Standing, err error) {
		err = row.Scan(&c.Kind, &c.Subject, &c.Place.Adapter, &c.Place.Chat, &c.Place.Thread, &c.Session, &c.Message, &c.Shows, &c.Begun)
		return c, err
	}, `SELECT kind, subject, adapter, chat, thread, session, message, shows, begun FROM standing ORDER BY kind, adapter, chat, thread, subject`)
}

// PutStanding keeps that one does: see cards.StandingStore.
func (s *Store) PutStanding(ctx context.Context, c cards.Standing) error {
	return s.exec1(
		ctx, "store which message stands", `INSERT INTO standing (kind, subject, adapter, chat, thread, session, message, shows, begun) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT DO UPDATE SET session = excluded.session, message = excluded.message, shows = excluded.shows, begun = excluded.begun`,
		clean(c.Kind), clean(c.Subject), clean(c.Place.Adapter), clean(c.Place.Chat), clean(c.Place.Thread), clean(c.Session),
		clean(c.Message), clean(c.Shows), c.Begun,
	)
}

// DropStanding forgets one: see cards.StandingStore.
func (s *Store) DropStanding(ctx context.Context, at cards.Spot) error {
	return s.exec1(ctx, "forget which message stands", `DELETE FROM standing WHERE kind = ? AND subject = ? AND adapter = ? AND chat = ? AND thread = ?`,
		clean(at.Kind), clean(at.Subject), clean(at.Place.Adapter), clean(at.Place.Chat), clean(at.Place.Thread))
}
