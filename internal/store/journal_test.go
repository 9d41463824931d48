package store

import (
	"fmt"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/adapters/intake/journaltest"
)

func TestJournalConforms(t *testing.T) {
	journaltest.Run(t, func(t *testing.T) func() intake.Journal {
		t.Helper()
		path := dbPath(t)
		var open *Store
		return func() intake.Journal {
			if open != nil {
				_ = open.Close()
			}
			open = mustOpen(t, path, Options{})
			return open.Journal("telegram")
		}
	})
}

func TestJournalsOfAdaptersAreApart(t *testing.T) {
	s := mustOpen(t, dbPath(t), Options{})
	ctx := t.Context()
	here, there := s.Journal("telegram"), s.Journal("discord")
	list := []intake.Update{{Key: "1", Raw: []byte("{}"), KeptAt: time.Now()}}
	one, err := here.Keep(ctx, list)
	ok(t, err)
	other, err := there.Keep(ctx, list)
	ok(t, err)
	if len(one) != 1 || len(other) != 1 {
		t.Fatalf("kept %v and %v", one, other)
	}
	ok(t, there.Settle(ctx, one[0].Seq, intake.Handled)) // not its own
	ok(t, there.Forget(ctx, time.Now().Add(time.Hour), 0))
	if left, err := here.Waiting(ctx, 0, 10); err != nil || len(left) != 1 {
		t.Errorf("%v wait, %v", left, err)
	}
}

// Content goes with the settling, but for the newest updates that were set aside.
func TestJournalDropsContent(t *testing.T) {
	s := mustOpen(t, dbPath(t), Options{})
	ctx := t.Context()
	j := s.Journal("telegram")
	for i := range setAsideKept + 50 {
		outcome := intake.SetAside
		if i >= setAsideKept+20 {
			outcome = intake.Handled
		}
		list, err := j.Keep(ctx, []intake.Update{{Key: fmt.Sprint(i), Raw: []byte("secret"), KeptAt: time.Now()}})
		ok(t, err)
		ok(t, j.Settle(ctx, list[0].Seq, outcome))
	}
	ok(t, j.Forget(ctx, time.Time{}, 1000))
	var all, with int
	ok(t, s.reader().db.QueryRowContext(ctx, `SELECT count(*), sum(raw <> x'') FROM updates`).Scan(&all, &with))
	if all != setAsideKept+50 || with != setAsideKept {
		t.Errorf("%d updates, %d with their content", all, with)
	}
}

func ok(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

func TestNotes(t *testing.T) {
	path := dbPath(t)
	s := mustOpen(t, path, Options{})
	ctx := t.Context()
	ok(t, s.Notes("telegram").PutNote(ctx, "commands", "1"))
	ok(t, s.Notes("telegram").PutNote(ctx, "commands", "2"))
	ok(t, s.Close())
	s = mustOpen(t, path, Options{})
	for _, c := range []struct{ adapter, key, want string }{{"telegram", "commands", "2"}, {"telegram", "other", ""}, {"discord", "commands", ""}} {
		if got, err := s.Notes(c.adapter).Note(ctx, c.key); err != nil || got != c.want {
			t.Errorf("%s/%s is %q, %v; want %q", c.adapter, c.key, got, err, c.want)
		}
	}
}
