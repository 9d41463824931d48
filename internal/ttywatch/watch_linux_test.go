package ttywatch_test

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/panebridge/panebridge/internal/ttywatch"
)

func openTerminal(t *testing.T) (master, tty *os.File) {
	t.Helper()
	master, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = tty.Close()
		_ = master.Close()
	})
	return master, tty
}

// wrote reports whether a write is told within a second.
func wrote(t *testing.T, w *ttywatch.TTYWatch, within time.Duration) bool {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	err := w.Wait(ctx)
	if err != nil && !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
	return err == nil
}

func TestWritesAreTold(t *testing.T) {
	_, tty := openTerminal(t)
	w, err := ttywatch.Open(tty.Name())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Close() }()
	if wrote(t, w, 30*time.Millisecond) {
		t.Error("a write is told that nobody made")
	}
	for range 3 {
		for range 5 {
			if _, err := tty.WriteString("x"); err != nil {
				t.Fatal(err)
			}
		}
		if !wrote(t, w, 5*time.Second) {
			t.Error("a write isn't told")
		}
		if wrote(t, w, 30*time.Millisecond) {
			t.Error("writes in a row are told more than once")
		}
	}
}

// What's written while nobody waits is told to the next who does.
func TestAWriteWaitsForItsWatcher(t *testing.T) {
	_, tty := openTerminal(t)
	w, err := ttywatch.Open(tty.Name())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Close() }()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := w.Wait(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Wait of a context that has ended: %v", err)
	}
	if _, err := tty.WriteString("x"); err != nil {
		t.Fatal(err)
	}
	if !wrote(t, w, 5*time.Second) {
		t.Error("a write isn't told")
	}
}

func TestCloseEndsAWait(t *testing.T) {
	_, tty := openTerminal(t)
	w, err := ttywatch.Open(tty.Name())
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- w.Wait(context.WithoutCancel(t.Context())) }()
	time.Sleep(20 * time.Millisecond)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err == nil {
		t.Error("Wait of a watch that was closed returns no error")
	}
}

func TestOnlyTerminalsAreWatched(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"", "/dev/pts/../pts/0", file, "/dev", "/dev/pts/none"} {
		if w, err := ttywatch.Open(path); err == nil {
			t.Errorf("%q is watched", path)
			_ = w.Close()
		}
	}
}

// A write in the moment at which a Wait's context ends is told by that Wait or the next.
func TestAWriteBesideADeadlineIsTold(t *testing.T) {
	master, tty := openTerminal(t)
	go func() { _, _ = io.Copy(io.Discard, master) }() // until it's closed
	w, err := ttywatch.Open(tty.Name())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Close() }()
	random := rand.New(rand.NewPCG(1, 1))
	for round := range 10_000 {
		within := time.Duration(random.IntN(100)) * time.Microsecond
		written := make(chan error, 1)
		go func() {
			time.Sleep(within)
			_, err := tty.WriteString("x")
			written <- err
		}()
		isTold := wrote(t, w, within)
		if err := <-written; err != nil {
			t.Fatal(err)
		}
		if !isTold && !wrote(t, w, time.Second) {
			t.Fatalf("write %d isn't told", round)
		}
	}
}
