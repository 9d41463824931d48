package agent

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/procfs"
)

// Process is a process of this host.
type Process struct {
	PID     int
	Parent  int
	Name    string // as the kernel calls it, at most 15 bytes
	Args    []string
	Cwd     string
	Started time.Time     // to a second or two, and the same each time that it's asked for
	Age     time.Duration // how long it had run when it was looked at, to about 20 ms
	// Environ reads its environment, as it was when the process was started; nil if it
	// can't be read.
	Environ func() map[string]string
}

// Processes looks at the processes of this host. On systems without /proc it
// finds none, and programs are known only by the configuration and by their hooks.
// Its methods may be called by many at once.
type Processes struct {
	fs   procfs.FS
	ok   bool
	boot time.Time

	mu     sync.Mutex
	listed time.Time
	groups map[int][]stat // all processes by their group, as of listed
}

// NewProcesses returns the processes of this host.
func NewProcesses() *Processes {
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return &Processes{}
	}
	stat, err := fs.Stat()
	if err != nil {
		return &Processes{}
	}
	return &Processes{fs: fs, ok: true, boot: time.Unix(int64(stat.BootTime), 0)}
}

// listEvery is how often all processes of the host are listed at most: the kernel
// has no list of a group's.
const listEvery = 500 * time.Millisecond

// Group is the process group that has the foreground of the terminal of process pid;
// 0: it isn't known.
func (p *Processes) Group(pid int) int {
	if !p.ok {
		return 0
	}
	s, err := readStat(pid)
	if err != nil {
		return 0
	}
	return max(0, s.TPGID)
}

// Foreground returns the processes that have the foreground of the terminal of
// process pid, the leader first: what a person at the pane talks to. more: those
// besides the leader too, which may be up to half a second old.
func (p *Processes) Foreground(pid int, more bool) []Process {
	if !p.ok {
		return nil
	}
	top, err := readStat(pid)
	if err != nil || top.TPGID <= 0 {
		return nil
	}
	var out []Process
	if leader, err := readStat(top.TPGID); err == nil {
		out = append(out, p.process(leader))
	}
	if !more {
		return out
	}
	for _, s := range p.groupOf(top.TPGID) {
		if s.PID != top.TPGID {
			out = append(out, p.process(s))
		}
	}
	return out
}

// groupOf returns the processes of a process group.
func (p *Processes) groupOf(id int) []stat {
	p.mu.Lock()
	defer p.mu.Unlock()
	if time.Since(p.listed) < listEvery {
		return p.groups[id]
	}
	p.listed, p.groups = time.Now(), map[int][]stat{}
	all, err := p.fs.AllProcs()
	if err != nil {
		return nil
	}
	for _, proc := range all {
		if s, err := readStat(proc.PID); err == nil {
			p.groups[s.PGRP] = append(p.groups[s.PGRP], s)
		}
	}
	return p.groups[id]
}

// Get returns a process; false: it's gone.
func (p *Processes) Get(pid int) (Process, bool) {
	if !p.ok {
		return Process{}, false
	}
	s, err := readStat(pid)
	if err != nil || s.State == 'Z' {
		return Process{}, false
	}
	return p.process(s), true
}

// readCalls are the numbers of read(2): on amd64, on arm64, riscv64 and loong64, and on 386
// and arm.
var readCalls = []string{"0", "63", "3"} //nolint:gochecknoglobals // a constant table

// ReadsTerminal reports whether a process waits for something to be typed at a terminal:
// the kernel says what it sleeps in, and which file its call is about. Where it may not be
// asked the second (Yama), the process must have the terminal as its input. On systems
// without /proc it's false.
func (p *Processes) ReadsTerminal(pid int, tty string) bool {
	dir := "/proc/" + strconv.Itoa(pid)
	sleeps, err := os.ReadFile(dir + "/wchan") // connections' reads are of the same name
	if err != nil || string(sleeps) != "wait_woken" && !strings.HasPrefix(string(sleeps), "n_tty_read") {
		return false
	}
	fd := "0"
	if call, err := os.ReadFile(dir + "/syscall"); err == nil { // "0 0x0 0x7f…": its number, and what it's given
		words := strings.Fields(string(call))
		if len(words) < 3 || !slices.Contains(readCalls, words[0]) {
			return false
		}
		n, err := strconv.ParseUint(strings.TrimPrefix(words[1], "0x"), 16, 31)
		if err != nil {
			return false
		}
		fd = strconv.FormatUint(n, 10)
	}
	file, err := os.Readlink(dir + "/fd/" + fd)
	return err == nil && (file == tty || file == "/dev/tty")
}

// restsIn are the kernel's functions that a thread sleeps in for a time, or until a child
// ends.
var restsIn = []string{"hrtimer_nanosleep", "do_nanosleep", "common_nsleep", "do_wait", "kernel_wait4", "sigsuspend"} //nolint:gochecknoglobals // a constant table

// Rest reports whether all that has the foreground of the terminal of process pid sleeps
// for a time, or until a child ends: none of it waits for input. It's false where the
// kernel doesn't say.
func (p *Processes) Rest(pid int) bool {
	group := p.Group(pid)
	if group <= 0 {
		return false
	}
	all := p.groupOf(group)
	for _, s := range all {
		tasks, err := filepath.Glob("/proc/" + strconv.Itoa(s.PID) + "/task/*/wchan")
		if err != nil || len(tasks) == 0 {
			return false
		}
		for _, task := range tasks {
			sleeps, err := os.ReadFile(task)
			if err != nil || !slices.Contains(restsIn, string(sleeps)) {
				return false
			}
		}
	}
	return len(all) > 0
}

// Waits is how often a process has begun to wait for something: a process for which that's
// the same hasn't run meanwhile. 0: it isn't known.
func (p *Processes) Waits(pid int) uint64 {
	proc, err := p.fs.Proc(pid)
	if err != nil {
		return 0
	}
	s, err := proc.NewStatus()
	if err != nil {
		return 0
	}
	return s.VoluntaryCtxtSwitches
}

// Alive reports whether a process that was found still runs, and in the
// foreground of its terminal: one that was suspended has left the pane to its shell.
func (p *Processes) Alive(was Process) bool {
	s, err := readStat(was.PID)
	return err == nil && s.State != 'Z' && s.State != 'X' && s.TPGID == s.PGRP && p.started(s).Equal(was.Started)
}

// Above returns the processes above pid, nearest first.
func (p *Processes) Above(pid int) []int {
	var out []int
	for len(out) < 32 && p.ok {
		s, err := readStat(pid)
		if err != nil || s.PPID <= 1 {
			break
		}
		out = append(out, s.PPID)
		pid = s.PPID
	}
	return out
}

// ticks of the kernel's clock in a second: USER_HZ is 100 on every platform of Go.
const ticks = 100

func (p *Processes) started(s stat) time.Time {
	return p.boot.Add(time.Duration(s.Starttime) * time.Second / ticks)
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

// readEnviron reads the environment of a process; os.ErrPermission: it's another user's. It's
// empty where the kernel shows none, as while the process begins another program; one that has
// written its title over it has one without variables.
func readEnviron(pid int) ([]byte, error) { return os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid)) }

// wholeEnviron is the environment of a process, nil where it's empty, and whether that's all of it. It isn't while the process begins another program: what's read
// then is nothing, or its beginning, and the bounds of the new one may be the same for a
// moment. They're final once the end of the program's code is known, which the kernel sets
// behind them (proc(5): env_start, env_end, endcode).
func wholeEnviron(pid int) (env map[string]string, whole bool, err error) {
	raw, err := readEnviron(pid)
	if err != nil {
		return nil, false, err
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
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
	return variables(raw), true, nil
}

// variables are those of an environment as it's read.
func variables(raw []byte) map[string]string {
	env := map[string]string{}
	for kv := range strings.SplitSeq(string(raw), "\x00") {
		if name, value, ok := strings.Cut(kv, "="); ok {
			env[name] = value
		}
	}
	return env
}

func (p *Processes) process(s stat) Process {
	out := Process{PID: s.PID, Parent: s.PPID, Name: s.Comm, Started: p.started(s), Age: uptime() - time.Duration(s.Starttime)*time.Second/ticks}
	proc, err := p.fs.Proc(s.PID)
	if err == nil {
		out.Args, _ = proc.CmdLine()
		out.Cwd, _ = proc.Cwd()
	}
	out.Environ = func() map[string]string {
		raw, _ := readEnviron(s.PID)
		return variables(raw)
	}
	return out
}
