package agent

import (
	"strings"
	"sync"
	"time"

	"github.com/panebridge/panebridge/internal/host"
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

// Processes looks at the processes of this host. On systems that don't show them it
// finds none, and programs are known only by the configuration and by their hooks.
// Its methods may be called by many at once.
type Processes struct {
	clock host.Clock
	ok    bool

	mu     sync.Mutex
	listed time.Time
	groups map[int][]host.Stat // all processes by their group, as of listed
}

// NewProcesses returns the processes of this host.
func NewProcesses() *Processes {
	clock, err := host.ReadClock()
	return &Processes{clock: clock, ok: err == nil}
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
	s, err := host.ReadStat(pid)
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
	top, err := host.ReadStat(pid)
	if err != nil || top.TPGID <= 0 {
		return nil
	}
	var out []Process
	if leader, err := host.ReadStat(top.TPGID); err == nil {
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
func (p *Processes) groupOf(id int) []host.Stat {
	p.mu.Lock()
	defer p.mu.Unlock()
	if time.Since(p.listed) < listEvery {
		return p.groups[id]
	}
	p.listed, p.groups = time.Now(), map[int][]host.Stat{}
	all, err := host.ListStats()
	if err != nil {
		return nil
	}
	for _, s := range all {
		p.groups[s.PGRP] = append(p.groups[s.PGRP], s)
	}
	return p.groups[id]
}

// Get returns a process; false: it's gone.
func (p *Processes) Get(pid int) (Process, bool) {
	if !p.ok {
		return Process{}, false
	}
	s, err := host.ReadStat(pid)
	if err != nil || s.State == 'Z' {
		return Process{}, false
	}
	return p.process(s), true
}

// ReadsTerminal reports whether a process waits for something to be typed at a terminal. Where
// the kernel doesn't say it's false.
func (p *Processes) ReadsTerminal(pid int, tty string) bool {
	reads, err := host.ReadsTerminal(pid, tty)
	return err == nil && reads
}

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
		if rests, err := host.Rests(s.PID); err != nil || !rests {
			return false
		}
	}
	return len(all) > 0
}

// Waits is how often a process has begun to wait for something: a process for which that's
// the same hasn't run meanwhile. 0: it isn't known.
func (p *Processes) Waits(pid int) uint64 {
	n, err := host.CountWaits(pid)
	if err != nil {
		return 0
	}
	return n
}

// Alive reports whether a process that was found still runs, and in the
// foreground of its terminal: one that was suspended has left the pane to its shell.
func (p *Processes) Alive(was Process) bool {
	s, err := host.ReadStat(was.PID)
	return err == nil && !s.HasEnded() && s.TPGID == s.PGRP && p.clock.Started(s).Equal(was.Started)
}

// Above returns the processes above pid, nearest first.
func (p *Processes) Above(pid int) []int {
	var out []int
	for len(out) < 32 && p.ok {
		s, err := host.ReadStat(pid)
		if err != nil || s.PPID <= 1 {
			break
		}
		out = append(out, s.PPID)
		pid = s.PPID
	}
	return out
}

// wholeEnviron is the environment of a process, nil where it's empty, and whether that's all of
// it: see host.ReadWholeEnviron.
func wholeEnviron(pid int) (env map[string]string, whole bool, err error) {
	raw, whole, err := host.ReadWholeEnviron(pid)
	if err != nil || !whole || len(raw) == 0 {
		return nil, whole, err
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

func (p *Processes) process(s host.Stat) Process {
	out := Process{PID: s.PID, Parent: s.PPID, Name: s.Comm, Started: p.clock.Started(s), Age: p.clock.Age(s)}
	out.Args, _ = host.ReadArguments(s.PID)
	out.Cwd, _ = host.ReadFolder(s.PID)
	out.Environ = func() map[string]string {
		raw, _ := host.ReadEnviron(s.PID)
		return variables(raw)
	}
	return out
}
