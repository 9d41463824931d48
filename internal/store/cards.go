package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/cards"
)

// StandingCards returns which messages stand: see cards.StandingCardStore.
func (s *Store) StandingCards(ctx context.Context) ([]cards.StandingCard, error) {
	return list(ctx, s, "read which messages stand", func(row *sql.Rows) (c cards.StandingCard, err error) {
		err = row.Scan(&c.Kind, &c.Subject, &c.Place.Adapter, &c.Place.Chat, &c.Place.Thread, &c.Session, &c.Message, &c.Shows, &c.Begun)
		return c, err
	}, `SELECT kind, subject, adapter, chat, thread, session, message, shows, begun FROM standing ORDER BY kind, adapter, chat, thread, subject`)
}

// PutStandingCard keeps that one does: see cards.StandingCardStore.
func (s *Store) PutStandingCard(ctx context.Context, c cards.StandingCard) error {
	return s.exec1(
		ctx, "store which message stands", `INSERT INTO standing (kind, subject, adapter, chat, thread, session, message, shows, begun) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT DO UPDATE SET session = excluded.session, message = excluded.message, shows = excluded.shows, begun = excluded.begun`,
		clean(c.Kind), clean(c.Subject), clean(c.Place.Adapter), clean(c.Place.Chat), clean(c.Place.Thread), clean(c.Session),
		clean(c.Message), clean(c.Shows), c.Begun,
	)
}

// DropStandingCard forgets one: see cards.StandingCardStore.
func (s *Store) DropStandingCard(ctx context.Context, at cards.Spot) error {
	return s.exec1(ctx, "forget which message stands", `DELETE FROM standing WHERE kind = ? AND subject = ? AND adapter = ? AND chat = ? AND thread = ?`,
		clean(at.Kind), clean(at.Subject), clean(at.Place.Adapter), clean(at.Place.Chat), clean(at.Place.Thread))
}

const promptMessageColumns = `prompt, adapter, chat, thread, kind, session, message, checked, shows, closed, at`

func scanPromptMessage(scan func(...any) error) (m cards.PromptMessage, err error) {
	var checked string
	var at int64
	err = scan(&m.Prompt, &m.Place.Adapter, &m.Place.Chat, &m.Place.Thread, &m.Kind, &m.Session, &m.Message, &checked, &m.Shows, &m.Closed, &at)
	if err != nil {
		return cards.PromptMessage{}, err
	}
	m.At = fromNanos(at)
	return m, json.Unmarshal([]byte(checked), &m.Checked)
}

// PromptMessages returns those that aren't closed: see cards.PromptStore.
func (s *Store) PromptMessages(ctx context.Context) ([]cards.PromptMessage, error) {
	return list(ctx, s, "read the messages of questions", func(row *sql.Rows) (cards.PromptMessage, error) {
		return scanPromptMessage(row.Scan)
	}, `SELECT `+promptMessageColumns+` FROM prompt_messages WHERE NOT closed ORDER BY at, prompt, adapter, chat, thread, kind`)
}

// PromptMessage returns one by its id: see cards.PromptStore.
func (s *Store) PromptMessage(ctx context.Context, adapter, chat, message string) (cards.PromptMessage, error) {
	r := s.reader()
	row := r.db.QueryRowContext(ctx, `SELECT `+promptMessageColumns+` FROM prompt_messages
		WHERE adapter = ? AND chat = ? AND message = ? ORDER BY at DESC LIMIT 1`, clean(adapter), clean(chat), clean(message))
	m, err := scanPromptMessage(row.Scan)
	if err != nil {
		return m, r.explain("read the message of a question", unknown(err))
	}
	return m, nil
}

// PutPromptMessage keeps a message: see cards.PromptStore.
func (s *Store) PutPromptMessage(ctx context.Context, m cards.PromptMessage) error {
	checked, err := json.Marshal(m.Checked)
	if err != nil {
		return err
	}
	return s.exec1(
		ctx, "store the message of a question", `INSERT INTO prompt_messages (`+promptMessageColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT DO UPDATE SET message = excluded.message, checked = excluded.checked, shows = excluded.shows, closed = excluded.closed`,
		clean(m.Prompt), clean(m.Place.Adapter), clean(m.Place.Chat), clean(m.Place.Thread), clean(m.Kind), clean(m.Session), clean(m.Message),
		string(checked), clean(m.Shows), m.Closed, nanos(m.At),
	)
}

// AnswerWriter returns whose next message is an answer: see cards.PromptStore.
func (s *Store) AnswerWriter(ctx context.Context, place adapters.Target, person string) (cards.AnswerWriter, error) {
	w := cards.AnswerWriter{Place: place, Person: person}
	var expires int64
	r := s.reader()
	err := r.db.QueryRowContext(
		ctx, `SELECT prompt, expires FROM prompt_writers WHERE adapter = ? AND chat = ? AND thread = ? AND person = ?`,
		clean(place.Adapter), clean(place.Chat), clean(place.Thread), clean(person),
	).Scan(&w.Prompt, &expires)
	if err != nil {
		return cards.AnswerWriter{}, r.explain("read whose message is an answer", unknown(err))
	}
	w.Expires = fromNanos(expires)
	return w, nil
}

// PutAnswerWriter keeps whose next message is an answer: see cards.PromptStore.
func (s *Store) PutAnswerWriter(ctx context.Context, w cards.AnswerWriter) error {
	return s.exec1(
		ctx, "store whose message is an answer", `INSERT INTO prompt_writers (adapter, chat, thread, person, prompt, expires) VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT DO UPDATE SET prompt = excluded.prompt, expires = excluded.expires`,
		clean(w.Place.Adapter), clean(w.Place.Chat), clean(w.Place.Thread), clean(w.Person), clean(w.Prompt), nanos(w.Expires),
	)
}

// DropAnswerWriter takes that back: see cards.PromptStore.
func (s *Store) DropAnswerWriter(ctx context.Context, place adapters.Target, person string) error {
	return s.exec1(
		ctx, "forget whose message is an answer", `DELETE FROM prompt_writers WHERE adapter = ? AND chat = ? AND thread = ? AND person = ?`,
		clean(place.Adapter), clean(place.Chat), clean(place.Thread), clean(person),
	)
}

// AddMissed counts what would have rung: see cards.AttentionStore.
func (s *Store) AddMissed(ctx context.Context, m cards.Missed) error {
	return s.exec1(
		ctx, "store what didn't ring", `INSERT INTO missed (adapter, chat, thread, session, what, times, at) VALUES (?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT DO UPDATE SET times = times + excluded.times, at = excluded.at`,
		clean(m.Place.Adapter), clean(m.Place.Chat), clean(m.Place.Thread), clean(m.Session), clean(m.What), m.Times, nanos(m.At),
	)
}

// Missed returns all that would have rung: see cards.AttentionStore.
func (s *Store) Missed(ctx context.Context) ([]cards.Missed, error) {
	return list(ctx, s, "read what didn't ring", func(row *sql.Rows) (m cards.Missed, err error) {
		var at int64
		err = row.Scan(&m.Place.Adapter, &m.Place.Chat, &m.Place.Thread, &m.Session, &m.What, &m.Times, &at)
		m.At = fromNanos(at)
		return m, err
	}, `SELECT adapter, chat, thread, session, what, times, at FROM missed ORDER BY adapter, chat, thread, at, session, what`)
}

// DropMissed takes off what was told: see cards.AttentionStore.
func (s *Store) DropMissed(ctx context.Context, told []cards.Missed) error {
	err := s.write.queue.do(ctx, len(told), func(ctx context.Context) error {
		for _, m := range told {
			const row = ` WHERE adapter = ? AND chat = ? AND thread = ? AND session = ? AND what = ?`
			at := []any{clean(m.Place.Adapter), clean(m.Place.Chat), clean(m.Place.Thread), clean(m.Session), clean(m.What)}
			if _, err := s.write.conn.ExecContext(ctx, `UPDATE missed SET times = times - ?`+row, append([]any{m.Times}, at...)...); err != nil {
				return err
			}
			if _, err := s.write.conn.ExecContext(ctx, `DELETE FROM missed`+row+` AND times <= 0`, at...); err != nil {
				return err
			}
		}
		return nil
	})
	return s.explain("forget what didn't ring", err)
}

// keepPromptMessages is for how long a reply to a question that's closed isn't typed.
const keepPromptMessages = 7 * 24 * time.Hour

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
func (s *Store) TakeOffer(ctx context.Context, id string, u cards.OfferUse) (is cards.OfferUse, err error) {
	err = s.write.queue.do(ctx, 1, func(ctx context.Context) error {
		conn := s.write.conn
		var together string
		var at int64
		is = cards.OfferUse{}
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
		return cards.OfferUse{}, s.explain("use an offer", err)
	}
	return is, nil
}

const originColumns = `key, adapter, chat, thread, message, person, session, at, receipt, told, shows, reply, done`

// PutDeferred keeps a message that waits: see cards.DeferredStore.
func (s *Store) PutDeferred(ctx context.Context, w cards.DeferredText) error {
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

// Deferred returns a message that waits: see cards.DeferredStore.
func (s *Store) Deferred(ctx context.Context, key string) (w cards.DeferredText, err error) {
	var message string
	r := s.reader()
	err = r.db.QueryRowContext(ctx, `SELECT message FROM waiting WHERE key = ?`, clean(key)).Scan(&message)
	if err == nil {
		err = json.Unmarshal([]byte(message), &w)
	}
	if err != nil {
		return cards.DeferredText{}, r.explain("read a message that waits", unknown(err))
	}
	return w, nil
}

// DropDeferred forgets a message that waited: see cards.DeferredStore.
func (s *Store) DropDeferred(ctx context.Context, key string) error {
	return s.exec1(ctx, "forget a message that waited", `DELETE FROM waiting WHERE key = ?`, clean(key))
}

// AddOrigin keeps where an input came from: see cards.OriginStore.
func (s *Store) AddOrigin(ctx context.Context, o cards.InputOrigin) error {
	return s.exec1(
		ctx, "store where an input came from", `INSERT INTO origins (`+originColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT DO NOTHING`,
		clean(o.Key), clean(o.Place.Adapter), clean(o.Place.Chat), clean(o.Place.Thread), clean(o.Message), clean(o.Person), clean(o.Session),
		nanos(o.At), clean(o.Receipt), clean(o.Told), clean(o.Shows), clean(o.Reply), o.Done,
	)
}

// PutOrigin replaces what an input's writer was told: see cards.OriginStore.
func (s *Store) PutOrigin(ctx context.Context, o cards.InputOrigin) error {
	return s.exec1(
		ctx, "store what an input's writer was told", `UPDATE origins SET receipt = ?, told = ?, shows = ?, reply = ?, done = ? WHERE key = ?`,
		clean(o.Receipt), clean(o.Told), clean(o.Shows), clean(o.Reply), o.Done, clean(o.Key),
	)
}

// DropOrigin forgets where an input came from: see cards.OriginStore.
func (s *Store) DropOrigin(ctx context.Context, key string) error {
	return s.exec1(ctx, "forget where an input came from", `DELETE FROM origins WHERE key = ?`, clean(key))
}

// Origin returns where an input came from: see cards.OriginStore.
func (s *Store) Origin(ctx context.Context, key string) (cards.InputOrigin, error) {
	r := s.reader()
	o, err := scanOrigin(r.db.QueryRowContext(ctx, `SELECT `+originColumns+` FROM origins WHERE key = ?`, clean(key)))
	if err != nil {
		return cards.InputOrigin{}, r.explain("read where an input came from", unknown(err))
	}
	return o, nil
}

// OpenOrigins returns those that aren't done: see cards.OriginStore.
func (s *Store) OpenOrigins(ctx context.Context) ([]cards.InputOrigin, error) {
	return list(ctx, s, "read where inputs came from", func(row *sql.Rows) (cards.InputOrigin, error) { return scanOrigin(row) },
		`SELECT `+originColumns+` FROM origins WHERE NOT done ORDER BY seq`)
}

func scanOrigin(row interface{ Scan(into ...any) error }) (o cards.InputOrigin, err error) {
	var at int64
	err = row.Scan(
		&o.Key, &o.Place.Adapter, &o.Place.Chat, &o.Place.Thread, &o.Message, &o.Person, &o.Session, &at, &o.Receipt, &o.Told, &o.Shows, &o.Reply, &o.Done,
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

// TellEditsAgain has a message's writer be told about edits once more: see cards.OriginStore.
func (s *Store) TellEditsAgain(ctx context.Context, place adapters.Target, message string) error {
	return s.exec1(
		ctx, "have edits of a message be told again", `UPDATE origins SET edited = 0 WHERE message = ? AND adapter = ? AND chat = ?`,
		clean(message), clean(place.Adapter), clean(place.Chat),
	)
}

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
