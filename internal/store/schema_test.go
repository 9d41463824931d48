package store

import (
	"database/sql"
	"flag"
	"os"
	"slices"
	"testing"
)

var update = flag.Bool("update", false, "write what the migrations make to schema.sql")

func TestNewDatabasesAreWhatMigrationsMake(t *testing.T) {
	migrated := raw(t, dbPath(t))
	_, newest, err := migrate(t.Context(), migrated, migrations(), "")
	if err != nil {
		t.Fatal(err)
	}
	want := objectsOf(t, migrated)
	if *update {
		text := "-- What the migrations make of an empty database. Don't edit: see migrate.go.\n"
		for _, o := range want {
			if o[3] != "" && o[1] != "sqlite_sequence" {
				text += "\n" + o[3] + ";\n"
			}
		}
		if err := os.WriteFile("schema.sql", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		newestSchema = text
	}
	whole := raw(t, dbPath(t))
	was, is, err := migrate(t.Context(), whole, migrations(), newestSchema)
	if was != 0 || is != newest || err != nil {
		t.Errorf("it's brought from %d to %d, not %d: %v", was, is, newest, err)
	}
	if got := objectsOf(t, whole); !slices.Equal(got, want) {
		t.Errorf("a new database has\n%s\nand a migrated one\n%s\nTo write schema.sql anew: go test -run %s ./internal/store -update", got, want, t.Name())
	}
	for _, o := range want { // which schema.sql doesn't have
		var rows int
		if o[0] == "table" && migrated.QueryRowContext(t.Context(), "SELECT count(*) FROM "+o[1]).Scan(&rows) != nil || rows > 0 {
			t.Errorf("the migrations of an empty database put %d rows into %s", rows, o[1])
		}
	}
}

// objectsOf are the tables, indices and triggers of a database in their order: type, name, table
// and how it's made.
func objectsOf(t *testing.T, conn *sql.Conn) (all [][4]string) {
	t.Helper()
	rows, err := conn.QueryContext(t.Context(), "SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_schema ORDER BY rowid")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var o [4]string
		if err := rows.Scan(&o[0], &o[1], &o[2], &o[3]); err != nil {
			t.Fatal(err)
		}
		all = append(all, o)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}
