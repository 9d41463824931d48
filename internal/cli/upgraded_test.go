package cli_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/panebridge/panebridge/internal/statedir"
	"github.com/panebridge/panebridge/internal/store"
	"github.com/panebridge/panebridge/sessions"
)

// Commands of a newer release, called while the daemon of the one before runs: each works and leaves the schema to the
// daemon. Where the schema is too old for that, each says what to do and fails, so that nobody takes mail for sent.
func TestCommandsBesideADaemonOfTheReleaseBefore(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "st")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	path := statedir.DatabasePath(dir)
	s, err := store.Open(t.Context(), path, store.Options{Version: "v0.1.0"})
	if err != nil {
		t.Fatal(err)
	}
	one := sessions.Session{ID: "pb_1", Name: "one", State: sessions.StateEnded, Exit: &sessions.Exit{Status: 3}}
	if err := s.PutSession(t.Context(), one); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	older, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer older.Close()
	older.SetMaxOpenConns(1)
	folder, err := statedir.Open(dir) // as the daemon has it
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	age := func(steps string) {
		t.Helper()
		if _, err := older.ExecContext(t.Context(), steps); err != nil {
			t.Fatal(err)
		}
	}
	count := func(query string) (n int) {
		t.Helper()
		if err := older.QueryRowContext(t.Context(), query).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	age("ALTER TABLE sessions DROP COLUMN real_cwd; PRAGMA user_version = 44")
	for name, args := range besideTheDaemon {
		if said, code := command(dir, args...); strings.Contains(said, "schema") || name == "send" && code != 0 {
			t.Errorf("%s ends with %d and says %s", name, code, said)
		}
	}
	if said, code := command(dir, "wait", "one", "--pattern", "x", "--json"); code != 7 || !strings.Contains(said, `"status": 3`) {
		t.Errorf("wait for a session that has ended with 3 ends with %d and says %s", code, said)
	}
	if is, mails := count("PRAGMA user_version"), count("SELECT count(*) FROM mail WHERE text = 'hello'"); is != 44 || mails != 1 {
		t.Errorf("schema 44 has become %d, with %d of one mail", is, mails)
	}
	age("PRAGMA user_version = 18")
	for name, args := range besideTheDaemon {
		said, code := command(dir, args...)
		failed := 1
		if name == "notify" { // as its help says, whatever happens
			failed = 0
		}
		if code != failed || !strings.Contains(said, "of panebridge \"v0.1.0\"") || !strings.Contains(said, "`panebridge service restart`") {
			t.Errorf("%s ends with %d and says %s", name, code, said)
		}
	}
	if is, mails := count("PRAGMA user_version"), count("SELECT count(*) FROM mail WHERE text = 'hello'"); is != 18 || mails != 1 {
		t.Errorf("schema 18 has become %d, with %d mails", is, mails)
	}
}
