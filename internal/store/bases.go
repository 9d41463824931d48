package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/panebridge/panebridge/sessions"
)

// PutBase keeps how a session's repository was when the session began. What was kept before stays, and of a
// session that isn't known nothing is kept.
func (s *Store) PutBase(ctx context.Context, id sessions.ID, b sessions.Base) error {
	text, err := json.Marshal(b)
	if err != nil {
		return fmt.Errorf("write how a repository was: %w", err)
	}
	return s.exec1(
		ctx, "store how the repository of "+string(id)+" was",
		`INSERT INTO session_bases (session, base) SELECT id, ?2 FROM sessions WHERE id = ?1 ON CONFLICT (session) DO NOTHING`, string(id), clean(string(text)),
	)
}

// BaseOf returns how a session's repository was when the session began; nil: that isn't known.
func (s *Store) BaseOf(ctx context.Context, id sessions.ID) (*sessions.Base, error) {
	all, err := list(ctx, s, "read how the repository of "+string(id)+" was", func(row *sql.Rows) (b sessions.Base, err error) {
		var text string
		if err = row.Scan(&text); err != nil {
			return b, err
		}
		return b, json.Unmarshal([]byte(text), &b)
	}, `SELECT base FROM session_bases WHERE session = ?`, string(id))
	if err != nil || len(all) == 0 {
		return nil, errors.Join(err)
	}
	return &all[0], nil
}
