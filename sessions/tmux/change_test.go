package tmux_test

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/sessions/tmux"
)

// One control client comes while another goes: a command without the daemon, say, while
// that stops. See socketTurn.
func TestServerSurvivesAChangeOfClients(t *testing.T) {
	t.Parallel()
	rounds := 15
	if drawtest.Stressed() {
		rounds = 1000
	}
	s := startServer(t)
	pid := s.tmux("display-message", "-p", "#{pid}")
	random := drawtest.Rand(t, 0)
	for round := range rounds {
		leave, at := s.connect(), time.Duration(random.IntN(8000))*time.Microsecond
		var all sync.WaitGroup
		all.Go(func() {
			time.Sleep(at)
			leave()
		})
		all.Go(func() { s.connect()() })
		all.Wait()
		if got := s.tmux("display-message", "-p", "#{pid}"); got != pid {
			t.Fatalf("the server crashed in round %d", round)
		}
	}
}

// connect connects another client, or gives up: it's the server that's looked at.
func (s *server) connect() (leave func()) {
	c := tmux.New(tmux.Options{SocketPath: s.socket})
	ctx, cancel := context.WithCancel(context.Background())
	var one sync.WaitGroup
	one.Go(func() { _ = c.Run(ctx) })
	for begin := time.Now(); !c.Status().Connected && time.Since(begin) < 5*time.Second; {
		time.Sleep(time.Millisecond)
	}
	return func() {
		cancel()
		one.Wait()
	}
}

// Those of two processes come and go one at a time as well; who waits too long goes on.
func TestTurns(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	other, err := os.Open(filepath.Dir(s.socket))
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	flock(t, other, unix.LOCK_EX)
	c := tmux.New(tmux.Options{SocketPath: s.socket})
	ctx, cancel := context.WithCancel(context.Background())
	var one sync.WaitGroup
	one.Go(func() { _ = c.Run(ctx) })
	time.Sleep(300 * time.Millisecond)
	if c.Status().Connected {
		t.Error("it connected while another did")
	}
	flock(t, other, unix.LOCK_UN)
	s.await("connection", func() bool { return c.Status().Connected })
	flock(t, other, unix.LOCK_EX) // never given back
	cancel()
	one.Wait()
}

func flock(t *testing.T, f *os.File, how int) {
	t.Helper()
	if err := unix.Flock(int(f.Fd()), how); err != nil {
		t.Fatal(err)
	}
}
