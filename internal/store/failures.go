package store

import (
	"context"
	"database/sql"

	"github.com/panebridge/panebridge/sessions"
)

// sqlFailures are the newest failed turns that ended between two lines. One that has no lines
// ended behind those of the turns before it.
const sqlFailures = `SELECT number, place, started_at, ended_at, failed FROM (
		SELECT t.number, t.started_at, t.ended_at, t.failed, CASE WHEN t.last_line > 0 THEN t.last_line
			ELSE ifnull((SELECT max(last_line) FROM turns b WHERE b.session = t.session AND b.number < t.number), 0) END AS place
		FROM sessions s JOIN turns t ON t.session = s.seq WHERE s.id = ? AND NOT t.open AND t.failed <> '')
	WHERE place BETWEEN ? AND ? ORDER BY number DESC LIMIT ?`

// Failures returns the turns of a session that failed and ended behind one of the lines from …
// to: their LastLine says behind which (0: before the first). At most limit, the newest first.
func (s *Store) Failures(ctx context.Context, id sessions.ID, from, to int64, limit int) ([]sessions.Turn, error) {
	return list(ctx, s, "read the failed turns of "+string(id), func(row *sql.Rows) (t sessions.Turn, err error) {
		var began, ended int64
		err = row.Scan(&t.Number, &t.LastLine, &began, &ended, &t.Failed)
		t.StartedAt, t.EndedAt = fromNanos(began), fromNanos(ended)
		return t, err
	}, sqlFailures, string(id), from, to, limit)
}
