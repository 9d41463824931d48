package app_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/api/client"
)

// said is what a process has printed.
type said struct {
	mu   sync.Mutex
	text strings.Builder
}

func (s *said) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(b)
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// A daemon that runs out of file descriptors says so once, goes on with what's open, answers who asks how it
// is, and takes connections as before once there are some again.
func TestADaemonWithoutDescriptorsGoesOn(t *testing.T) {
	slow(t)
	dir := shortTemp(t)
	state, file := filepath.Join(dir, "state"), filepath.Join(dir, "config.yaml")
	if err := os.WriteFile(file, fmt.Appendf(nil, "tmux: {servers: [{socket_path: %q}]}\nadapters: {web: {listen: '127.0.0.1:0'}}\n", filepath.Join(dir, "tmux")), 0o600); err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var log said
	daemon := exec.Command("sh", "-c", `ulimit -n 200 && exec "$0" "$@"`, exe, "run", "--config", file, "--state-dir", state)
	daemon.Env, daemon.Stderr = append(os.Environ(), playedCLI+"=1"), &log
	if err := daemon.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = daemon.Process.Kill(); endTmux(filepath.Join(dir, "tmux")) })
	socket := filepath.Join(state, "panebridge.sock")
	beBusy(t, socket)
	d := &daemonOf{T: t, api: client.New(socket)}
	page, err := d.api.Page(t.Context())
	if err != nil {
		t.Fatal(err)
	}

	streams, end := context.WithCancel(t.Context())
	defer end()
	refused := d.openStreams(streams, socket, 300)
	if refused == "" {
		t.Error("300 streams are open with 200 descriptors")
	} else if !strings.Contains(refused, "no file descriptor is left") {
		t.Errorf("a stream is refused with %s", refused)
	}
	before := d.lines()
	for range 5 {
		cmd := exec.CommandContext(t.Context(), exe, "status", "--config", file, "--state-dir", state)
		cmd.Env = daemon.Env
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "file descriptors") || !strings.Contains(string(out), "busy") {
			t.Errorf("status: %v\n%s", err, out)
		}
		resp, err := (&http.Client{Timeout: time.Minute, Transport: &http.Transport{DisableKeepAlives: true}}).Get(page.URL)
		if err != nil {
			t.Errorf("the page: %v", err)
			continue
		}
		_ = resp.Body.Close()
	}
	d.await("more lines", func() bool { return d.lines() > before })
	if n := strings.Count(log.String(), "no file descriptor is left"); n != 1 {
		t.Errorf("it's logged %d times:\n%s", n, log.String())
	}
	end()
	d.await("good health", func() bool {
		h, err := d.api.Health(t.Context())
		return err == nil && h.State == api.HealthOK
	})
	again, endAgain := context.WithCancel(t.Context())
	defer endAgain()
	if refused := d.openStreams(again, socket, 10); refused != "" {
		t.Errorf("a stream is refused afterwards: %s", refused)
	}
	if n := strings.Count(log.String(), "there are file descriptors again"); n != 1 {
		t.Errorf("that there are some again is logged %d times:\n%s", n, log.String())
	}
	if err := daemon.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := daemon.Wait(); err != nil {
		t.Errorf("it ended with %v\n%s", err, log.String())
	}
}

// daemonOf is a daemon in a process of its own.
type daemonOf struct {
	*testing.T
	api *client.Client
}

func (d *daemonOf) await(what string, ok func() bool) {
	d.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			h, err := d.api.Health(context.Background())
			d.Fatalf("no %s within two minutes: %+v, %v", what, h, err)
		}
	}
}

// lines is how many lines the session has.
func (d *daemonOf) lines() int64 {
	d.Helper()
	s, err := d.api.Session(d.Context(), "busy")
	if err != nil {
		d.Fatal(err)
	}
	return s.Lines
}

// openStreams opens so many event streams, or as many as it may, and says how one was refused.
func (d *daemonOf) openStreams(ctx context.Context, socket string, most int) (refused string) {
	d.Helper()
	for range most {
		c := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", socket)
		}}}
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://panebridge/api/v1/events", nil)
		if err != nil {
			d.Fatal(err)
		}
		resp, err := c.Do(r)
		if err != nil {
			d.Fatal(err)
		}
		if resp.StatusCode != http.StatusOK {
			text := make([]byte, 1000)
			n, _ := resp.Body.Read(text)
			_ = resp.Body.Close()
			return fmt.Sprintf("%d: %s", resp.StatusCode, text[:n])
		}
	}
	return ""
}
