package inbox_test

import (
	"context"
	"testing"
	"time"

	"github.com/panebridge/panebridge/internal/inbox"
)

// TestTypists: one types at a time, and the next when that's done.
func TestTypists(t *testing.T) {
	typists := inbox.Typists{Folder: t.TempDir()}
	give, ok, err := typists.Try()
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	if _, ok, err := typists.Try(); ok || err != nil {
		t.Errorf("two at once: %v, %v", ok, err)
	}
	short, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := typists.Take(short); err == nil {
		t.Error("two at once")
	}
	time.AfterFunc(20*time.Millisecond, give)
	next, err := typists.Take(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	next()
}
