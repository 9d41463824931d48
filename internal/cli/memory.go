package cli

import (
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/panebridge/panebridge/internal/host"
)

// forbidCore has this process leave no core file. It's the soft limit alone, which what
// runs in panes inherits and may raise again.
func forbidCore() error {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_CORE, &limit); err != nil {
		return fmt.Errorf("read the limit of core files: %w", err)
	}
	limit.Cur = 0
	if err := unix.Setrlimit(unix.RLIMIT_CORE, &limit); err != nil {
		return fmt.Errorf("forbid core files: %w", err)
	}
	return nil
}

// closeMemory keeps what this process knows to itself: other processes of the user can't
// read its memory and its environment, where the system has a switch for that, and a crash
// leaves no core file. Programs that it starts are as others.
func closeMemory() error {
	if err := host.CloseMemory(); err != nil && !host.IsNotKnown(err) {
		return err
	}
	return forbidCore()
}
