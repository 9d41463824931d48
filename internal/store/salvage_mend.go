package store

import (
	"context"
	"database/sql"
	"fmt"
)

// damagedReason is of the gap that stands for lines that couldn't be read.
const damagedReason = "lost: the database was damaged"

// sequenceLeap is how far the next number of rows that were taken off lies behind those that are left:
// what was lost may have had higher ones, and none may come again.
const sequenceLeap = 1_000_000

// mendings make a database whole that lacks rows, in their order. Each names the table whose rows are
// lost where it changes some; "": it restores.
var mendings = []struct{ table, query string }{ //nolint:gochecknoglobals // a constant table
	{"logs", `INSERT INTO logs (session) SELECT seq FROM sessions WHERE seq NOT IN (SELECT session FROM logs)`},
	{"", `UPDATE logs SET head = max(head, ifnull((SELECT max(n) FROM lines WHERE session = logs.session), 0)),
		turn = max(turn, ifnull((SELECT max(number) FROM turns WHERE session = logs.session), 0))`},
	{"", `DELETE FROM lines WHERE n < (SELECT oldest FROM logs WHERE session = lines.session)`},
	// Gaps that stand for lines which aren't there: between two, behind the last, and before the first.
	{"", `INSERT INTO gaps (session, after, at_least, reason)
		SELECT session, n, next - n - 1, '` + damagedReason + `' FROM (SELECT l.session, l.n,
			ifnull(lead(l.n) OVER (PARTITION BY l.session ORDER BY l.n), g.head + 1) AS next FROM lines l JOIN logs g ON g.session = l.session)
		WHERE next > n + 1`},
	{"", `INSERT INTO gaps (session, after, at_least, reason)
		SELECT session, oldest - 1, first - oldest, '` + damagedReason + `' FROM (SELECT session, oldest,
			ifnull((SELECT min(n) FROM lines WHERE session = logs.session), head + 1) AS first FROM logs)
		WHERE first > oldest`},
	// What's JSON is read at the start.
	{"prompts", `DELETE FROM prompts WHERE NOT json_valid(dialog) OR answer IS NOT NULL AND NOT json_valid(answer)`},
	{"waiting", `DELETE FROM waiting WHERE NOT json_valid(message)`},
	{"documents", `DELETE FROM documents WHERE NOT json_valid(ifnull(tail, '{}')) OR NOT json_valid(ifnull(stale, '{}')) OR NOT json_valid(ifnull(intent, '{}'))`},
	{"", fmt.Sprintf(`UPDATE sqlite_sequence SET seq = seq + %d`, sequenceLeap)},
}

// mend makes a database whole that lacks rows, and returns how many were lost by table, as far as
// that can be seen; 0: it isn't known.
func mend(ctx context.Context, conn *sql.Conn) (lost map[string]int64, err error) {
	lost = map[string]int64{}
	if err := dropOrphans(ctx, conn, lost); err != nil {
		return nil, err
	}
	for _, m := range mendings {
		done, err := conn.ExecContext(ctx, m.query)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.query, err)
		}
		if n, err := done.RowsAffected(); err == nil && n > 0 && m.table != "" {
			lost[m.table] += n
		}
	}
	var lines int64
	err = conn.QueryRowContext(ctx, `SELECT ifnull(sum(at_least), 0) FROM gaps WHERE reason = ?`, damagedReason).Scan(&lines)
	if lines > 0 {
		lost["lines"] += lines
	}
	return lost, err
}

// dropOrphans deletes rows that belong to others which aren't there.
func dropOrphans(ctx context.Context, conn *sql.Conn, lost map[string]int64) error {
	for again := true; again; {
		again = false
		all, err := tables(ctx, conn)
		if err != nil {
			return err
		}
		for _, t := range all {
			orphans, err := column[string](ctx, conn, `SELECT format('DELETE FROM "%w" WHERE "%w" NOT IN (SELECT "%w" FROM "%w")', ?1, "from", "to", "table") FROM pragma_foreign_key_list(?1)`, t.name)
			if err != nil {
				return err
			}
			for _, query := range orphans {
				done, err := conn.ExecContext(ctx, query)
				if err != nil {
					return fmt.Errorf("%s: %w", query, err)
				}
				if n, err := done.RowsAffected(); err == nil && n > 0 {
					lost[t.name] += n
					again = true
				}
			}
		}
	}
	return nil
}
