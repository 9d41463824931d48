package store

import (
	"context"
	"database/sql"
	"slices"
	"strings"

	"github.com/panebridge/panebridge/sessions"
)

// sqlSearch goes through a session's lines from the newest on, until it has enough.
// LIKE takes no notice of the case of letters from A to Z.
const sqlSearch = `SELECT ` + lineColumns + ` FROM lines WHERE session = ? AND text LIKE ? ESCAPE '\' ORDER BY n DESC LIMIT ?`

// maxSearched is how many bytes a text may have that's looked for: SQLite takes
// patterns of 50,000.
const maxSearched = 4096

// Search returns lines that hold a text, the newest first: at most limit, as in Read.
// Whether letters from A to Z are large doesn't matter; others count as they are. What's
// too long, or can't be in a line, is in none.
func (s *Store) Search(ctx context.Context, id sessions.ID, text string, limit int) (lines []sessions.Line, err error) {
	if len(text) > maxSearched || strings.Contains(text, "\x00") {
		return nil, nil
	}
	pattern := "%" + strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(clean(text)) + "%"
	r := s.reader() // for all of it: see Rescue
	err = r.snapshot(ctx, id, func(tx *sql.Tx, log logState) error {
		stmt, err := tx.PrepareContext(ctx, sqlSearch) // closed with tx
		if err != nil {
			return err
		}
		lines, err = r.lines(ctx, tx, stmt, log.session, pattern, clampLimit(limit))
		return err
	})
	if err != nil {
		return nil, r.explain("search the log of "+string(id), err)
	}
	return slices.Clip(lines), nil
}
