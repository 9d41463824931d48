package store

import (
	"errors"
	"os"
	"testing"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/polling"
	"github.com/panebridge/panebridge/sessions"
)

// A file that's damaged while it's used is found by the daily check, and its health says so from then on.
func TestADamagedFileIsFound(t *testing.T) {
	ctx, path := t.Context(), dbPath(t)
	s := mustOpen(t, path, Options{})
	mustPut(t, s, "pb_1")
	for range 50 {
		b := polling.Batch{Session: "pb_1"}
		for range 100 {
			b.Lines = append(b.Lines, sessions.Line{Kind: sessions.KindPane, Text: "a line of some length, so that there are pages"})
		}
		mustAppend(t, s, b)
	}
	if err := errors.Join(s.Erase(ctx), s.Check(ctx)); err != nil { // all of it is in the file
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	noise, random := make([]byte, info.Size()/2), drawtest.Rand(t, 0)
	for i := range noise {
		noise[i] = byte(random.Uint32())
	}
	if _, err := f.WriteAt(noise, info.Size()/2); err != nil {
		t.Fatal(err)
	}
	if err := s.Check(ctx); !errors.Is(err, ErrDamaged) {
		t.Errorf("the check says %v", err)
	}
	if err := s.Health(ctx); !errors.Is(err, ErrDamaged) {
		t.Errorf("its health is %v", err)
	}
	if err := Unsound(path); !errors.Is(err, ErrDamaged) {
		t.Errorf("for the next start it's %v", err)
	}
	_ = f.Close() // last: it takes the locks of this process on the file with it
}

// Damage that a request meets is known from then on, and to the next start, whatever was found before.
func TestDamageThatARequestMeetsIsKnown(t *testing.T) {
	for _, checked := range []bool{false, true} {
		ctx, path := t.Context(), dbPath(t)
		s := mustOpen(t, path, Options{})
		if checked {
			if err := s.Check(ctx); err != nil {
				t.Fatal(err)
			}
		}
		if err := Unsound(path); err != nil {
			t.Fatal(err)
		}
		_ = s.reader().explain("read something", ErrDamaged)
		if err := s.Health(ctx); !errors.Is(err, ErrDamaged) {
			t.Errorf("checked: %t: its health is %v", checked, err)
		}
		if err := Unsound(path); !errors.Is(err, ErrDamaged) {
			t.Errorf("checked: %t: for the next start it's %v", checked, err)
		}
	}
}
