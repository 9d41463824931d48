package agent

import (
	"slices"
	"strings"

	"github.com/panebridge/panebridge/sessions"
)

// Foreground tells of the program that a person at a pane talks to, by the pane alone,
// for those who have no watchers.
type Foreground struct {
	profiles  *Set
	processes *Processes
}

// NewForeground looks at the panes of this host.
func NewForeground(profiles *Set) *Foreground { return &Foreground{profiles, NewProcesses()} }

// Box reads the input box of the program in the foreground.
func (f *Foreground) Box(s *sessions.Snapshot) sessions.Box {
	for _, process := range f.processes.Foreground(s.PID, true) {
		if p := f.profiles.Match(process); p != nil && !p.Shell() {
			return p.Box(s)
		}
	}
	return sessions.Box{}
}

// Shell says whether a shell is in the foreground, which runs what's typed. Where
// processes can't be looked at, only one that marks its prompts is known to be one.
func (f *Foreground) Shell(s *sessions.Snapshot) bool {
	if len(s.Marks) > 0 {
		last := s.Marks[len(s.Marks)-1]
		if last.Kind == sessions.MarkPrompt && last.Row == s.HistorySize+s.CursorY-s.First {
			return true
		}
	}
	return slices.ContainsFunc(f.processes.Foreground(s.PID, true), interactiveShell)
}

// otherShells are those besides shellNames.
var otherShells = []string{"csh", "pwsh", "elvish", "xonsh", "busybox"} //nolint:gochecknoglobals // a constant table

// interactiveShell says whether a process is a shell that reads what's typed: one that
// runs a command or a script waits for that.
func interactiveShell(p Process) bool {
	if !slices.Contains(shellNames, baseName(p.Name)) && !slices.Contains(otherShells, p.Name) {
		return false
	}
	for i, arg := range p.Args {
		flag := strings.HasPrefix(arg, "-")
		switch {
		case i == 0, strings.HasPrefix(arg, "--"):
		case flag && strings.Contains(arg, "c"):
			return false
		case flag, takesValue(p.Args[i-1]):
		default:
			return false
		}
	}
	return true
}

// takesValue says whether a shell's flag has its value behind it.
func takesValue(flag string) bool {
	switch flag {
	case "--rcfile", "--init-file", "-o", "+o", "-O", "+O":
		return true
	}
	return false
}
