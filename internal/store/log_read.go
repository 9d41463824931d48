package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/panebridge/panebridge/sessions"
)

const (
	sqlLoad = `SELECT l.engine, l.turn,
	ifnull(t.open, 0), ifnull(t.started_at, 0), ifnull(t.ended_at, 0), ifnull(t.first_line, 0), ifnull(t.last_line, 0), t.status
	FROM sessions s JOIN logs l ON l.session = s.seq LEFT JOIN turns t ON t.session = l.session AND t.number = l.turn
	WHERE s.id = ?`
	lineColumns  = `n, kind, text, at, author, origin, begins`
	sqlLinesFrom = `SELECT ` + lineColumns + ` FROM lines WHERE session = ? AND n >= ? ORDER BY n LIMIT ?`
	sqlLinesLast = `SELECT ` + lineColumns + ` FROM lines WHERE session = ? ORDER BY n DESC LIMIT ?`
	sqlGaps      = `SELECT id, after, at_least, reason FROM gaps WHERE session = ? AND after BETWEEN ? AND ? AND id > ? ORDER BY after, id`
)

// Lines one call returns, at most and unless asked otherwise.
const (
	DefaultLimit = 1000
	MaxLimit     = 5000
)

// trimmedReason is of the gap that stands for what the log's bound dropped.
const trimmedReason = "dropped from the log: sessions.log_max_lines"

// Load returns a session's engine state and turn: see polling.Log.
func (s *Store) Load(ctx context.Context, id sessions.ID) (engine []byte, t sessions.Turn, err error) {
	var started, ended int64
	r := s.reader()
	err = r.load.QueryRowContext(ctx, string(id)).
		Scan(&engine, &t.Number, &t.Open, &started, &ended, &t.FirstLine, &t.LastLine, &t.Status)
	if errors.Is(err, sql.ErrNoRows) {
		err = fmt.Errorf("%w session", sessions.ErrUnknown)
	}
	if err != nil {
		return nil, sessions.Turn{}, r.explain("load the log of "+string(id), err)
	}
	t.StartedAt, t.EndedAt = fromNanos(started), fromNanos(ended)
	return engine, t, nil
}

// Tail returns the last n lines, oldest first: see polling.Log.
func (s *Store) Tail(ctx context.Context, id sessions.ID, n int) (lines []sessions.Line, err error) {
	r := s.reader() // for all of it: see Rescue
	err = r.snapshot(ctx, id, func(tx *sql.Tx, log logState) (err error) {
		lines, err = r.lines(ctx, tx, r.linesLast, log.session, max(n, 0))
		return err
	})
	if err != nil {
		return nil, r.explain("read the log of "+string(id), err)
	}
	slices.Reverse(lines)
	return lines, nil
}

// Read returns the lines with number ≥ from (≤ 0: from the oldest kept), at
// most limit of them (≤ 0: DefaultLimit; never more than MaxLimit), and the
// gaps that stand before or between them. A gap right behind the last line
// comes with the page asked for next, which repeats it for as long as no line
// follows; ReadSince doesn't. Where lines from from on have been dropped,
// Gaps begins with one that says how many.
func (s *Store) Read(ctx context.Context, id sessions.ID, from int64, limit int) (out sessions.Output, err error) {
	from = max(from, 0)
	r := s.reader() // for all of it: see Rescue
	err = r.snapshot(ctx, id, func(tx *sql.Tx, log logState) (err error) {
		first := from
		if from < log.oldest {
			first = log.oldest
			out.Gaps = dropped(from-1, log)
		}
		if out.Lines, err = r.lines(ctx, tx, r.linesFrom, log.session, first, clampLimit(limit)); err != nil {
			return err
		}
		out.Next = from
		lastPlace := first - 1
		if n := len(out.Lines); n > 0 {
			out.Next = out.Lines[n-1].N + 1
			lastPlace = out.Next - 2
		}
		out.Gaps, _, err = r.gapsBetween(ctx, tx, out.Gaps, log.session, first-1, lastPlace, 0)
		return err
	})
	if err != nil {
		return sessions.Output{}, r.explain("read the log of "+string(id), err)
	}
	return out, nil
}

// Cursor is a place in a session's output log: what a reader has seen.
type Cursor struct {
	Line int64 // number of the last line seen; 0: none, -1: none, and those that have been dropped aren't wanted
	Gap  int64 // id of the last gap seen; 0: none of those behind Line
}

// CursorAt is the cursor of a reader who wants the lines with number ≥ from, as
// in Read.
func CursorAt(from int64) Cursor {
	return Cursor{Line: max(from, 0) - 1}
}

// End returns the cursor behind everything that is in a session's log now.
func (s *Store) End(ctx context.Context, id sessions.ID) (c Cursor, err error) {
	r := s.reader() // for all of it: see Rescue
	err = r.snapshot(ctx, id, func(tx *sql.Tx, log logState) (err error) {
		c.Line = log.head
		_, c.Gap, err = r.gapsBetween(ctx, tx, nil, log.session, log.head, log.head, 0)
		return err
	})
	if err != nil {
		return Cursor{}, r.explain("read the log of "+string(id), err)
	}
	return c, nil
}

// ReadSince returns what stands behind c, and the cursor behind what it
// returned: at most limit lines (as in Read) and the gaps before, between and
// right behind them. With the cursor it returned each time, a reader gets every
// line and gap once. The order of both together: a gap comes behind the line
// After and before the next. Where lines behind c have been dropped, Gaps
// begins with one that says how many.
func (s *Store) ReadSince(ctx context.Context, id sessions.ID, c Cursor, limit int) (out sessions.Output, next Cursor, err error) {
	r := s.reader() // for all of it: see Rescue
	err = r.snapshot(ctx, id, func(tx *sql.Tx, log logState) (err error) {
		next = c
		if c.Line < log.oldest-1 {
			next.Line = log.oldest - 1
			out.Gaps = dropped(c.Line, log)
		}
		first := next.Line
		if out.Lines, err = r.lines(ctx, tx, r.linesFrom, log.session, first+1, clampLimit(limit)); err != nil {
			return err
		}
		if n := len(out.Lines); n > 0 {
			next.Line = out.Lines[n-1].N
		}
		out.Next = next.Line + 1
		out.Gaps, next.Gap, err = r.gapsBetween(ctx, tx, out.Gaps, log.session, first, next.Line, c.Gap)
		return err
	})
	if err != nil {
		return sessions.Output{}, c, r.explain("read the log of "+string(id), err)
	}
	return out, next, nil
}

// dropped is the gap between the line seen and the oldest kept; none for a
// reader who begins with the oldest, whatever its number.
func dropped(seen int64, log logState) []sessions.Gap {
	if seen < 0 || seen >= log.oldest-1 {
		return nil
	}
	return []sessions.Gap{{After: seen, AtLeast: log.oldest - 1 - seen, Reason: trimmedReason}}
}

func clampLimit(limit int) int {
	if limit <= 0 {
		return DefaultLimit
	}
	return min(limit, MaxLimit)
}

func (r *reader) lines(ctx context.Context, tx *sql.Tx, stmt *sql.Stmt, args ...any) (lines []sessions.Line, err error) {
	rows, err := tx.StmtContext(ctx, stmt).QueryContext(ctx, args...) //nolint:sqlclosecheck // closed with tx
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var l sessions.Line
		var at int64
		if err := rows.Scan(&l.N, &l.Kind, &l.Text, &at, &l.Author, &l.Origin, &l.Begins); err != nil {
			return nil, err
		}
		l.At = fromNanos(at)
		lines = append(lines, l)
	}
	return lines, rows.Err()
}

// gapsBetween appends the gaps that stand behind lines from … to and have a
// larger id than seen, and returns the largest id.
func (r *reader) gapsBetween(ctx context.Context, tx *sql.Tx, gaps []sessions.Gap, session, from, to, seen int64) (_ []sessions.Gap, last int64, err error) {
	rows, err := tx.StmtContext(ctx, r.gaps).QueryContext(ctx, session, from, to, seen) //nolint:sqlclosecheck // closed with tx
	if err != nil {
		return nil, seen, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for last = seen; rows.Next(); {
		var g sessions.Gap
		if err := rows.Scan(&last, &g.After, &g.AtLeast, &g.Reason); err != nil {
			return nil, seen, err
		}
		gaps = append(gaps, g)
	}
	return gaps, last, rows.Err()
}
