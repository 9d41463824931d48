package recording

import (
	"context"
	"database/sql"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	_ "modernc.org/sqlite" // the driver
)

// databasePath is where opencode keeps its conversations, below the home folder.
const databasePath = ".local/share/opencode/opencode.db"

// schema holds those of opencode's tables that a conversation is in, as version
// 1.18.33 makes them.
//
//go:embed opencode.sql
var schema string

// globalProject is the project of folders that aren't in a git repository.
const globalProject = "insert or ignore into project (id, worktree, time_created, time_updated, sandboxes) values ('global', '/', 0, 0, '[]');"

// database is opencode's database: in WAL mode, as it makes it.
type database struct{ db *sql.DB }

func newDatabase(path string) (*database, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("make database: %w", err)
	}
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=journal_mode(WAL)&_pragma=busy_timeout(5000)&_pragma=foreign_keys(0)")
	if err != nil {
		return nil, fmt.Errorf("make database: %w", err)
	}
	if _, err := db.ExecContext(context.Background(), schema+globalProject); err != nil {
		_ = db.Close()
		return nil, fmt.Errorf("make database: %w", err)
	}
	return &database{db}, nil
}

// put writes versions of rows that were first seen together: a reader sees all or
// none of them, since the order within is the recorder's and not the program's.
func (d *database) put(rows []Row) error {
	tx, err := d.db.BeginTx(context.Background(), nil)
	if err != nil {
		return fmt.Errorf("write rows: %w", err)
	}
	for _, r := range rows {
		if err := putRow(tx, r); err != nil {
			return errors.Join(err, tx.Rollback())
		}
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("write rows: %w", err)
	}
	return nil
}

// putRow writes one version of a row.
func putRow(tx *sql.Tx, r Row) error {
	var err error
	if r.Gone != "" {
		_, err = tx.ExecContext(context.Background(), "delete from `"+r.Table+"` where id = ?", r.Gone) //nolint:gosec // a table of the recording
	} else {
		names := slices.Sorted(maps.Keys(r.Values))
		values := make([]any, len(names))
		for i, n := range names {
			values[i] = column(r.Values[n])
		}
		_, err = tx.ExecContext(context.Background(), "insert or replace into `"+r.Table+"` (`"+strings.Join(names, "`, `")+ //nolint:gosec // columns of the recording
			"`) values (?"+strings.Repeat(", ?", len(names)-1)+")", values...)
	}
	if err != nil {
		return fmt.Errorf("write row of %s: %w", r.Table, err)
	}
	return nil
}

// column is a recorded value as the driver takes it.
func column(v any) any {
	n, ok := v.(json.Number)
	if !ok {
		return v
	}
	if i, err := n.Int64(); err == nil {
		return i
	}
	f, _ := n.Float64()
	return f
}

func (d *database) close() error { return d.db.Close() } // wrapped by its only caller
