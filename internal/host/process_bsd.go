//go:build darwin || freebsd

package host

import (
	"os"
	"path/filepath"
	"slices"
	"time"
)

// IsKernelThread reports false: the kernel's threads aren't among the processes, or have no
// environment that can be read.
func (Stat) IsKernelThread() bool { return false }

// ListChildren returns the processes that a process has started and that haven't ended, by
// their numbers.
func ListChildren(pid int) ([]int, error) {
	all, err := ListStats()
	if err != nil {
		return nil, err
	}
	var found []int
	for _, s := range all {
		if s.PPID == pid && s.PID != pid {
			found = append(found, s.PID)
		}
	}
	slices.Sort(found)
	return found, nil
}

// ReadName returns what the kernel calls a process.
func ReadName(pid int) (string, error) {
	s, err := ReadStat(pid)
	return s.Comm, err
}

// ReadWholeEnviron is ReadEnviron, which is all of it whenever it can be read.
func ReadWholeEnviron(pid int) (raw []byte, whole bool, err error) {
	raw, err = ReadEnviron(pid)
	return raw, err == nil, err
}

// Clock tells times of processes.
type Clock struct{}

// ReadClock returns it.
func ReadClock() (Clock, error) { return Clock{}, nil }

// Started is when a process was started.
func (Clock) Started(s Stat) time.Time { return time.UnixMicro(int64(s.Start)) }

// Age is how long ago a process was started.
func (Clock) Age(s Stat) time.Duration { return time.Since(time.UnixMicro(int64(s.Start))) }

// IsIn reports whether a process is in a folder.
func IsIn(pid int, folder string) bool {
	path, err := ReadFolder(pid)
	if err != nil {
		return false
	}
	is, err1 := os.Stat(path)
	want, err2 := os.Stat(folder)
	if err1 == nil && err2 == nil {
		return os.SameFile(is, want)
	}
	return path == filepath.Clean(folder)
}
