package host

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/procfs"
)

// KernelFolders are those that the kernel makes up, where environments of programs are files.
func KernelFolders() []string { return []string{"/proc", "/sys", "/dev"} }

// file is a file of a process.
func file(pid int, name string) string { return "/proc/" + strconv.Itoa(pid) + "/" + name }

// ListStats returns the stat of each process that's there, in no order.
func ListStats() ([]Stat, error) {
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return nil, err
	}
	procs, err := fs.AllProcs()
	if err != nil {
		return nil, fmt.Errorf("list the processes: %w", err)
	}
	all := make([]Stat, 0, len(procs))
	for _, p := range procs {
		if s, err := ReadStat(p.PID); err == nil {
			all = append(all, s)
		}
	}
	return all, nil
}

// ListChildren returns the processes that a process has started and that haven't ended, by
// their numbers.
func ListChildren(pid int) ([]int, error) {
	tasks, err := filepath.Glob(file(pid, "task/*/children"))
	if err != nil {
		return nil, err
	}
	var found []int
	for _, task := range tasks {
		list, err := os.ReadFile(task)
		if err != nil {
			continue // a thread that has ended
		}
		for word := range strings.FieldsSeq(string(list)) {
			if child, err := strconv.Atoi(word); err == nil {
				found = append(found, child)
			}
		}
	}
	slices.Sort(found)
	return slices.Compact(found), nil
}

// ReadArguments returns a process's arguments, its name first. A process may have written others
// over them.
func ReadArguments(pid int) ([]string, error) {
	text, err := os.ReadFile(file(pid, "cmdline"))
	if err != nil || len(text) == 0 {
		return nil, err
	}
	return strings.Split(strings.TrimRight(string(text), "\x00"), "\x00"), nil
}

// ReadFolder returns a process's working folder.
func ReadFolder(pid int) (string, error) { return os.Readlink(file(pid, "cwd")) }

// IsIn reports whether a process is in a folder.
func IsIn(pid int, folder string) bool {
	is, err := os.Stat(file(pid, "cwd"))
	if err != nil {
		return false
	}
	if want, err := os.Stat(folder); err == nil {
		return os.SameFile(is, want)
	}
	path, err := ReadFolder(pid)
	return err == nil && path == filepath.Clean(folder)
}

// ReadProgram returns the path of the file that a process runs.
func ReadProgram(pid int) (string, error) { return os.Readlink(file(pid, "exe")) }

// ReadName returns what the kernel calls a process, at most 15 bytes.
func ReadName(pid int) (string, error) {
	text, err := os.ReadFile(file(pid, "comm"))
	return strings.TrimSuffix(string(text), "\n"), err
}

// ReadEnviron reads the environment of a process, each variable with a zero byte behind it;
// os.ErrPermission: it's another user's. It's empty where the kernel shows none, as while the
// process begins another program; one that has written its title over it has one without
// variables.
func ReadEnviron(pid int) ([]byte, error) { return os.ReadFile(file(pid, "environ")) }

// ReadWholeEnviron is ReadEnviron, and whether that's all of it. It isn't while the process begins
// another program: what's read then is nothing, or its beginning, and the bounds of the new one
// may be the same for a moment. They're final once the end of the program's code is known,
// which the kernel sets behind them (proc(5): env_start, env_end, endcode).
func ReadWholeEnviron(pid int) (raw []byte, whole bool, err error) {
	raw, err = ReadEnviron(pid)
	if err != nil {
		return nil, false, err
	}
	text, err := os.ReadFile(file(pid, "stat"))
	if err != nil {
		return nil, false, err
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	const code, began, ended = 27 - 3, 50 - 3, 51 - 3 // the first of the fields is proc(5)'s third
	if len(fields) <= ended || fields[code] == "0" {
		return nil, false, nil
	}
	from, err := strconv.ParseUint(fields[began], 10, 64)
	to, also := strconv.ParseUint(fields[ended], 10, 64)
	if whole = err == nil && also == nil && from > 0 && to-from == uint64(len(raw)); !whole || len(raw) == 0 {
		return nil, whole, nil
	}
	return raw, true, nil
}

// ReadUser returns the id of the user with whose rights a process runs.
func ReadUser(pid int) (uid int, err error) {
	ids, err := readStatus(pid, "Uid")
	if err != nil {
		return 0, err
	}
	if len(ids) < 2 {
		return 0, errors.New("the kernel doesn't say whose it is")
	}
	return strconv.Atoi(ids[1]) // behind the real one
}

// readStatus returns the words behind a name in /proc/PID/status.
func readStatus(pid int, name string) ([]string, error) {
	text, err := os.ReadFile(file(pid, "status"))
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(text)) {
		if words, ok := strings.CutPrefix(line, name+":"); ok {
			return strings.Fields(words), nil
		}
	}
	return nil, fmt.Errorf("the state of process %d has no %s", pid, name)
}

// ListDescriptors returns what a process has open: paths of files, and sockets as NameSocket
// names them. os.ErrPermission: it's another user's.
func ListDescriptors(pid int) ([]string, error) {
	dir := file(pid, "fd")
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	all := make([]string, 0, len(entries))
	for _, e := range entries {
		if target, err := os.Readlink(dir + "/" + e.Name()); err == nil {
			all = append(all, target)
		}
	}
	return all, nil
}

// ReadControlGroup returns a process's control group: of the unified hierarchy, or where there's
// none of systemd's. "": it's the root.
func ReadControlGroup(pid int) (string, error) {
	p, err := procfs.NewProc(pid)
	if err != nil {
		return "", err
	}
	all, err := p.Cgroups()
	if err != nil {
		return "", err
	}
	found := ""
	for _, g := range all {
		named := len(g.Controllers) == 1 && g.Controllers[0] == "name=systemd"
		if g.Path != "/" && (g.HierarchyID == 0 || named && found == "") {
			found = g.Path
		}
	}
	return found, nil
}

// IsKernelThread reports whether it's a thread of the kernel, which has no environment, ever.
func (s Stat) IsKernelThread() bool {
	const kernelThread = 0x00200000 // PF_KTHREAD
	return s.Flags&kernelThread != 0
}

// ReadStartTick returns the clock tick at which a process began, as programs write it down that read
// /proc/PID/stat themselves.
func ReadStartTick(pid int) (string, error) {
	s, err := ReadStat(pid)
	if err != nil {
		return "", err
	}
	return strconv.FormatUint(s.Start, 10), nil
}

// Clock tells times of processes.
type Clock struct{ boot time.Time }

// ReadClock reads when the machine was started. It fails where there are no processes to be
// seen.
func ReadClock() (Clock, error) {
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return Clock{}, err
	}
	stat, err := fs.Stat()
	if err != nil {
		return Clock{}, err
	}
	return Clock{time.Unix(int64(stat.BootTime), 0)}, nil
}

// ticks of the kernel's clock in a second: USER_HZ is 100 on every platform of Go.
const ticks = 100

// Started is when a process was started: to a second or two, and the same each time.
func (c Clock) Started(s Stat) time.Time {
	return c.boot.Add(time.Duration(s.Start) * time.Second / ticks)
}

// Age is how long a process has run, to about 20 ms.
func (c Clock) Age(s Stat) time.Duration {
	return uptime() - time.Duration(s.Start)*time.Second/ticks
}

// uptime is how long the host has been up, to 10 ms; 0 where that can't be read.
func uptime() time.Duration {
	text, err := os.ReadFile("/proc/uptime")
	if err != nil {
		return 0
	}
	first, _, _ := strings.Cut(string(text), " ")
	up, err := time.ParseDuration(first + "s")
	if err != nil {
		return 0
	}
	return up
}
