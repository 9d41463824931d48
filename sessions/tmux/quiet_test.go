package tmux_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/panebridge/panebridge/sessions"
	"github.com/panebridge/panebridge/sessions/tmux"
)

// A client doesn't introduce itself while a script begins sessions in a row, on a server that has just started: tmux may crash
// at that. On a busy machine the script may stand for long enough to look as if it had ended, so that not all have to wait.
func TestAClientWaitsUntilTheServerIsQuiet(t *testing.T) {
	const servers = 6
	var amid atomic.Int64
	t.Cleanup(func() {
		if n := amid.Load(); n > servers/2 {
			t.Errorf("%d of %d clients came while sessions began", n, servers)
		}
	})
	for n := range servers {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			socket := filepath.Join(shortTemp(t), "s")
			up := make(chan time.Time, 9)
			s := &server{t: t, socket: socket}
			s.run(tmux.New(tmux.Options{SocketPath: socket, OnUp: func(sessions.ServerIdentity) { up <- time.Now() }}))
			script := exec.Command("sh", "-c", `end=$(($(date +%s) + 3)); for n in $(seq 10000); do [ $(date +%s) -lt $end ] || break; tmux -S "$0" -f /dev/null new-session -d -s "work-$n" "exec cat" \; kill-session -t "=work-$((n - 1))"; done`, socket)
			t.Cleanup(func() { _ = exec.Command("tmux", "-S", socket, "kill-server").Run() })
			if out, err := script.Output(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			ended := time.Now()
			select {
			case at := <-up:
				if at.Before(ended) {
					amid.Add(1)
				}
			case <-time.After(20 * time.Second):
				t.Error("it doesn't connect")
			}
		})
	}
}

// A client comes to a server that's never quiet, too.
func TestAClientComesToABusyServer(t *testing.T) {
	t.Parallel()
	s := &server{t: t, socket: filepath.Join(shortTemp(t), "s")}
	s.tmux("-f", "/dev/null", "new-session", "-d", "-s", "first", "exec cat")
	t.Cleanup(func() { _ = exec.Command("tmux", "-S", s.socket, "kill-server").Run() })
	script := exec.Command("sh", "-c", `for n in $(seq 100000); do tmux -S "$0" rename-session -t "$(tmux -S "$0" list-sessions -F '#{session_id}' | head -1)" "name-$n" || break; done`, s.socket)
	if err := script.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = script.Process.Kill(); _ = script.Wait() })
	s.connectTo(s.socket)
}
