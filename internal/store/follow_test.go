package store

import (
	"os"
	"testing"

	"github.com/panebridge/panebridge/internal/inbox"
)

// A process beside the daemon that goes on with a file which was written anew makes none itself where that has gone
// again meanwhile: it would be taken for somebody else's, and what the daemon holds would be kept beside it.
func TestOnlyTheDaemonWritesAnew(t *testing.T) {
	ctx, path := t.Context(), dbPath(t)
	s := mustOpen(t, path, Options{})
	mustPut(t, s, "pb_1")
	mail, err := OpenInbox(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = mail.Close() })
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	held := mail.db
	if err := mail.open(ctx, isThere); err == nil {
		t.Error("it opens a file that isn't there")
	}
	if _, err := os.Lstat(path); !isGone(err) {
		t.Fatalf("it has made one: %v", err)
	}
	mail.db = held
	if err := s.Rescue(ctx); err != nil {
		t.Fatal(err)
	}
	if err := mail.AddMail(ctx, []inbox.Mail{{ID: "m_1", To: "pb_1"}}); err != nil {
		t.Fatal(err)
	}
	var n int
	if err := s.write.conn.QueryRowContext(ctx, "SELECT count(*) FROM mail").Scan(&n); err != nil || n != 1 {
		t.Errorf("%d of one mail that was taken are there, %v", n, err)
	}
}
