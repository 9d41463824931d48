package store

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/panebridge/panebridge/adapters/intake"
)

// What's kept for the daemon is in its journal in its order, but for what's handled, which nobody takes any more,
// also if it was kept before as something else.
func TestUpdatesAreKeptForTheDaemon(t *testing.T) {
	ctx, path := t.Context(), dbPath(t)
	box, err := OpenInbox(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = box.Close() }()
	of := func(keys ...string) (all []intake.Update) {
		for _, key := range keys {
			all = append(all, intake.Update{Key: key, Raw: []byte("raw " + key)})
		}
		return all
	}
	if err := box.KeepUpdates(ctx, "telegram", of("7", "8", "9"), "8"); err != nil {
		t.Fatal(err)
	}
	if err := box.KeepUpdates(ctx, "telegram", of("7", "8", "9", "10", "11"), "9"); err != nil {
		t.Fatal(err)
	}
	s := mustOpen(t, path, Options{})
	journal := s.Journal("telegram")
	fresh, err := journal.Keep(ctx, of("7", "8", "9", "10", "11", "12"))
	if err != nil || len(fresh) != 1 || fresh[0].Key != "12" {
		t.Errorf("of what comes again %v is new, %v", fresh, err)
	}
	waiting, err := journal.Waiting(ctx, 0, 100)
	var got []string
	for _, u := range waiting {
		got = append(got, string(u.Raw))
	}
	if want := []string{"raw 7", "raw 10", "raw 11", "raw 12"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("there wait %q, %v; want %q", got, err, want)
	}
	if err := noteUnsound(path, errors.New("it was cut")); err != nil {
		t.Fatal(err)
	}
	if err := box.KeepUpdates(ctx, "telegram", of("13"), ""); !errors.Is(err, ErrDamaged) {
		t.Errorf("in a database that's known to be damaged: %v", err)
	}
}

// A database that can't be read is said to be damaged.
func TestAnInboxIsNotOpenedInADamagedDatabase(t *testing.T) {
	path := dbPath(t)
	if err := os.WriteFile(path, []byte(strings.Repeat("no database ", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenInbox(t.Context(), path); !errors.Is(err, ErrDamaged) {
		t.Errorf("it says %v", err)
	}
}
