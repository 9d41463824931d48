package store

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/cards"
	"github.com/panebridge/panebridge/internal/regular/regulartest"
	"github.com/panebridge/panebridge/polling"
	"github.com/panebridge/panebridge/sessions"
)

// raw opens the file as another process would.
func raw(t *testing.T, path string) *sql.Conn {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func mustExec(t *testing.T, conn *sql.Conn, query string, args ...any) {
	t.Helper()
	if _, err := conn.ExecContext(t.Context(), query, args...); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}

func TestFilesAreForTheirOwnerOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "odd ?#%41 name.db")
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	s := mustOpen(t, path, Options{})
	mustPut(t, s, "pb_1")
	for _, name := range []string{path, path + "-wal", path + "-shm"} {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != 0o600 {
			t.Errorf("%s: got mode %o, want 600", name, got)
		}
	}
}

func TestADatabaseOfVersion1IsBroughtUpToDate(t *testing.T) {
	path := dbPath(t)
	first, err := fs.ReadFile(migrations(), "0001.sql")
	if err != nil {
		t.Fatal(err)
	}
	conn := raw(t, path)
	mustExec(t, conn, string(first))
	mustExec(t, conn, `PRAGMA user_version = 1`)
	mustExec(t, conn, `INSERT INTO sessions VALUES (1, 'pb_1', 'n', '', '', 'idle', '', '', 0, 0, '%1', '', 0, 1, 0, NULL, '')`)
	mustExec(t, conn, `INSERT INTO logs VALUES (1, 2, 1, 9, 1, x'07')`)
	mustExec(t, conn, `INSERT INTO lines VALUES (1, 1, 'pane', 'one', 8), (1, 2, 'pane', 'two', 9)`)
	mustExec(t, conn, `INSERT INTO gaps VALUES (1, 1, 1, 3, 'why')`)
	mustExec(t, conn, `INSERT INTO turns VALUES (1, 1, 1, 8, 0, 1, 0)`)

	s := mustOpen(t, path, Options{})
	out, err := s.Read(t.Context(), "pb_1", 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	diff(t, "output", sessions.Output{
		Lines: []sessions.Line{
			{N: 1, Kind: "pane", Text: "one", At: fromNanos(8)},
			{N: 2, Kind: "pane", Text: "two", At: fromNanos(9)},
		},
		Gaps: []sessions.Gap{{After: 1, AtLeast: 3, Reason: "why"}},
		Next: 3, Oldest: 1,
	}, out)
	if a := mustAppend(t, s, polling.Batch{Session: "pb_1", Lines: paneLines(3, 1)}); a.Head != 3 || a.Turn.Number != 1 {
		t.Errorf("appended to the old log: got %+v", a)
	}
}

// Lists of sessions that an older panebridge kept as they were posted name none any more.
func TestPinnedListsOfOlderDatabasesNameNobody(t *testing.T) {
	path, older := dbPath(t), fstest.MapFS{}
	names, err := fs.Glob(migrations(), "*.sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		text, err := fs.ReadFile(migrations(), name)
		if err != nil {
			t.Fatal(err)
		}
		if name < "0027.sql" {
			older[name] = &fstest.MapFile{Data: text}
		}
	}
	conn := raw(t, path)
	if _, _, err := migrate(t.Context(), conn, older, ""); err != nil {
		t.Fatal(err)
	}
	mustExec(t, conn, `INSERT INTO boards VALUES ('chat', '-1', '5', '- [qzforget](<chat:-1/7>)', 1)`)
	s := mustOpen(t, path, Options{})
	place := adapters.Target{Adapter: "chat", Chat: "-1"}
	got, err := s.StandingCards(t.Context())
	if err != nil || len(got) != 2 || got[0] != (cards.StandingCard{Spot: cards.Spot{Kind: cards.KindBoard, Place: place}, Message: "5"}) ||
		got[1] != (cards.StandingCard{Spot: cards.Spot{Kind: cards.KindPin, Place: place}, Shows: "pins 5"}) {
		t.Errorf("the list is kept as %+v, %v", got, err)
	}
	if err := errors.Join(conn.Close(), s.Erase(t.Context()), s.Close()); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(path); err != nil || bytes.Contains(text, []byte("qzforget")) {
		t.Errorf("the session is named in the file, %v", err)
	}
}

func TestMigrationsRunOnceInOrderAndAllOrNothing(t *testing.T) {
	ctx, conn := t.Context(), raw(t, dbPath(t))
	steps := fstest.MapFS{"0001.sql": {Data: []byte(`CREATE TABLE a (x); INSERT INTO a VALUES (1);`)}}
	check := func(wantWas, wantIs int, wantErr string) {
		t.Helper()
		was, is, err := migrate(ctx, conn, steps, "")
		if was != wantWas || is != wantIs || (err == nil) != (wantErr == "") || err != nil && !strings.Contains(err.Error(), wantErr) {
			t.Errorf("got %d → %d, %v; want %d → %d, %q", was, is, err, wantWas, wantIs, wantErr)
		}
	}
	check(0, 1, "")
	check(1, 1, "")
	steps["0002.sql"] = &fstest.MapFile{Data: []byte(`UPDATE a SET x = 2; CREATE TABLE a (x);`)}
	check(1, 1, "0002.sql")
	var x int
	if err := conn.QueryRowContext(ctx, `SELECT x FROM a`).Scan(&x); err != nil || x != 1 {
		t.Errorf("a failed migration left x = %d, %v", x, err)
	}
	steps["0002.sql"] = &fstest.MapFile{Data: []byte(`UPDATE a SET x = x + 1; CREATE TABLE b (x);`)}
	steps["0003.sql"] = &fstest.MapFile{Data: []byte(`ALTER TABLE b ADD COLUMN y;`)}
	check(1, 3, "")
	if is, err := migrateFrom(ctx, conn, steps, 1, 2); is != 3 || !errors.Is(err, ErrTooNew) {
		t.Errorf("an older panebridge, before which a newer one has migrated: %d, %v", is, err)
	}
}

// A database of a newer schema is refused with the version that has written it and what to do, and stays as it is to
// the byte; so it is by what would migrate it, back it up or restore another over it.
func TestANewerSchemaIsRefused(t *testing.T) {
	path := dbPath(t)
	s := mustOpen(t, path, Options{Version: "v7.8.9"})
	mustPut(t, s, "pb_1")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	conn := raw(t, path)
	mustExec(t, conn, `PRAGMA user_version = 9999; CREATE TABLE of_the_future (x); PRAGMA wal_checkpoint(TRUNCATE)`)
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, err1 := Open(t.Context(), path, Options{Version: "v1.0.0"})
	_, err2 := OpenInbox(t.Context(), path)
	for _, err := range []error{err1, err2, Examine(t.Context(), path)} {
		if !errors.Is(err, ErrTooNew) {
			t.Fatalf("got %v", err)
		}
		for _, want := range []string{"schema version 9999", `panebridge "v7.8.9"`, "install the newer panebridge again", "`panebridge restore FILE`"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("it doesn't say %q: %v", want, err)
			}
		}
	}
	backup := filepath.Join(t.TempDir(), "b")
	if label, err := Backup(t.Context(), path, backup, BackupOptions{}); err != nil || label.Schema != 9999 {
		t.Errorf("it's backed up as %+v, %v", label, err)
	}
	if _, err := Stage(t.Context(), dbPath(t), backup); !errors.Is(err, ErrTooNew) {
		t.Errorf("it's restored: %v", err)
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, before) {
		t.Errorf("it has changed: %v", err)
	}
}

func TestADamagedFileSaysWhatToDo(t *testing.T) {
	path := dbPath(t)
	if err := os.WriteFile(path, []byte(strings.Repeat("not a database\n", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Open(t.Context(), path, Options{})
	if !errors.Is(err, ErrDamaged) || !errors.Is(err, sessions.ErrUnavailable) || !strings.Contains(err.Error(), "restart panebridge: it puts a new database in the place of "+path) {
		t.Errorf("got %v", err)
	}
}

func TestALockedDatabaseIsTold(t *testing.T) {
	ctx, path := t.Context(), dbPath(t)
	s := mustOpen(t, path, Options{})
	mustPut(t, s, "pb_1")
	mustExec(t, s.write.conn, `PRAGMA busy_timeout = 20`)
	other := raw(t, path)
	mustExec(t, other, `BEGIN IMMEDIATE`)
	_, err := s.Append(ctx, polling.Batch{Session: "pb_1", Lines: paneLines(1, 1)})
	if !errors.Is(err, ErrLocked) || !errors.Is(err, sessions.ErrUnavailable) {
		t.Errorf("got %v, want ErrLocked", err)
	}
	if _, err := s.Read(ctx, "pb_1", 0, 0); err != nil {
		t.Errorf("read while another process writes: %v", err)
	}
	mustExec(t, other, `ROLLBACK`)
	if a := mustAppend(t, s, polling.Batch{Session: "pb_1", Lines: paneLines(1, 1)}); a.Head != 1 {
		t.Errorf("after the lock: got head %d, want 1", a.Head)
	}
}

func TestAfterCloseWritesAreRefused(t *testing.T) {
	s := mustOpen(t, dbPath(t), Options{})
	for range 2 {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.PutReceipt(t.Context(), sessions.Receipt{ID: "in_1"}); !errors.Is(err, ErrClosed) {
		t.Errorf("got %v, want ErrClosed", err)
	}
}

func TestAMissingFolderIsToldWithItsPath(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none", "panebridge.db")
	if _, err := Open(t.Context(), path, Options{}); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), path) {
		t.Errorf("got %v", err)
	}
}

// A closed store has none of its files open any more: what's opened again and again, or
// moved away and made anew, leaves nothing behind.
func TestAClosedStoreLetsItsFilesGo(t *testing.T) {
	if _, err := os.Stat("/proc/self/fd"); err != nil {
		t.Skip("this system doesn't list a process's open files")
	}
	path := dbPath(t)
	s := mustOpen(t, path, Options{})
	mustPut(t, s, "pb_1")
	if _, err := s.Sessions(t.Context()); err != nil {
		t.Fatal(err)
	}
	if open := openBelow(t, filepath.Dir(path)); len(open) == 0 {
		t.Fatal("an open store has no file open")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if open := openBelow(t, filepath.Dir(path)); len(open) > 0 {
		t.Errorf("these are still open: %v", open)
	}
}

// openBelow are the files in a folder that this process has open.
func openBelow(t *testing.T, dir string) (open []string) {
	t.Helper()
	all, err := filepath.Glob("/proc/self/fd/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, fd := range all {
		if name, err := os.Readlink(fd); err == nil && strings.HasPrefix(name, dir+"/") {
			open = append(open, name)
		}
	}
	return open
}

// What's said of a file that may not be opened is which, and what helps: its mode, or its owner.
func TestWhatIsDeniedIsSaid(t *testing.T) {
	path := dbPath(t)
	s := mustOpen(t, path, Options{})
	defer s.Close()
	for _, one := range []string{filepath.Dir(path), path, path + walSuffix, path + roomSuffix} {
		denied := func(asked string, folder bool) bool {
			if folder != (asked == filepath.Dir(path)) {
				t.Errorf("%s counts as a folder: %t", asked, folder)
			}
			return asked != one
		}
		if said := whatIsDenied(path, denied); !strings.HasPrefix(said, "chmod u+rw") || !strings.HasSuffix(said, " "+one) {
			t.Errorf("of %s it says %q", one, said)
		}
		if os.Geteuid() != 0 {
			continue // only root can give files away
		}
		if err := os.Chown(one, 1234, -1); err != nil {
			t.Fatal(err)
		}
		if said := whatIsDenied(path, denied); !strings.Contains(said, "belongs to user 1234") || !strings.HasSuffix(said, "chown 0 "+one) {
			t.Errorf("of another user's %s it says %q", one, said)
		}
	}
	if said := whatIsDenied(path, func(string, bool) bool { return true }); said != "" {
		t.Errorf("of what may be opened it says %q", said)
	}
}

// A database that this user may not open says what to do: whose it is, and which command helps.
func TestADatabaseThatMayNotBeOpenedSaysWhatToDo(t *testing.T) {
	if regulartest.RunAsNobody(t) {
		return
	}
	for name, c := range map[string]struct {
		spoil func(dir, db string) error
		says  string
	}{
		"the folder": {func(dir, _ string) error { return os.Chmod(dir, 0o500) }, "chmod u+rwx DIR"},
		"the line":   {func(_, db string) error { return os.Chmod(db+lineSuffix, 0) }, "chmod u+rw DB" + lineSuffix},
		"the log": {func(_, db string) error {
			return errors.Join(os.WriteFile(db+walSuffix, nil, 0), os.Chmod(db+walSuffix, 0))
		}, "chmod u+rw DB" + walSuffix},
		"the mark":    {func(_, db string) error { return os.WriteFile(db+unsoundSuffix, nil, 0) }, "chmod u+rw DB" + unsoundSuffix},
		"no entering": {func(dir, _ string) error { return os.Chmod(dir, 0) }, "chmod u+rwx DIR"},
	} {
		path := dbPath(t)
		dir := filepath.Dir(path)
		s := mustOpen(t, path, Options{})
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if err := c.spoil(dir, path); err != nil {
			t.Fatal(err)
		}
		err := Unsound(path)
		if err == nil {
			_, err = Open(t.Context(), path, Options{})
		}
		want := strings.ReplaceAll(strings.ReplaceAll(c.says, "DB", path), "DIR", dir)
		if !errors.Is(err, ErrDenied) && !errors.Is(err, ErrReadOnly) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
		_ = os.Chmod(dir, 0o700)
	}
}

// What receipts of an older panebridge said in words alone is told apart without reading these.
func TestReceiptsOfOlderDatabasesSayTheirCauses(t *testing.T) {
	path := dbPath(t)
	names, err := fs.Glob(migrations(), "*.sql")
	if err != nil {
		t.Fatal(err)
	}
	makeOlder(t, path, names[:28], 1, false)
	conn := raw(t, path)
	for i, r := range [][2]string{
		{"held", "it waits behind another text: a dialog is open"},
		{"held", "a dialog is open"},
		{"submitted", "queued: the agent is at work, and takes it up when it has time"},
		{"submitted", "queued by the agent, but no turn runs any more; whether it took this up can't be seen"},
		{"submitted", "unverified: the program has ended since"},
		{"answered", "unverified: the program has ended since"},
		{"submitted", ""},
		{"failed", "unverified"},
	} {
		mustExec(t, conn, fmt.Sprintf(`INSERT INTO receipts (id, session, text, submit, author, state, reason, created_at, updated_at, open)
			VALUES ('in_%d', 'pb_1', 'x', 1, 'web', '%s', '%s', 1, 1, 0)`, i, r[0], strings.ReplaceAll(r[1], "'", "''")))
	}
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	s := mustOpen(t, path, Options{})
	var got []sessions.Cause
	for i := range 8 {
		r, err := s.Receipt(t.Context(), fmt.Sprintf("in_%d", i))
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, r.Cause)
	}
	diff(t, "causes", []sessions.Cause{sessions.CauseBehind, "", sessions.CauseQueued, sessions.CausePassed, sessions.CauseUnverified, sessions.CauseUnverified, "", ""}, got)
}
