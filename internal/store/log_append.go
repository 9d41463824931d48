package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
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
	sqlAddLine = `INSERT INTO lines (session, n, kind, text, at, author, origin, begins) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`
	sqlAddGap  = `INSERT INTO gaps (session, after, at_least, reason) VALUES (?, ?, ?, ?)`
)

// logState is a session's log as it stands in the database.
type logState struct {
	session      int64 // sessions.seq
	head         int64
	oldest       int64 // head + 1: no line is kept
	lastOutputAt int64
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
		err = s.write.queue.do(ctx, 1+len(b.Lines)+len(b.Gaps), func(ctx context.Context) (err error) {
			out, err = s.write.append(ctx, b, s.maxLines.Load())
			return err
		})
	}
	if err != nil {
		return polling.Appended{}, s.explain("append to the log of "+string(b.Session), err)
	}
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
		l.Kind, l.Text, l.At = sessions.Kind(clean(l.Kind)), clean(l.Text), fromNanos(nanos(l.At))
		l.Author, l.Origin = clean(l.Author), clean(l.Origin)
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
func (w *writer) append(ctx context.Context, b polling.Batch, maxLines int64) (out polling.Appended, err error) {
	log, err := w.logs.get(b.Session, func() (logState, error) {
		return scanLog(w.logState.QueryRowContext(ctx, string(b.Session)))
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
	w.logs.set(b.Session, log)
	return polling.Appended{Lines: b.Lines, Gaps: gaps, Ended: out.Ended, Turn: log.turn, Head: log.head}, nil
}

// addLines numbers lines, in place, and writes them.
func (w *writer) addLines(ctx context.Context, log *logState, lines []sessions.Line) error {
	for i := range lines {
		l := &lines[i]
		log.head++
		l.N = log.head
		at := nanos(l.At)
		if _, err := w.addLine.ExecContext(ctx, log.session, l.N, string(l.Kind), l.Text, at, l.Author, l.Origin, l.Begins); err != nil {
			return err
		}
		if isOutput(l.Kind) {
			log.lastOutputAt = at
		}
	}
	return nil
}

// isOutput tells the session's own lines from what was said to or about it.
func isOutput(k sessions.Kind) bool {
	return k == sessions.KindPane || k == sessions.KindAnswer || k == sessions.KindTool
}

// addGaps writes gaps of a batch whose first line is number before + 1, and
// returns them with their places in the log.
func (w *writer) addGaps(ctx context.Context, session, before int64, inBatch []sessions.Gap) ([]sessions.Gap, error) {
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

func (w *writer) storeTurn(ctx context.Context, log logState) error {
	t := log.turn
	_, err := w.putTurn.ExecContext(ctx, log.session, t.Number, t.Open, nanos(t.StartedAt), nanos(t.EndedAt), t.FirstLine, t.LastLine, t.Status, clean(t.Failed))
	return err
}
