package agentlab

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/panebridge/panebridge/internal/recording"
)

// Config says which agent is run, and how.
type Config struct {
	Agent         string // its name
	Width, Height int    // of the pane; 0: 120x40
	Screen        Screen
	Socket        string // path of the tmux server's socket (tmux -S)
	Session       string // name of the tmux session; "": that of the agent
	// Hook is a shell command that the agent's hooks call: the event's name is
	// appended, its JSON is on standard input. What it prints goes to the agent. "":
	// the lab sets up no hooks.
	Hook     string
	Scenario string   // name; "": the rules of all of them
	Env      []string // more for the agent and its hooks, KEY=value
	Path     string   // a folder whose programs it finds first; "": none
	Orders   bool     // the model takes orders instead; see orders
	Again    []string // more arguments of a second run in the pane, behind the first; nil: there's none
	MCP      bool     // with an MCP server, whose tools "put" and "tool" call
	Daemon   bool     // Codex: with the daemon that it starts by itself; Hook's trust is then to be given
	Fresh    bool     // Claude Code, Gemini CLI and Qwen Code: it has never run in its folder, and asks whether to trust that
}

// Run is one agent with its model.
type Run struct {
	Agent *Agent
	Model *Model
	Home  string // the agent's home folder
	Cwd   string // its project
	Pane  string // tmux's id of its pane, once it's started
	Epoch time.Time

	cfg    Config
	dir    string
	ns     *namespace
	server *http.Server
	ended  chan struct{}
	writes *writes

	mu      sync.Mutex
	actions []recording.Action
}

// Prepare sets an agent up and starts its model. The agent itself isn't started:
// Start does that, or whoever runs Command in a pane of his own, who then calls
// Attach. Stop must be called.
func Prepare(ctx context.Context, cfg Config) (*Run, error) {
	a := Agents()[cfg.Agent]
	if a == nil {
		return nil, fmt.Errorf("prepare %s: no such agent", cfg.Agent)
	}
	if cfg.Screen == Inline && !a.Inline || cfg.Screen == Alt && !a.Alt {
		return nil, fmt.Errorf("prepare %s: it can't draw %s", a.Name, cfg.Screen)
	}
	if cfg.Width == 0 {
		cfg.Width, cfg.Height = 120, 40
	}
	if cfg.Session == "" {
		cfg.Session = a.Name
	}
	if cfg.Scenario == "" {
		cfg.Scenario = "default"
	}
	scenario, err := LoadScenario(cfg.Scenario)
	if err != nil {
		return nil, err
	}
	if _, err := Install(ctx, a); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "pblab")
	if err != nil {
		return nil, fmt.Errorf("prepare %s: %w", a.Name, err)
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, fmt.Errorf("prepare %s: %w", a.Name, err)
	}
	r := &Run{
		Agent: a, Home: filepath.Join(dir, "home"), Cwd: filepath.Join(dir, "project"), Epoch: time.Now(),
		cfg: cfg, dir: dir, ended: make(chan struct{}),
	}
	r.Model = NewModel(scenario, r.Cwd)
	if cfg.Orders {
		r.Model.orders = &orders{done: map[string]bool{}, subs: map[string]bool{}}
	}
	r.writes = watchWrites(r)
	if err := r.prepare(ctx); err != nil {
		_ = r.Stop() //nolint:contextcheck // it ends what was started, whatever became of ctx
		return nil, err
	}
	return r, nil
}

func (r *Run) prepare(ctx context.Context) error {
	for _, d := range []string{r.Home, r.Cwd} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return fmt.Errorf("prepare %s: %w", r.Agent.Name, err)
		}
	}
	if err := writeFile(filepath.Join(r.Cwd, orderNotes), OrderNotes()); err != nil {
		return err
	}
	if err := writeFile(filepath.Join(r.Cwd, "README.md"), "# A test project\n"); err != nil {
		return err
	}
	packages, err := Folder()
	if err != nil {
		return err
	}
	s := &setup{home: r.Home, cwd: r.Cwd, url: "http://127.0.0.1:" + strconv.Itoa(port), screen: r.cfg.Screen, daemon: r.cfg.Daemon, fresh: r.cfg.Fresh, mcp: r.cfg.MCP, agent: r.Agent, packages: packages}
	if r.cfg.Hook != "" && r.Agent.Hooks {
		if s.hook, err = r.writeHook(); err != nil {
			return err
		}
	}
	if err := r.Agent.setup(s); err != nil {
		return err
	}
	if r.ns, err = newNamespace(ctx); err != nil {
		return err
	}
	r.server = &http.Server{Handler: r.Model, ReadHeaderTimeout: time.Minute}
	go func() { _ = r.server.Serve(r.ns.listener); close(r.ended) }()
	return r.writeCommand(s, packages)
}

// writeHook writes the program that the agent's hooks call: it notes the call
// and does what the configuration asks for.
func (r *Run) writeHook() (string, error) {
	path := filepath.Join(r.dir, "hook")
	text := `#!/bin/sh
# hook EVENT: notes the call and hands it on.
in=$(cat)
printf '%s\t%s\t%s\n' "$(date +%s.%N)" "$1" "$(printf %s "$in" | tr '\n' ' ' | head -c 2000)" >>` + quote(r.hookLog()) + `
printf %s "$in" | ` + r.cfg.Hook + ` "$1"
`
	return "/bin/sh " + quote(path), writeFile(path, text)
}

func (r *Run) hookLog() string { return filepath.Join(r.dir, "hooks") }

// writeCommand writes the program that the agent's pane runs.
func (r *Run) writeCommand(s *setup, packages string) error {
	node, err := exec.LookPath("node")
	if err != nil {
		return fmt.Errorf("prepare %s: %w; install node 20 or newer", r.Agent.Name, err)
	}
	bin := filepath.Join(place(packages, r.Agent.Package), "node_modules", ".bin")
	env := append([]string{
		"PATH=" + strings.TrimPrefix(r.cfg.Path+":"+bin, ":") + ":" + filepath.Dir(node) + ":/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
		"HOME=" + r.Home, "LANG=C.UTF-8", "TERM=tmux-256color", "COLORTERM=truecolor", "SHELL=/bin/bash", "USER=" + os.Getenv("USER"),
	}, s.env...)
	env = append(env, r.cfg.Env...)
	var b strings.Builder
	b.WriteString("#!/bin/sh\n# What the agent's pane runs.\ncd " + quote(r.Cwd) + " || exit 1\nexec")
	for _, word := range append(r.ns.enter(), "env", "-i") {
		b.WriteString(" " + quote(word))
	}
	b.WriteString(` TMUX="$TMUX" TMUX_PANE="$TMUX_PANE" ${PANEBRIDGE_SESSION:+PANEBRIDGE_SESSION="$PANEBRIDGE_SESSION"}`)
	for _, word := range append(env, s.argv...) {
		b.WriteString(" \\\n  " + quote(word))
	}
	b.WriteString(" \"$@\"\n")
	return writeFile(filepath.Join(r.dir, "run"), b.String())
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// Program is what runs the agent, as words.
func (r *Run) Program() []string { return []string{"sh", filepath.Join(r.dir, "run")} }

// Command is a command line for a pane that runs the agent.
func (r *Run) Command() string {
	run := "sh " + quote(r.Program()[1])
	if r.cfg.Again == nil {
		return "exec " + run
	}
	words := []string{run + "; exec " + run}
	for _, arg := range r.cfg.Again {
		words = append(words, quote(arg))
	}
	return strings.Join(words, " ")
}

// Start runs the agent in a tmux session of its own and waits until it takes
// input. The tmux server may be one that runs already.
func (r *Run) Start(ctx context.Context) error {
	out, err := r.tmux(
		ctx, "", "new-session", "-d", "-P", "-F", "#{pane_id}", "-s", r.cfg.Session,
		"-x", strconv.Itoa(r.cfg.Width), "-y", strconv.Itoa(r.cfg.Height), r.Command(),
	)
	if err != nil {
		return err
	}
	r.Pane = strings.TrimSpace(out)
	if _, err := r.tmux(ctx, "", "set-option", "-t", "="+r.cfg.Session+":", "status", "off"); err != nil {
		return err
	}
	if _, err := r.tmux(ctx, "", "resize-window", "-t", r.Pane, "-x", strconv.Itoa(r.cfg.Width), "-y", strconv.Itoa(r.cfg.Height)); err != nil {
		return err
	}
	return r.Ready(ctx)
}

// Attach tells the pane of an agent that somebody else started with Command.
func (r *Run) Attach(pane string) { r.Pane = pane }

// Ready waits until the agent takes input.
func (r *Run) Ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, r.Agent.Timeout)
	defer cancel()
	if err := r.See(ctx, r.Agent.Ready); err != nil {
		return err
	}
	if err := r.Still(ctx, r.Agent.Settle); err != nil {
		return err
	}
	r.Did(recording.Action{Kind: "ready"})
	return nil
}

// Transcripts are the files that the agent keeps of its conversations, oldest
// first; opencode's is its database.
func (r *Run) Transcripts() []string {
	paths, _ := filepath.Glob(filepath.Join(r.Home, filepath.FromSlash(r.Agent.Transcript)))
	sort.Slice(paths, func(i, j int) bool { return changed(paths[i]).Before(changed(paths[j])) })
	return paths
}

func changed(path string) time.Time {
	info, err := os.Stat(path)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// removeSockets removes what Codex' daemon has outside its home: links there lead to its
// sockets.
func (r *Run) removeSockets() {
	links, _ := filepath.Glob(filepath.Join(r.Home, ".codex", "app-server-*", "*.sock"))
	for _, link := range links {
		if to, err := os.Readlink(link); err == nil && filepath.IsAbs(to) {
			_ = os.Remove(to)
			_ = os.Remove(to + ".lock")
		}
	}
}

// Stop ends everything that was started, and removes the folder.
func (r *Run) Stop() error {
	var left []int
	if r.ns != nil {
		left = r.ns.endAll()
	}
	if r.Pane != "" {
		_, _ = r.tmux(context.Background(), "", "kill-pane", "-t", r.Pane)
	}
	if r.server != nil {
		_ = r.server.Close()
		<-r.ended
	}
	if r.ns != nil {
		r.ns.close()
	}
	r.writes.stop()
	r.removeSockets()
	if err := os.RemoveAll(r.dir); err != nil {
		return fmt.Errorf("stop %s: %w", r.Agent.Name, err)
	}
	if len(left) > 0 {
		return errors.New("stop " + r.Agent.Name + ": processes are left: " + fmt.Sprint(left))
	}
	return nil
}
