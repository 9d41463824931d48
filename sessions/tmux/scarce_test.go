package tmux_test

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// Where no terminal is left a session isn't made, that's said in a sentence, and the server and
// all that's in it live on, however many there are.
func TestNoTerminalIsLeft(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("terminals can't be counted apart here")
	}
	for most := 2; most <= 6; most++ {
		s := &server{t: t, socket: filepath.Join(shortTemp(t), "s")}
		script := fmt.Sprintf("mount -t devpts devpts -o newinstance,max=%d,ptmxmode=0666,mode=620 /dev/pts && mount --bind /dev/pts/ptmx /dev/ptmx && exec tmux -S %s -f /dev/null new-session -d -s first 'exec cat'", most, s.socket)
		out, err := exec.Command("unshare", "-m", "sh", "-c", script).CombinedOutput()
		if err != nil {
			out, err = exec.Command("unshare", "-Urm", "sh", "-c", script).CombinedOutput() // a user who isn't root
		}
		if err != nil {
			t.Skipf("this user may not have a /dev/pts of its own: %s", out)
		}
		t.Cleanup(func() { _ = exec.Command("tmux", "-S", s.socket, "kill-server").Run() })
		s.connectTo(s.socket)
		pid := s.tmux("display-message", "-p", "#{pid}")
		made := 0
		for n := range most + 1 {
			id := sessions.ID(fmt.Sprintf("pb_%012d", n))
			info, err := s.client.Create(s.ctx(), id, sessions.PaneRequest{Session: fmt.Sprint("pb_", n), Command: []string{"cat"}, Cwd: "/", Width: 80, Height: 24, HistoryLimit: 100})
			switch {
			case err == nil && info.ID != "":
				made++
				awaitTerminals(t, pid)
				if err := s.client.Respawn(s.ctx(), info.ID, sessions.PaneRequest{Command: []string{"cat"}, Cwd: "/"}); err != nil {
					t.Errorf("respawn: %v", err)
				}
				awaitTerminals(t, pid)
			case !errors.Is(err, sessions.ErrUnavailable) || !strings.Contains(err.Error(), "no pseudo-terminal is left"):
				t.Errorf("%d: it says %v", n, err)
			}
		}
		if want := max(0, most-3); made != want {
			t.Errorf("of %d terminals %d sessions were made, want %d", most, made, want)
		}
		if now := s.tmux("display-message", "-p", "#{pid}"); now != pid || !strings.Contains(s.tmux("list-sessions", "-F", "#{session_name}"), "first") {
			t.Errorf("with %d terminals the server went", most)
		}
	}
}

// awaitTerminals waits until the terminals that a process sees have been as many for a while: what a
// program had that was told to end is free once it has ended.
func awaitTerminals(t *testing.T, pid string) {
	t.Helper()
	for last, same := -1, 0; same < 30; time.Sleep(10 * time.Millisecond) {
		all, err := filepath.Glob(filepath.Join("/proc", pid, "root/dev/pts/[0-9]*"))
		if err != nil || len(all) == 0 {
			t.Fatalf("the terminals of process %s can't be seen: %v", pid, err)
		}
		if same++; len(all) != last {
			last, same = len(all), 0
		}
	}
}
