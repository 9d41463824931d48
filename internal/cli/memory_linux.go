package cli

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// closeMemory keeps what this process knows to itself: other processes of the user can't
// read its memory and its environment (/proc/PID/mem and environ, ptrace), and a crash
// leaves no core file. Root can read everything. Programs that it starts are as others.
func closeMemory() error {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("close this process's memory to others: %w", err)
	}
	return forbidCore()
}
