package store

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
)

//go:embed migrations/*.sql
var embedded embed.FS

// newestSchema is what the migrations make of an empty database, which a new one gets at once.
// A test makes it: go test -run TestNewDatabasesAreWhatMigrationsMake ./internal/store -update
//
//go:embed schema.sql
var newestSchema string

// migrations are files 0001.sql, 0002.sql and so on without holes. Applied
// ones are never edited; PRAGMA user_version is the number of the last.
func migrations() fs.FS {
	sub, err := fs.Sub(embedded, "migrations")
	if err != nil {
		panic(err) // the path above is a constant
	}
	return sub
}

// migrate brings the database to the newest version and returns the version it had and the one
// it has. Each step is one transaction. A new database is made by the script whole, as the steps
// would make it; "": by the steps.
func migrate(ctx context.Context, conn *sql.Conn, steps fs.FS, whole string) (was, is int, err error) {
	was, newest, err := versions(ctx, conn, steps)
	if err != nil {
		return was, was, err
	}
	is = was
	if is == 0 && whole != "" {
		if is, err = apply(ctx, conn, 0, newest, "schema.sql", whole); err != nil {
			return was, is, err
		}
	}
	is, err = migrateFrom(ctx, conn, steps, is, newest)
	return was, is, err
}

// migrateFrom brings a database from one version to another, and returns the one it has then.
func migrateFrom(ctx context.Context, conn *sql.Conn, steps fs.FS, is, target int) (_ int, err error) {
	for err == nil && is < target {
		is, err = step(ctx, conn, steps, is)
	}
	return is, err
}

// step applies the migration behind version is and returns the version after it.
func step(ctx context.Context, conn *sql.Conn, steps fs.FS, is int) (int, error) {
	name := fmt.Sprintf("%04d.sql", is+1)
	script, err := fs.ReadFile(steps, name)
	if err != nil {
		return is, err
	}
	return apply(ctx, conn, is, is+1, name, string(script))
}

// apply brings a database from one version to another by a script, in one transaction, unless
// another process did so in the meantime, and returns the version after it.
func apply(ctx context.Context, conn *sql.Conn, is, then int, name, script string) (int, error) {
	if _, err := conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return is, err
	}
	committed := false
	defer func() {
		if !committed {
			_, _ = conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK") // the error that led here says more
		}
	}()
	now, err := version(ctx, conn)
	if err != nil || now != is {
		return now, err
	}
	if _, err := conn.ExecContext(ctx, script); err != nil {
		return is, fmt.Errorf("migrate with %s: %w", name, err)
	}
	if _, err := conn.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", then)); err != nil {
		return is, err
	}
	if _, err := conn.ExecContext(ctx, "COMMIT"); err != nil {
		return is, err
	}
	committed = true
	return then, nil
}

// ErrTooNew means that a newer panebridge made the database.
var ErrTooNew = errors.New("run the newer panebridge that made it")

// versions are the version that a database has, and the newest that there is; ErrTooNew.
func versions(ctx context.Context, conn *sql.Conn, steps fs.FS) (is, newest int, err error) {
	files, err := fs.Glob(steps, "*.sql")
	if err != nil {
		return 0, 0, err
	}
	newest = len(files)
	if is, err = version(ctx, conn); err != nil {
		return 0, newest, err
	}
	if is > newest {
		err = fmt.Errorf("the database has schema version %d, this panebridge knows up to %d: %w", is, newest, ErrTooNew)
	}
	return is, newest, err
}

func version(ctx context.Context, conn *sql.Conn) (v int, err error) {
	err = conn.QueryRowContext(ctx, "PRAGMA user_version").Scan(&v)
	return v, err
}
