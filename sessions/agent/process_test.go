package agent

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// What sleeps, or waits for what sleeps, waits for nobody at its terminal; what reads, or
// may, does.
func TestProgramsThatRestAskNothing(t *testing.T) {
	if _, err := os.Stat("/proc/self/wchan"); err != nil {
		t.Skip("this system doesn't tell what processes wait for")
	}
	p := NewProcesses()
	for script, want := range map[string]bool{
		"sleep 1000":                  true,
		"sh -c 'sleep 1000; :'":       true,
		"sleep 1000 | sleep 1000":     true,
		"cat":                         false,
		"sh -c 'cat; :'":              false,
		"sleep 1000 | cat /dev/tty":   false,
		"read -r x":                   false,
		"tail -f /dev/null":           true,
		"while :; do :; done":         false,
		"sh -c 'sleep 1000 & read x'": false,
	} {
		t.Run(script, func(t *testing.T) {
			socket := filepath.Join(t.TempDir(), "tmux")
			tmux := func(args ...string) string {
				t.Helper()
				out, err := exec.CommandContext(t.Context(), "tmux", append([]string{"-f", "/dev/null", "-S", socket}, args...)...).Output()
				if err != nil {
					t.Fatalf("tmux %v: %v", args, err)
				}
				return string(out)
			}
			tmux("new-session", "-d", "sh", "-c", script)
			t.Cleanup(func() { _ = exec.Command("tmux", "-S", socket, "kill-server").Run() })
			pid, err := strconv.Atoi(strings.TrimSpace(tmux("display-message", "-p", "#{pane_pid}")))
			if err != nil {
				t.Fatal(err)
			}
			got := !want
			for end := time.Now().Add(10 * time.Second); got != want && time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
				got = p.Rest(pid)
			}
			time.Sleep(listEvery + 50*time.Millisecond) // and it stays so
			again := p.Rest(pid)
			for n := 0; want && !again && n < 20; n++ { // tail looks at its file each second, and has to wait for a processor then
				time.Sleep(50 * time.Millisecond)
				again = p.Rest(pid)
			}
			if got != want || again != want {
				t.Errorf("it rests: %t, then %t; want %t", got, again, want)
			}
		})
	}
}
