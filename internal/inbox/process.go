package inbox

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"

	"github.com/panebridge/panebridge/internal/host"
)

// Self is this process.
func Self() ProcessID { return ProcessID{os.Getpid(), started(os.Getpid())} }

// Runs reports whether the process still runs: the one of that id may be another by now.
func (p ProcessID) Runs() bool {
	if p.PID <= 0 {
		return false
	}
	if err := unix.Kill(p.PID, 0); err != nil && !errors.Is(err, unix.EPERM) {
		return false
	}
	now := started(p.PID)
	return now == p.Started || p.Started == 0
}

// started is when a process was started, as host.Stat has it; 0: it isn't there, or is only
// waited for.
func started(pid int) int64 {
	s, err := host.ReadStat(pid)
	if err != nil || s.HasEnded() {
		return 0
	}
	return int64(s.Start)
}
