// Package ttywatch tells when programs write to a terminal, without reading what. The kernel says so for nothing where nobody
// writes, and whoever watches is no client of tmux (docs/adr/0043-a-watched-pane-is-captured-when-the-kernel-says-it-was-written-to.md).
//
// What the kernel itself writes isn't told: the echo of a key in a terminal that echoes.
package ttywatch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// ErrUnsupported means that this system doesn't tell of writes to terminals. Whoever wants to know has to look now and then.
var ErrUnsupported = errors.New("this system doesn't tell of writes to terminals")

// checkTerminal refuses what isn't a terminal below /dev.
func checkTerminal(path string) error {
	if !strings.HasPrefix(path, "/dev/") || filepath.Clean(path) != path {
		return fmt.Errorf("watch %q: it's no path of a terminal", path)
	}
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return fmt.Errorf("watch a terminal: %w", err)
	case info.Mode()&fs.ModeCharDevice == 0:
		return fmt.Errorf("watch %s: it's no terminal", path)
	}
	return nil
}
