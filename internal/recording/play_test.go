package recording_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/internal/recording"
)

func TestMain(m *testing.M) {
	recording.Main()
	os.Exit(m.Run())
}

// Played in a pane, a recording leaves the history, the transcript and the hook
// calls that the program left.
func TestPlay(t *testing.T) {
	const name = "claude/permhook-100x30"
	r, err := recording.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "pb") // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	home, calls, done := filepath.Join(dir, "home"), filepath.Join(dir, "calls"), filepath.Join(dir, "done")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	command, err := recording.Play{
		Name: name, Speed: 20, Home: home, Cwd: dir, Done: done,
		Hook: "sh -c 'cat >>" + calls + "; echo \"=$1\" >>" + calls + "' sh",
	}.Command(self)
	if err != nil {
		t.Fatal(err)
	}
	tmux := func(args ...string) string {
		t.Helper()
		out, err := exec.CommandContext(t.Context(), "tmux", append([]string{"-u", "-S", filepath.Join(dir, "s"), "-f", "/dev/null"}, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("tmux %v: %v: %s", args, err, out)
		}
		return string(out)
	}
	tmux("new-session", "-d", "-s", "keep", "exec cat")
	t.Cleanup(func() { _ = exec.Command("tmux", "-S", filepath.Join(dir, "s"), "kill-server").Run() }) // the test's context has ended
	tmux("set-option", "-g", "status", "off")
	tmux("set-option", "-g", "default-terminal", "tmux-256color")
	tmux("new-session", "-d", "-s", "work", "-x", "100", "-y", "30", command)
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		b, _ := os.ReadFile(calls)
		if _, err := os.Stat(done); err == nil && strings.Contains(string(b), "=PermissionRequest.answered") {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("not played within a minute; calls: %s\nscreen:\n%s", b, tmux("capture-pane", "-p", "-t", "=work:"))
		}
	}
	want, err := r.File("final_history.txt")
	if err != nil {
		t.Fatal(err)
	}
	if got := tmux("capture-pane", "-p", "-S", "-", "-t", "=work:"); trimRows(got) != trimRows(string(want)) {
		t.Errorf("history:\n%s\nwant:\n%s", got, want)
	}
	if got := strings.TrimSpace(tmux("display-message", "-p", "-t", "=work:", "#{pane_current_command}")); got != "claude" {
		t.Errorf("the program is called %q, want claude", got)
	}
	files, err := filepath.Glob(filepath.Join(home, ".claude/projects/*/*.jsonl"))
	if err != nil || len(files) != 1 {
		t.Fatalf("transcripts %v, %v", files, err)
	}
	if folder := filepath.Base(filepath.Dir(files[0])); folder != strings.ReplaceAll(dir, "/", "-") {
		t.Errorf("transcript in folder %s", folder)
	}
	b, err := os.ReadFile(calls)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(b), files[0]) {
		t.Errorf("no hook names the transcript %s:\n%s", files[0], b)
	}
}
