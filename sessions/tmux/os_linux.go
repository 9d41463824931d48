package tmux

import (
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	getTermios  = unix.TCGETS
	inputQueued = unix.TIOCINQ

	// maxCanonical is the longest line in bytes, its end apart, that a program
	// gets whole in canonical mode (N_TTY_BUF_SIZE − 1, linux/tty.h).
	maxCanonical = 4095
)

// endsWithUs has the kernel end a process when this one is killed.
func endsWithUs() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
