package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

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
