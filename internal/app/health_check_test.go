package app

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/panebridge/panebridge/internal/store"
)

// A check that can't be made, since no file can be opened, says nothing of the database, and is made again soon.
func TestACheckThatCannotBeMadeIsMadeAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "panebridge.db")
	db, err := store.Open(t.Context(), path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	var log bytes.Buffer
	h := &healthWatch{store: db, log: slog.New(slog.NewTextHandler(&log, nil))}
	check := func(next time.Duration, says string) {
		t.Helper()
		log.Reset()
		if got := h.checkStore(context.Background()); got != next || (log.Len() > 0) != (says != "") || !strings.Contains(log.String(), says) {
			t.Errorf("it's checked again in %s, want %s; the log has %q, want %q", got, next, log.String(), says)
		}
	}
	check(storeCheckEvery, "")
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	none := limit
	none.Cur = 0
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &none); err != nil {
		t.Fatal(err)
	}
	check(storeCheckAfter, "couldn't be found out")
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	check(storeCheckEvery, "")
	if err := db.Erase(t.Context()); err != nil { // nothing is in the write-ahead log alone
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt(bytes.Repeat([]byte{0x55}, 8192), 4096); err != nil {
		t.Fatal(err)
	}
	_ = f.Close()
	check(storeCheckEvery, "isn't sound")
}
