package search

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"

	"github.com/panebridge/panebridge/sessions"
)

// readConns is how many may search at once. Others wait.
const readConns = 2

// readers are the connections to read an index by that nobody uses.
type readers chan *indexReader

// indexReader is a connection to read an index by. It keeps what it has prepared: that takes longer than to ask it once.
type indexReader struct {
	conn  *sql.Conn
	finds map[int64]*sql.Stmt // that find rows of a table, by its number
}

func openReaders(ctx context.Context, db *sql.DB) (readers, error) {
	all := make(readers, readConns)
	for range readConns {
		conn, err := db.Conn(ctx)
		if err != nil {
			return nil, errors.Join(err, all.close())
		}
		all <- &indexReader{conn: conn, finds: map[int64]*sql.Stmt{}}
	}
	return all, nil
}

// close closes connections. Nobody uses one.
func (rs readers) close() error {
	var errs []error
	for range len(rs) {
		r := <-rs
		r.keepOnly(nil)
		errs = append(errs, r.conn.Close())
	}
	return errors.Join(errs...)
}

// begin begins to read the index, and returns the blocks of some sessions, or of all, as they are in what's read. It waits for a
// connection. The index' files are held; end has to be called.
func (x *Index) begin(ctx context.Context, ids []sessions.ID) (r *indexReader, blocks []block, err error) {
	select {
	case r = <-x.readers:
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	var n int
	if _, err = r.conn.ExecContext(ctx, "BEGIN"); err == nil {
		err = r.conn.QueryRowContext(ctx, "SELECT count(*) FROM (SELECT 1 FROM blocks LIMIT 1)").Scan(&n) // it begins with the first look
	}
	if err != nil {
		return nil, nil, errors.Join(err, x.end(ctx, r))
	}
	return r, x.all(ids), nil
}

// end ends what begin has begun.
func (x *Index) end(ctx context.Context, r *indexReader) error {
	_, err := r.conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
	x.mu.RLock()
	tables := map[int64]bool{}
	for _, b := range x.all(nil) {
		tables[b.table] = true
	}
	x.mu.RUnlock()
	r.keepOnly(tables)
	x.readers <- r
	return err
}

// keepOnly forgets what was prepared for other tables.
func (r *indexReader) keepOnly(tables map[int64]bool) {
	maps.DeleteFunc(r.finds, func(number int64, find *sql.Stmt) bool {
		if !tables[number] {
			_ = find.Close() // its table is gone
		}
		return !tables[number]
	})
}

// lastRows returns the numbers of the last rows of a table, from one number to another, that a query finds.
func (r *indexReader) lastRows(ctx context.Context, table int64, match string, from, to int64, limit int) (found []int64, err error) {
	find := r.finds[table]
	if find == nil {
		name := tableName(table)
		find, err = r.conn.PrepareContext(ctx, fmt.Sprintf("SELECT rowid FROM %s WHERE %s MATCH ? AND rowid BETWEEN ? AND ? ORDER BY rowid DESC LIMIT ? + 0", name, name))
		if err != nil {
			return nil, err
		}
		r.finds[table] = find
	}
	rows, err := find.QueryContext(ctx, match, from, to, limit)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var row int64
		if err := rows.Scan(&row); err != nil {
			return nil, err
		}
		found = append(found, row)
	}
	return found, rows.Err()
}
