package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/sessions"
)

const sqlProgress = `SELECT l.head, ifnull(t.number, 0), ifnull(t.last_line, 0)
	FROM sessions s JOIN logs l ON l.session = s.seq LEFT JOIN turns t ON t.session = l.session
	AND t.number = (SELECT number FROM turns WHERE session = l.session AND NOT open ORDER BY number DESC LIMIT 1)
	WHERE s.id = ?`

// Progress returns how far a session is: see adapters.Log.
func (s *Store) Progress(ctx context.Context, id sessions.ID) (p adapters.Progress, err error) {
	err = s.read.progress.QueryRowContext(ctx, string(id)).Scan(&p.Head, &p.Turn, &p.TurnEnd)
	if errors.Is(err, sql.ErrNoRows) {
		err = fmt.Errorf("%w session", sessions.ErrUnknown)
	}
	if err != nil {
		return adapters.Progress{}, s.explain("read the progress of "+string(id), err)
	}
	return p, nil
}
