package cli

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// What systemd hears: every state once, and the watchdog's sign of life for as
// long as the API answers.
func TestSystemdHearsHowTheDaemonIs(t *testing.T) {
	dir, err := os.MkdirTemp("", "pb")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	heard, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(dir, "notify"), Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer heard.Close()
	next := func() string {
		t.Helper()
		buf := make([]byte, 1024)
		n, err := heard.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		return string(buf[:n])
	}
	t.Setenv("NOTIFY_SOCKET", filepath.Join(dir, "notify"))
	t.Setenv("WATCHDOG_USEC", "30000")
	t.Setenv("WATCHDOG_PID", "")
	sd := systemd{slog.New(slog.DiscardHandler)}

	sd.waiting()
	if got := next(); got != "EXTEND_TIMEOUT_USEC=120000000" {
		t.Errorf("got %q, want two minutes more", got)
	}
	sd.ready()
	if got := next(); got != "READY=1" {
		t.Errorf("got %q, want READY=1", got)
	}
	sd.reloading()
	if got := next(); !strings.HasPrefix(got, "RELOADING=1\nMONOTONIC_USEC=") {
		t.Errorf("got %q, want RELOADING=1 and the time", got)
	}
	sd.stopping()
	if got := next(); got != "STOPPING=1" {
		t.Errorf("got %q, want STOPPING=1", got)
	}

	socket := filepath.Join(dir, "api")
	l, err := new(net.ListenConfig).Listen(t.Context(), "unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	var hung atomic.Bool
	asked := make(chan struct{}, 1)
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !strings.HasSuffix(r.URL.Path, "/sessions"):
			w.WriteHeader(http.StatusServiceUnavailable) // a part is down, which is no reason
			_, _ = w.Write([]byte("{}"))
		case hung.Load():
			select {
			case asked <- struct{}{}:
			default:
			}
			<-r.Context().Done()
		default:
			_, _ = w.Write([]byte("[]"))
		}
	})}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { _ = server.Serve(l) })
	running.Go(func() { sd.watchdog(ctx, socket) })
	if got := next(); got != "WATCHDOG=1" {
		t.Errorf("got %q, want WATCHDOG=1", got)
	}
	hung.Store(true)
	for range 3 { // what was asked before may be answered yet
		<-asked
	}
	sd.notify("STATUS=hung")
	for got := ""; got != "STATUS=hung"; { // what it said before
		got = next()
	}
	<-asked
	<-asked
	sd.notify("STATUS=still hung")
	if got := next(); got != "STATUS=still hung" {
		t.Errorf("the registry hangs, and systemd hears %q", got)
	}
	cancel()
	_ = server.Close()
	running.Wait()
}
