package tmux

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/panebridge/panebridge/sessions"
)

// Terminal asks the kernel about a pane's terminal. The device is opened
// only for the question, so that its hang-up isn't delayed.
func (*Client) Terminal(tty string) (sessions.Terminal, error) {
	f, err := os.OpenFile(tty, os.O_RDONLY|unix.O_NOCTTY|unix.O_NONBLOCK, 0)
	if err != nil {
		return sessions.Terminal{}, fmt.Errorf("look at terminal: %w", err)
	}
	defer f.Close()
	fd := int(f.Fd())
	t, err := unix.IoctlGetTermios(fd, getTermios)
	if err != nil {
		return sessions.Terminal{}, fmt.Errorf("look at terminal %s: %w", tty, err)
	}
	n, err := unix.IoctlGetInt(fd, inputQueued)
	if err != nil {
		return sessions.Terminal{}, fmt.Errorf("look at terminal %s: %w", tty, err)
	}
	return sessions.Terminal{MaxLine: maxCanonical, Canonical: t.Lflag&unix.ICANON != 0, Echo: t.Lflag&unix.ECHO != 0, Unread: n}, nil
}
