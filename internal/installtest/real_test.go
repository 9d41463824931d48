package installtest_test

import (
	"context"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// distVar names a folder with a release, which TestReleased installs in place of what it builds.
const distVar = "PANEBRIDGE_DIST"

// built serves a release of the program as it's in the checkout.
func built(t *testing.T) string {
	t.Helper()
	at := filepath.Join(t.TempDir(), "panebridge")
	build := exec.CommandContext(t.Context(), "go", "build", "-buildvcs=false", "-ldflags", "-s -w -X main.version=v1.0.0", "-o", at, "../../cmd/panebridge")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if said, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	text, err := os.ReadFile(at)
	if err != nil {
		t.Fatal(err)
	}
	files := contents("v1.0.0")
	files["panebridge"] = entry{text: string(text), mode: 0o755}
	return publish(t, "v1.0.0", files).url
}

// The program itself is installed, runs as a daemon while it's installed anew, and is removed when that has ended.
func TestReleased(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program")
	}
	var url string
	if dist := os.Getenv(distVar); dist != "" {
		server := httptest.NewServer(http.FileServer(http.Dir(dist)))
		t.Cleanup(server.Close)
		url = server.URL
	} else {
		url = built(t)
	}
	m := newMachine(t, "curl", "sha256sum", "tmux")
	before := m.files()
	if said := m.installed("--base-url", url); strings.Contains(said, "tmux is missing") {
		t.Errorf("it misses tmux:\n%s", said)
	}
	if said := m.program(); !strings.HasPrefix(said, "panebridge v") {
		t.Errorf("it's %s", said)
	}

	// A socket's path has about 100 bytes.
	state, err := os.MkdirTemp("", "pb")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(state) })
	m.env = []string{"PANEBRIDGE_STATE_DIR=" + state, "TMUX_TMPDIR=" + state}
	config := filepath.Join(state, "config.yaml")
	if err := os.WriteFile(config, []byte("adapters:\n  web:\n    listen: 127.0.0.1:0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	daemon := exec.CommandContext(t.Context(), filepath.Join(m.home, ".local/bin/panebridge"), "run", "--config", config)
	daemon.Env = append([]string{"PATH=" + m.path, "HOME=" + m.home}, m.env...)
	var said strings.Builder
	daemon.Stderr = &said
	if err := daemon.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- daemon.Wait() }()
	running := func() bool {
		cmd := exec.CommandContext(t.Context(), filepath.Join(m.home, ".local/bin/panebridge"), "status")
		cmd.Env = daemon.Env
		return cmd.Run() == nil
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for !running() {
		select {
		case err := <-ended:
			t.Fatalf("the daemon ended: %v\n%s", err, said.String())
		case <-ctx.Done():
			t.Fatal("the daemon doesn't answer")
		case <-time.After(50 * time.Millisecond):
		}
	}
	if said := m.installed("--base-url", url); !strings.Contains(said, "a daemon is running") {
		t.Errorf("it doesn't see the daemon:\n%s", said)
	}
	if !running() {
		t.Error("the daemon is gone after its program was replaced")
	}
	if said, code := m.run("--uninstall"); code != 1 || !strings.Contains(said, "stop it first") {
		t.Errorf("it ended with %d beside the daemon:\n%s", code, said)
	}
	if err := daemon.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Errorf("the daemon ended with %v:\n%s", err, said.String())
	}
	m.installed("--uninstall")
	if left := m.files(); !maps.Equal(left, before) {
		t.Errorf("it left %v", left)
	}
}

// Whenever it's killed, the program is the old one or the new one, and the next run does the rest.
func TestKilledAtAnyMoment(t *testing.T) {
	first, second := publish(t, "v1.0.0", contents("v1.0.0")), publish(t, "v2.0.0", contents("v2.0.0"))
	m := newMachine(t, "curl", "sha256sum")
	m.installed("--base-url", first.url)
	began := time.Now()
	m.installed("--base-url", first.url)
	whole := time.Since(began)
	const times = 12
	for i := range times {
		ctx, cancel := context.WithTimeout(t.Context(), whole*time.Duration(i+1)/times)
		cmd := m.command("--base-url", second.url)
		killed := exec.CommandContext(ctx, cmd.Path, cmd.Args[1:]...)
		killed.Env, killed.SysProcAttr = cmd.Env, &syscall.SysProcAttr{Setpgid: true}
		killed.Cancel = func() error { return syscall.Kill(-killed.Process.Pid, syscall.SIGKILL) }
		_ = killed.Run()
		cancel()
		if said := m.program(); !strings.Contains(said, "v1.0.0") && !strings.Contains(said, "v2.0.0") {
			t.Errorf("killed after %d of %d parts, the program is %q", i+1, times, said)
		}
	}
	m.installed("--base-url", second.url)
	m.installed("--uninstall")
	if left := m.files(); len(left) > 0 {
		t.Errorf("it left %v", left)
	}
}
