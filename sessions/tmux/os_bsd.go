//go:build darwin || freebsd || netbsd || openbsd

package tmux

import (
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	getTermios  = unix.TIOCGETA
	inputQueued = 0x4004667f // FIONREAD, _IOR('f', 127, int): sys/filio.h

	// maxCanonical is the longest line in bytes, its end apart, that a program
	// gets whole in canonical mode (MAX_CANON, sys/syslimits.h).
	maxCanonical = 1023
)

// endsWithUs would have the kernel end a process when this one is killed: only Linux can.
func endsWithUs() *syscall.SysProcAttr { return nil }
