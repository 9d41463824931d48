package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/sessions"
)

const sqlProgress = `SELECT l.head, ifnull(t.number, 0), ifnull(t.last_line, 0),
	ifnull(t.first_line, 0), ifnull(t.started_at, 0), ifnull(t.ended_at, 0), t.status, ifnull(t.failed, '')
	FROM sessions s JOIN logs l ON l.session = s.seq LEFT JOIN turns t ON t.session = l.session
	AND t.number = (SELECT number FROM turns WHERE session = l.session AND NOT open ORDER BY number DESC LIMIT 1)
	WHERE s.id = ?`

const sqlTurns = `SELECT t.number, t.first_line, t.last_line, t.started_at, t.ended_at, t.status, t.failed
	FROM sessions s JOIN turns t ON t.session = s.seq WHERE s.id = ? AND t.number >= ? AND NOT t.open ORDER BY t.number LIMIT ?`

// Progress returns how far a session is: see adapters.Log.
func (s *Store) Progress(ctx context.Context, id sessions.ID) (p adapters.Progress, err error) {
	var began, ended int64
	r := s.reader()
	err = r.progress.QueryRowContext(ctx, string(id)).Scan(&p.Head, &p.Turn, &p.TurnEnd, &p.TurnFirst, &began, &ended, &p.Status, &p.Failed)
	if errors.Is(err, sql.ErrNoRows) {
		err = fmt.Errorf("%w session", sessions.ErrUnknown)
	}
	if err != nil {
		return adapters.Progress{}, r.explain("read the progress of "+string(id), err)
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
