package archtest

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// asksItself are the files beside internal/host that read /proc or are of one system, and why.
var asksItself = map[string]string{
	"cmd/pbbench/proc.go":                   "measures, on Linux",
	"internal/agentlab/hold_linux.go":       "a laboratory in a namespace of Linux",
	"internal/agentlab/hold_other.go":       "says that there's none",
	"internal/store/index_lock_linux.go":    "locks of open files, which is nothing that's asked",
	"internal/store/index_lock_other.go":    "says that there are none",
	"internal/ttywatch/watch_linux.go":      "waits, where internal/host asks",
	"internal/ttywatch/watch_other.go":      "says that it can't wait",
	"internal/ttywatch/watch_linux_test.go": "its test",
}

// onLinuxOnly are the tests that look into /proc themselves: they compile elsewhere, and fail or are
// left out there. docs/platforms.md names them.
var onLinuxOnly = map[string]string{
	"internal/api/door_test.go":              "starts itself as another user",
	"internal/app/asks_line_test.go":         "the kernel says what a process sleeps in",
	"internal/app/environment_test.go":       "reads what programs were begun with",
	"internal/app/live_hook_test.go":         "with real agents",
	"internal/app/live_requests_test.go":     "with real agents",
	"internal/app/live_state_test.go":        "with real agents",
	"internal/app/push_test.go":              "the kernel says what a process sleeps in",
	"internal/app/reads_test.go":             "the kernel says what a process sleeps in",
	"internal/app/showing_kill_test.go":      "finds a command by its arguments",
	"internal/cli/service_real_test.go":      "a real systemd",
	"internal/cli/service_sandbox_test.go":   "a real systemd",
	"internal/store/open_test.go":            "counts its own descriptors",
	"internal/voice/transcriber_test.go":     "looks whether a program has ended",
	"sessions/agent/observer_text_test.go":   "its own start",
	"sessions/agent/process_test.go":         "the kernel says what a process sleeps in",
	"sessions/agent/within_internal_test.go": "who has a socket",
	"sessions/agent/within_test.go":          "who has a socket",
	"sessions/tmux/input_test.go":            "what a program makes of signals",
	"sessions/tmux/scarce_test.go":           "a container's terminals",
}

// Whatever differs between systems is asked by one package, so that one package is written anew for
// another system.
func TestOnePackageAsksTheSystem(t *testing.T) {
	ofSystem := regexp.MustCompile(`_(linux|darwin|freebsd|bsd|unix|other)(_test)?\.go$`)
	used := map[string]bool{}
	document, err := os.ReadFile(filepath.Join(root, "docs", "platforms.md"))
	if err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if err == nil && name != root && skipped(name, d.Name()) {
				return filepath.SkipDir
			}
			return err
		}
		path, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		path = filepath.ToSlash(path)
		if !strings.HasSuffix(path, ".go") || strings.HasPrefix(path, "internal/host/") || strings.HasPrefix(path, "internal/archtest/") {
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		named := strings.Contains(string(text), `"/proc`) || strings.Contains(string(text), "/proc/")
		if !named && !ofSystem.MatchString(path) {
			return nil
		}
		used[path] = true
		switch {
		case asksItself[path] != "":
		case !strings.HasSuffix(path, "_test.go"):
			t.Errorf("%s reads /proc, or is of one system: ask internal/host, or say here why not", path)
		case onLinuxOnly[path] == "":
			t.Errorf("%s reads /proc: ask internal/host, or name it here and in docs/platforms.md", path)
		case !strings.Contains(string(document), "`"+path+"`"):
			t.Errorf("docs/platforms.md doesn't name %s", path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range []map[string]string{asksItself, onLinuxOnly} {
		for path := range table {
			if !used[path] {
				t.Errorf("%s asks no system any more: take it out of the table", path)
			}
		}
	}
}
