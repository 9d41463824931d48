package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strings"
)

// copier copies what can be read of a damaged database, table by table, into a new one.
type copier struct {
	from, to *sql.Conn
	log      *slog.Logger
	lost     map[string]bool // tables of which not all could be read
}

// table is one of a database's. Its key's columns order its rows.
type table struct {
	name    string
	columns []string
	key     []string
	number  bool // the last of the key's columns is a whole number
}

// copyAll copies all tables. Parts come before what belongs to them: see copyParts.
func (c *copier) copyAll(ctx context.Context) error {
	all, err := tables(ctx, c.to)
	if err != nil {
		return err
	}
	for _, t := range all {
		if _, err := c.to.ExecContext(ctx, "BEGIN"); err != nil {
			return err
		}
		if err := c.copyTable(ctx, t); err != nil {
			return fmt.Errorf("table %s: %w", t.name, err)
		}
		if _, err := c.to.ExecContext(ctx, "COMMIT"); err != nil {
			return err
		}
	}
	return nil
}

// partsOf says which table has the parts of those whose key is a part and a number.
var partsOf = map[string]string{"lines": "sessions", "turns": "sessions", "messages": "bindings"} //nolint:gochecknoglobals // a constant table

// tables are a database's, in an order in which they can be copied: first the one of the numbers that
// may not be used again, then those that have parts of others.
func tables(ctx context.Context, conn *sql.Conn) (all []table, err error) {
	names, err := column[string](ctx, conn, `SELECT name FROM sqlite_schema WHERE type = 'table' AND (name = 'sqlite_sequence' OR name NOT LIKE 'sqlite_%')`)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		t := table{name: name}
		if t.columns, err = column[string](ctx, conn, `SELECT name FROM pragma_table_info(?) ORDER BY cid`, name); err != nil {
			return nil, err
		}
		if t.key, err = column[string](ctx, conn, `SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk`, name); err != nil {
			return nil, err
		}
		without, err := column[int64](ctx, conn, `SELECT wr FROM pragma_table_list WHERE schema = 'main' AND name = ?`, name)
		if err != nil {
			return nil, err
		}
		if without[0] == 0 {
			t.key = []string{"rowid"}
		}
		last, err := column[string](ctx, conn, `SELECT upper(type) FROM pragma_table_info(?) WHERE name = ?`, name, t.key[len(t.key)-1])
		if err != nil {
			return nil, err
		}
		t.number = without[0] == 0 || slices.Equal(last, []string{"INTEGER"})
		all = append(all, t)
	}
	first := []string{"bindings", "sessions", "sqlite_sequence"}
	slices.SortStableFunc(all, func(a, b table) int {
		return cmp.Or(cmp.Compare(slices.Index(first, b.name), slices.Index(first, a.name)), strings.Compare(a.name, b.name))
	})
	return all, nil
}

func (c *copier) copyTable(ctx context.Context, t table) error {
	if parent, ok := partsOf[t.name]; ok {
		return c.copyParts(ctx, t, parent)
	}
	if len(t.key) == 1 && t.number {
		return c.copyNumbered(ctx, t, nil)
	}
	return c.copyEnds(ctx, t)
}

// copyParts copies a table whose key is a part and a number, part by part: a search of the next
// readable row goes along the numbers of one part. What belongs to parts that are lost is lost, too.
func (c *copier) copyParts(ctx context.Context, t table, parent string) error {
	if c.lost[parent] {
		c.lost[t.name] = true
	}
	parts, err := column[int64](ctx, c.to, `SELECT seq FROM "`+parent+`"`)
	if err != nil {
		return err
	}
	for _, part := range parts {
		if err := c.copyNumbered(ctx, t, []any{part}); err != nil {
			return err
		}
	}
	return nil
}

// copyNumbered copies the rows of a table, or of one part of it, in the order of their numbers. Behind
// one that can't be read it goes on with the next that can.
func (c *copier) copyNumbered(ctx context.Context, t table, part []any) error {
	for from := int64(math.MinInt64); ; {
		last, err := c.copyRows(ctx, t, t.query("", part), append(slices.Clone(part), from))
		if err == nil || isAbort(ctx, err) {
			return err
		}
		c.lose(ctx, t, err)
		if n, ok := last.(int64); ok {
			from = n
		}
		next, ok := c.nextReadable(ctx, t, part, from)
		if !ok {
			return ctx.Err()
		}
		from = next
	}
}

// nextReadable looks for the first number behind an unreadable one: in steps that double until a row
// can be read, then back in halves. It returns the number before, from which reading goes on. Ok is
// false if nothing can be read to the end.
func (c *copier) nextReadable(ctx context.Context, t table, part []any, after int64) (from int64, ok bool) {
	bad := max(after, 0) + 1 // numbers begin with 1 in all tables
	good := bad + 1
	for step := int64(1); !c.readable(ctx, t, part, good); step *= 2 {
		if ctx.Err() != nil || good > math.MaxInt64/4 {
			return 0, false
		}
		bad, good = good, good+step
	}
	for good-bad > 1 && ctx.Err() == nil {
		if mid := bad + (good-bad)/2; c.readable(ctx, t, part, mid) {
			good = mid
		} else {
			bad = mid
		}
	}
	return good - 1, true
}

// readable reports whether the first row that has a number of at least n can be read, if there's one.
func (c *copier) readable(ctx context.Context, t table, part []any, n int64) bool {
	query := t.query("", part) + " LIMIT 1"
	err := c.each(ctx, query, append(slices.Clone(part), n-1), len(t.columns)+1, func([]any) error { return nil })
	return err == nil
}

// copyEnds copies the rows of a table from its beginning, and, where that can't be read to the end,
// those from the end. What stands between two that can't be read isn't found.
func (c *copier) copyEnds(ctx context.Context, t table) error {
	_, err := c.copyRows(ctx, t, t.query("", nil), nil)
	if err == nil || isAbort(ctx, err) {
		return err
	}
	c.lose(ctx, t, err)
	if _, err = c.copyRows(ctx, t, t.query(" DESC", nil), nil); isAbort(ctx, err) {
		return err
	}
	return nil
}

// query reads a table's rows with their number, or NULL, in front. Its arguments are a part's key, and
// where rows have numbers, the one behind which it begins.
func (t table) query(order string, part []any) string {
	last := t.key[len(t.key)-1]
	number, where := "NULL", ""
	if t.number && len(t.key) == len(part)+1 {
		number, where = last, " WHERE "+last+" > ?"
		if len(part) > 0 {
			where = " WHERE " + t.key[0] + " = ? AND " + last + " > ?"
		}
	}
	var by []string
	for _, k := range t.key[len(part):] {
		by = append(by, k+order)
	}
	return "SELECT " + number + `, "` + strings.Join(t.columns, `", "`) + `" FROM "` + t.name + `" NOT INDEXED` + where + " ORDER BY " + strings.Join(by, ", ")
}

// errUnordered is of rows that can't stand where they were read.
var errUnordered = errors.New("rows are out of order")

// copyRows copies what a query finds until something can't be read, and returns the number of the
// last row that was.
func (c *copier) copyRows(ctx context.Context, t table, query string, args []any) (last any, err error) {
	insert, err := c.to.PrepareContext(ctx, `INSERT OR IGNORE INTO "`+t.name+`" ("`+strings.Join(t.columns, `", "`)+`") VALUES (?`+strings.Repeat(", ?", len(t.columns)-1)+")") //nolint:gosec // names of this package's schema
	if err != nil {
		return nil, abort{err}
	}
	defer func() { err = errors.Join(err, insert.Close()) }()
	err = c.each(ctx, query, args, len(t.columns)+1, func(row []any) error {
		if a, ok := last.(int64); ok {
			if b, ok := row[0].(int64); !ok || b <= a {
				return errUnordered
			}
		}
		if _, err := insert.ExecContext(ctx, row[1:]...); err != nil {
			if isBroken(err) {
				return abort{err}
			}
			c.lose(ctx, t, err) // it isn't what a row of this table can be
		}
		last = row[0]
		return nil
	})
	return last, err
}

// each calls f with each row of a query of the damaged database.
func (c *copier) each(ctx context.Context, query string, args []any, columns int, f func(row []any) error) (err error) {
	rows, err := c.from.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		row, into := make([]any, columns), make([]any, columns)
		for i := range row {
			into[i] = &row[i]
		}
		if err := rows.Scan(into...); err != nil {
			return err
		}
		if err := f(row); err != nil {
			return err
		}
	}
	return rows.Err()
}

// abort is an error of the new database: nothing more can be saved.
type abort struct{ error }

func (a abort) Unwrap() error { return a.error }

func isAbort(ctx context.Context, err error) bool {
	var a abort
	return ctx.Err() != nil || errors.As(err, &a)
}

// lose notes that rows of a table couldn't be read.
func (c *copier) lose(ctx context.Context, t table, err error) {
	if !c.lost[t.name] {
		c.log.WarnContext(ctx, "not all of a table can be read", "table", t.name, "err", err)
	}
	c.lost[t.name] = true
}

// column returns the one column that a query has.
func column[T any](ctx context.Context, conn *sql.Conn, query string, args ...any) (all []T, err error) {
	rows, err := conn.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var one T
		if err := rows.Scan(&one); err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, rows.Err()
}
