package agent_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/panebridge/panebridge/sessions/agent"
)

// What shells run at their start is this user's alone: what leads elsewhere, is another's or can be
// written by others is refused, on each level, and nothing that it leads to is changed.
func TestWhatShellsRunIsOnesOwn(t *testing.T) {
	for what, spoil := range map[string]func(shell, elsewhere string) error{
		"shell: it isn't a folder": func(shell, elsewhere string) error {
			return errors.Join(os.RemoveAll(shell), os.Symlink(elsewhere, shell))
		},
		"zsh: it isn't a folder": func(shell, elsewhere string) error {
			return errors.Join(os.RemoveAll(shell+"/zsh"), os.Symlink(elsewhere, shell+"/zsh"))
		},
		"others can write to DIR/zsh":      func(shell, _ string) error { return os.Chmod(shell+"/zsh", 0o777) },
		"DIR/zsh belongs to user 1234":     func(shell, _ string) error { return os.Chown(shell+"/zsh", 1234, -1) },
		"DIR/bash.sh belongs to user 1234": func(shell, _ string) error { return os.Chown(shell+"/bash.sh", 1234, -1) },
		"others can write to DIR/bash.sh":  func(shell, _ string) error { return os.Chmod(shell+"/bash.sh", 0o666) },
		"bash.sh is a link": func(shell, elsewhere string) error {
			return errors.Join(os.Remove(shell+"/bash.sh"), os.Symlink(elsewhere+"/file", shell+"/bash.sh"))
		},
		"DIR/zsh/.zshenv is a link": func(shell, elsewhere string) error {
			return errors.Join(os.Remove(shell+"/zsh/.zshenv"), os.Symlink(elsewhere+"/file", shell+"/zsh/.zshenv"))
		},
		"DIR/zsh/.zshenv has another name": func(shell, elsewhere string) error {
			return errors.Join(os.Remove(shell+"/zsh/.zshenv"), os.Link(elsewhere+"/file", shell+"/zsh/.zshenv"))
		},
		"not a regular file": func(shell, _ string) error {
			return errors.Join(os.Remove(shell+"/fish.fish"), unix.Mkfifo(shell+"/fish.fish", 0o600))
		},
		"": func(shell, elsewhere string) error { // what was left half-written
			return errors.Join(os.Remove(shell+"/bash.sh"), os.Symlink(elsewhere+"/file", shell+"/bash.sh.new"))
		},
	} {
		if strings.Contains(what, "belongs") && os.Geteuid() != 0 {
			continue // only root can give files away
		}
		shell, elsewhere := filepath.Join(t.TempDir(), "shell"), t.TempDir()
		if err := os.WriteFile(filepath.Join(elsewhere, "file"), []byte("mine"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := agent.NewShellIntegration(shell); err != nil {
			t.Fatal(err)
		}
		if err := spoil(shell, elsewhere); err != nil {
			t.Fatal(err)
		}
		_, err := agent.NewShellIntegration(shell)
		if (err == nil) != (what == "") || err != nil && !strings.Contains(err.Error(), strings.ReplaceAll(what, "DIR", shell)) {
			t.Errorf("%s: %v", what, err)
		}
		there, _ := os.ReadDir(elsewhere)
		if text, err := os.ReadFile(filepath.Join(elsewhere, "file")); len(there) != 1 || string(text) != "mine" {
			t.Errorf("%s: elsewhere is %v, with %q, %v", what, there, text, err)
		}
	}
}
