package cli

import (
	"fmt"

	"golang.org/x/sys/unix"
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
