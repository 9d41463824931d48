package store

import (
	"path/filepath"
	"testing"

	"github.com/panebridge/panebridge/sessions"
)

// openWithSessions opens a new database in a folder of its own, for one of a test's drawn histories, and puts
// sessions into it. Whoever calls closes it.
func openWithSessions(t *testing.T, ids []sessions.ID) (s *Store, path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "pb.db")
	s, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range ids {
		if err := s.PutSession(t.Context(), sessions.Session{ID: id, Name: string(id)}); err != nil {
			t.Fatal(err)
		}
	}
	return s, path
}
