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
	ifnull(t.first_line, 0), ifnull(t.started_at, 0), ifnull(t.ended_at, 0), t.status
	FROM sessions s JOIN logs l ON l.session = s.seq LEFT JOIN turns t ON t.session = l.session
	AND t.number = (SELECT number FROM turns WHERE session = l.session AND NOT open ORDER BY number DESC LIMIT 1)
	WHERE s.id = ?`

// Progress returns how far a session is: see adapters.Log.
func (s *Store) Progress(ctx context.Context, id sessions.ID) (p adapters.Progress, err error) {
	var began, ended int64
	err = s.reader().progress.QueryRowContext(ctx, string(id)).Scan(&p.Head, &p.Turn, &p.TurnEnd, &p.TurnFirst, &began, &ended, &p.Status)
	if errors.Is(err, sql.ErrNoRows) {
		err = fmt.Errorf("%w session", sessions.ErrUnknown)
	}
	if err != nil {
		return adapters.Progress{}, s.explain("read the progress of "+string(id), err)
	}
	p.TurnBegan, p.TurnEnded = fromNanos(began), fromNanos(ended)
	return p, nil
}
