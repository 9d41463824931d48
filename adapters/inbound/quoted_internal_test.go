package inbound

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/drawtest"
)

// A shell reads a path as what it is, whatever the folder is called, and runs nothing of it.
func TestAShellReadsAPathAsItIs(t *testing.T) {
	names := rapid.StringOfN(rapid.RuneFrom([]rune("ab $`\\\\\"'\\!*?[]{}()<>|&;#^=~-_.,+é漢")), 1, 12, -1)
	shells := []string{"sh", "bash", "zsh", "fish"}
	drawtest.Check(t, func(rt *rapid.T) {
		path := filepath.Join("/srv", names.Draw(rt, "folder"), ".panebridge", "in", "photo.png")
		shell := rapid.SampledFrom(shells).Draw(rt, "shell")
		out, err := exec.CommandContext(t.Context(), shell, "-c", "printf '%s|' "+quotedPath(path)).CombinedOutput()
		if err != nil || string(out) != path+"|" {
			rt.Errorf("%s reads %s as %q, %v", shell, quotedPath(path), strings.TrimSuffix(string(out), "|"), err)
		}
	})
}
