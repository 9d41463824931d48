package host

import "golang.org/x/sys/unix"

const (
	getTermios         = unix.TCGETS
	setTermios         = unix.TCSETS
	setTermiosDropping = unix.TCSETSF
	inputQueued        = unix.TIOCINQ

	// MaxLineBytes is the longest line in bytes, its end apart, that a program
	// gets whole in canonical mode (N_TTY_BUF_SIZE − 1, linux/tty.h).
	MaxLineBytes = 4095
)
