package agent_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/panebridge/panebridge/sessions/agent"
)

func TestShellsAreIntegrated(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "shell")
	if _, err := agent.NewShellIntegration(folder); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "bash.sh"), []byte("of an older version"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := agent.NewShellIntegration(folder)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(folder, "bash.sh")); err != nil || len(text) < 100 {
		t.Errorf("bash.sh is %q, %v", text, err)
	}
	getenv := func(string) (string, bool) { return "/home/ada/zsh", true }
	for _, c := range []struct{ command, want, env []string }{
		{[]string{"/bin/bash"}, []string{"/bin/bash", "--rcfile", folder + "/bash.sh"}, nil},
		{[]string{"zsh"}, []string{"zsh"}, []string{"ZDOTDIR=" + folder + "/zsh", "PANEBRIDGE_ZDOTDIR=/home/ada/zsh"}},
		{[]string{"fish"}, []string{"fish", "--init-command", "source '" + folder + "/fish.fish'"}, nil},
		{[]string{"bash", "-c", "x"}, []string{"bash", "-c", "x"}, nil},
		{[]string{"claude"}, []string{"claude"}, nil},
	} {
		got, env := s.Integrate(c.command, getenv)
		if !slices.Equal(got, c.want) || !slices.Equal(env, c.env) {
			t.Errorf("%q: %q, %q", c.command, got, env)
		}
	}
}
