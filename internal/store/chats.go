package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/sessions"
)

const (
	sqlBindings = `SELECT b.id, b.session, b.adapter, b.chat, b.thread, b.view, b.input, b.origin, b.disabled, b.unbound, b.resting, b.created_at,
	b.tools, b.thinking, b.prompts, b.output, b.quotes,
	d.shown_line, d.shown_byte, d.turn, d.announced, d.chat, d.thread,
	d.doubt_line, d.doubt_byte, d.doubt_turn, d.doubt_screen, d.tail, d.stale, d.intent
	FROM bindings b JOIN documents d ON d.binding = b.seq ORDER BY b.created_at, b.seq`
	// One row for each session and target. Inserting another is a conflict that
	// fails, unless it's the same binding.
	sqlPutBinding = `INSERT INTO bindings (id, session, adapter, chat, thread, view, input, origin, disabled, unbound, resting, created_at,
	tools, thinking, prompts, output, quotes)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
	ON CONFLICT (id) DO UPDATE SET session = excluded.session, adapter = excluded.adapter, chat = excluded.chat,
	thread = excluded.thread, view = excluded.view, input = excluded.input, origin = excluded.origin,
	disabled = excluded.disabled, unbound = excluded.unbound, resting = excluded.resting, created_at = excluded.created_at,
	tools = excluded.tools, thinking = excluded.thinking, prompts = excluded.prompts, output = excluded.output, quotes = excluded.quotes`
	sqlDropBinding = `DELETE FROM bindings WHERE id = ?`
)

var _ adapters.Store = (*Store)(nil)

// Bindings returns all bindings with their documents: see adapters.Store.
func (s *Store) Bindings(ctx context.Context) (all []adapters.KeptBinding, err error) {
	r := s.reader()
	defer func() { err = r.explain("read bindings", err) }()
	rows, err := r.bindings.QueryContext(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		k, err := scanBinding(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, k)
	}
	return all, rows.Err()
}

func scanBinding(rows *sql.Rows) (k adapters.KeptBinding, err error) {
	var created int64
	var stored documentRow
	b := &k.Binding
	into := []any{
		&b.ID, &b.Session, &b.Target.Adapter, &b.Target.Chat, &b.Target.Thread,
		&b.View, &b.Input, &b.Origin, &b.Disabled, &b.Unbound, &b.Resting, &created,
		&b.Work.Tools, &b.Work.Thinking, &b.Work.Prompts, &b.Work.Output, &b.Quotes,
	}
	if err := rows.Scan(append(into, stored.columns()...)...); err != nil {
		return k, err
	}
	b.CreatedAt = fromNanos(created)
	if k.Document, err = stored.document(); err != nil {
		return k, fmt.Errorf("binding %s: %w", b.ID, err)
	}
	return k, nil
}

// PutBinding inserts or replaces a binding: see adapters.Store.
func (s *Store) PutBinding(ctx context.Context, b adapters.Binding, d *adapters.Document) error {
	doing := "store the binding of " + string(b.Session) + " to " + b.Target.String()
	var args []any
	if d != nil {
		var err error
		if args, err = documentArgs(b.ID, *d); err != nil {
			return s.explain(doing, err)
		}
	}
	err := s.write.queue.do(ctx, 2, func(ctx context.Context) error {
		_, err := s.write.putBinding.ExecContext(
			ctx,
			clean(b.ID), clean(b.Session), clean(b.Target.Adapter), clean(b.Target.Chat), clean(b.Target.Thread),
			clean(b.View), b.Input, clean(b.Origin), clean(b.Disabled), b.Unbound, b.Resting, nanos(b.CreatedAt),
			clean(b.Work.Tools), clean(b.Work.Thinking), clean(b.Work.Prompts), clean(b.Work.Output), b.Quotes,
		)
		if err != nil {
			return asConflict(err)
		}
		if d == nil {
			return nil
		}
		_, err = s.write.putDocument.ExecContext(ctx, args...)
		return err
	})
	return s.explain(doing, err)
}

// asConflict names what a broken UNIQUE means.
func asConflict(err error) error {
	if isUnique(err) {
		return fmt.Errorf("%w: that target mirrors the session already: %w", sessions.ErrConflict, err)
	}
	return err
}

// DropBinding deletes a binding with its document: see adapters.Store.
func (s *Store) DropBinding(ctx context.Context, id adapters.BindingID) error {
	return s.explain("drop binding "+string(id), s.write.exec(ctx, &s.write.dropBinding, clean(id)))
}

// NewSessions returns the sessions that weren't taken up yet: see adapters.Store.
func (s *Store) NewSessions(ctx context.Context) ([]sessions.ID, error) {
	return list(ctx, s, "read which sessions are new", func(row *sql.Rows) (id sessions.ID, err error) {
		err = row.Scan(&id)
		return id, err
	}, `SELECT id FROM sessions WHERE fresh ORDER BY seq`)
}

// TakeUp keeps that a session isn't new any more: see adapters.Store.
func (s *Store) TakeUp(ctx context.Context, id sessions.ID) error {
	return s.exec1(ctx, "store that session "+string(id)+" was taken up", `UPDATE sessions SET fresh = 0 WHERE id = ?`, clean(id))
}

// Moves returns the chats that have another id: see adapters.Store.
func (s *Store) Moves(ctx context.Context) ([]adapters.Move, error) {
	return list(ctx, s, "read which chats have moved", func(row *sql.Rows) (m adapters.Move, err error) {
		err = row.Scan(&m.Adapter, &m.From, &m.To)
		return m, err
	}, `SELECT adapter, from_chat, to_chat FROM moves ORDER BY seq`)
}

// PutMove keeps that a chat has another id: see adapters.Store.
func (s *Store) PutMove(ctx context.Context, m adapters.Move) error {
	return s.exec1(ctx, "store that a chat has moved", `INSERT OR IGNORE INTO moves (adapter, from_chat, to_chat) VALUES (?, ?, ?)`,
		clean(m.Adapter), clean(m.From), clean(m.To))
}

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
func (w *writeConn) remember(ctx context.Context, id adapters.BindingID, m adapters.Message) error {
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

const sqlProgress = `SELECT l.head, ifnull(t.number, 0), ifnull(t.last_line, 0),
	ifnull(t.first_line, 0), ifnull(t.started_at, 0), ifnull(t.ended_at, 0), t.status, ifnull(t.failed, '')
	FROM sessions s JOIN logs l ON l.session = s.seq LEFT JOIN turns t ON t.session = l.session
	AND t.number = (SELECT number FROM turns WHERE session = l.session AND NOT open ORDER BY number DESC LIMIT 1)
	WHERE s.id = ?`

const sqlTurns = `SELECT t.number, t.first_line, t.last_line, t.started_at, t.ended_at, t.status, t.failed
	FROM sessions s JOIN turns t ON t.session = s.seq WHERE s.id = ? AND t.number >= ? AND NOT t.open ORDER BY t.number LIMIT ? + 0`

// Progress returns how far a session is: see adapters.Log.
func (s *Store) Progress(ctx context.Context, id sessions.ID) (p adapters.LogProgress, err error) {
	var began, ended int64
	r := s.reader()
	err = r.progress.QueryRowContext(ctx, string(id)).Scan(&p.Head, &p.Turn, &p.TurnEnd, &p.TurnFirst, &began, &ended, &p.Status, &p.Failed)
	if errors.Is(err, sql.ErrNoRows) {
		err = fmt.Errorf("%w session", sessions.ErrUnknown)
	}
	if err != nil {
		return adapters.LogProgress{}, r.explain("read the progress of "+string(id), err)
	}
	p.TurnBegan, p.TurnEnded = fromNanos(began), fromNanos(ended)
	return p, nil
}

// Turns returns turns that have ended: see adapters.Log.
func (s *Store) Turns(ctx context.Context, id sessions.ID, from int64, limit int) ([]sessions.Turn, error) {
	return list(ctx, s, "read the turns of "+string(id), func(row *sql.Rows) (t sessions.Turn, err error) {
		var began, ended int64
		err = row.Scan(&t.Number, &t.FirstLine, &t.LastLine, &began, &ended, &t.Status, &t.Failed)
		t.StartedAt, t.EndedAt = fromNanos(began), fromNanos(ended)
		return t, err
	}, sqlTurns, string(id), from, limit)
}

const (
	sqlSlots    = `SELECT permit, chat, family, stamp FROM slots WHERE bot = ? AND stamp >= ?`
	sqlTakeSlot = `INSERT INTO slots (bot, permit, chat, family, stamp) VALUES (?, ?, ?, ?, ?)
	ON CONFLICT DO UPDATE SET chat = excluded.chat, family = excluded.family, stamp = excluded.stamp`
	sqlStampSlot   = `UPDATE slots SET stamp = ?3 WHERE bot = ?1 AND permit = ?2`
	sqlDropSlot    = `DELETE FROM slots WHERE bot = ? AND permit = ?`
	sqlMoveSlots   = `UPDATE slots SET chat = ?3 WHERE bot = ?1 AND chat = ?2`
	sqlForgetSlots = `DELETE FROM slots WHERE bot = ? AND stamp < ?`

	sqlPenalties  = `SELECT chat, family, all_families, until, multiplier FROM penalties WHERE bot = ?`
	sqlPutPenalty = `INSERT INTO penalties (bot, chat, family, all_families, until, multiplier) VALUES (?, ?, ?, ?, ?, ?)
	ON CONFLICT DO UPDATE SET until = excluded.until, multiplier = excluded.multiplier`
	sqlMergePenalties = `INSERT INTO penalties (bot, chat, family, all_families, until, multiplier)
	SELECT bot, ?3, family, all_families, until, multiplier FROM penalties WHERE bot = ?1 AND chat = ?2
	ON CONFLICT DO UPDATE SET until = max(until, excluded.until), multiplier = min(multiplier, excluded.multiplier)`
	sqlDropPenalties   = `DELETE FROM penalties WHERE bot = ? AND chat = ?`
	sqlForgetPenalties = `DELETE FROM penalties WHERE bot = ? AND until < ?`
)

// ledger keeps one bot's slots and penalties.
type ledger struct {
	store *Store
	bot   string
}

// Ledger returns the ledger of a bot, named as its adapter is. Several of the same
// name are the same ledger.
func (s *Store) Ledger(bot string) qos.Ledger { return ledger{store: s, bot: clean(bot)} }

// Load implements qos.Ledger.
func (l ledger) Load(ctx context.Context, since time.Time) (kept qos.KeptBudget, err error) {
	r := l.store.reader()
	defer func() { err = r.explain("read the budget of "+l.bot, err) }()
	if kept.Slots, err = l.slots(ctx, r, since); err != nil {
		return qos.KeptBudget{}, err
	}
	if kept.Penalties, err = l.penalties(ctx, r); err != nil {
		return qos.KeptBudget{}, err
	}
	return kept, nil
}

func (l ledger) slots(ctx context.Context, r *readPool, since time.Time) (slots []qos.Slot, err error) {
	rows, err := r.slots.QueryContext(ctx, l.bot, nanos(since))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var s qos.Slot
		var permit, stamp int64
		if err := rows.Scan(&permit, &s.Chat, &s.Family, &stamp); err != nil {
			return nil, err
		}
		s.Permit, s.Stamp = qos.PermitID(permit), fromNanos(stamp)
		slots = append(slots, s)
	}
	return slots, rows.Err()
}

func (l ledger) penalties(ctx context.Context, r *readPool) (penalties []qos.Penalty, err error) {
	rows, err := r.penalties.QueryContext(ctx, l.bot)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var p qos.Penalty
		var until int64
		if err := rows.Scan(&p.Scope.Chat, &p.Scope.Family, &p.Scope.AllFamilies, &until, &p.Multiplier); err != nil {
			return nil, err
		}
		p.Until = fromNanos(until)
		penalties = append(penalties, p)
	}
	return penalties, rows.Err()
}

// Write implements qos.Ledger. What only gives slots back isn't waited for: if a
// crash of the machine takes it back, slots are held longer than they need be.
func (l ledger) Write(ctx context.Context, entries []qos.LedgerEntry) error {
	queue := l.store.write.queue
	do := queue.do
	if slices.ContainsFunc(entries, takes) {
		do = queue.doDurable
	}
	err := do(ctx, len(entries), func(ctx context.Context) error {
		for _, e := range entries {
			if err := l.apply(ctx, e); err != nil {
				return err
			}
		}
		return nil
	})
	return l.store.explain("store the budget of "+l.bot, err)
}

// takes says whether an entry takes a right away, which must never be forgotten.
func takes(e qos.LedgerEntry) bool {
	switch e.Kind {
	case qos.EntryStamp, qos.EntryRefund, qos.EntryForget:
		return false
	default:
		return true
	}
}

func (l ledger) apply(ctx context.Context, e qos.LedgerEntry) error {
	w := l.store.write
	switch e.Kind {
	case qos.EntryTake:
		s := e.Slot
		return l.exec(ctx, w.takeSlot, int64(s.Permit), clean(s.Chat), clean(s.Family), nanos(s.Stamp))
	case qos.EntryStamp:
		return l.exec(ctx, w.stampSlot, int64(e.Slot.Permit), nanos(e.Slot.Stamp))
	case qos.EntryRefund:
		return l.exec(ctx, w.dropSlot, int64(e.Slot.Permit))
	case qos.EntryPenalty:
		p := e.Penalty
		return l.exec(ctx, w.putPenalty, clean(p.Scope.Chat), clean(p.Scope.Family), p.Scope.AllFamilies, nanos(p.Until), p.Multiplier)
	case qos.EntryRekey:
		return l.rekey(ctx, clean(e.From), clean(e.To))
	case qos.EntryForget:
		before := nanos(e.Before)
		return errors.Join(l.exec(ctx, w.forgetSlots, before), l.exec(ctx, w.forgetPenalties, before))
	default:
		return fmt.Errorf("apply a ledger entry: there is no kind %d", e.Kind)
	}
}

func (l ledger) rekey(ctx context.Context, from, to string) error {
	w := l.store.write
	if from == to {
		return nil
	}
	if err := l.exec(ctx, w.moveSlots, from, to); err != nil {
		return err
	}
	if err := l.exec(ctx, w.mergePenalties, from, to); err != nil {
		return err
	}
	return l.exec(ctx, w.dropPenalties, from)
}

func (l ledger) exec(ctx context.Context, stmt *sql.Stmt, args ...any) error {
	_, err := stmt.ExecContext(ctx, append([]any{l.bot}, args...)...)
	return err
}
