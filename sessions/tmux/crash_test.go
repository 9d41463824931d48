package tmux_test

import (
	"context"
	"os/exec"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/sessions"
	"github.com/panebridge/panebridge/sessions/tmux"
)

// A client that goes in the middle of anything must leave the user's server
// alive: tmux 3.3a crashes when a control client is killed at a bad moment.
func TestServerSurvivesClients(t *testing.T) {
	t.Parallel()
	rounds := 60
	if drawtest.Stressed() {
		rounds = 600
	}
	s := startServer(t)
	p := s.pane("user", "while :; do echo x; sleep 0.01; done")
	pid := s.tmux("display-message", "-p", "#{pid}")
	random := drawtest.Rand(t, 0)
	for round := range rounds {
		c := tmux.New(tmux.Options{SocketPath: s.socket})
		ctx, cancel := context.WithCancel(context.Background())
		var wg sync.WaitGroup
		wg.Go(func() { _ = c.Run(ctx) })
		s.await("connection", func() bool { return c.Status().Connected })
		for range 4 {
			wg.Go(func() {
				for ctx.Err() == nil {
					_, _ = c.Snapshot(ctx, p, sessions.RowWindow{Start: -100})
					_, _, _ = c.Glances(ctx, 0)
				}
			})
		}
		name := "n" + strconv.Itoa(round)
		_ = exec.Command("tmux", "-S", s.socket, "new-session", "-d", "-s", name, "exec cat").Run()
		time.Sleep(time.Duration(random.IntN(20)) * time.Millisecond)
		wg.Go(func() { _ = exec.Command("tmux", "-S", s.socket, "kill-session", "-t", "="+name).Run() })
		time.Sleep(time.Duration(random.IntN(5)) * time.Millisecond)
		cancel()
		wg.Wait()
		if got := s.tmux("display-message", "-p", "#{pid}"); got != pid {
			t.Fatalf("the server crashed in round %d", round)
		}
	}
}
