package host

import (
	"errors"
	"fmt"
	"runtime"
)

// FactName names something that a system may tell.
type FactName string

// What's asked of a system.
const (
	ProcessStates      FactName = "processes: parent, group, foreground, start"
	ProcessArguments   FactName = "a process's arguments"
	ProcessFolders     FactName = "a process's folder"
	ProcessPrograms    FactName = "a process's program file"
	ProcessEnvirons    FactName = "a process's environment"
	ProcessUsers       FactName = "a process's user"
	ProcessDescriptors FactName = "a process's open files"
	ProcessSockets     FactName = "which processes have a socket"
	ProcessGroups      FactName = "a process's control group"
	ProcessSleeps      FactName = "what a process sleeps in"
	ProcessWaits       FactName = "how often a process has waited"
	ProcessTicks       FactName = "the clock tick at which a process began"
	SocketPeers        FactName = "the process at a Unix socket's other end"
	SocketUsers        FactName = "the user at a Unix socket's other end"
	ConnectionUsers    FactName = "the user at a loopback connection's other end"
	TerminalCount      FactName = "how many terminals are left"
	OwnDescriptors     FactName = "how many files this process has open"
	ClosedMemory       FactName = "closing this process's memory to others"
	EndingWithParent   FactName = "ending a child with this process"
)

// Fact is something that's asked of a system: by what each answers, "" where it doesn't, and
// what follows where it isn't known.
type Fact struct {
	Name                   FactName
	Linux, Darwin, FreeBSD string
	Follows                string
}

// Facts returns all of them, in the order in which docs/platforms.md has them.
func Facts() []Fact {
	return []Fact{
		{ProcessStates, "/proc/PID/stat", "sysctl kern.proc", "sysctl kern.proc", "programs are known only by the configuration and by their hooks"},
		{ProcessArguments, "/proc/PID/cmdline", "sysctl kern.procargs2", "sysctl kern.proc.args", "programs that a runtime such as node runs are known only by their hooks"},
		{ProcessFolders, "/proc/PID/cwd", "proc_info", "sysctl kern.proc.cwd", "a start doesn't wait until the program is in its folder; a folder that can't be entered shows in the pane"},
		{ProcessPrograms, "/proc/PID/exe", "sysctl kern.procargs2", "sysctl kern.proc.pathname", "a version is read only of programs in the PATH"},
		{ProcessEnvirons, "/proc/PID/environ", "sysctl kern.procargs2", "sysctl kern.proc.env", "transcripts are looked for where they are by default; who left a pane isn't known by what it was begun with"},
		{ProcessUsers, "/proc/PID/status", "sysctl kern.proc", "sysctl kern.proc", "no process is skipped as another user's"},
		{ProcessDescriptors, "/proc/PID/fd", "proc_info", "sysctl kern.proc.filedesc", "a transcript is found by its folder and its time, not by who has it open"},
		{ProcessSockets, "/proc/PID/fd", "", "", "a call over a loopback port counts as one from outside of all panes"},
		{ProcessGroups, "/proc/PID/cgroup", "", "", "what has left its pane is known by its parents, terminal and environment alone"},
		{ProcessSleeps, "/proc/PID/wchan, syscall", "", "", "an input box is known by the screen alone"},
		{ProcessWaits, "/proc/PID/status", "", "", "an input box is known by the screen alone"},
		{ProcessTicks, "/proc/PID/stat", "", "", "what Claude Code's process says of its conversation isn't believed; the transcript is found by folder, time and hooks"},
		{SocketPeers, "SO_PEERCRED", "LOCAL_PEERPID", "", "a call over the Unix socket counts as one from outside of all panes"},
		{SocketUsers, "SO_PEERCRED", "LOCAL_PEERCRED", "LOCAL_PEERCRED", "the folder's rights alone keep others from a socket"},
		{ConnectionUsers, "sock_diag, /proc/net/tcp", "", "", "a loopback port is kept by its token alone: other users of the machine can reach it"},
		{TerminalCount, "/proc/sys/kernel/pty", "", "", "health doesn't warn before terminals run out"},
		{OwnDescriptors, "/proc/self/fd", "/dev/fd", "sysctl kern.proc.nfds", "health doesn't warn before descriptors run out"},
		{ClosedMemory, "prctl PR_SET_DUMPABLE", "", "", "other programs of the same user may read the daemon's memory, if the system lets them"},
		{EndingWithParent, "PR_SET_PDEATHSIG", "", "PROC_PDEATHSIG_CTL", "a client that waits for a channel outlives a daemon that's killed, until its server ends"},
	}
}

// By is by what a system answers, as runtime.GOOS names it; "": it doesn't.
func (f Fact) By(system string) string {
	switch system {
	case "linux":
		return f.Linux
	case "darwin":
		return f.Darwin
	case "freebsd":
		return f.FreeBSD
	}
	return ""
}

// Knows reports whether this system tells something.
func Knows(name FactName) bool {
	for _, f := range Facts() {
		if f.Name == name {
			return f.By(runtime.GOOS) != ""
		}
	}
	return false
}

// NotKnownError says that this system doesn't tell something. It's the same each time that
// it's asked.
type NotKnownError struct{ Name FactName }

// Error names what isn't known, where, and what follows.
func (e *NotKnownError) Error() string {
	for _, f := range Facts() {
		if f.Name == e.Name {
			return fmt.Sprintf("%s isn't told by this system (%s): %s", e.Name, runtime.GOOS, f.Follows)
		}
	}
	return fmt.Sprintf("%s isn't told by this system (%s)", e.Name, runtime.GOOS)
}

func notKnown(name FactName) error { return &NotKnownError{name} }

// IsNotKnown reports whether an error says that this system doesn't tell something.
func IsNotKnown(err error) bool {
	_, is := errors.AsType[*NotKnownError](err)
	return is
}
