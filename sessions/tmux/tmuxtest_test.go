package tmux_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/sessions/tmux"
)

// server is a tmux server of the test's own with a connected client.
type server struct {
	t      *testing.T
	socket string
	client *tmux.Client
}

func startServer(t *testing.T) *server {
	t.Helper()
	s := &server{t: t, socket: filepath.Join(shortTemp(t), "s")}
	s.tmux("-f", "/dev/null", "new-session", "-d", "-s", "first", "-x", "80", "-y", "24", "exec cat")
	own := s.socket // a test may go on to another's
	t.Cleanup(func() { _ = exec.Command("tmux", "-S", own, "kill-server").Run() })
	s.connectTo(s.socket)
	return s
}

// connectTo has the client be one of that socket's server.
func (s *server) connectTo(socket string) {
	s.t.Helper()
	s.run(tmux.New(tmux.Options{SocketPath: socket}))
	s.await("connection", func() bool { return s.client.Status().Connected })
}

// run runs the client for as long as the test.
func (s *server) run(c *tmux.Client) {
	s.client = c
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); _ = c.Run(ctx) }()
	s.t.Cleanup(func() { cancel(); <-done })
}

// shortTemp is a temporary folder with a path short enough for a socket.
func shortTemp(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "pb")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func (s *server) command(args ...string) *exec.Cmd {
	return exec.Command("tmux", append([]string{"-u", "-S", s.socket}, args...)...)
}

func (s *server) tmux(args ...string) string {
	s.t.Helper()
	out, err := s.command(args...).CombinedOutput()
	if err != nil {
		s.t.Fatalf("tmux %v: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// pane makes a session and returns its pane.
func (s *server) pane(name, command string, opts ...string) string {
	s.t.Helper()
	args := append([]string{"new-session", "-d", "-s", name, "-P", "-F", "#{pane_id}"}, opts...)
	return s.tmux(append(args, command)...)
}

// await waits until what is asked for has come about; only a hung test ends it.
func (s *server) await(what string, ok func() bool) {
	s.t.Helper()
	end := time.Now().Add(time.Minute)
	for !ok() {
		if time.Now().After(end) {
			s.t.Fatalf("no %s within a minute", what)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func (s *server) ctx() context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	s.t.Cleanup(cancel)
	return ctx
}
