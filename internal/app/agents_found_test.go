package app

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/panebridge/panebridge/sessions/agent"
)

// Agents are programs of known names in the first folder of PATH that has one: files that can be
// run, also through links.
func TestAgentsAreFoundInPath(t *testing.T) {
	first, second := t.TempDir(), t.TempDir()
	put := func(file string, mode os.FileMode) {
		t.Helper()
		if err := os.WriteFile(file, []byte("#!/bin/sh\n"), mode); err != nil {
			t.Fatal(err)
		}
	}
	put(filepath.Join(first, "codex"), 0o600) // nobody can run it
	put(filepath.Join(second, "codex"), 0o700)
	put(filepath.Join(first, "pi"), 0o700)
	put(filepath.Join(second, "pi"), 0o700)
	put(filepath.Join(second, "other"), 0o700)
	if err := os.Symlink(filepath.Join(second, "other"), filepath.Join(second, "claude")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(second, "missing"), filepath.Join(second, "gemini")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(first, "qwen"), 0o700); err != nil {
		t.Fatal(err)
	}
	profiles, err := agent.LoadSet()
	if err != nil {
		t.Fatal(err)
	}
	got := FindAgents(first+"::.:"+second+":"+first+":/nowhere", profiles)
	if want := []string{"claude", "codex", "gemini", "opencode", "pi", "qwen"}; !slices.Equal(got.Names, want) {
		t.Errorf("looked for %q, want %q", got.Names, want)
	}
	if want := []string{first, second, "/nowhere"}; !slices.Equal(got.Folders, want) {
		t.Errorf("looked in %q, want %q", got.Folders, want)
	}
	want := map[string]string{"claude": filepath.Join(second, "claude"), "codex": filepath.Join(second, "codex"), "pi": filepath.Join(first, "pi")}
	for name, file := range want {
		if a := got.Found[name]; len(a.Command) != 1 || a.Command[0] != file || len(a.Resume) == 0 {
			t.Errorf("%s is %+v, want %s", name, a, file)
		}
	}
	if len(got.Found) != len(want) {
		t.Errorf("found are %v", got.Found)
	}
}
