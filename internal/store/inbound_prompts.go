package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/cards"
)

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

// Writer returns whose next message is an answer: see cards.PromptStore.
func (s *Store) Writer(ctx context.Context, place adapters.Target, person string) (cards.Writer, error) {
	w := cards.Writer{Place: place, Person: person}
	var expires int64
	r := s.reader()
	err := r.db.QueryRowContext(
		ctx, `SELECT prompt, expires FROM prompt_writers WHERE adapter = ? AND chat = ? AND thread = ? AND person = ?`,
		clean(place.Adapter), clean(place.Chat), clean(place.Thread), clean(person),
	).Scan(&w.Prompt, &expires)
	if err != nil {
		return cards.Writer{}, r.explain("read whose message is an answer", unknown(err))
	}
	w.Expires = fromNanos(expires)
	return w, nil
}

// PutWriter keeps whose next message is an answer: see cards.PromptStore.
func (s *Store) PutWriter(ctx context.Context, w cards.Writer) error {
	return s.exec1(
		ctx, "store whose message is an answer", `INSERT INTO prompt_writers (adapter, chat, thread, person, prompt, expires) VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT DO UPDATE SET prompt = excluded.prompt, expires = excluded.expires`,
		clean(w.Place.Adapter), clean(w.Place.Chat), clean(w.Place.Thread), clean(w.Person), clean(w.Prompt), nanos(w.Expires),
	)
}

// DropWriter takes that back: see cards.PromptStore.
func (s *Store) DropWriter(ctx context.Context, place adapters.Target, person string) error {
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
