package store

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters/intake"
)

// A write-ahead log that the daemon has emptied, all of it being in the database, isn't one that was cut:
// who writes beside the daemon goes on at once, also if nobody else writes anything.
func TestAnInboxGoesOnBehindALogThatWasEmptied(t *testing.T) {
	ctx, path := t.Context(), dbPath(t)
	mustOpen(t, path, Options{})
	box, err := OpenInbox(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = box.Close() }()
	keep := func(key string) error {
		ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		return box.KeepUpdates(ctx, "telegram", []intake.Update{{Key: key, Raw: []byte(key)}}, "")
	}
	for _, key := range []string{"1", "2"} {
		if err := keep(key); err != nil {
			t.Fatal(err)
		}
		mustExec(t, raw(t, path), "PRAGMA wal_checkpoint(TRUNCATE)")
		if info, err := os.Stat(path + walSuffix); err != nil || info.Size() != 0 {
			t.Fatalf("the log isn't empty: %v, %v", info, err)
		}
	}
	began := time.Now()
	if err := keep("3"); err != nil || time.Since(began) > 5*time.Second {
		t.Errorf("behind a log that was emptied: %v after %v", err, time.Since(began))
	}
}
