package store

import (
	"errors"
	"log/slog"
	"strings"
	"testing"
)

// A database that another program has locked is said to be that by the first write that fails, in the log, too, with
// how to find that program; and nothing of it is said once it's over.
func TestALockOfAnotherProgramIsSaidAtOnce(t *testing.T) {
	path := dbPath(t)
	var log strings.Builder
	s := mustOpen(t, path, Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	mustPut(t, s, "pb_1")
	s.HurryUp()
	other := raw(t, path)
	mustExec(t, other, "BEGIN IMMEDIATE")
	for range 2 {
		err := s.Notes("test").PutNote(t.Context(), "a", "b")
		for from, said := range map[string]error{"the write": err, "what's said of the last write": s.Failing()} {
			if !errors.Is(said, ErrLocked) || !strings.Contains(said.Error(), "another process holds the database") || !strings.Contains(said.Error(), "lsof "+path) {
				t.Errorf("%s: %v", from, said)
			}
		}
	}
	if n := strings.Count(log.String(), "another process holds the database"); n != 1 {
		t.Errorf("it's logged %d times:\n%s", n, log.String())
	}
	mustExec(t, other, "ROLLBACK")
	if err := errors.Join(s.Notes("test").PutNote(t.Context(), "a", "b"), s.Failing()); err != nil {
		t.Errorf("behind the lock: %v", err)
	}
	if !strings.Contains(log.String(), "is written to again") {
		t.Errorf("the log doesn't say that it's over:\n%s", log.String())
	}
}
