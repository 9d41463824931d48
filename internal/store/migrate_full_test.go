package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/sys/unix"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/internal/host/hosttest"
)

// A database that an older panebridge made, on a disk that becomes full at any moment while its schema is brought up to
// date, is opened, or it's said that the disk is full; with room again it's opened with all that it had.
func TestADiskThatIsFullAmidOfAMigration(t *testing.T) {
	if !inMountNamespace(t) {
		return
	}
	names, err := fs.Glob(migrations(), "*.sql")
	if err != nil {
		t.Fatal(err)
	}
	random := drawtest.Rand(t, 0)
	opened, full := 0, 0
	for range 40 {
		version := 1 + random.IntN(len(names)-1)
		folder := t.TempDir()
		if err := hosttest.MountMemory(folder, "size=6m"); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(folder, "pb.db")
		const kept = 300
		makeOlder(t, path, names[:version], kept, random.IntN(2) == 0)

		fill := filepath.Join(folder, "fill")
		if err := os.WriteFile(fill, make([]byte, 8<<20), 0o600); !errors.Is(err, unix.ENOSPC) {
			t.Fatalf("it takes all: %v", err)
		}
		info, err := os.Stat(fill)
		if err != nil {
			t.Fatal(err)
		}
		room := random.Int64N(60) * 4096
		if err := os.Truncate(fill, max(0, info.Size()-room)); err != nil {
			t.Fatal(err)
		}
		s, err := Open(t.Context(), path, Options{})
		switch {
		case err == nil:
			opened++
			err = s.Close()
		case errors.Is(err, ErrFull), errors.Is(err, unix.ENOSPC):
			full++
			err = nil
		}
		if err != nil {
			t.Errorf("version %d with %d bytes of room: %v", version, room, err)
		}
		if err := os.Remove(fill); err != nil {
			t.Fatal(err)
		}
		if s, err = Open(t.Context(), path, Options{}); err != nil {
			t.Fatalf("version %d, which had %d bytes of room, with more: %v", version, room, err)
		}
		var n int
		if err := s.write.conn.QueryRowContext(t.Context(), "SELECT count(*) FROM sessions").Scan(&n); err != nil || n != kept {
			t.Errorf("version %d, which had %d bytes of room: %d sessions, %v", version, room, n, err)
		}
		mustPut(t, s, "pb_new")
		if err := errors.Join(s.Check(t.Context()), s.Close(), hosttest.Detach(folder)); err != nil {
			t.Errorf("version %d, which had %d bytes of room: %v", version, room, err)
		}
	}
	if opened == 0 || full == 0 {
		t.Errorf("%d were opened, and for %d the disk was full", opened, full)
	}
}

// makeOlder makes a database of an older version with some sessions in it.
func makeOlder(t *testing.T, path string, names []string, sessions int, wal bool) {
	t.Helper()
	older := fstest.MapFS{}
	for _, name := range names {
		text, err := fs.ReadFile(migrations(), name)
		if err != nil {
			t.Fatal(err)
		}
		older[name] = &fstest.MapFile{Data: text}
	}
	conn := raw(t, path)
	if wal {
		mustExec(t, conn, "PRAGMA journal_mode = WAL")
	}
	if _, _, err := migrate(t.Context(), conn, older, ""); err != nil {
		t.Fatal(err)
	}
	columns := []string{"agent", "cwd", "server", "server_pid", "server_start", "pane", "owned", "created_at", "ended_at", "exit_signal"}
	var n int
	if err := conn.QueryRowContext(t.Context(), "SELECT count(*) FROM pragma_table_info('sessions') WHERE name = 'tmux_session'").Scan(&n); err != nil {
		t.Fatal(err)
	}
	if n > 0 {
		columns = append(columns, "tmux_session")
	}
	mustExec(t, conn, fmt.Sprintf(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)
		INSERT INTO sessions (id, name, state, reason, %s) SELECT 'pb_' || i, 'one', 'ended', hex(zeroblob(400)) %s FROM n`,
		sessions, strings.Join(columns, ", "), strings.Repeat(", 0", len(columns))))
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
}
