package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/panebridge/panebridge/polling"
	"github.com/panebridge/panebridge/sessions"
)

const (
	// sqlLog reads a session's log without its engine state.
	sqlLog = `SELECT l.session, l.head, l.oldest, l.last_output_at, l.turn,
	ifnull(t.open, 0), ifnull(t.started_at, 0), ifnull(t.ended_at, 0), ifnull(t.first_line, 0), ifnull(t.last_line, 0), t.status, ifnull(t.failed, '')
	FROM sessions s JOIN logs l ON l.session = s.seq LEFT JOIN turns t ON t.session = l.session AND t.number = l.turn
	WHERE s.id = ?`
	sqlUpdateLog = `UPDATE logs SET head = ?, oldest = ?, last_output_at = ?, turn = ?, engine = ifnull(?, engine) WHERE session = ?`
	sqlPutTurn   = `INSERT INTO turns (session, number, open, started_at, ended_at, first_line, last_line, status, failed) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
	ON CONFLICT DO UPDATE SET open = excluded.open, started_at = excluded.started_at, ended_at = excluded.ended_at,
	first_line = excluded.first_line, last_line = excluded.last_line, status = excluded.status, failed = excluded.failed`
	sqlAddLine = `INSERT INTO lines (session, n, kind, text, at, author, origin, begins, tool, receipt) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	sqlAddGap  = `INSERT INTO gaps (session, after, at_least, reason) VALUES (?, ?, ?, ?)`
)

// logState is a session's log as it stands in the database.
type logState struct {
	session      int64 // sessions.seq
	head         int64
	oldest       int64 // head + 1: no line is kept
	lastOutputAt int64
	details      int64 // bytes of tool_details, about; the writer knows them
	turn         sessions.Turn
}

// scanLog reads a row of sqlLog.
func scanLog(row *sql.Row) (l logState, err error) {
	var started, ended int64
	t := &l.turn
	err = row.Scan(&l.session, &l.head, &l.oldest, &l.lastOutputAt, &t.Number, &t.Open, &started, &ended, &t.FirstLine, &t.LastLine, &t.Status, &t.Failed)
	if errors.Is(err, sql.ErrNoRows) {
		return logState{}, fmt.Errorf("%w session", sessions.ErrUnknown)
	}
	t.StartedAt, t.EndedAt = fromNanos(started), fromNanos(ended)
	return l, err
}

// Append stores a batch: see polling.Log. Text that isn't valid UTF-8 is made
// so, gaps are put in order. Errors: sessions.ErrUnknown, sessions.ErrInvalid,
// and this package's.
//
// A turn's FirstLine and LastLine of 0 keep what is stored for the turn of that
// number. A turn that has lines and ends without a LastLine ends at the newest; one
// with a LastLine of -1 ends before the batch.
func (s *Store) Append(ctx context.Context, b polling.Batch) (polling.Appended, error) {
	var out polling.Appended
	b, err := prepareBatch(b)
	if err == nil {
		err = s.write.queue.do(ctx, 1+len(b.Lines)+len(b.Gaps)+len(b.Spent)+rowsOfDetails(b.Lines), func(ctx context.Context) (err error) {
			out, err = s.write.append(ctx, b, s.maxLines.Load())
			return err
		})
	}
	if err != nil {
		return polling.Appended{}, s.explain("append to the log of "+string(b.Session), err)
	}
	dropDetails(out.Lines)
	return out, nil
}

// prepareBatch does what needs no transaction: it checks, copies and cleans.
func prepareBatch(b polling.Batch) (polling.Batch, error) {
	n := int64(len(b.Lines))
	for _, g := range b.Gaps {
		if g.After < 0 || g.After > n {
			return b, fmt.Errorf("%w: gap after line %d in a batch of %d", sessions.ErrInvalid, g.After, n)
		}
	}
	// n + 1: a turn may begin with the line to come.
	for _, t := range turnsOf(b) {
		if min(t.FirstLine, t.LastLine+1) < 0 || max(t.FirstLine, t.LastLine) > n+1 {
			return b, fmt.Errorf("%w: turn from line %d to %d in a batch of %d", sessions.ErrInvalid, t.FirstLine, t.LastLine, n)
		}
	}
	b.Lines = slices.Clone(b.Lines)
	for i := range b.Lines {
		l := &b.Lines[i]
		l.Kind, l.Text, l.At = sessions.LineKind(clean(l.Kind)), clean(l.Text), fromNanos(nanos(l.At))
		l.Author, l.Origin, l.Receipt, l.Tool = clean(l.Author), clean(l.Origin), clean(l.Receipt), cleanTool(l.Tool)
	}
	b.Gaps = slices.Clone(b.Gaps)
	slices.SortStableFunc(b.Gaps, func(x, y sessions.Gap) int { return cmp.Compare(x.After, y.After) })
	for i := range b.Gaps {
		b.Gaps[i].Reason = clean(b.Gaps[i].Reason)
	}
	return b, nil
}

// append writes a prepared batch within a transaction. It may be called again
// when that was rolled back, so what it changes in b it sets, never adds to.
func (w *writeConn) append(ctx context.Context, b polling.Batch, maxLines int64) (out polling.Appended, err error) {
	log, err := w.logs.get(b.Session, func() (logState, error) {
		log, err := scanLog(w.logState.QueryRowContext(ctx, string(b.Session)))
		if err == nil {
			log.details, err = w.detailsBefore(ctx, log.session, math.MaxInt64)
		}
		return log, err
	})
	if err != nil {
		return out, err
	}
	before := log.head
	if err := w.addLines(ctx, &log, b.Lines); err != nil {
		return out, err
	}
	gaps, err := w.addGaps(ctx, log.session, before, b.Gaps)
	if err != nil {
		return out, err
	}
	for i, t := range turnsOf(b) {
		log.turn = resolveTurn(t, log.turn, before, log.head)
		if err := w.storeTurn(ctx, log); err != nil {
			return out, err
		}
		if i < len(b.Ended) {
			out.Ended = append(out.Ended, log.turn)
		}
	}
	if err := w.trim(ctx, &log, maxLines, int64(len(b.Lines))); err != nil {
		return out, err
	}
	var engine any // NULL keeps the stored one
	if b.Engine != nil {
		engine = b.Engine
	}
	if _, err := w.updateLog.ExecContext(ctx, log.head, log.oldest, log.lastOutputAt, log.turn.Number, engine, log.session); err != nil {
		return out, err
	}
	used, err := w.addUsage(ctx, b.Session, b.Spent, b.Usage)
	if err != nil {
		return out, err
	}
	w.logs.set(b.Session, log)
	return polling.Appended{Lines: b.Lines, Gaps: gaps, Ended: out.Ended, Turn: log.turn, Head: log.head, Usage: used}, nil
}

// addLines numbers lines, in place, and writes them.
func (w *writeConn) addLines(ctx context.Context, log *logState, lines []sessions.Line) error {
	for i := range lines {
		l := &lines[i]
		log.head++
		l.N = log.head
		at := nanos(l.At)
		if _, err := w.addLine.ExecContext(ctx, log.session, l.N, string(l.Kind), l.Text, at, l.Author, l.Origin, l.Begins, toolColumn(l.Tool), l.Receipt); err != nil {
			return err
		}
		if err := w.addDetail(ctx, log, *l); err != nil {
			return err
		}
		if isOutput(l.Kind) {
			log.lastOutputAt = at
		}
	}
	return nil
}

// isOutput tells the session's own lines from what was said to or about it.
func isOutput(k sessions.LineKind) bool {
	return k == sessions.KindPane || k == sessions.KindAnswer || k == sessions.KindTool
}

// addGaps writes gaps of a batch whose first line is number before + 1, and
// returns them with their places in the log.
func (w *writeConn) addGaps(ctx context.Context, session, before int64, inBatch []sessions.Gap) ([]sessions.Gap, error) {
	gaps := slices.Clone(inBatch)
	for i := range gaps {
		g := &gaps[i]
		g.After += before
		if _, err := w.addGap.ExecContext(ctx, session, g.After, g.AtLeast, g.Reason); err != nil {
			return nil, err
		}
	}
	return gaps, nil
}

// turnsOf are the turns that a batch changes, in their order.
func turnsOf(b polling.Batch) []sessions.Turn {
	if b.Turn == nil {
		return b.Ended
	}
	return append(slices.Clone(b.Ended), *b.Turn)
}

// resolveTurn gives turn t of a batch its places in the log, which had before
// lines without that batch and has head with it.
func resolveTurn(t, stored sessions.Turn, before, head int64) sessions.Turn {
	if t.Number != stored.Number {
		stored = sessions.Turn{} // another turn's lines aren't this one's
	}
	place := func(inBatch, stored int64) int64 {
		switch inBatch {
		case 0:
			return stored
		case -1:
			return before
		}
		return before + inBatch
	}
	t.FirstLine = place(t.FirstLine, stored.FirstLine)
	t.LastLine = place(t.LastLine, stored.LastLine)
	if !t.Open && t.FirstLine > 0 && t.LastLine == 0 {
		t.LastLine = head
	}
	t.StartedAt, t.EndedAt = fromNanos(nanos(t.StartedAt)), fromNanos(nanos(t.EndedAt))
	return t
}

func (w *writeConn) storeTurn(ctx context.Context, log logState) error {
	t := log.turn
	_, err := w.putTurn.ExecContext(ctx, log.session, t.Number, t.Open, nanos(t.StartedAt), nanos(t.EndedAt), t.FirstLine, t.LastLine, t.Status, clean(t.Failed))
	return err
}

const (
	sqlLoad = `SELECT l.engine, l.turn,
	ifnull(t.open, 0), ifnull(t.started_at, 0), ifnull(t.ended_at, 0), ifnull(t.first_line, 0), ifnull(t.last_line, 0), t.status
	FROM sessions s JOIN logs l ON l.session = s.seq LEFT JOIN turns t ON t.session = l.session AND t.number = l.turn
	WHERE s.id = ?`
	// SQLite prepares a statement anew whenever a LIMIT is bound that's a parameter alone, since the plan depends on it. Here it
	// took half of a short read's time.
	lineColumns  = `n, kind, text, at, author, origin, begins, tool, receipt`
	sqlLinesFrom = `SELECT ` + lineColumns + ` FROM lines WHERE session = ? AND n >= ? ORDER BY n LIMIT ? + 0`
	sqlLinesLast = `SELECT ` + lineColumns + ` FROM lines WHERE session = ? ORDER BY n DESC LIMIT ? + 0`
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
		out.Oldest = log.oldest
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

func (r *readPool) lines(ctx context.Context, tx *sql.Tx, stmt *sql.Stmt, args ...any) (lines []sessions.Line, err error) {
	rows, err := tx.StmtContext(ctx, stmt).QueryContext(ctx, args...) //nolint:sqlclosecheck // closed with tx
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var l sessions.Line
		var at int64
		var tool sql.RawBytes
		if err := rows.Scan(&l.N, &l.Kind, &l.Text, &at, &l.Author, &l.Origin, &l.Begins, &tool, &l.Receipt); err != nil {
			return nil, err
		}
		l.Tool = readTool(tool)
		l.At = fromNanos(at)
		lines = append(lines, l)
	}
	return lines, rows.Err()
}

// gapsBetween appends the gaps that stand behind lines from … to and have a
// larger id than seen, and returns the largest id.
func (r *readPool) gapsBetween(ctx context.Context, tx *sql.Tx, gaps []sessions.Gap, session, from, to, seen int64) (_ []sessions.Gap, last int64, err error) {
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

// logCache has the logs that were appended to, as they stand in the database,
// which only this process writes to. A busy session's append then needs no
// query. It's used by the queue's leader only.
type logCache struct {
	committed map[sessions.ID]logState
	changed   map[sessions.ID]logState // by the running transaction
}

func newLogCache() logCache {
	return logCache{committed: map[sessions.ID]logState{}, changed: map[sessions.ID]logState{}}
}

// get returns a log as the running transaction sees it; query asks the database.
func (c *logCache) get(id sessions.ID, query func() (logState, error)) (logState, error) {
	if log, ok := c.changed[id]; ok {
		return log, nil
	}
	if log, ok := c.committed[id]; ok {
		return log, nil
	}
	return query()
}

func (c *logCache) set(id sessions.ID, log logState) { c.changed[id] = log }

func (c *logCache) commit() {
	maps.Copy(c.committed, c.changed)
	clear(c.changed)
}

func (c *logCache) rollback() { clear(c.changed) }

const (
	sqlDropLines = `DELETE FROM lines WHERE session = ? AND n < ?`
	sqlDropGaps  = `DELETE FROM gaps WHERE session = ? AND after < ?`
	sqlDropTurns = `DELETE FROM turns WHERE session = ? AND number < ? AND last_line < ?`
)

// trim drops the oldest lines of a log that is longer than maxLines, and the
// gaps and turns that stood before or between them. It lets the log grow a
// little beyond, so that not every append has to, and drops a bounded number at
// a time: after the bound was lowered a log shrinks over several appends
// instead of stopping everybody for one.
func (w *writeConn) trim(ctx context.Context, log *logState, maxLines, added int64) error {
	if log.details > maxDetails {
		if err := w.trimDetails(ctx, log); err != nil {
			return err
		}
	}
	over := log.head - log.oldest + 1 - maxLines
	if over <= min(maxLines/100, 100) {
		return nil
	}
	log.oldest += min(over, max(2*added, 1000))
	if err := w.dropLinesOf(ctx, log); err != nil {
		return err
	}
	// The gap right before the oldest line stays: who has read up to there gets to see it.
	if _, err := w.dropGaps.ExecContext(ctx, log.session, log.oldest-1); err != nil {
		return err
	}
	_, err := w.dropTurns.ExecContext(ctx, log.session, log.turn.Number, log.oldest)
	return err
}

// sqlTurnsWithin are a session's turns with their places. One that has no lines stands behind those
// of the turns before it; one that's open goes on. The first lines of each are searched for what
// was asked, of those that are returned alone.
const sqlTurnsWithin = `SELECT number, open, first, place, started_at, ended_at, status, failed,
		ifnull((SELECT text FROM lines l WHERE l.session = t.session AND l.n BETWEEN t.first AND t.first + 20 AND l.n <= CASE WHEN t.open THEN l.n ELSE t.place END AND l.kind = 'user' ORDER BY l.n LIMIT 1), '')
	FROM (SELECT * FROM (SELECT t.*, max(t.last_line) OVER before AS place,
				CASE WHEN t.first_line > 0 THEN t.first_line ELSE max(t.last_line) OVER before + 1 END AS first
			FROM sessions s JOIN turns t ON t.session = s.seq WHERE s.id = ?1 WINDOW before AS (ORDER BY t.number))
		WHERE (first <= ?2 OR NOT open AND place <= ?2) AND (open OR place >= ?3)
			AND (NOT ?5 OR NOT open AND (failed <> '' OR status > 0 OR ended_at - started_at >= ?6))
		ORDER BY number %[1]s LIMIT ?4 + 0) t
	ORDER BY number %[1]s`

// TurnsWithin returns the turns of a session of which something stands between the lines from …
// to, or which ended right behind one of them (0: before the first): at most limit, the newest
// first, or with q.Oldest the oldest first.
func (s *Store) TurnsWithin(ctx context.Context, id sessions.ID, from, to int64, q sessions.TurnQuery, limit int) ([]sessions.PlacedTurn, error) {
	order := "DESC"
	if q.Oldest {
		order = "ASC"
	}
	return list(ctx, s, "read the turns of "+string(id), func(row *sql.Rows) (t sessions.PlacedTurn, err error) {
		var began, ended int64
		err = row.Scan(&t.Number, &t.Open, &t.FirstLine, &t.After, &began, &ended, &t.Status, &t.Failed, &t.Asked)
		t.LastLine, t.StartedAt, t.EndedAt = t.After, fromNanos(began), fromNanos(ended)
		return t, err
	}, fmt.Sprintf(sqlTurnsWithin, order), string(id), to, from, limit, q.Notable > 0, q.Notable.Nanoseconds())
}
