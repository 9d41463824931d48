package sessions

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
	"unicode"
	"unicode/utf8"
)

const paneWidth, paneHeight = 120, 40

// New makes a session in a pane of its own.
func (m *Manager) New(ctx context.Context, req NewRequest) (Session, error) {
	m.life.Lock()
	defer m.life.Unlock()
	return m.createSession(ctx, req)
}

// createSession is New. life is held.
func (m *Manager) createSession(ctx context.Context, req NewRequest) (Session, error) {
	pane, srv, err := m.planPane(&req)
	if err != nil {
		return Session{}, err
	}
	if req.Name, err = m.freeName(req.Name, req.Agent); err != nil {
		return Session{}, err
	}
	pane.Session = m.opt.Prefix + tmuxName(req.Name)
	ctx, cancel := context.WithTimeout(ctx, tmuxTimeout)
	defer cancel()
	id := NewID()
	pane.Env = m.envOf(pane.Env, id)
	info, err := srv.Create(ctx, id, pane)
	if err != nil {
		return Session{}, err
	}
	identity, _ := srv.Identity()
	s := Session{
		ID: id, Name: req.Name, Agent: req.Agent, Cwd: pane.Cwd, State: StateStarting, Owned: true, CreatedAt: time.Now(),
		Pane: Pane{Server: srv.Name(), Identity: identity, ID: info.ID, Session: info.Session},
	}
	if err := m.beginSession(ctx, s); err != nil {
		_ = srv.Kill(ctx, info.ID)
		return Session{}, err
	}
	return s, nil
}

// envOf are the environment variables of a session's program.
func (m *Manager) envOf(agent []string, id ID) []string {
	return append(slices.Concat(m.opt.Env, agent), "PANEBRIDGE_SESSION="+string(id))
}

// planPane checks a request and works out what to run where.
func (m *Manager) planPane(req *NewRequest) (PaneRequest, Server, error) {
	agent, known := m.agentOf(req.Agent)
	p := PaneRequest{
		Width: cmp.Or(agent.Width, paneWidth), Height: cmp.Or(agent.Height, paneHeight),
		HistoryLimit: cmp.Or(agent.HistoryLimit, m.opt.HistoryLimit), Command: req.Command,
	}
	if req.Agent != "" && !known {
		return p, nil, fmt.Errorf("%w agent %q: the configuration's `agents` has no such entry, and it's none of the programs that were found", ErrUnknown, req.Agent)
	}
	p.Env = agent.Env
	if len(p.Command) == 0 {
		p.Command = agent.Command
	}
	if req.Resume != "" {
		if err := resumable(req, agent); err != nil {
			return p, nil, err
		}
		p.Command = slices.Concat(p.Command, agent.resume(req.Resume))
	}
	if len(p.Command) == 0 {
		p.Command = []string{m.opt.Shell}
	}
	if m.opt.Integrate != nil {
		var env []string
		p.Command, env = m.opt.Integrate(p.Command)
		p.Env = slices.Concat(p.Env, env)
	}
	if p.Cwd = req.Cwd; p.Cwd == "" {
		p.Cwd, _ = os.UserHomeDir()
	}
	if !filepath.IsAbs(p.Cwd) {
		return p, nil, fmt.Errorf("%w folder %q: give an absolute path", ErrInvalid, req.Cwd)
	}
	if err := CheckFolder(p.Cwd); err != nil {
		return p, nil, err
	}
	if err := checkName(req.Name); err != nil {
		return p, nil, err
	}
	srv := m.opt.Servers[0]
	if req.Server != "" {
		if srv = m.server(req.Server); srv == nil {
			return p, nil, fmt.Errorf("%w tmux server %q: it isn't in the configuration", ErrUnknown, req.Server)
		}
	}
	return p, srv, nil
}

// CheckFolder fails with ErrInvalid if a folder can't be entered. What's looked at is the
// folder's own ".", which needs the permission that entering it needs.
func CheckFolder(path string) error {
	_, err := os.Stat(path + "/.")
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrNotExist) && strings.ContainsRune(path, utf8.RuneError):
		return fmt.Errorf("%w folder %q: its name seems to have bytes that aren't UTF-8, which can't be given here; make a link to it that has another name", ErrInvalid, path)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w folder %q: there is no such folder", ErrInvalid, path)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w folder %q: no permission to enter it", ErrInvalid, path)
	case errors.Is(err, syscall.ENOTDIR):
		return fmt.Errorf("%w folder %q: it's no folder", ErrInvalid, path)
	}
	return fmt.Errorf("%w folder %q: it can't be entered: %w", ErrInvalid, path, err)
}

// checkName refuses a name for a session that can't be shown on one line.
func checkName(name string) error {
	if len(name) > 100 || !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) {
		return fmt.Errorf("%w name: at most 100 bytes of UTF-8 on one line, without control characters", ErrInvalid)
	}
	return nil
}

// freeName returns the name asked for if it's free, or makes one up.
func (m *Manager) freeName(name, agent string) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	used := map[string]string{} // names, and what tmux makes of them, with whose they are
	for _, e := range m.entries {
		if e.State != StateEnded {
			used[e.Name], used[tmuxName(e.Name)] = e.Name, e.Name
		}
	}
	if name != "" {
		if other := cmp.Or(used[name], used[tmuxName(name)]); other != "" {
			return "", fmt.Errorf("%w: a session is named %q already; choose another name", ErrConflict, other)
		}
		return name, nil
	}
	base := agent
	if base == "" {
		base = "shell"
	}
	for n := 1; ; n++ {
		name := fmt.Sprintf("%s-%d", base, n)
		if used[name] == "" {
			return name, nil
		}
	}
}

// tmuxName makes a name that tmux takes as it is: without the "." and ":" of
// its targets and the characters of its patterns.
func tmuxName(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '_'
	}, name)
}

// SetAgents replaces the agents that can be started.
func (m *Manager) SetAgents(a map[string]Agent) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.opt.Agents = a
}

// AgentSearch is what came of a look for the programs of agents.
type AgentSearch struct {
	Names   []string         // of the programs that were looked for
	Folders []string         // where they were
	Found   map[string]Agent // by name
}

// SearchAgents looks for programs that can be started without being configured.
func (m *Manager) SearchAgents() AgentSearch {
	if m.opt.FindAgents == nil {
		return AgentSearch{}
	}
	return m.opt.FindAgents()
}

// Agents returns the names of the agents that can be started, sorted: those of the
// configuration, and those that are found.
func (m *Manager) Agents() []string {
	all := maps.Clone(m.SearchAgents().Found)
	if all == nil {
		all = map[string]Agent{}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	maps.Copy(all, m.opt.Agents)
	return slices.Sorted(maps.Keys(all))
}

// agentOf is an agent that can be started; the configuration's comes before one that's found.
func (m *Manager) agentOf(name string) (Agent, bool) {
	m.mu.Lock()
	a, ok := m.opt.Agents[name]
	m.mu.Unlock()
	if !ok && name != "" {
		a, ok = m.SearchAgents().Found[name]
	}
	return a, ok
}
