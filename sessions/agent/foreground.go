package agent

import (
	"slices"
	"strconv"
	"strings"
	"time"

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
func (f *Foreground) Box(s *sessions.Snapshot) sessions.InputBox {
	for _, process := range f.processes.Foreground(s.PID, true) {
		if p := f.profiles.Match(process); p != nil && !p.Shell() {
			return p.Box(s)
		}
	}
	return sessions.InputBox{}
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

// Front tells what has the foreground of a session's pane: an agent program of the
// profiles, a shell, the program that the pane was made with, or another one.
func (w *Watchers) Front(s *sessions.Snapshot) sessions.Program {
	found := w.opt.Processes.Foreground(s.PID, true)
	if len(found) == 0 {
		return sessions.Program{}
	}
	leader := found[0]
	out := sessions.Program{
		Kind: sessions.ProgramOther, Name: leader.title(),
		Run: leader.run(), Started: time.Now().Add(-leader.Age), Own: leader.PID == s.PID,
	}
	for _, process := range found {
		if p := w.opt.Profiles.Match(process); p != nil && !p.Shell() {
			out.Kind, out.Name, out.Started = sessions.ProgramAgent, p.Name(), time.Now().Add(-process.Age)
			return out
		}
	}
	switch {
	case interactiveShell(leader):
		out.Kind = sessions.ProgramShell
	case out.Own:
		out.Kind = sessions.ProgramOwn
		if last := found[len(found)-1]; leader.PID != last.PID {
			out.Name = last.title() // the leader is what starts it
		}
	}
	return out
}

// run stands for one run of a program: see sessions.Program.
func (p Process) run() string {
	return strconv.Itoa(p.PID) + "-" + strconv.FormatInt(p.Started.UnixMilli(), 10)
}

// HasEnded reports whether a run of a program, as sessions.Program names it, has ended. It's
// false where processes can't be looked at.
func (p *Processes) HasEnded(run string) bool {
	id, _, _ := strings.Cut(run, "-")
	pid, err := strconv.Atoi(id)
	if err != nil || !p.ok {
		return false
	}
	process, ok := p.Get(pid)
	return !ok || process.run() != run
}

// title is what people call a process: the name by which it was started.
func (p Process) title() string {
	if len(p.Args) == 0 || p.Args[0] == "" {
		return p.Name
	}
	name, _, _ := strings.Cut(p.Args[0], " ")
	return baseName(name)
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
	case "--rcfile", "--init-file", "--init-command", "-C", "-o", "+o", "-O", "+O":
		return true
	}
	return false
}
