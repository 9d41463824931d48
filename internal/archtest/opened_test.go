package archtest

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// opened are the files that open something by its name otherwise than internal/regular does, and why
// nobody can have put something there that's waited for.
var opened = map[string]string{
	"adapters/web/internal/gen/main.go": "go generate's program",
	"cmd/chatdemo/main.go":              "a demo's own folder",
	"config/config.go":                  "a configuration may be a pipe, and is waited for by itself",
	"config/internal/gen/main.go":       "go generate's program",
	"internal/agentlab/":                "a laboratory for tests",
	"internal/app/setup.go":             "O_EXCL",
	"internal/statedir/statedir.go":     "O_NONBLOCK, or a folder",
	"internal/cli/doctor_agents.go":     "O_EXCL",
	"internal/demoagent/":               "O_EXCL",
	"internal/diffs/git.go":             "O_EXCL",
	"internal/host/":                    "the kernel's",
	"internal/recording/":               "recordings for tests",
	"internal/regular/":                 "the one way",
	"internal/standin/":                 "stand-ins for tests",
	"internal/store/open.go":            "O_EXCL",
	"qos/redisbucket/note.go":           "a folder, by its name with a / behind it",
	"sessions/tmux/input.go":            "a terminal, with O_NONBLOCK",
	"sessions/tmux/process.go":          "O_DIRECTORY",
}

// Whatever's opened by a name that agents, hooks, chats, the configuration or another user may have had a
// part in is opened in one way, by which nobody waits for a pipe or a device.
func TestFilesAreOpenedInOneWay(t *testing.T) {
	opens := regexp.MustCompile(`\bos\.(Open|OpenFile|ReadFile|WriteFile|Create|DirFS|OpenRoot|OpenInRoot)\(`)
	used := map[string]bool{}
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if err == nil && name != root && skipped(name, d.Name()) {
				return filepath.SkipDir
			}
			return err
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		path, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		path = filepath.ToSlash(path)
		if slices.ContainsFunc(strings.Split(filepath.ToSlash(filepath.Dir(path)), "/"), func(part string) bool { return strings.HasSuffix(part, "test") }) || strings.HasPrefix(path, "cmd/pbbench") {
			return nil // tests' and benchmarks' own
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		for n, line := range strings.Split(string(text), "\n") {
			if !opens.MatchString(line) {
				continue
			}
			known := false
			for prefix := range opened {
				if strings.HasPrefix(path, prefix) {
					used[prefix], known = true, true
				}
			}
			if !known {
				t.Errorf("%s:%d opens a file by its name: use internal/regular, or say here why nobody can wait for it:\n%s", path, n+1, strings.TrimSpace(line))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for prefix := range opened {
		if !used[prefix] {
			t.Errorf("%s opens nothing that way any more: take it out of the table", prefix)
		}
	}
}
