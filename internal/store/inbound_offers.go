package store

import (
	"context"

	"github.com/panebridge/panebridge/adapters/cards"
)

// PutOffer keeps what a button does: see cards.OfferStore.
func (s *Store) PutOffer(ctx context.Context, o cards.Offer) error {
	return s.exec1(
		ctx, "store an offer", `INSERT INTO offers (id, adapter, chat, thread, do, session, args, role, person, single, together, expires_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		clean(o.ID), clean(o.Place.Adapter), clean(o.Place.Chat), clean(o.Place.Thread), clean(o.Do), clean(o.Session), clean(o.Args),
		clean(o.Role), clean(o.Person), o.Single, clean(o.Group), nanos(o.Expires),
	)
}

// Offer returns an offer: see cards.OfferStore.
func (s *Store) Offer(ctx context.Context, id string) (o cards.Offer, err error) {
	var expires, used int64
	r := s.reader()
	err = r.db.QueryRowContext(ctx, `SELECT id, adapter, chat, thread, do, session, args, role, person, single, together, expires_at,
		used_key, used_by, used_at FROM offers WHERE id = ?`, clean(id)).Scan(
		&o.ID, &o.Place.Adapter, &o.Place.Chat, &o.Place.Thread, &o.Do, &o.Session, &o.Args, &o.Role, &o.Person, &o.Single, &o.Group, &expires,
		&o.Used.Key, &o.Used.By, &used,
	)
	if err != nil {
		return cards.Offer{}, r.explain("read an offer", unknown(err))
	}
	o.Expires, o.Used.At = fromNanos(expires), fromNanos(used)
	return o, nil
}

// TakeOffer uses an offer's group up: see cards.OfferStore.
func (s *Store) TakeOffer(ctx context.Context, id string, u cards.Use) (is cards.Use, err error) {
	err = s.write.queue.do(ctx, 1, func(ctx context.Context) error {
		conn := s.write.conn
		var together string
		var at int64
		is = cards.Use{}
		err := conn.QueryRowContext(ctx, `SELECT together, used_key, used_by, used_at FROM offers WHERE id = ?`, clean(id)).
			Scan(&together, &is.Key, &is.By, &at)
		if err != nil {
			return unknown(err)
		}
		if is.At = fromNanos(at); is.Key != "" {
			return nil
		}
		is = u
		_, err = conn.ExecContext(
			ctx, `UPDATE offers SET used_key = ?, used_by = ?, used_at = ? WHERE together = ?`,
			clean(u.Key), clean(u.By), nanos(u.At), together,
		)
		return err
	})
	if err != nil {
		return cards.Use{}, s.explain("use an offer", err)
	}
	return is, nil
}
