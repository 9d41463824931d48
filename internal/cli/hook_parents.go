package cli

import (
	"os"

	"github.com/panebridge/panebridge/internal/host"
)

// maxParents bounds how many of the processes above are told of: between a hook
// and the pane's first process there are a shell or two and the agent's own.
const maxParents = 16

// parents returns the processes above this one, nearest first, but for the first
// of all, as far as the system tells.
func parents(limit int) []int {
	var pids []int
	for pid := os.Getppid(); pid > 1 && len(pids) < limit; pid = parentOf(pid) {
		pids = append(pids, pid)
	}
	return pids
}

// parentOf returns the process above, 0 if it isn't known.
func parentOf(pid int) int {
	s, err := host.ReadStat(pid)
	if err != nil {
		return 0
	}
	return s.PPID
}
