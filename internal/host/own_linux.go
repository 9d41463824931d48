package host

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// CountTerminals returns how many pseudo-terminals are in use, and how many there may be.
func CountTerminals() (used, most int, err error) {
	if used, err = readNumber("/proc/sys/kernel/pty/nr"); err == nil {
		most, err = readNumber("/proc/sys/kernel/pty/max")
	}
	if err != nil {
		return 0, 0, fmt.Errorf("count terminals: %w", err)
	}
	return used, most, nil
}

func readNumber(name string) (int, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(string(text)))
}

// CountDescriptors returns how many descriptors this process has open, with the one that it takes
// to look. EMFILE and ENFILE say that none is left for that.
func CountDescriptors() (int, error) {
	open, err := os.ReadDir("/proc/self/fd")
	return len(open), err
}

// CloseMemory keeps other processes of the user from this one's memory and environment
// (/proc/PID/mem and environ, ptrace). Root can read everything. Programs that it starts are
// as others.
func CloseMemory() error {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("close this process's memory to others: %w", err)
	}
	return nil
}

// EndWithParent has the kernel end a process that's started with it when this one is killed. It's
// nil where the system can't.
func EndWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }

// OpenPair opens a pair of descriptors that children don't inherit, the end that's read first.
func OpenPair() (pair [2]int, err error) {
	err = unix.Pipe2(pair[:], unix.O_CLOEXEC)
	return pair, err
}
