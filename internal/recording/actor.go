package recording

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Actor is what a test binary does instead of its tests, in the pane of a test: it plays
// an agent's program.
type Actor interface{ Act() error }

// ActorLine is a command line for sh that has the test binary exe be an actor, which is
// handed over as JSON in an environment variable. The binary must call ActorMain first
// thing in TestMain. With a home folder, that's its HOME, and the process is named like
// the agent's; "": neither.
func ActorLine(exe, variable string, a Actor, home, agent string) (string, error) {
	b, err := json.Marshal(a)
	if err != nil {
		return "", fmt.Errorf("play: %w", err)
	}
	line := variable + "=" + quote(string(b)) + " exec "
	if home == "" {
		return line + quote(exe), nil
	}
	bin := filepath.Join(home, ".bin", agent)
	if err := os.MkdirAll(filepath.Dir(bin), 0o700); err != nil {
		return "", fmt.Errorf("play: %w", err)
	}
	if err := os.Symlink(exe, bin); err != nil && !os.IsExist(err) {
		return "", fmt.Errorf("play: %w", err)
	}
	return "HOME=" + quote(home) + " " + line + quote(bin), nil
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// ActorMain is for the TestMain of a package with actors: a process that was started to
// be one is, and ends.
func ActorMain[A Actor](variable string) {
	text := os.Getenv(variable)
	if text == "" {
		return
	}
	var a A
	err := json.Unmarshal([]byte(text), &a)
	if err == nil {
		_ = os.Unsetenv(variable)
		err = a.Act()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1) //nolint:revive // it isn't a test's process
	}
	os.Exit(0) //nolint:revive // it isn't a test's process
}
