package tmux_test

import (
	"os/exec"
	"path/filepath"
	"testing"
)

// The login shell of the tmux server's user may let nobody in, as nologin does: the
// client's own session needs none.
func TestServerWhoseShellLetsNobodyIn(t *testing.T) {
	t.Parallel()
	s := &server{t: t, socket: filepath.Join(shortTemp(t), "s")}
	cmd := s.command("-f", "/dev/null", "new-session", "-d", "-s", "first", "cat", "-")
	cmd.Env = append(cmd.Environ(), "SHELL=/bin/false")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	t.Cleanup(func() { _ = exec.Command("tmux", "-S", s.socket, "kill-server").Run() })
	s.connectTo(s.socket)
}
