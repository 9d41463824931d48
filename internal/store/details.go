package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/panebridge/panebridge/sessions"
)

// maxDetails is how many bytes of tools' calls and results are kept of a session, about; the oldest
// are dropped, a quarter of them at once. Their lines stay.
const maxDetails = 32 << 20

// rowBytes is how many bytes of a detail count as a row: see maxBatchRows.
const rowBytes = 512

const (
	sqlPutDetail   = `INSERT INTO tool_details (session, n, call, size, args, output, diff) VALUES (?, ?, ?, ?, ?, ?, ?)`
	sqlSumDetails  = `SELECT ifnull(sum(size), 0) FROM tool_details WHERE session = ? AND n < ?`
	sqlDropDetails = `DELETE FROM tool_details WHERE session = ? AND n < ?`
	// sqlDetailUpTo finds the first detail up to which all of a session have so many bytes.
	sqlDetailUpTo = `SELECT n FROM (SELECT n, sum(size) OVER (ORDER BY n) AS upto FROM tool_details WHERE session = ?) WHERE upto >= ? ORDER BY n LIMIT 1`

	toolUseColumns = `d.n, l.tool, d.call, d.args, d.output, d.diff FROM tool_details d JOIN lines l ON l.session = d.session AND l.n = d.n`
	sqlDetail      = `SELECT ` + toolUseColumns + ` WHERE d.session = ? AND d.n = ?`
	sqlDetailAfter = `SELECT ` + toolUseColumns + ` WHERE d.session = ? AND d.call = ? AND d.n > ? ORDER BY d.n LIMIT 1`
	sqlDetailUpon  = `SELECT ` + toolUseColumns + ` WHERE d.session = ? AND d.call = ? AND d.n < ? ORDER BY d.n DESC LIMIT 1`
)

// cleanTool is a copy of a part whose texts can be stored.
func cleanTool(t *sessions.ToolPart) *sessions.ToolPart {
	if t == nil {
		return nil
	}
	c := *t
	c.Part, c.Call, c.Name, c.Detail = sessions.ToolPartKind(clean(t.Part)), clean(t.Call), clean(t.Name), t.Whole != nil
	if t.Whole != nil {
		c.Whole = &sessions.ToolDetail{Args: clean(t.Whole.Args), Output: clean(t.Whole.Output), Diff: clean(t.Whole.Diff)}
	}
	return &c
}

// dropDetails takes the wholes away from lines that are stored: who hears of these needs none.
func dropDetails(lines []sessions.Line) {
	for i, l := range lines {
		if l.Tool != nil && l.Tool.Whole != nil {
			t := *l.Tool
			t.Whole, lines[i].Tool = nil, &t
		}
	}
}

// detailBytes is how many bytes a detail takes, about; never 0.
func detailBytes(d *sessions.ToolDetail) int {
	const besides = 64 // of its row
	return besides + len(d.Args) + len(d.Output) + len(d.Diff)
}

// rowsOfDetails is as how many rows the details of lines count.
func rowsOfDetails(lines []sessions.Line) (n int) {
	for _, l := range lines {
		if l.Tool != nil && l.Tool.Whole != nil {
			n += 1 + detailBytes(l.Tool.Whole)/rowBytes
		}
	}
	return n
}

// toolColumn is a part as a line has it in its column.
func toolColumn(t *sessions.ToolPart) string {
	if t == nil {
		return ""
	}
	text, _ := json.Marshal(t) // strings and booleans can always be written
	return string(text)
}

// readTool reads what toolColumn wrote; nil where there's none.
func readTool(text []byte) *sessions.ToolPart {
	if len(text) == 0 {
		return nil
	}
	var t sessions.ToolPart
	if json.Unmarshal(text, &t) != nil {
		return nil // somebody else wrote it
	}
	return &t
}

// addDetail writes the whole of a tool's call or result beside its line.
func (w *writeConn) addDetail(ctx context.Context, log *logState, l sessions.Line) error {
	if l.Tool == nil || l.Tool.Whole == nil {
		return nil
	}
	d := l.Tool.Whole
	size := detailBytes(d)
	if _, err := w.putDetail.ExecContext(ctx, log.session, l.N, l.Tool.Call, size, d.Args, d.Output, d.Diff); err != nil {
		return err
	}
	log.details += int64(size)
	return nil
}

// trimDetails drops the oldest details of a session that has too many.
func (w *writeConn) trimDetails(ctx context.Context, log *logState) error {
	var last int64
	err := w.conn.QueryRowContext(ctx, sqlDetailUpTo, log.session, log.details-maxDetails/4*3).Scan(&last)
	if errors.Is(err, sql.ErrNoRows) { // the sum was wrong: somebody else has dropped some
		log.details, err = w.detailsBefore(ctx, log.session, math.MaxInt64)
		return err
	}
	if err != nil {
		return err
	}
	return w.dropDetailsBefore(ctx, log, last+1)
}

// dropLinesOf drops the lines of a log before its oldest, with their details.
func (w *writeConn) dropLinesOf(ctx context.Context, log *logState) error {
	if err := w.dropDetailsBefore(ctx, log, log.oldest); err != nil {
		return err
	}
	_, err := w.dropLines.ExecContext(ctx, log.session, log.oldest)
	return err
}

// dropDetailsBefore drops the details of a session before line n.
func (w *writeConn) dropDetailsBefore(ctx context.Context, log *logState, n int64) error {
	size, err := w.detailsBefore(ctx, log.session, n)
	if err != nil {
		return err
	}
	_, err = w.dropDetails.ExecContext(ctx, log.session, n)
	log.details = max(0, log.details-size)
	return err
}

// detailsBefore is how many bytes the details of a session have before line n.
func (w *writeConn) detailsBefore(ctx context.Context, session, n int64) (size int64, err error) {
	err = w.sumDetails.QueryRowContext(ctx, session, n).Scan(&size)
	return size, err
}

// ToolUse returns the call and the result of a tool's use, one of which begins at line n, as far as they're
// kept. sessions.ErrUnknown: neither is at that line, or it's dropped.
func (s *Store) ToolUse(ctx context.Context, id sessions.ID, n int64) (use sessions.ToolUse, err error) {
	r := s.reader() // for all of it: see Rescue
	err = r.snapshot(ctx, id, func(tx *sql.Tx, log logState) error {
		one, err := detail(tx.QueryRowContext(ctx, sqlDetail, log.session, n))
		if errors.Is(err, sql.ErrNoRows) {
			return fmt.Errorf("%w use of a tool at line %d", sessions.ErrUnknown, n)
		}
		if err != nil {
			return err
		}
		query, into, other := sqlDetailAfter, &use.Result, &use.Call
		if one.Part == sessions.ToolReturned {
			query, into, other = sqlDetailUpon, &use.Call, &use.Result
		}
		if *other = one; one.Call == "" {
			return nil
		}
		two, err := detail(tx.QueryRowContext(ctx, query, log.session, one.Call, n))
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if (two.Part == sessions.ToolReturned) != (one.Part == sessions.ToolReturned) { // else an agent uses its ids again
			*into = two
		}
		return err
	})
	if err != nil {
		return sessions.ToolUse{}, r.explain("read the use of a tool of "+string(id), err)
	}
	return use, nil
}

// detail reads a row of toolUseColumns.
func detail(row *sql.Row) (t sessions.ToolRecord, err error) {
	var tool []byte
	var call string
	if err = row.Scan(&t.N, &tool, &call, &t.Args, &t.Output, &t.Diff); err != nil {
		return sessions.ToolRecord{}, err
	}
	if part := readTool(tool); part != nil {
		t.ToolPart = *part
	}
	t.Call = call
	return t, nil
}
