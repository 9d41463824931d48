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
// it has, all in one transaction: what fails or is killed leaves the old version. A new database is made by the script
// whole, as the steps would make it; "": by the steps.
func migrate(ctx context.Context, conn *sql.Conn, steps fs.FS, whole string) (was, is int, err error) {
	was, newest, err := versions(ctx, conn, steps)
	if err != nil {
		return was, was, err
	}
	is = was
	if is == 0 && whole != "" {
		if is, err = apply(ctx, conn, 0, newest, []script{{"schema.sql", whole}}); err != nil {
			return was, is, err
		}
	}
	is, err = migrateFrom(ctx, conn, steps, is, newest)
	return was, is, err
}

// migrateFrom brings a database from one version to another, and returns the one it has then.
func migrateFrom(ctx context.Context, conn *sql.Conn, steps fs.FS, is, target int) (_ int, err error) {
	for err == nil && is < target { // once, unless another process has done a part of it
		var all []script
		for n := is + 1; n <= target; n++ {
			s := script{name: fmt.Sprintf("%04d.sql", n)}
			text, err := fs.ReadFile(steps, s.name)
			if err != nil {
				return is, err
			}
			s.text = string(text)
			all = append(all, s)
		}
		is, err = apply(ctx, conn, is, target, all)
	}
	if err == nil && is > target { // another process has made it newer meanwhile
		err = fmt.Errorf("the database has become schema version %d%s, this panebridge knows up to %d: %w", is, writerOf(ctx, conn), target, ErrTooNew)
	}
	return is, err
}

// script is a migration.
type script struct{ name, text string }

// apply brings a database from one version to another by scripts, in one transaction, unless
// another process did so in the meantime, and returns the version after it.
func apply(ctx context.Context, conn *sql.Conn, is, then int, scripts []script) (int, error) {
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
	for _, s := range scripts {
		if _, err := conn.ExecContext(ctx, s.text); err != nil {
			return is, fmt.Errorf("migrate with %s: %w", s.name, err)
		}
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

// ErrTooNew means that a newer panebridge has brought the database to a schema that this one doesn't know. Nothing of it was
// changed.
var ErrTooNew = errors.New("install the newer panebridge again, or go back to a backup of before it (`panebridge restore FILE`); the database stays as it is")

// inboxSchema is the oldest version of the schema in which all that an Inbox reads and writes is as it is in the newest one.
// A migration that changes these tables, or what their values mean, raises it to its own number.
const inboxSchema = 19

// ErrTooOld means that a command can't work with a database of this schema. Nothing of it was changed.
var ErrTooOld = errors.New("panebridge was upgraded, and its daemon wasn't started since: `panebridge service restart`, or end the daemon and start it as you do, and call this again; " +
	"the database stays as it is")

// settleSchema makes the schema of a new database, and accepts an older one that an Inbox works with as it is: only a
// daemon migrates, since one of the version before may be running, which doesn't know the newer schema. ErrTooOld or
// ErrTooNew if an Inbox can't work with it.
func settleSchema(ctx context.Context, conn *sql.Conn) error {
	is, newest, err := versions(ctx, conn, migrations())
	if err == nil && is == 0 {
		if is, err = apply(ctx, conn, 0, newest, []script{{"schema.sql", newestSchema}}); err == nil {
			is, newest, err = versions(ctx, conn, migrations()) // an older daemon may have been faster
		}
	}
	if err == nil && is < inboxSchema {
		err = fmt.Errorf("the database has schema version %d%s, this command needs %d to %d: %w", is, writerOf(ctx, conn), inboxSchema, newest, ErrTooOld)
	}
	return err
}

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
		err = fmt.Errorf("the database has schema version %d%s, this panebridge knows up to %d: %w", is, writerOf(ctx, conn), newest, ErrTooNew)
	}
	return is, newest, err
}

// writerNote is under which version a database was opened last by a daemon.
const writerNote = `adapter = 'panebridge' AND key = 'version'`

// writerOf says which panebridge a database was written by last; "": it isn't known.
func writerOf(ctx context.Context, conn *sql.Conn) string {
	var version string
	if err := conn.QueryRowContext(ctx, `SELECT value FROM notes WHERE `+writerNote).Scan(&version); err != nil || version == "" {
		return "" // whatever a newer one has made of that table
	}
	return fmt.Sprintf(" of panebridge %.40q", version)
}

// noteWriter writes down which panebridge has the database from now on.
func (s *Store) noteWriter(ctx context.Context, version string) error {
	if version == "" {
		return nil
	}
	return s.exec1(ctx, "store which version has the database", `INSERT INTO notes (adapter, key, value) VALUES ('panebridge', 'version', ?)
		ON CONFLICT (adapter, key) DO UPDATE SET value = excluded.value WHERE value <> excluded.value`, clean(version))
}

func version(ctx context.Context, conn *sql.Conn) (v int, err error) {
	err = conn.QueryRowContext(ctx, "PRAGMA user_version").Scan(&v)
	return v, err
}
