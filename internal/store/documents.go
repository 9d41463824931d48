package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/sessions"
)

const (
	// Nothing is written for a binding that isn't there.
	sqlPutDocument = `INSERT INTO documents (binding, shown_line, shown_byte, turn, announced, chat, thread,
	doubt_line, doubt_byte, doubt_turn, doubt_screen, tail, stale, intent)
	SELECT seq, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14 FROM bindings WHERE id = ?1
	ON CONFLICT (binding) DO UPDATE SET shown_line = excluded.shown_line, shown_byte = excluded.shown_byte,
	turn = excluded.turn, announced = excluded.announced, chat = excluded.chat, thread = excluded.thread,
	doubt_line = excluded.doubt_line, doubt_byte = excluded.doubt_byte, doubt_turn = excluded.doubt_turn,
	doubt_screen = excluded.doubt_screen, tail = excluded.tail, stale = excluded.stale, intent = excluded.intent`
	sqlAddMessage = `INSERT INTO messages (binding, n, id, from_line, to_line)
	SELECT seq, (SELECT ifnull(max(n), 0) + 1 FROM messages WHERE binding = seq), ?2, ?3, ?4 FROM bindings WHERE id = ?1
	ON CONFLICT (id, binding) DO UPDATE SET from_line = excluded.from_line, to_line = excluded.to_line`
	sqlDropMessages = `DELETE FROM messages WHERE binding = (SELECT seq FROM bindings WHERE id = ?1)
	AND n <= (SELECT max(n) FROM messages WHERE binding = (SELECT seq FROM bindings WHERE id = ?1)) - ?2`
	sqlSentMessage = `SELECT b.id, b.session, m.from_line, m.to_line
	FROM messages m JOIN bindings b ON b.seq = m.binding JOIN documents d ON d.binding = b.seq
	WHERE m.id = ?1 AND b.adapter = ?2 AND CASE d.chat WHEN '' THEN b.chat ELSE d.chat END = ?3
	ORDER BY m.n DESC LIMIT 1`
	// The oldest that's kept is the first one only if nothing was forgotten before it.
	sqlMessageAt = `SELECT CASE WHEN m.from_line <= ?2 OR m.n = 1 OR m.n > (SELECT min(n) FROM messages WHERE binding = m.binding)
	THEN m.id ELSE '' END FROM messages m WHERE m.binding = (SELECT seq FROM bindings WHERE id = ?1)
	AND m.to_line >= ?2 AND m.from_line <= m.to_line ORDER BY m.n LIMIT 1`
)

// keptMessages is how many messages of each document are remembered. People answer
// to recent ones; a row takes about 40 bytes.
const keptMessages = 1000

// documentRow is a document as it stands in the database.
type documentRow struct {
	doc                 adapters.Document
	tail, stale, intent sql.NullString
}

// columns are in the order of sqlBindings.
func (r *documentRow) columns() []any {
	d := &r.doc
	return []any{
		&d.Shown.Line, &d.Shown.Byte, &d.Turn, &d.Announced, &d.Chat, &d.Thread,
		&d.Doubt.To.Line, &d.Doubt.To.Byte, &d.Doubt.Turn, &d.Doubt.Screen, &r.tail, &r.stale, &r.intent,
	}
}

func (r *documentRow) document() (adapters.Document, error) {
	d := r.doc
	err := errors.Join(fromJSON(r.tail, &d.Tail), fromJSON(r.stale, &d.Stale), fromJSON(r.intent, &d.Intent))
	return d, err
}

func fromJSON[T any](text sql.NullString, into **T) error {
	if !text.Valid {
		return nil
	}
	*into = new(T)
	return json.Unmarshal([]byte(text.String), *into)
}

func toJSON[T any](x *T) (text sql.NullString, err error) {
	if x == nil {
		return text, nil
	}
	b, err := json.Marshal(x)
	return sql.NullString{String: string(b), Valid: true}, err
}

// documentArgs are the arguments of sqlPutDocument.
func documentArgs(id adapters.BindingID, d adapters.Document) ([]any, error) {
	tail, err1 := toJSON(d.Tail)
	stale, err2 := toJSON(d.Stale)
	intent, err3 := toJSON(d.Intent)
	return []any{
		clean(id), d.Shown.Line, d.Shown.Byte, d.Turn, d.Announced, clean(d.Chat), clean(d.Thread),
		d.Doubt.To.Line, d.Doubt.To.Byte, d.Doubt.Turn, d.Doubt.Screen, tail, stale, intent,
	}, errors.Join(err1, err2, err3)
}

// PutDocument replaces a binding's document: see adapters.Store.
func (s *Store) PutDocument(ctx context.Context, id adapters.BindingID, d adapters.Document, sent *adapters.Message) error {
	doing := "store the document of binding " + string(id)
	args, err := documentArgs(id, d)
	if err != nil {
		return s.explain(doing, err)
	}
	do := s.write.queue.do
	if d.Intent != nil {
		do = s.write.queue.doDurable
	}
	err = do(ctx, 2, func(ctx context.Context) error {
		if _, err := s.write.putDocument.ExecContext(ctx, args...); err != nil {
			return err
		}
		if sent == nil {
			return nil
		}
		return s.write.remember(ctx, id, *sent)
	})
	return s.explain(doing, err)
}

// remember keeps what stands in a message, and forgets the oldest.
func (w *writer) remember(ctx context.Context, id adapters.BindingID, m adapters.Message) error {
	last := m.To.Line
	if m.To.Byte == 0 {
		last--
	}
	if _, err := w.addMessage.ExecContext(ctx, clean(id), clean(m.ID), m.From.Line, last); err != nil {
		return err
	}
	_, err := w.dropMessages.ExecContext(ctx, clean(id), keptMessages)
	return err
}

// MessageAt returns the first message that shows a line: see adapters.Store.
func (s *Store) MessageAt(ctx context.Context, id adapters.BindingID, line int64) (message string, err error) {
	r := s.reader()
	err = r.messageAt.QueryRowContext(ctx, string(id), line).Scan(&message)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return message, r.explain("look for the message at a line", err)
}

// SentMessage is what stands in a message: lines From to To of a session, none if
// To is less.
type SentMessage struct {
	Binding  adapters.BindingID
	Session  sessions.ID
	From, To int64
}

// SentMessage returns what stands in one of the newest messages of a chat, by the
// platform's id: what somebody answers to. The error is sessions.ErrUnknown if
// it's none of ours.
func (s *Store) SentMessage(ctx context.Context, adapter, chat, id string) (m SentMessage, err error) {
	r := s.reader()
	err = r.sentMessage.QueryRowContext(ctx, id, adapter, chat).Scan(&m.Binding, &m.Session, &m.From, &m.To)
	if errors.Is(err, sql.ErrNoRows) {
		err = fmt.Errorf("%w message", sessions.ErrUnknown)
	}
	if err != nil {
		return SentMessage{}, r.explain("look for message "+id, err)
	}
	return m, nil
}
