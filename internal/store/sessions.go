package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

const (
	sqlSessions = `SELECT s.id, s.name, s.agent, s.cwd, s.state, s.reason,
	s.server, s.server_pid, s.server_start, s.pane, s.tmux_session, s.owned,
	s.created_at, s.ended_at, s.exit_status, s.exit_signal, s.addressee, s.program, s.real_cwd,
	l.head, l.last_output_at, l.turn,
	ifnull(t.open, 0), ifnull(t.started_at, 0), ifnull(t.ended_at, 0), ifnull(t.first_line, 0), ifnull(t.last_line, 0), t.status, u.usage
	FROM sessions s JOIN logs l ON l.session = s.seq LEFT JOIN turns t ON t.session = l.session AND t.number = l.turn
	LEFT JOIN usage_now u ON u.session = s.id
	ORDER BY s.created_at, s.seq`
	sqlPutSession = `INSERT INTO sessions (id, name, agent, cwd, state, reason,
	server, server_pid, server_start, pane, tmux_session, owned, created_at, ended_at, exit_status, exit_signal, addressee, program, real_cwd, fresh)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1)
	ON CONFLICT (id) DO UPDATE SET name = excluded.name, agent = excluded.agent, cwd = excluded.cwd,
	state = excluded.state, reason = excluded.reason, server = excluded.server, server_pid = excluded.server_pid,
	server_start = excluded.server_start, pane = excluded.pane, tmux_session = excluded.tmux_session, owned = excluded.owned,
	created_at = excluded.created_at, ended_at = excluded.ended_at, exit_status = excluded.exit_status, exit_signal = excluded.exit_signal, addressee = excluded.addressee, program = excluded.program, real_cwd = excluded.real_cwd
	RETURNING seq`
	sqlPutLog = `INSERT INTO logs (session) VALUES (?) ON CONFLICT DO NOTHING`
)

// Sessions returns all sessions: see sessions.Store. Lines, Turn and
// LastOutputAt are those of their logs.
func (s *Store) Sessions(ctx context.Context) (all []sessions.Session, err error) {
	r := s.reader()
	defer func() { err = r.explain("read sessions", err) }()
	rows, err := r.sessions.QueryContext(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		x, err := scanSession(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, x)
	}
	return all, rows.Err()
}

func scanSession(rows *sql.Rows) (x sessions.Session, err error) {
	var created, ended, output, turnStarted, turnEnded int64
	var status sql.NullInt64
	var signal string
	var used sql.NullString
	p, t := &x.Pane, &x.Turn
	err = rows.Scan(
		&x.ID, &x.Name, &x.Agent, &x.Cwd, &x.State, &x.Reason,
		&p.Server, &p.Identity.PID, &p.Identity.Start, &p.ID, &p.Session, &x.Owned,
		&created, &ended, &status, &signal, &x.Addressee, &x.Program, &x.RealCwd,
		&x.Lines, &output, &t.Number,
		&t.Open, &turnStarted, &turnEnded, &t.FirstLine, &t.LastLine, &t.Status, &used,
	)
	if err != nil {
		return x, err
	}
	x.CreatedAt, x.EndedAt, x.LastOutputAt = fromNanos(created), fromNanos(ended), fromNanos(output)
	t.StartedAt, t.EndedAt = fromNanos(turnStarted), fromNanos(turnEnded)
	x.Exit = exitOf(status, signal)
	x.Usage = usageNow(used)
	return x, nil
}

// exitOf is how a session's program has ended, as it's kept; nil: it's unknown, or runs.
func exitOf(status sql.NullInt64, signal string) *sessions.Exit {
	if !status.Valid {
		return nil
	}
	return &sessions.Exit{Status: int(status.Int64), Signal: signal}
}

// PutSession inserts or replaces a session: see sessions.Store.
func (s *Store) PutSession(ctx context.Context, x sessions.Session) error {
	if err := s.unsound(); err != nil && x.State == sessions.StateStarting {
		return err
	}
	var status sql.NullInt64
	var signal string
	if x.Exit != nil {
		status, signal = sql.NullInt64{Int64: int64(x.Exit.Status), Valid: true}, x.Exit.Signal
	}
	err := s.write.queue.do(ctx, 2, func(ctx context.Context) error {
		var seq int64
		err := s.write.putSession.QueryRowContext(
			ctx,
			clean(x.ID), clean(x.Name), clean(x.Agent), clean(x.Cwd), clean(x.State), clean(x.Reason),
			clean(x.Pane.Server), x.Pane.Identity.PID, x.Pane.Identity.Start, clean(x.Pane.ID), clean(x.Pane.Session), x.Owned,
			nanos(x.CreatedAt), nanos(x.EndedAt), status, clean(signal), clean(x.Addressee), clean(x.Program), clean(x.RealCwd),
		).Scan(&seq)
		if err != nil {
			return err
		}
		_, err = s.write.putLog.ExecContext(ctx, seq)
		return err
	})
	return s.explain("store session "+string(x.ID), err)
}

const (
	sqlClosedPanes    = `SELECT server, server_pid, server_start, pane FROM closed_panes ORDER BY seq`
	sqlPutClosedPane  = `INSERT INTO closed_panes (server, server_pid, server_start, pane) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING`
	sqlDropClosedPane = `DELETE FROM closed_panes WHERE server = ? AND server_pid = ? AND server_start = ? AND pane = ?`
)

// PutClosedPane remembers a pane whose session was closed by hand and that no
// pattern may adopt again. Its session's name isn't kept: it outlives a session that's forgotten.
func (s *Store) PutClosedPane(ctx context.Context, p sessions.Pane) error {
	err := s.write.exec(ctx, &s.write.putClosedPane, clean(p.Server), p.Identity.PID, p.Identity.Start, clean(p.ID))
	return s.explain("store closed pane "+p.ID, err)
}

// DropClosedPane forgets a pane; one that isn't known is no error.
func (s *Store) DropClosedPane(ctx context.Context, p sessions.Pane) error {
	err := s.write.exec(ctx, &s.write.dropClosedPane, clean(p.Server), p.Identity.PID, p.Identity.Start, clean(p.ID))
	return s.explain("drop closed pane "+p.ID, err)
}

// ClosedPanes returns the panes that PutClosedPane remembers, in the order they came.
func (s *Store) ClosedPanes(ctx context.Context) (all []sessions.Pane, err error) {
	r := s.reader()
	defer func() { err = r.explain("read closed panes", err) }()
	rows, err := r.closedPanes.QueryContext(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var p sessions.Pane
		if err := rows.Scan(&p.Server, &p.Identity.PID, &p.Identity.Start, &p.ID); err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, rows.Err()
}

const (
	sqlNote    = `SELECT value FROM notes WHERE adapter = ? AND key = ?`
	sqlPutNote = `INSERT INTO notes (adapter, key, value) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET value = excluded.value`
)

// Notes are what one adapter remembers over restarts, a word or two for each key.
type Notes struct {
	store   *Store
	adapter string
}

// Notes returns the notes of an adapter. Several of the same name are the same.
func (s *Store) Notes(adapter string) Notes { return Notes{store: s, adapter: clean(adapter)} }

// Note returns what was kept for a key; "" if nothing was.
func (n Notes) Note(ctx context.Context, key string) (value string, err error) {
	r := n.store.reader()
	err = r.note.QueryRowContext(ctx, n.adapter, clean(key)).Scan(&value)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return value, r.explain("read a note of "+n.adapter, err)
}

// PutNote keeps a value for a key, in place of the one before.
func (n Notes) PutNote(ctx context.Context, key, value string) error {
	w := n.store.write
	return n.store.explain("store a note of "+n.adapter, w.exec(ctx, &w.putNote, n.adapter, clean(key), clean(value)))
}

// sqlDrop are what's deleted with a session, by its id, the session itself last: with that go its
// log, lines, details, gaps and turns.
var sqlDrop = []string{ //nolint:gochecknoglobals // a constant table
	`DELETE FROM receipts WHERE session = ?`,
	`DELETE FROM prompt_messages WHERE session = ?1 OR prompt IN (SELECT id FROM prompts WHERE session = ?1)`,
	`DELETE FROM prompt_writers WHERE prompt IN (SELECT id FROM prompts WHERE session = ?1 UNION SELECT id FROM inquiries WHERE session = ?1)`,
	`DELETE FROM prompts WHERE session = ?`,
	`DELETE FROM inquiries WHERE session = ?`,
	`DELETE FROM exhibits WHERE session = ?`,
	`DELETE FROM offers WHERE session = ?`,
	`DELETE FROM waiting WHERE message ->> 'Session' = ?`,
	`DELETE FROM origins WHERE session = ?`,
	`DELETE FROM missed WHERE session = ?`,
	`DELETE FROM preferences WHERE session = ?`,
	`DELETE FROM standing WHERE session = ?`,
	`DELETE FROM replies WHERE session = ?`,
	`DELETE FROM mail WHERE sender = ?1 OR recipient = ?1`,
	`DELETE FROM notices WHERE session = ?1 OR recipient = ?1`,
	`DELETE FROM listeners WHERE session = ?`,
	`DELETE FROM fleet_members WHERE session = ?`,
	`DELETE FROM reminders WHERE session = ?`,
	`DELETE FROM subscriptions WHERE session = ?1 OR subscriber = ?1`,
	`DELETE FROM push_alerts WHERE session = ?`,
	`DELETE FROM usage_now WHERE session = ?`,
	`DELETE FROM continuations WHERE session = ?`,
	sqlKeepDays,
	`DELETE FROM usage WHERE session = ? AND session <> ''`,
	`DELETE FROM push_shown WHERE session = ?`,
	`UPDATE audit SET hash = '' WHERE session = ? AND hash <> ''`, // a short text can be guessed from it
	`DELETE FROM sessions WHERE id = ?`,
}

// dropAtOnce is how many lines of a session go in one transaction: 200,000 take a
// second or more, for which nobody else should have to wait.
const dropAtOnce = 2000

// DropSession deletes a session with all that belongs to it, mail to and from it included: see
// sessions.Store. A long log goes piece by piece, the oldest lines first. Erase then has nothing of
// it be left in the files. Of one that was dropped before it deletes what was stored behind that: what
// was on its way to the session.
func (s *Store) DropSession(ctx context.Context, id sessions.ID) error {
	for gone := false; !gone; {
		err := s.write.queue.do(ctx, dropAtOnce, func(ctx context.Context) (err error) {
			gone, err = s.write.dropSome(ctx, id)
			return err
		})
		if err != nil {
			return s.explain("drop session "+string(id), err)
		}
	}
	return nil
}

// dropSome deletes the oldest lines of a session, and when these were the last, the
// session.
func (w *writeConn) dropSome(ctx context.Context, id sessions.ID) (gone bool, err error) {
	log, err := scanLog(w.logState.QueryRowContext(ctx, clean(id)))
	if errors.Is(err, sessions.ErrUnknown) {
		return true, w.dropRest(ctx, id)
	}
	if err != nil {
		return false, err
	}
	log.oldest = min(log.oldest+dropAtOnce, log.head+1)
	if err := w.dropLinesOf(ctx, &log); err != nil {
		return false, err
	}
	delete(w.logs.committed, id)
	if log.oldest <= log.head {
		_, err := w.updateLog.ExecContext(ctx, log.head, log.oldest, log.lastOutputAt, log.turn.Number, nil, log.session)
		return false, err
	}
	return true, w.dropRest(ctx, id)
}

// dropRest deletes all of a session but its lines.
func (w *writeConn) dropRest(ctx context.Context, id sessions.ID) error {
	for _, stmt := range sqlDrop {
		if _, err := w.conn.ExecContext(ctx, stmt, clean(id)); err != nil {
			return err
		}
	}
	return nil
}

// promptsKept is for how long a prompt is kept that's final: a button of it in a chat
// says so long who answered what.
const promptsKept = 30 * 24 * time.Hour

const (
	promptColumns = `id, session, dialog, state, reason, answer, origin, opened_at, closed_at`
	sqlPrompt     = `SELECT ` + promptColumns + ` FROM prompts WHERE id = ?`
	// "open" is written by what Prompt.Final says: the rule stands in one place.
	sqlOpenPrompts = `SELECT ` + promptColumns + ` FROM prompts WHERE open ORDER BY opened_at, seq`
	sqlPutPrompt   = `INSERT INTO prompts (` + promptColumns + `, open) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
	ON CONFLICT (id) DO UPDATE SET session = excluded.session, dialog = excluded.dialog, state = excluded.state,
	reason = excluded.reason, answer = excluded.answer, origin = excluded.origin,
	opened_at = excluded.opened_at, closed_at = excluded.closed_at, open = excluded.open`
	sqlAnsweredPrompts = `SELECT ` + promptColumns + ` FROM prompts
	WHERE session = ? AND state = 'answered' AND closed_at BETWEEN ? AND ? ORDER BY closed_at DESC, seq DESC LIMIT ? + 0`
	sqlForgetPrompts = `DELETE FROM prompts WHERE NOT open AND closed_at < ?`
)

// PutPrompt inserts or replaces a prompt: see sessions.Store.
func (s *Store) PutPrompt(ctx context.Context, p sessions.Prompt) error {
	doing := "store prompt " + p.ID
	dialog, err := json.Marshal(p.Dialog)
	if err != nil {
		return s.explain(doing, err)
	}
	var answer sql.NullString
	var origin string
	if p.Answer != nil {
		text, err := json.Marshal(p.Answer)
		if err != nil {
			return s.explain(doing, err)
		}
		answer, origin = sql.NullString{String: string(text), Valid: true}, p.Answer.Origin
	}
	args := []any{
		clean(p.ID), clean(p.Session), string(dialog), clean(p.State), clean(p.Reason), answer, clean(origin),
		nanos(p.OpenedAt), nanos(p.ClosedAt), !p.Final(),
	}
	return s.explain(doing, s.write.queue.do(ctx, 1, func(ctx context.Context) error {
		if _, err := s.write.putPrompt.ExecContext(ctx, args...); err != nil || !p.Final() {
			return err
		}
		_, err := s.write.forgetPrompts.ExecContext(ctx, nanos(p.ClosedAt.Add(-promptsKept)))
		return err
	}))
}

// Prompt returns a prompt: see sessions.Store.
func (s *Store) Prompt(ctx context.Context, id string) (sessions.Prompt, error) {
	r := s.reader()
	p, err := scanPrompt(r.prompt.QueryRowContext(ctx, clean(id)))
	if errors.Is(err, sql.ErrNoRows) {
		err = fmt.Errorf("%w prompt", sessions.ErrUnknown)
	}
	if err != nil {
		return sessions.Prompt{}, r.explain("read prompt "+clean(id), err)
	}
	return p, nil
}

// OpenPrompts returns those that aren't final: see sessions.Store.
func (s *Store) OpenPrompts(ctx context.Context) (all []sessions.Prompt, err error) {
	r := s.reader()
	defer func() { err = r.explain("read open prompts", err) }()
	rows, err := r.openPrompts.QueryContext(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		p, err := scanPrompt(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, rows.Err()
}

// AnsweredPrompts returns the prompts and inquiries of a session that were answered between two times, the newest
// first, at most limit. They're kept for promptsKept.
func (s *Store) AnsweredPrompts(ctx context.Context, id sessions.ID, from, to time.Time, limit int) ([]sessions.Prompt, error) {
	all, err := list(ctx, s, "read the answered prompts of "+string(id), func(row *sql.Rows) (sessions.Prompt, error) {
		return scanPrompt(row)
	}, sqlAnsweredPrompts, string(id), nanos(from), nanos(to), limit)
	if err != nil {
		return nil, err
	}
	asked, err := listJSON[sessions.Inquiry](ctx, s, "read the answered questions of "+string(id), sqlClosedInquiries, string(id), nanos(from), nanos(to), limit)
	if err != nil || len(asked) == 0 {
		return all, err
	}
	for _, q := range asked {
		if q.State == sessions.PromptAnswered {
			all = append(all, q.Prompt)
		}
	}
	slices.SortStableFunc(all, func(a, b sessions.Prompt) int { return b.ClosedAt.Compare(a.ClosedAt) })
	return all[:min(len(all), limit)], nil
}

func scanPrompt(row interface{ Scan(into ...any) error }) (p sessions.Prompt, err error) {
	var opened, closed int64
	var dialog, origin string
	var answer sql.NullString
	if err := row.Scan(&p.ID, &p.Session, &dialog, &p.State, &p.Reason, &answer, &origin, &opened, &closed); err != nil {
		return p, err
	}
	p.OpenedAt, p.ClosedAt = fromNanos(opened), fromNanos(closed)
	if err := json.Unmarshal([]byte(dialog), &p.Dialog); err != nil {
		return p, fmt.Errorf("read its dialog: %w", err)
	}
	p.Dialog.Marked = -1 // of the screen, which may be another by now
	if !answer.Valid {
		return p, nil
	}
	p.Answer = &sessions.Answer{}
	if err := json.Unmarshal([]byte(answer.String), p.Answer); err != nil {
		return p, fmt.Errorf("read its answer: %w", err)
	}
	p.Answer.Origin = origin
	return p, nil
}

const (
	receiptColumns = `id, session, text, submit, author, name, origin, key, state, cause, reason, anyway, pressed, addressee, created_at, updated_at`
	sqlReceipt     = `SELECT ` + receiptColumns + ` FROM receipts WHERE id = ?`
	sqlReceiptKey  = `SELECT ` + receiptColumns + ` FROM receipts WHERE key = ?`
	// "open" is written by what Receipt.Final says: the rule stands in one place.
	sqlOpenReceipts = `SELECT ` + receiptColumns + ` FROM receipts WHERE open ORDER BY created_at, seq`
	// Only those of the last day are looked at: they're few.
	sqlUnanswered = `SELECT ` + receiptColumns + ` FROM receipts WHERE NOT open AND state IN (?, ?) AND updated_at >= ? ORDER BY updated_at, seq`
	sqlPutReceipt = `INSERT INTO receipts (` + receiptColumns + `, open) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
	ON CONFLICT (id) DO UPDATE SET session = excluded.session, text = excluded.text, submit = excluded.submit,
	author = excluded.author, name = excluded.name, origin = excluded.origin, key = excluded.key, state = excluded.state, cause = excluded.cause, reason = excluded.reason, anyway = excluded.anyway, pressed = excluded.pressed, addressee = excluded.addressee,
	created_at = excluded.created_at, updated_at = excluded.updated_at, open = excluded.open`
)

// PutReceipt inserts or replaces a receipt: see sessions.Store.
func (s *Store) PutReceipt(ctx context.Context, r sessions.Receipt) error {
	if err := s.unsound(); err != nil && r.State == sessions.ReceiptStored {
		return err
	}
	err := s.write.exec(
		ctx, &s.write.putReceipt,
		clean(r.ID), clean(r.Session), clean(r.Text), r.Submit, clean(r.Author), clean(r.Name), clean(r.Origin), sql.NullString{String: clean(r.Key), Valid: r.Key != ""},
		clean(r.State), clean(r.Cause), clean(r.Reason), clean(r.Anyway), r.Pressed, clean(r.To), nanos(r.CreatedAt), nanos(r.UpdatedAt), !r.Final(),
	)
	if isUnique(err) {
		err = fmt.Errorf("%w: another has its key: %w", sessions.ErrConflict, err)
	}
	return s.explain("store receipt "+r.ID, err)
}

// Receipt returns a receipt: see sessions.Store.
func (s *Store) Receipt(ctx context.Context, id string) (sessions.Receipt, error) {
	r := s.reader()
	return r.oneReceipt("read receipt "+id, r.receipt.QueryRowContext(ctx, id))
}

// ReceiptByKey returns the receipt with a key: see sessions.Store.
func (s *Store) ReceiptByKey(ctx context.Context, key string) (sessions.Receipt, error) {
	r := s.reader()
	return r.oneReceipt("read the receipt of "+key, r.receiptByKey.QueryRowContext(ctx, clean(key)))
}

func (r *readPool) oneReceipt(doing string, row *sql.Row) (sessions.Receipt, error) {
	receipt, err := scanReceipt(row)
	if errors.Is(err, sql.ErrNoRows) {
		err = fmt.Errorf("%w receipt", sessions.ErrUnknown)
	}
	if err != nil {
		return sessions.Receipt{}, r.explain(doing, err)
	}
	return receipt, nil
}

// HasReceiptSince reports whether a session has a receipt that was made at a time or later, of another key than but.
func (s *Store) HasReceiptSince(ctx context.Context, id sessions.ID, since time.Time, but string) (has bool, err error) {
	r := s.reader()
	const query = `SELECT EXISTS (SELECT 1 FROM receipts WHERE session = ? AND created_at >= ? AND key IS NOT ?)`
	err = r.db.QueryRowContext(ctx, query, string(id), nanos(since), clean(but)).Scan(&has)
	return has, r.explain("read whether a session has receipts", err)
}

// OpenReceipts returns those that aren't final: see sessions.Store.
func (s *Store) OpenReceipts(ctx context.Context) (all []sessions.Receipt, err error) {
	r := s.reader()
	defer func() { err = r.explain("read open receipts", err) }()
	return receiptsOf(r.openReceipts.QueryContext(ctx))
}

// UnansweredReceipts returns those that were submitted, and not answered since, and those
// that failed: see sessions.Store.
func (s *Store) UnansweredReceipts(ctx context.Context, since time.Time) (all []sessions.Receipt, err error) {
	r := s.reader()
	defer func() { err = r.explain("read unanswered receipts", err) }()
	return receiptsOf(r.unanswered.QueryContext(ctx, sessions.ReceiptSubmitted, sessions.ReceiptFailed, nanos(since)))
}

func receiptsOf(rows *sql.Rows, failed error) (all []sessions.Receipt, err error) {
	if failed != nil {
		return nil, failed
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		r, err := scanReceipt(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, rows.Err()
}

func scanReceipt(row interface{ Scan(into ...any) error }) (r sessions.Receipt, err error) {
	var created, updated int64
	var key sql.NullString
	err = row.Scan(&r.ID, &r.Session, &r.Text, &r.Submit, &r.Author, &r.Name, &r.Origin, &key, &r.State, &r.Cause, &r.Reason, &r.Anyway, &r.Pressed, &r.To, &created, &updated)
	r.Key = key.String
	r.CreatedAt, r.UpdatedAt = fromNanos(created), fromNanos(updated)
	return r, err
}
