//go:build darwin || freebsd || netbsd || openbsd || dragonfly

package host

import "golang.org/x/sys/unix"

const (
	getTermios         = unix.TIOCGETA
	setTermios         = unix.TIOCSETA
	setTermiosDropping = unix.TIOCSETAF
	inputQueued        = 0x4004667f // FIONREAD, _IOR('f', 127, int): sys/filio.h

	// MaxLineBytes is the longest line in bytes, its end apart, that a program
	// gets whole in canonical mode (MAX_CANON, sys/syslimits.h).
	MaxLineBytes = 1023
)
