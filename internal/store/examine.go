package store

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"strings"
)

// Examine looks at a database that may be in use, and changes nothing: nil if it's sound and of a
// version that this panebridge reads or brings up to date. ErrTooNew, ErrDamaged, ErrStrange, fs.ErrNotExist.
// It reads all of it, which takes some seconds for a gigabyte.
func Examine(ctx context.Context, path string) (err error) {
	defer func() { err = explain("examine "+path, path, err) }()
	if err := checkFiles(path); err != nil {
		return err
	}
	if _, err := os.Stat(path); err != nil {
		return err
	}
	name, err := dsn(path, "query_only(1)")
	if err != nil {
		return err
	}
	db, err := openSingle(ctx, name+"&mode=ro")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.close()) }()
	if _, _, err := versions(ctx, db.conn, migrations()); err != nil {
		return err
	}
	problems, err := quickCheck(ctx, db.conn)
	if err == nil && strings.Join(problems, "") != "ok" {
		err = damaged("examine "+path, path, errors.New(strings.Join(problems, "; ")))
	}
	return err
}

// quickCheck is what SQLite finds; "ok" if that's nothing.
func quickCheck(ctx context.Context, conn *sql.Conn) (problems []string, err error) {
	rows, err := conn.QueryContext(ctx, "PRAGMA quick_check(5)")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		problems = append(problems, text)
	}
	return problems, rows.Err()
}
