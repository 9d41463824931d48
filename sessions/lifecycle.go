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
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode"
	"unicode/utf8"
)

// tmuxTimeout is for making and ending panes.
const tmuxTimeout = 10 * time.Second

// Adopt mirrors panes that exist.
func (m *Manager) Adopt(ctx context.Context, req AdoptRequest) ([]Session, error) {
	if req.Tmux == "" {
		return nil, fmt.Errorf("%w: say which pane (%%12) or tmux session to adopt", ErrInvalid)
	}
	if err := checkName(req.Name); err != nil {
		return nil, err
	}
	m.life.Lock()
	defer m.life.Unlock()
	var errs []error
	for _, srv := range m.opt.Servers {
		if req.Server != "" && req.Server != srv.Name() {
			continue
		}
		panes, err := panesOfServer(ctx, srv)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if out, err := m.adoptFrom(ctx, srv, panes, req); len(out) > 0 || err != nil {
			return out, err
		}
	}
	if len(errs) > 0 {
		return nil, fmt.Errorf("look for %q: %w", req.Tmux, errors.Join(errs...))
	}
	return nil, fmt.Errorf("%w pane or tmux session %q: give a pane id like %%12 or the exact name of a tmux session", ErrUnknown, req.Tmux)
}

// panesOfServer are a server's panes, also of one that has just begun.
func panesOfServer(ctx context.Context, srv TmuxServer) ([]PaneInfo, error) {
	panes, err := srv.Panes(ctx)
	if !errors.Is(err, ErrUnavailable) || srv.Reach(ctx) != nil {
		return panes, err
	}
	return srv.Panes(ctx)
}

func (m *Manager) adoptFrom(ctx context.Context, srv TmuxServer, panes []PaneInfo, req AdoptRequest) (out []Session, err error) {
	for _, p := range panes {
		if p.ID != req.Tmux && p.Session != req.Tmux {
			continue
		}
		name := req.Name
		if name == "" {
			name = p.Session
		}
		s, err := m.adoptPane(ctx, srv, p, name)
		if err != nil {
			return out, err
		}
		out = append(out, s)
	}
	return out, nil
}

// adoptPane makes a pane a session. life is held.
func (m *Manager) adoptPane(ctx context.Context, srv TmuxServer, p PaneInfo, name string) (Session, error) {
	identity, ok := srv.Identity()
	if !ok {
		return Session{}, fmt.Errorf("adopt pane %s: %w", p.ID, ErrUnavailable)
	}
	if s, ok := m.sessionAt(srv.Name(), identity, p.ID); ok {
		return s, fmt.Errorf("%w: pane %s is session %s (%s) already", ErrConflict, p.ID, s.ID, s.Name)
	}
	m.mu.Lock()
	// Panes that we've made are in tmux sessions of ours.
	owned := m.isLost(p) && m.opt.Prefix != "" && strings.HasPrefix(p.Session, m.opt.Prefix)
	m.mu.Unlock()
	id := p.Mark
	if !id.Valid() || m.withEntry(id, func(*sessionEntry) bool { return true }) {
		id = NewID()
	}
	if err := srv.Mark(ctx, p.ID, id); err != nil {
		return Session{}, err
	}
	where := Pane{Server: srv.Name(), Identity: identity, ID: p.ID, Session: p.Session}
	if err := m.forgetClosed(ctx, where); err != nil {
		return Session{}, err
	}
	s := Session{ID: id, Name: name, Cwd: p.Cwd, RealCwd: realPath(p.Cwd), State: StateStarting, CreatedAt: time.Now(), Pane: where, Owned: owned}
	return s, m.beginSession(ctx, s)
}

func (m *Manager) sessionAt(server string, identity ServerIdentity, pane string) (Session, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, e := range m.entries {
		if e.State != StateEnded && e.Pane.Server == server && e.Pane.Identity == identity && e.Pane.ID == pane {
			return e.Session, true
		}
	}
	return Session{}, false
}

// beginSession stores a new session, registers it and starts its poller.
func (m *Manager) beginSession(ctx context.Context, s Session) error {
	if err := m.opt.Store.PutSession(ctx, s); err != nil {
		return fmt.Errorf("store session %s: %w", s.Name, err)
	}
	m.mu.Lock()
	m.entries[s.ID] = m.newEntry(s)
	m.mu.Unlock()
	m.opt.Feed.PublishSession(s)
	m.log.Info("session begins", "session", s.ID, "pane", s.Pane.ID, "server", s.Pane.Server)
	return m.opt.Pollers.Start(s)
}

// Close ends a session: one made here with its pane, an adopted one only as a
// mirror. It returns when the session's last output is in the log.
func (m *Manager) Close(ctx context.Context, id ID) error {
	m.life.Lock()
	defer m.life.Unlock()
	s, srv, err := m.livingSession(id)
	if err != nil {
		return err
	}
	if err := m.opt.Pollers.Stop(ctx, id); err != nil {
		return err
	}
	m.endSession(ctx, s.ID, nil, "it was closed", nil)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tmuxTimeout)
	defer cancel()
	if s.Owned {
		return srv.Kill(ctx, s.Pane.ID)
	}
	m.mu.Lock()
	m.closed[closedPaneKey{s.Pane.Server, s.Pane.Identity, s.Pane.ID}] = true
	m.mu.Unlock()
	return errors.Join(m.opt.Store.PutClosedPane(ctx, s.Pane), srv.Mark(ctx, s.Pane.ID, ""))
}

func (m *Manager) forgetClosed(ctx context.Context, p Pane) error {
	key := closedPaneKey{p.Server, p.Identity, p.ID}
	m.mu.Lock()
	was := m.closed[key]
	delete(m.closed, key)
	m.mu.Unlock()
	if !was {
		return nil
	}
	return m.opt.Store.DropClosedPane(ctx, p)
}

// Ended is told by a poller whose pane or program has ended.
func (m *Manager) Ended(id ID, exit *Exit, reason string) {
	m.runLater(func(ctx context.Context) {
		m.life.Lock()
		defer m.life.Unlock()
		s, srv, err := m.livingSession(id)
		if err != nil {
			return
		}
		m.endSession(ctx, id, exit, reason, nil)
		if s.Owned && exit != nil {
			ctx, cancel := context.WithTimeout(ctx, tmuxTimeout)
			defer cancel()
			_ = srv.Kill(ctx, s.Pane.ID) // the dead pane has been read
		}
	})
}

// endSession makes a session end: notice, registry, store, waiting inputs. life is
// held.
func (m *Manager) endSession(ctx context.Context, id ID, exit *Exit, reason string, gap *Gap) {
	ctx = context.WithoutCancel(ctx)
	text := "session ended: " + reason
	if exit != nil && exit.Signal != "" {
		text += ", by signal " + exit.Signal
	} else if exit != nil && exit.Status >= 0 {
		text += fmt.Sprintf(", with status %d", exit.Status)
	}
	lines, gaps, err := m.appendLines(ctx, id, []Line{{Kind: KindNotice, Text: text}}, gap)
	if err != nil {
		m.log.Error("write the notice of a session's end", "session", id, "err", err)
	}
	// Whoever hears of the last line asks whether it's the last: it rings. One who reads the
	// log between these two, for another line, takes it for a line like others.
	s, ok := m.changeSession(id, func(s *Session) {
		s.State, s.Reason, s.EndedAt = StateEnded, reason, time.Now()
		if exit != nil {
			s.Exit = exit
		}
	})
	if !ok {
		return
	}
	if err == nil {
		m.opt.Feed.PublishOutput(OutputEvent{Session: id, First: lines[0].N, Lines: lines, Gaps: gaps, Exit: exit, Live: &Live{CursorY: -1}, State: StateEnded, Reason: reason})
	}
	m.opt.Feed.PublishSession(s)
	if err := m.opt.Store.PutSession(ctx, s); err != nil {
		m.log.Error("store the end of a session", "session", id, "err", err)
	}
	m.endPrompt(ctx, id, "the session has ended: "+reason)
	m.failWaiting(ctx, id, "the session has ended: "+reason)
	m.endAnswers(id)
	m.log.Info("session ends", "session", id, "reason", reason)
}

// conversationIDs are those that agents give: they're arguments, and no options.
var conversationIDs = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:-]{0,199}$`)

// checkResume says why an agent can't go on with the conversation asked for.
func checkResume(req *NewRequest, a Agent) error {
	switch {
	case len(req.Command) > 0 || req.Agent == "":
		return fmt.Errorf("%w: only an agent of the configuration goes on with a conversation", ErrInvalid)
	case len(a.Resume) == 0:
		return fmt.Errorf("%w: it isn't known how %s goes on with a conversation; agents.%s.resume in the configuration can say so", ErrInvalid, req.Agent, req.Agent)
	case !conversationIDs.MatchString(req.Resume):
		return fmt.Errorf("%w: %.40q isn't the id of a conversation", ErrInvalid, req.Resume)
	}
	return nil
}

// resumeArgs are the arguments with which it goes on with a conversation.
func (a Agent) resumeArgs(id string) []string {
	out := make([]string, len(a.Resume))
	for i, arg := range a.Resume {
		out[i] = strings.ReplaceAll(arg, ConversationID, id)
	}
	return out
}

// Restart ends a session's program and starts it anew in the session's folder, with the
// conversation that it has, if the agent can go on with one. It's the same session,
// unless it has ended: then another begins with its name. The pane must be one that was
// made here.
func (m *Manager) Restart(ctx context.Context, id ID) (Session, error) {
	m.life.Lock()
	defer m.life.Unlock()
	m.mu.Lock()
	e := m.entries[id]
	if e == nil {
		m.mu.Unlock()
		return Session{}, fmt.Errorf("restart %s: %w session", id, ErrUnknown)
	}
	s := e.Session
	m.mu.Unlock()
	req := NewRequest{Agent: s.Agent, Cwd: s.Cwd, Server: s.Pane.Server}
	if agent, _ := m.agentOf(s.Agent); len(agent.Resume) > 0 && conversationIDs.MatchString(s.Source.Conversation) {
		req.Resume = s.Source.Conversation
	}
	switch {
	case !s.Owned:
		return Session{}, fmt.Errorf("%w: panebridge didn't begin %s; end its program and start it by hand", ErrConflict, s.Name)
	case s.State == StateEnded:
		req.Name = s.Name
		return m.createSession(ctx, req)
	default:
		return m.respawnProgram(ctx, s, req)
	}
}

// respawnProgram starts the program of a living session anew. life is held.
func (m *Manager) respawnProgram(ctx context.Context, s Session, req NewRequest) (Session, error) {
	pane, srv, err := m.planPane(&req)
	if err != nil {
		return Session{}, err
	}
	if now, up := srv.Identity(); !up || now != s.Pane.Identity {
		return Session{}, fmt.Errorf("restart %s: %w", s.Name, ErrUnavailable)
	}
	pane.Env = m.envOf(pane.Env, s.ID)
	if s.Agent == "" {
		pane.Command = nil // what runs in it isn't known here, but to tmux
	}
	ctx, cancel := context.WithTimeout(ctx, tmuxTimeout)
	defer cancel()
	m.failWaiting(ctx, s.ID, "the program was started anew")
	if err := srv.Respawn(ctx, s.Pane.ID, pane); err != nil {
		return Session{}, fmt.Errorf("restart %s: %w", s.Name, err)
	}
	m.setAddressee(ctx, s.ID, "")
	m.endPrompt(ctx, s.ID, "the program was started anew")
	text := "program started anew"
	if req.Resume != "" {
		text += ", with its conversation"
	}
	lines, gaps, err := m.appendLines(ctx, s.ID, []Line{{Kind: KindNotice, Text: text}}, nil)
	if err != nil {
		m.log.Error("write the notice of a restart", "session", s.ID, "err", err)
	} else {
		m.opt.Feed.PublishOutput(OutputEvent{Session: s.ID, First: lines[0].N, Lines: lines, Gaps: gaps, Turn: s.Turn})
	}
	m.log.Info("session's program is started anew", "session", s.ID, "resumed", req.Resume != "")
	m.opt.Pollers.NoteTyped(s.ID, "")
	return m.Get(string(s.ID))
}

// Forget drops a session that has ended, with its output log, its receipts and its
// prompts.
// ErrConflict if it still lives.
func (m *Manager) Forget(ctx context.Context, id ID) error {
	m.life.Lock()
	defer m.life.Unlock()
	s, err := m.Get(string(id))
	if err != nil {
		return err
	}
	if s.State != StateEnded {
		return fmt.Errorf("forget session %s: %w: it still lives; close it first", s.Name, ErrConflict)
	}
	if err := m.opt.Pollers.Stop(ctx, s.ID); err != nil { // one that was begun as it ended
		return err
	}
	if err := m.opt.Store.DropSession(ctx, s.ID); err != nil {
		return err
	}
	m.mu.Lock()
	delete(m.entries, s.ID)
	m.mu.Unlock()
	m.log.Info("session is forgotten", "session", s.ID)
	return nil
}

const paneWidth, paneHeight = 120, 40

// New makes a session in a pane of its own.
func (m *Manager) New(ctx context.Context, req NewRequest) (Session, error) {
	m.life.Lock()
	defer m.life.Unlock()
	return m.createSession(ctx, req)
}

// createSession is New. life is held.
func (m *Manager) createSession(ctx context.Context, req NewRequest) (Session, error) {
	program := ""
	if len(req.Command) > 0 {
		program = filepath.Base(req.Command[0])
	}
	pane, srv, err := m.planPane(&req)
	if err != nil {
		return Session{}, err
	}
	if req.Name, err = m.freeName(req.Name, req.Agent); err != nil {
		return Session{}, err
	}
	pane.Session = m.freeTmuxName(req.Name)
	ctx, cancel := context.WithTimeout(ctx, tmuxTimeout)
	defer cancel()
	id, folder := NewID(), realPath(pane.Cwd) // before its program can change what's there
	pane.Env = m.envOf(pane.Env, id)
	info, err := srv.Create(ctx, id, pane)
	if err != nil {
		return Session{}, err
	}
	identity, _ := srv.Identity()
	s := Session{
		ID: id, Name: req.Name, Agent: req.Agent, Program: program, Cwd: pane.Cwd, RealCwd: folder, State: StateStarting, Owned: true, CreatedAt: time.Now(),
		Pane: Pane{Server: srv.Name(), Identity: identity, ID: info.ID, Session: info.Session},
	}
	if err := m.beginSession(ctx, s); err != nil {
		_ = srv.Kill(ctx, info.ID)
		return Session{}, err
	}
	return s, nil
}

func (m *Manager) envOf(agent []string, id ID) []string {
	return append(slices.Concat(m.opt.Env, agent), "PANEBRIDGE_SESSION="+string(id))
}

// planPane checks a request and works out what to run where.
func (m *Manager) planPane(req *NewRequest) (PaneRequest, TmuxServer, error) {
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
		if err := checkResume(req, agent); err != nil {
			return p, nil, err
		}
		p.Command = slices.Concat(p.Command, agent.resumeArgs(req.Resume))
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
		if srv = m.serverNamed(req.Server); srv == nil {
			return p, nil, fmt.Errorf("%w tmux server %q: it isn't in the configuration", ErrUnknown, req.Server)
		}
	}
	return p, srv, nil
}

// realPath is the path of a folder without links; "": it can't be told, or not be kept.
func realPath(folder string) string {
	path, err := filepath.EvalSymlinks(folder)
	if err != nil || !filepath.IsAbs(path) || !utf8.ValidString(path) {
		return ""
	}
	return path
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

// Rename gives a living session another name. ErrInvalid if it can't be shown on one line, ErrConflict if another living
// session has it. What tmux calls its own session stays as it is.
func (m *Manager) Rename(ctx context.Context, id ID, name string) (Session, error) {
	if name = strings.TrimSpace(name); name == "" {
		return Session{}, fmt.Errorf("%w name: it's empty", ErrInvalid)
	}
	if err := checkName(name); err != nil {
		return Session{}, err
	}
	m.life.Lock()
	defer m.life.Unlock()
	before, _, err := m.livingSession(id)
	if err != nil || before.Name == name {
		return before, err
	}
	if _, err := m.freeName(name, ""); err != nil {
		return before, err
	}
	s, _ := m.changeSession(id, func(s *Session) { s.Name = name })
	if err := m.opt.Store.PutSession(ctx, s); err != nil {
		m.changeSession(id, func(s *Session) { s.Name = before.Name })
		return before, fmt.Errorf("store the name of session %s: %w", id, err)
	}
	m.opt.Feed.PublishSession(s)
	m.log.Info("session has another name", "session", id, "name", name)
	return s, nil
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
	used := map[string]bool{}
	for _, e := range m.entries {
		used[e.Name] = used[e.Name] || e.State != StateEnded
	}
	if name != "" {
		if used[name] {
			return "", fmt.Errorf("%w: a session is named %q already; choose another name", ErrConflict, name)
		}
		return name, nil
	}
	base := agent
	if base == "" {
		base = "shell"
	}
	for n := 1; ; n++ {
		name := fmt.Sprintf("%s-%d", base, n)
		if !used[name] {
			return name, nil
		}
	}
}

// freeTmuxName returns what the tmux session of a session is called: as that, as far as tmux
// takes it, with a number behind it where another is called so.
func (m *Manager) freeTmuxName(name string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	used := map[string]bool{}
	for _, e := range m.entries {
		used[e.Pane.Session] = used[e.Pane.Session] || e.State != StateEnded
	}
	base := m.opt.Prefix + tmuxName(name)
	free := base
	for n := 2; used[free]; n++ {
		free = fmt.Sprint(base, "-", n)
	}
	return free
}

// isTmuxNameOf reports whether freeTmuxName may have made a tmux session's name of a session's.
func (m *Manager) isTmuxNameOf(tmux, name string) bool {
	rest, ok := strings.CutPrefix(tmux, m.opt.Prefix+tmuxName(name))
	if n, numbered := strings.CutPrefix(rest, "-"); ok && numbered {
		_, err := strconv.Atoi(n)
		return err == nil
	}
	return ok && rest == ""
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

func (m *Manager) agentOf(name string) (Agent, bool) {
	m.mu.Lock()
	a, ok := m.opt.Agents[name]
	m.mu.Unlock()
	if !ok && name != "" {
		a, ok = m.SearchAgents().Found[name]
	}
	return a, ok
}
