package tmux_test

import (
	"context"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/panebridge/panebridge/sessions"
	"github.com/panebridge/panebridge/sessions/tmux"
)

func TestAServerGetsWhatALoginHasAndWhatIsNamed(t *testing.T) {
	got := tmux.LoginEnvironment([]string{
		"HOME=/home/ada", "PATH=/bin", "LC_TIME=C", "XDG_RUNTIME_DIR=/run/user/1", "NODE_OPTIONS=-x", "TELEGRAM_TOKEN=1:a", "GOPATH=/go", "TMUX=/tmp/x,1,0", "TMUX_PANE=%1",
		"HTTPS_PROXY=http://10.0.0.1:8080", "https_proxy=http://me@10.0.0.1:8080", "no_proxy=localhost", "HTTP_PROXY=http://me:pw@10.0.0.1:8080", "ALL_PROXY=http://me:p w@10.0.0.1", "INVOCATION_ID=1", "LCX=1",
	}, []string{"GOPATH"})
	want := []string{
		"HOME=/home/ada", "PATH=/bin", "LC_TIME=C", "XDG_RUNTIME_DIR=/run/user/1", "GOPATH=/go",
		"HTTPS_PROXY=http://10.0.0.1:8080", "https_proxy=http://me@10.0.0.1:8080", "no_proxy=localhost",
	}
	if !slices.Equal(got, want) {
		t.Errorf("it gets %q,\nwant %q", got, want)
	}
	if got := tmux.LoginEnvironment([]string{"HTTP_PROXY=http://me:pw@10.0.0.1:8080"}, []string{"HTTP_PROXY"}); len(got) != 1 {
		t.Errorf("a proxy with a password that's named isn't passed")
	}
}

// A session that's made, or whose program is started anew, on a server that has secrets
// gets none of them, whatever they're called and whatever stands around them; other
// sessions and the server stay as they are.
func TestSessionsGetNoSecretsOfTheirServer(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	for name, value := range map[string]string{
		"PLAIN": "planted", "AROUND": "x planted y", "LINES": "a\nplanted\"; export B;\nC=\"d", "QUOTED": `"$(planted)\`, "ODD%%": "planted", "-f": "planted", "C": "stays", "LAST": "stays, too",
	} {
		s.tmux("set-environment", "-g", "--", name, value)
	}
	before := s.tmux("show-environment", "-g")
	s.client = tmux.New(tmux.Options{SocketPath: s.socket, Secret: func(v string) bool { return strings.Contains(v, "planted") }})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); _ = s.client.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	s.await("connection", func() bool { return s.client.Status().Connected })

	names, err := s.client.SecretVariables(s.ctx())
	slices.Sort(names)
	if want := []string{"-f", "AROUND", "LINES", "ODD%%", "PLAIN", "QUOTED"}; err != nil || !slices.Equal(names, want) {
		t.Fatalf("variables with secrets are %q, %v; want %q", names, err, want)
	}
	shows := func(n string) []string { return []string{"sh", "-c", "env; echo shown " + n + "; exec cat"} }
	made, err := s.client.Create(s.ctx(), sessions.NewID(), sessions.PaneRequest{Session: "ours", Width: 200, Height: 50, HistoryLimit: 1000, Cwd: t.TempDir(), Env: []string{"OWN=planted by the agent's configuration"}, Command: shows("once")})
	if err != nil {
		t.Fatal(err)
	}
	look := func(what string) {
		t.Helper()
		s.await(what, func() bool { return strings.Contains(s.tmux("capture-pane", "-p", "-t", made.ID), "shown "+what) })
		text := s.tmux("capture-pane", "-p", "-J", "-S", "-", "-t", made.ID)
		if strings.Count(text, "planted") != strings.Count(text, "OWN=planted by") || !strings.Contains(text, "LAST=stays, too") || !strings.Contains(text, "OWN=planted by") {
			t.Errorf("%s it has:\n%s", what, text)
		}
	}
	look("once")
	if err := s.client.Respawn(s.ctx(), made.ID, sessions.PaneRequest{Cwd: t.TempDir(), Env: []string{"OWN=planted by the agent's configuration"}, Command: shows("again")}); err != nil {
		t.Fatal(err)
	}
	look("again")
	if after := s.tmux("show-environment", "-g"); after != before {
		t.Errorf("the server's environment isn't as it was:\n%s", after)
	}
	if theirs := s.tmux("show-environment", "-t", "=first"); strings.Contains(theirs, "PLAIN") {
		t.Errorf("another session's environment isn't as it was:\n%s", theirs)
	}
}

// A server that a client starts has what it's given, without secrets.
func TestAServerIsStartedWithoutSecrets(t *testing.T) {
	s := &server{t: t, socket: filepath.Join(shortTemp(t), "s")}
	t.Cleanup(func() { _ = exec.CommandContext(context.Background(), "tmux", "-S", s.socket, "kill-server").Run() })
	t.Setenv("TMUX_SECRET_OF_THE_TEST", "planted")
	s.client = tmux.New(tmux.Options{
		SocketPath: s.socket, ConfigFile: "/dev/null", Environment: []string{"PATH=/usr/local/bin:/usr/bin:/bin", "NAMED=yes", "XDG_CACHE_HOME=/x/planted"},
		Secret: func(v string) bool { return strings.Contains(v, "planted") },
	})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); _ = s.client.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	s.await("no server", func() bool { return s.client.Gone() })
	if _, err := s.client.Create(s.ctx(), sessions.NewID(), sessions.PaneRequest{Session: "ours", Width: 80, Height: 24, HistoryLimit: 1000, Command: []string{"cat"}}); err != nil {
		t.Fatal(err)
	}
	if text := s.tmux("show-environment", "-g"); strings.Contains(text, "planted") || !strings.Contains(text, "NAMED=yes") {
		t.Errorf("the server has:\n%s", text)
	}
}
