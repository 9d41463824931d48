package tmux_test

import (
	"context"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/panebridge/panebridge/sessions"
	"github.com/panebridge/panebridge/sessions/tmux"
)

// serveStarter runs a Starter until the function it returns is called.
func serveStarter(t *testing.T, socket string) (stop func()) {
	t.Helper()
	l, err := tmux.ListenStarter(t.Context(), socket)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- tmux.Starter{Log: slog.New(slog.DiscardHandler)}.Serve(ctx, l) }()
	return func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// A server that's wanted is started by the starter, with the environment of who wants it, and goes on without it. Who
// says nonsense, or nothing, is no hindrance. Without a starter no server is started in its stead.
func TestAStarterStartsServers(t *testing.T) {
	dir := shortTemp(t)
	socket, starter := filepath.Join(dir, "s"), filepath.Join(dir, "starter")
	t.Cleanup(func() { _ = exec.Command("tmux", "-S", socket, "kill-server").Run() })
	s := &server{t: t, socket: socket}
	s.run(tmux.New(tmux.Options{SocketPath: socket, ConfigFile: "/dev/null", Starter: starter, Environment: []string{"PATH=" + os.Getenv("PATH"), "MARK=it's mine"}}))
	want := sessions.PaneRequest{Session: "work", Command: []string{"sh", "-c", "echo [$MARK]; exec cat"}, Width: 80, Height: 24, HistoryLimit: 100}
	if _, err := s.client.Create(s.ctx(), sessions.NewID(), want); err == nil || !strings.Contains(err.Error(), "service status") {
		t.Errorf("without a starter it's %v, want a word on the service", err)
	}
	if exec.Command("tmux", "-S", socket, "list-sessions").Run() == nil {
		t.Error("a server was started without the starter")
	}

	stop := serveStarter(t, starter)
	for _, nonsense := range []string{"", "{", "[]\n", "{\"SocketPath\":7}\n"} {
		conn, err := net.Dial("unix", starter)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = conn.Write([]byte(nonsense))
		_ = conn.Close()
	}
	if _, err := s.client.Create(s.ctx(), sessions.NewID(), want); err != nil {
		t.Fatal(err)
	}
	stop()
	s.await("output with the variable", func() bool { return strings.Contains(s.tmux("capture-pane", "-p", "-t", "=work:"), "[it's mine]") })
}

// A socket that a killed starter left is taken over, one that somebody listens on isn't, and neither is anything else.
func TestAStartersSocketIsItsOwn(t *testing.T) {
	dir := shortTemp(t)
	socket := filepath.Join(dir, "starter")
	l, err := new(net.ListenConfig).Listen(t.Context(), "unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tmux.ListenStarter(t.Context(), socket); err == nil {
		t.Error("it took the socket of another that serves")
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	_ = l.Close()
	serveStarter(t, socket)()
	if err := os.WriteFile(socket, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := tmux.ListenStarter(t.Context(), socket); err == nil {
		t.Error("it took the place of a file")
	}
	if err := os.Chmod(dir, 0o711); err != nil {
		t.Fatal(err)
	}
	if _, err := tmux.ListenStarter(t.Context(), filepath.Join(dir, "another")); err == nil {
		t.Error("it listens where others may come")
	}
}
