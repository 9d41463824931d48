package store

import (
	"context"
	"database/sql"

	"github.com/panebridge/panebridge/adapters/cards"
)

// Preferences returns how places want to be called: see cards.PreferenceStore.
func (s *Store) Preferences(ctx context.Context) ([]cards.Preference, error) {
	return list(ctx, s, "read preferences", func(row *sql.Rows) (p cards.Preference, err error) {
		var muted int64
		err = row.Scan(&p.Place.Adapter, &p.Place.Chat, &p.Place.Thread, &p.Session, &muted, &p.From, &p.To, &p.Zone)
		p.MutedUntil = fromNanos(muted)
		return p, err
	}, `SELECT adapter, chat, thread, session, muted_until, quiet_from, quiet_to, zone FROM preferences ORDER BY adapter, chat, thread, session`)
}

// PutPreference keeps how a place wants to be called: see cards.PreferenceStore.
func (s *Store) PutPreference(ctx context.Context, p cards.Preference) error {
	return s.accept(
		ctx, "store a preference", `INSERT INTO preferences (adapter, chat, thread, session, muted_until, quiet_from, quiet_to, zone)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET muted_until = excluded.muted_until,
		quiet_from = excluded.quiet_from, quiet_to = excluded.quiet_to, zone = excluded.zone`,
		clean(p.Place.Adapter), clean(p.Place.Chat), clean(p.Place.Thread), clean(p.Session), nanos(p.MutedUntil), int64(p.From), int64(p.To), clean(p.Zone),
	)
}
