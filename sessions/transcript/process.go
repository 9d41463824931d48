package transcript

import (
	"path/filepath"

	"github.com/panebridge/panebridge/internal/host"
)

// family is how many processes below an agent's are looked at: launchers start the
// program itself, and it starts tools.
const family = 64

// descendants returns a process and those below it, nearest first, as levels. Where
// the system doesn't tell it's the process alone.
func descendants(pid int) [][]int {
	if pid <= 0 {
		return nil
	}
	levels, count := [][]int{{pid}}, 1
	for {
		var next []int
		for _, p := range levels[len(levels)-1] {
			next = append(next, children(p)...)
		}
		if len(next) == 0 || count+len(next) > family {
			return levels
		}
		count += len(next)
		levels = append(levels, next)
	}
}

// children are those of a process, as far as the system tells.
func children(pid int) []int {
	found, _ := host.ListChildren(pid)
	return found
}

// openFiles returns the paths of the files that a process has open, as far as the
// system tells.
func openFiles(pid int) []string {
	all, _ := host.ListDescriptors(pid)
	var paths []string
	for _, path := range all {
		if filepath.IsAbs(path) {
			paths = append(paths, path)
		}
	}
	return paths
}

// startTicks is the clock tick at which a process began, which tells it from a later
// one with its number; "" if the system doesn't say.
func startTicks(pid int) string {
	tick, _ := host.ReadStartTick(pid)
	return tick
}
