package transcript

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// family is how many processes below an agent's are looked at: launchers start the
// program itself, and it starts tools.
const family = 64

// descendants returns a process and those below it, nearest first, as levels. Where
// there's no /proc it's the process alone.
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

func children(pid int) []int {
	tasks, _ := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/children")
	var found []int
	for _, task := range tasks {
		list, err := os.ReadFile(task)
		if err != nil {
			continue
		}
		for word := range strings.FieldsSeq(string(list)) {
			if child, err := strconv.Atoi(word); err == nil {
				found = append(found, child)
			}
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// openFiles returns the paths of the files that a process has open, as far as the
// system tells.
func openFiles(pid int) []string {
	dir := "/proc/" + strconv.Itoa(pid) + "/fd"
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var paths []string
	for _, e := range entries {
		if path, err := os.Readlink(filepath.Join(dir, e.Name())); err == nil && filepath.IsAbs(path) {
			paths = append(paths, path)
		}
	}
	return paths
}

// startTicks is the clock tick at which a process began, which tells it from a later
// one with its number; "" if the system doesn't say.
func startTicks(pid int) string {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return ""
	}
	_, after, ok := strings.Cut(string(stat), ") ") // the name before it may have blanks
	for ok && strings.Contains(after, ") ") {
		_, after, _ = strings.Cut(after, ") ")
	}
	fields := strings.Fields(after)
	if len(fields) < 20 {
		return ""
	}
	return fields[19]
}
