package host

import "golang.org/x/sys/unix"

// ReadTermios returns how a terminal is set, by its descriptor. It fails with ENOTTY for what's none.
func ReadTermios(fd int) (*unix.Termios, error) { return unix.IoctlGetTermios(fd, getTermios) }

// SetTermios sets a terminal at once.
func SetTermios(fd int, t *unix.Termios) error { return unix.IoctlSetTermios(fd, setTermios, t) }

// SetTermiosDropping sets a terminal, and drops what has been typed there and nobody has read.
func SetTermiosDropping(fd int, t *unix.Termios) error {
	return unix.IoctlSetTermios(fd, setTermiosDropping, t)
}

// CountUnread returns how many bytes have been typed at a terminal that its program hasn't read.
// In canonical mode only lines that are whole count.
func CountUnread(fd int) (int, error) { return unix.IoctlGetInt(fd, inputQueued) }

// TerminalWidth returns how many columns a terminal has, by its descriptor. It fails with ENOTTY for what's none.
func TerminalWidth(fd int) (int, error) {
	size, err := unix.IoctlGetWinsize(fd, unix.TIOCGWINSZ)
	if err != nil {
		return 0, err
	}
	return int(size.Col), nil
}
