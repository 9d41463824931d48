package store

import (
	"context"
	"database/sql"

	"github.com/panebridge/panebridge/adapters/cards"
)

// Cards are the threads in which a session's card stands: see cards.AttentionStore.
func (s *Store) Cards(ctx context.Context) ([]cards.Card, error) {
	return list(ctx, s, "read where cards stand", func(row *sql.Rows) (c cards.Card, err error) {
		err = row.Scan(&c.Session, &c.Place.Adapter, &c.Place.Chat, &c.Place.Thread)
		return c, err
	}, `SELECT session, adapter, chat, thread FROM cards ORDER BY session, adapter, chat, thread`)
}

// PutCard keeps one: see cards.AttentionStore.
func (s *Store) PutCard(ctx context.Context, c cards.Card) error {
	return s.exec1(ctx, "store where a card stands", `INSERT OR IGNORE INTO cards (session, adapter, chat, thread) VALUES (?, ?, ?, ?)`,
		clean(c.Session), clean(c.Place.Adapter), clean(c.Place.Chat), clean(c.Place.Thread))
}
