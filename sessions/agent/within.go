package agent

import (
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/panebridge/panebridge/internal/host"
	"github.com/panebridge/panebridge/sessions"
)

// SessionPane is a pane, as the processes that were begun in it tell of it.
type SessionPane struct {
	Session sessions.ID // "": it's none of a session's
	Server  int         // process id of its tmux server
	Pane    string      // tmux pane id
	// PID is the process id of the pane's program; 0: the pane is gone, and only what
	// it left is looked for.
	PID int
}

// Origins tells which processes belong to a session's pane. It's of one moment: make a new
// one for each question.
type Origins struct {
	processes *Processes
	panes     []SessionPane
	groups    map[string]sessions.ID // control groups that are one pane's alone
	home      string
	seen      map[int]kin
	// environOf is wholeEnviron but in tests.
	environOf func(pid int) (env map[string]string, whole bool, err error)
}

// kin is a process as far as it says where it was begun.
type kin struct {
	pid, parent int
	leader      int // of its terminal session, see setsid(2)
	started     uint64
	uid         int
	group       string            // its control group; "": the root, or it isn't known
	environ     map[string]string // nil: it can't be read
}

// Origins looks at these panes. home is the daemon's state folder: by it what's left of
// sessions that nobody remembers is known.
func (p *Processes) Origins(panes []SessionPane, home string) *Origins {
	o := &Origins{processes: p, panes: panes, home: home, groups: map[string]sessions.ID{}, seen: map[int]kin{}, environOf: wholeEnviron}
	if !p.ok {
		return o
	}
	own := o.groupOf(os.Getpid())
	for _, pane := range panes {
		if g := o.groupOf(pane.PID); g != "" && g != own && g != o.groupOf(pane.Server) && pane.Session != "" {
			o.groups[g] = pane.Session
		}
	}
	for _, pane := range panes {
		if pane.Session == "" {
			delete(o.groups, o.groupOf(pane.PID)) // others' panes are in it, too
		}
	}
	return o
}

// groupOf is the control group of a process.
func (o *Origins) groupOf(pid int) string {
	k, err := o.lookAtProcess(pid)
	if err != nil {
		return ""
	}
	return k.group
}

// errRaced says that a process ended, or began another program, while its descent was looked
// at.
var errRaced = errors.New("it, or a process above it, ended or changed meanwhile")

// Of returns the session in whose pane a process was begun; "": in none. An error says
// that it can't be told: the process is gone, or isn't one of this host's.
func (o *Origins) Of(pid int) (sessions.ID, error) {
	const tries = 5
	for try := 1; ; try++ {
		line, err := o.descent(pid)
		if err == nil {
			return o.findSession(line), nil
		}
		if !errors.Is(err, errRaced) || try == tries {
			return "", fmt.Errorf("find where process %d was begun: %w", pid, err)
		}
		clear(o.seen)
	}
}

// descent is a process and those above it, nearest first, without the first of all.
func (o *Origins) descent(pid int) ([]kin, error) {
	const most = 1 << 16 // more than there are processes in a chain
	first, err := o.lookAtProcess(pid)
	if err != nil {
		return nil, err
	}
	line := []kin{first}
	for last := first; last.parent > 1 && len(line) < most; line = append(line, last) {
		above, err := o.lookAtProcess(last.parent)
		if err != nil || above.started > last.started { // another has its number
			return nil, errRaced
		}
		last = above
	}
	return line, nil
}

// findSession finds the session by the processes' descent, nearest first; of what has left it by
// the terminal that it was begun at, the control group, and what its environment says.
func (o *Origins) findSession(line []kin) sessions.ID {
	for _, by := range []func(kin) sessions.ID{o.byProcess, o.byGroup, o.byEnvironment} {
		for _, k := range line {
			if id := by(k); id != "" {
				return id
			}
		}
	}
	return ""
}

// byProcess knows the pane's own program, and all that was begun at its terminal: a
// process that loses its parent keeps its terminal's session, unless it begins another.
func (o *Origins) byProcess(k kin) sessions.ID {
	for _, p := range o.panes {
		if p.Session != "" && p.PID > 0 && (k.pid == p.PID || k.leader == p.PID) {
			return p.Session
		}
	}
	return ""
}

// byGroup knows what stays in a control group that's a pane's alone, as tmux makes one for
// each where it was built for systemd.
func (o *Origins) byGroup(k kin) sessions.ID {
	for g := k.group; g != "" && g != "/" && g != "."; g = path.Dir(g) {
		if id := o.groups[g]; id != "" {
			return id
		}
	}
	return ""
}

// byEnvironment knows what was begun with a pane's environment.
func (o *Origins) byEnvironment(k kin) sessions.ID {
	if id := sessions.ID(k.environ["PANEBRIDGE_SESSION"]); id.Valid() {
		if o.home != "" && k.environ["PANEBRIDGE_STATE_DIR"] == o.home {
			return id
		}
		if slices.ContainsFunc(o.panes, func(p SessionPane) bool { return p.Session == id }) {
			return id
		}
	}
	pane := k.environ["TMUX_PANE"]
	server := serverOf(k.environ["TMUX"])
	for _, p := range o.panes {
		if pane != "" && p.Pane == pane && p.Session != "" && (server == 0 || p.Server == server) {
			return p.Session
		}
	}
	return ""
}

// serverOf is the process id of the tmux server that the variable TMUX names: socket,
// process, session; the socket's path may have commas. 0: it names none.
func serverOf(tmux string) int {
	f := strings.Split(tmux, ",")
	if len(f) < 3 {
		return 0
	}
	pid, _ := strconv.Atoi(f[len(f)-2])
	return pid
}

// Holding returns the session of a process that has a socket by its inode and was begun in
// a session's pane; "": none has. Where such a process can't be looked into it counts as
// one that has it. An error says that it can't be told: a process has the socket of which
// nobody can tell where it was begun.
func (o *Origins) Holding(inode uint64, uid int) (sessions.ID, error) {
	if !host.Knows(host.ProcessSockets) {
		return "", &host.NotKnownError{Name: host.ProcessSockets}
	}
	all, err := host.ListStats()
	if err != nil {
		return "", err
	}
	want := host.NameSocket(inode)
	var raced error
	for _, proc := range all {
		k, err := o.lookAtProcess(proc.PID)
		if err == nil && k.uid != uid {
			continue
		}
		id, err := o.Of(proc.PID)
		unknown := errors.Is(err, errRaced)
		if id == "" && !unknown {
			continue // it's gone, or was begun elsewhere
		}
		links, denied := host.ListDescriptors(proc.PID)
		switch has := slices.Contains(links, want) || errors.Is(denied, os.ErrPermission); {
		case has && unknown:
			raced = err
		case has:
			return id, nil
		}
	}
	return "", raced
}

// lookAtProcess looks at a process, once.
func (o *Origins) lookAtProcess(pid int) (kin, error) {
	if k, ok := o.seen[pid]; ok {
		return k, nil
	}
	if !o.processes.ok || pid <= 0 {
		return kin{}, fmt.Errorf("%w process %d", sessions.ErrUnknown, pid)
	}
	s, err := host.ReadStat(pid)
	if err != nil {
		return kin{}, err
	}
	env, err := o.environ(s)
	if err != nil {
		return kin{}, err
	}
	k := kin{pid: s.PID, parent: s.PPID, leader: s.Session, started: s.Start, environ: env}
	k.group, _ = host.ReadControlGroup(pid) // "": it isn't known
	if uid, err := host.ReadUser(pid); err == nil {
		k.uid = uid
	}
	o.seen[pid] = k
	return k, nil
}

// How often, and how long apart, a process is looked at whose environment isn't there.
const (
	execTries = 50
	execWait  = time.Millisecond
)

// environ is the environment of a process; nil: it's another user's, or has none. While a
// process begins another program the kernel shows none either, so that's looked at again. It
// blocks for execTries * execWait at most.
func (o *Origins) environ(s host.Stat) (map[string]string, error) {
	if s.State == 'Z' || s.IsKernelThread() {
		return nil, nil //nolint:nilnil // it has none
	}
	for range execTries {
		env, whole, err := o.environOf(s.PID)
		switch {
		case errors.Is(err, os.ErrPermission):
			return nil, nil //nolint:nilnil // it's another user's
		case err != nil:
			return nil, err
		case whole:
			return env, nil
		}
		time.Sleep(execWait)
	}
	return nil, errRaced
}
