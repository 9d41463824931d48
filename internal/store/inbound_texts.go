package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/cards"
)

const originColumns = `key, adapter, chat, thread, message, person, session, at, receipt, told, reply, done`

// PutWaiting keeps a message that waits: see cards.WaitingStore.
func (s *Store) PutWaiting(ctx context.Context, w cards.Waiting) error {
	message, err := json.Marshal(w)
	if err != nil {
		return s.explain("store a message that waits", err)
	}
	return s.accept(
		ctx, "store a message that waits", `INSERT INTO waiting (key, kept_at, message) VALUES (?, ?, ?)
		ON CONFLICT DO UPDATE SET kept_at = excluded.kept_at, message = excluded.message`,
		clean(w.Key), nanos(time.Now()), clean(string(message)),
	)
}

// Waiting returns a message that waits: see cards.WaitingStore.
func (s *Store) Waiting(ctx context.Context, key string) (w cards.Waiting, err error) {
	var message string
	r := s.reader()
	err = r.db.QueryRowContext(ctx, `SELECT message FROM waiting WHERE key = ?`, clean(key)).Scan(&message)
	if err == nil {
		err = json.Unmarshal([]byte(message), &w)
	}
	if err != nil {
		return cards.Waiting{}, r.explain("read a message that waits", unknown(err))
	}
	return w, nil
}

// DropWaiting forgets a message that waited: see cards.WaitingStore.
func (s *Store) DropWaiting(ctx context.Context, key string) error {
	return s.exec1(ctx, "forget a message that waited", `DELETE FROM waiting WHERE key = ?`, clean(key))
}

// AddOrigin keeps where an input came from: see cards.OriginStore.
func (s *Store) AddOrigin(ctx context.Context, o cards.Origin) error {
	return s.exec1(
		ctx, "store where an input came from", `INSERT INTO origins (`+originColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT DO NOTHING`,
		clean(o.Key), clean(o.Place.Adapter), clean(o.Place.Chat), clean(o.Place.Thread), clean(o.Message), clean(o.Person), clean(o.Session),
		nanos(o.At), clean(o.Receipt), clean(o.Told), clean(o.Reply), o.Done,
	)
}

// PutOrigin replaces what an input's writer was told: see cards.OriginStore.
func (s *Store) PutOrigin(ctx context.Context, o cards.Origin) error {
	return s.exec1(
		ctx, "store what an input's writer was told", `UPDATE origins SET receipt = ?, told = ?, reply = ?, done = ? WHERE key = ?`,
		clean(o.Receipt), clean(o.Told), clean(o.Reply), o.Done, clean(o.Key),
	)
}

// DropOrigin forgets where an input came from: see cards.OriginStore.
func (s *Store) DropOrigin(ctx context.Context, key string) error {
	return s.exec1(ctx, "forget where an input came from", `DELETE FROM origins WHERE key = ?`, clean(key))
}

// Origin returns where an input came from: see cards.OriginStore.
func (s *Store) Origin(ctx context.Context, key string) (cards.Origin, error) {
	r := s.reader()
	o, err := scanOrigin(r.db.QueryRowContext(ctx, `SELECT `+originColumns+` FROM origins WHERE key = ?`, clean(key)))
	if err != nil {
		return cards.Origin{}, r.explain("read where an input came from", unknown(err))
	}
	return o, nil
}

// OpenOrigins returns those that aren't done: see cards.OriginStore.
func (s *Store) OpenOrigins(ctx context.Context) ([]cards.Origin, error) {
	return list(ctx, s, "read where inputs came from", func(row *sql.Rows) (cards.Origin, error) { return scanOrigin(row) },
		`SELECT `+originColumns+` FROM origins WHERE NOT done ORDER BY seq`)
}

func scanOrigin(row interface{ Scan(into ...any) error }) (o cards.Origin, err error) {
	var at int64
	err = row.Scan(
		&o.Key, &o.Place.Adapter, &o.Place.Chat, &o.Place.Thread, &o.Message, &o.Person, &o.Session, &at, &o.Receipt, &o.Told, &o.Reply, &o.Done,
	)
	o.At = fromNanos(at)
	return o, err
}

// TellEdited says whether a message's writer is to be told about edits: see
// cards.OriginStore.
func (s *Store) TellEdited(ctx context.Context, place adapters.Target, message string) (first bool, err error) {
	err = s.write.queue.do(ctx, 1, func(ctx context.Context) error {
		r, err := s.write.conn.ExecContext(
			ctx, `UPDATE origins SET edited = 1 WHERE message = ? AND adapter = ? AND chat = ? AND NOT edited`,
			clean(message), clean(place.Adapter), clean(place.Chat),
		)
		if err != nil {
			return err
		}
		n, err := r.RowsAffected()
		first = n > 0
		return err
	})
	return first, s.explain("look for the origin of a message", err)
}
