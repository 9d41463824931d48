package store

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/panebridge/panebridge/polling"
	"github.com/panebridge/panebridge/sessions"
)

// mustBeWell fails unless the store is green, takes inputs, and has no note lying beside it.
func mustBeWell(t *testing.T, s *Store, when string) {
	t.Helper()
	ctx := t.Context()
	if err := s.Health(ctx); err != nil && !errors.Is(err, ErrLittleRoom) {
		t.Errorf("%s: its health is %v", when, err)
	}
	if err := Unsound(s.path); err != nil {
		t.Errorf("%s: for the next start it's %v", when, err)
	}
	if err := s.PutReceipt(ctx, sessions.Receipt{ID: "in_1", Session: "pb_1", State: sessions.ReceiptStored}); err != nil {
		t.Errorf("%s: an input is answered with %v", when, err)
	}
}

// What a read meets that ends when the database has been written anew is about the file it was begun on.
func TestWhatAReadMeetsBelongsToItsFile(t *testing.T) {
	ctx, path := t.Context(), dbPath(t)
	s := mustOpen(t, path, Options{})
	mustPut(t, s, "pb_1")
	for range 50 {
		mustAppend(t, s, polling.Batch{Session: "pb_1", Lines: paneLines(0, 20)})
	}
	begun := s.reader()
	if err := os.Truncate(path+walSuffix, walHeaderBytes+3000); err != nil {
		t.Fatal(err)
	}
	if err := s.Health(ctx); !errors.Is(err, ErrCut) {
		t.Fatalf("its health is %v", err)
	}
	if err := s.Rescue(ctx); err != nil {
		t.Fatal(err)
	}
	err := begun.snapshot(ctx, "pb_1", func(tx *sql.Tx, log logState) error {
		_, err := begun.lines(ctx, tx, begun.linesFrom, log.session, 1, 1000)
		return err
	})
	if !errors.Is(kindOf(err), ErrDamaged) {
		t.Fatalf("a read of what's cut off ends with %v", err)
	}
	if err := begun.explain("read the log", err); !errors.Is(err, sessions.ErrUnavailable) || errors.Is(err, ErrDamaged) {
		t.Errorf("who began it before is told %v", err)
	}
	mustBeWell(t, s, "after the read")
	if err := s.reader().explain("read the log", err); !errors.Is(err, ErrDamaged) {
		t.Errorf("who began it later is told %v", err)
	}
	if err := s.Health(ctx); !errors.Is(err, ErrDamaged) {
		t.Errorf("then its health is %v", err)
	}
}

// The note beside the database says what the daemon knows, whatever became of the folder, of what it was about, and of
// the moment at which it was to be written.
func TestTheNoteSaysWhatIsKnown(t *testing.T) {
	open := func(t *testing.T) (*Store, string) {
		t.Helper()
		folder := filepath.Join(t.TempDir(), "state")
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(folder, "pb.db")
		s := mustOpen(t, path, Options{})
		mustPut(t, s, "pb_1")
		return s, path
	}
	t.Run("gone with its folder, and written anew", func(t *testing.T) {
		s, path := open(t)
		_ = s.reader().explain("read something", ErrDamaged)
		if err := errors.Join(os.RemoveAll(filepath.Dir(path)), s.Rescue(t.Context())); err != nil {
			t.Fatal(err)
		}
		mustBeWell(t, s, "written anew")
	})
	t.Run("there, and the file is written anew", func(t *testing.T) {
		s, path := open(t)
		_ = s.reader().explain("read something", ErrDamaged)
		if err := errors.Join(os.Remove(path), s.Rescue(t.Context())); err != nil {
			t.Fatal(err)
		}
		mustBeWell(t, s, "written anew")
	})
	t.Run("deleted, and failed to be written", func(t *testing.T) {
		s, path := open(t)
		if err := os.Mkdir(path+unsoundSuffix, 0o700); err != nil {
			t.Fatal(err)
		}
		_ = s.reader().explain("read something", ErrDamaged)
		for range 2 {
			if err := os.Remove(path + unsoundSuffix); err != nil {
				t.Fatal(err)
			}
			if err := s.Health(t.Context()); !errors.Is(err, ErrDamaged) {
				t.Errorf("its health is %v", err)
			}
			if err := Unsound(path); !errors.Is(err, ErrDamaged) {
				t.Errorf("for the next start it's %v", err)
			}
		}
	})
	t.Run("of another process, about what's well", func(t *testing.T) {
		s, path := open(t)
		if err := noteUnsound(path, errors.New("it was cut")); err != nil {
			t.Fatal(err)
		}
		mustBeWell(t, s, "looked at")
	})
	t.Run("of a cut that was none", func(t *testing.T) {
		s, _ := open(t)
		if err := s.write.recordCut(ErrCut); err != nil {
			t.Fatal(err)
		}
		if err := s.Check(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := Unsound(s.path); err == nil {
			t.Error("what was read as sound may be what was left of it, and it isn't noted any more")
		}
		mustPut(t, s, "pb_2") // the log is whole
		mustBeWell(t, s, "written to")
	})
	t.Run("damage that isn't found again", func(t *testing.T) {
		s, _ := open(t)
		_ = s.reader().explain("read something", ErrDamaged)
		if err := s.Check(t.Context()); err != nil {
			t.Fatal(err)
		}
		mustBeWell(t, s, "checked")
	})
	t.Run("beside another's file", func(t *testing.T) {
		s, path := open(t)
		_ = s.reader().explain("read something", ErrDamaged)
		if err := errors.Join(removeAll(path), os.WriteFile(path, []byte("somebody else's"), 0o600)); err != nil {
			t.Fatal(err)
		}
		if err := s.Rescue(t.Context()); !errors.Is(err, ErrReplaced) {
			t.Fatalf("a rescue says %v", err)
		}
		if err := Unsound(path); err != nil {
			t.Errorf("the other's is %v", err)
		}
		_ = s.reader().explain("read something", ErrDamaged)
		if err := Unsound(path); err != nil {
			t.Errorf("the other's is %v", err)
		}
		if err := Unsound(*s.kept.Load()); !errors.Is(err, ErrDamaged) {
			t.Errorf("what's kept beside it is %v", err)
		}
	})
}
