package app_test

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/panebridge/panebridge/adapters/all"
	"github.com/panebridge/panebridge/internal/app"
	"github.com/panebridge/panebridge/internal/findings"
	"github.com/panebridge/panebridge/internal/store"
)

// A configuration that a group can write to is told, unless the group has the number of its user: such a group
// is that user's alone, by custom.
func TestAConfigurationThatAGroupCanWriteToIsTold(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	for name, tc := range map[string]struct {
		mode os.FileMode
		gid  int
		told bool
	}{"one's own group": {0o664, 0, false}, "another group": {0o664, 1234, true}, "another group, to read": {0o644, 1234, false}} {
		path := filepath.Join(t.TempDir(), "panebridge.yaml")
		if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Chown(path, 0, tc.gid), os.Chmod(path, tc.mode)); err != nil {
			t.Fatal(err)
		}
		told := slices.ContainsFunc(app.ExamineExposure(all.Form().Default(), path), func(f findings.Finding) bool { return f.Fix == "chmod g-w "+path })
		if told != tc.told {
			t.Errorf("%s: told is %t", name, told)
		}
	}
}

// A database of a newer panebridge is found, and what's to be done.
func TestANewerDatabaseIsFound(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "panebridge.db")
	s, err := store.Open(t.Context(), path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), "PRAGMA user_version = 9999"); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	found := app.ExamineStore(t.Context(), dir)
	if len(found) != 1 || found[0].Severity != findings.Broken || !strings.Contains(found[0].Fix, "Install the newer panebridge again") {
		t.Errorf("found is %+v", found)
	}
}
