package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/panebridge/panebridge/adapters/all"
	"github.com/panebridge/panebridge/config"
	"github.com/panebridge/panebridge/internal/api/client"
	"github.com/panebridge/panebridge/internal/app"
	"github.com/panebridge/panebridge/internal/demoagent"
	"github.com/panebridge/panebridge/internal/regular"
	"github.com/panebridge/panebridge/internal/statedir"
	"github.com/panebridge/panebridge/sessions"
	"github.com/panebridge/panebridge/sessions/tmux"
)

const (
	demoName    = "panebridge-demo" // of its folder, and of its tmux socket if the folder's path is too long for one
	demoSession = "demo"
	demoFile    = "demo" // says that a state folder is a demo's
	// A shorter cadence than the default, so that one sees the answer grow.
	demoCadence = 0.5
	// How long the demo's tmux server may take to end.
	demoEndTimeout = 5 * time.Second
	// Longer paths leave too little of the about 100 bytes that a socket's path
	// may have.
	demoMaxSocketPath = 100
)

func newDemo(p *invocation) *cobra.Command {
	return &cobra.Command{
		Use:   "demo",
		Short: "See it work: no configuration, a tmux server and an agent of its own",
		Long: `Start a daemon with its defaults, a tmux server of its own and a session that
behaves like a coding agent, and print the address of the page. What it keeps is
in "panebridge-demo" in your cache folder, or in --state-dir.

Ctrl-C ends all of it. Killed in any other way, it leaves the session running,
and the next "panebridge demo" goes on with it.`,
		Args: takes(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if p.configFlag != "" {
				return usageErrorf("the demo takes no --config: `panebridge run` does")
			}
			return p.demo(cmd.Context())
		},
	}
}

func (p *invocation) demo(ctx context.Context) error {
	if err := closeMemory(); err != nil {
		return err
	}
	if _, err := tmux.ProgramVersion(ctx, tmuxProgram); err != nil {
		return err
	}
	dir, err := p.demoDir()
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	again := shown(self) // how to call it once more
	if p.stateDirFlag != "" {
		again += " --state-dir " + dir
	}
	cfg := demoConfig(dir)
	server := cfg.Tmux.Servers[0]
	signals, stop := untilSignal(ctx, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP) // the last: its terminal was closed
	defer stop()
	running, end := context.WithCancel(ctx)
	defer end()
	go func() {
		<-signals.Done()
		if stoppedBy(signals, syscall.SIGINT) {
			closeAll(running, statedir.SocketPath(dir))
		}
		end()
	}()
	opt := app.Options{
		Config: cfg, StateDir: dir,
		Sessions: []sessions.NewRequest{{Name: demoSession, Command: []string{self, demoAgentCommand}}},
		Ready: func(info app.Info) {
			markDemo(dir)
			p.say(demoText(info.Enter, dir, shown(self), again, server))
		},
	}
	err = p.serve(running, opt)
	if errors.Is(err, syscall.EADDRINUSE) {
		cfg.Adapters.Web.Listen = "127.0.0.1:0" // the system knows a free port
		err = p.serve(running, opt)
	}
	switch {
	case stoppedBy(signals, syscall.SIGINT):
		return errors.Join(err, endDemo(ctx, server))
	case err == nil:
		p.say("The session goes on; `" + again + " demo` takes it up again.")
	}
	return err
}

// closeAll closes the demo's sessions while the daemon still runs, so that
// their last output and their end are in the log. What doesn't work is left to
// the end of the tmux server.
func closeAll(ctx context.Context, socket string) {
	ctx, cancel := context.WithTimeout(ctx, demoEndTimeout)
	defer cancel()
	c := client.New(socket)
	defer c.Close()
	list, err := c.Sessions(ctx)
	if err != nil {
		return
	}
	for _, s := range living(list) {
		_ = c.CloseSession(ctx, string(s.ID))
	}
}

// demoDir is the demo's state folder. It's never that of the real daemon,
// unless somebody says so by hand.
func (p *invocation) demoDir() (string, error) {
	if p.stateDirFlag != "" {
		return absolute(p.stateDirFlag)
	}
	base, _ := p.env("XDG_CACHE_HOME")
	if !filepath.IsAbs(base) {
		home, _ := p.env("HOME")
		if !filepath.IsAbs(home) {
			return "", usageErrorf("there is no cache folder, as neither XDG_CACHE_HOME nor HOME is an absolute path: give --state-dir")
		}
		base = filepath.Join(home, ".cache")
	}
	return absolute(filepath.Join(base, demoName))
}

// markDemo leaves word that a state folder is a demo's, for whom its daemon isn't
// running. Without it they're told of the other command.
func markDemo(dir string) {
	if f, err := regular.OpenKept(filepath.Join(dir, demoFile), os.O_CREATE); err == nil {
		_ = f.Close()
	}
}

// starter is the command that starts the daemon of a state folder. The demo doesn't ask
// the environment for its own.
func (p *invocation) starter(dir string) string {
	switch _, err := os.Stat(filepath.Join(dir, demoFile)); {
	case err == nil:
		return "panebridge demo --state-dir " + dir
	case p.stateDirFlag != "":
		return "panebridge run --state-dir " + p.stateDirFlag
	}
	return "panebridge run"
}

func demoConfig(dir string) *config.Config {
	cfg := all.Form().Default()
	server := config.TmuxServer{SocketPath: filepath.Join(dir, "tmux.sock")}
	if len(server.SocketPath) >= demoMaxSocketPath {
		server = config.TmuxServer{SocketName: demoName}
	}
	cfg.Tmux.Servers = []config.TmuxServer{server}
	cfg.Polling.OutputCadence = demoCadence
	cfg.Log.Level = "warn" // so that what's printed stays in sight
	return cfg
}

// socketFlag is how tmux is told of a server.
func socketFlag(s config.TmuxServer) []string {
	if s.SocketPath != "" {
		return []string{"-S", s.SocketPath}
	}
	return []string{"-L", s.SocketName}
}

// endDemo ends the demo's own tmux server, and its session with it, and waits until it has gone:
// one that's told to end takes connections for a moment.
func endDemo(ctx context.Context, s config.TmuxServer) error {
	ctx, cancel := context.WithTimeout(ctx, demoEndTimeout)
	defer cancel()
	for {
		cmd := exec.CommandContext(ctx, tmuxProgram, append(socketFlag(s), "kill-server")...)
		cmd.Env = tmux.LoginEnvironment(os.Environ(), nil)
		out, err := cmd.CombinedOutput()
		text := strings.TrimSpace(string(out))
		switch {
		case err == nil:
			err = errors.New("it was told to, and is still there")
		case strings.Contains(text, "no server running"), strings.Contains(text, "error connecting"):
			return nil
		}
		// Told to end, or ending by itself as its last session has, it's in between: ask
		// again.
		select {
		case <-ctx.Done():
			return fmt.Errorf("end the demo's tmux server: %w: %s; end it with `tmux %s kill-server`", err, text, strings.Join(socketFlag(s), " "))
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func demoText(url, dir, self, again string, server config.TmuxServer) string {
	const text = `
The demo is running. Its page:

    URL

Try, on the page:
  - write anything: the agent thinks, calls a tool, and answers in Markdown
  - write "ask": it says why, asks for a permission, and waits for your answer
  - write "count 2000": it counts for a while
  - kill the daemon while it counts, and start it again: nothing is lost, nothing comes twice
        kill -9 PID; AGAIN demo

And in another terminal:
        SELF --state-dir DIR page          (another address: each lets one browser in)
        SELF --state-dir DIR tail demo
        SELF --state-dir DIR input demo "count 20"
        tmux SOCKET attach -t =pb_demo     (Ctrl-b d leaves it)

Ctrl-C ends the demo, with its agent and its tmux server. What it wrote stays in
DIR, until you delete it.
`
	return strings.NewReplacer("URL", url, "PID", fmt.Sprint(os.Getpid()), "SELF", self, "AGAIN", again, "DIR", dir,
		"SOCKET", strings.Join(socketFlag(server), " ")).Replace(text)
}

// shown is how a person in the current folder calls a program: by its name
// where the shell finds it, else by the shorter path.
func shown(program string) string {
	name := filepath.Base(program)
	if found, err := exec.LookPath(name); err == nil && sameFile(found, program) {
		return name
	}
	here, err := os.Getwd()
	if err != nil {
		return program
	}
	if rel, err := filepath.Rel(here, program); err == nil && filepath.IsLocal(rel) {
		return "." + string(filepath.Separator) + rel
	}
	return program
}

func sameFile(a, b string) bool {
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(infoA, infoB)
}

// demoAgentCommand is what `demo` runs in its session.
const demoAgentCommand = "demo-agent"

func newDemoAgent(p *invocation) *cobra.Command {
	return &cobra.Command{
		Use:    demoAgentCommand,
		Short:  "Behave like a coding agent, for the demo",
		Hidden: true,
		Args:   takes(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			in, ok := p.stdio.In.(*os.File)
			if !ok {
				return errors.New("standard input must be a terminal or a pipe")
			}
			ctx, stop := untilSignal(cmd.Context(), syscall.SIGTERM, syscall.SIGHUP)
			defer stop()
			interrupts := make(chan os.Signal, 1)
			signal.Notify(interrupts, syscall.SIGINT)
			defer signal.Stop(interrupts)
			opt := demoagent.Options{Interrupt: interrupts}
			if state, _ := p.env("PANEBRIDGE_STATE_DIR"); filepath.IsAbs(state) { // as panes have it
				opt.Transcripts = filepath.Join(state, "demo-agent")
			}
			err := demoagent.Run(ctx, in, p.stdio.Out, opt)
			if err == nil || errors.Is(err, context.Cause(ctx)) {
				return nil
			}
			return fmt.Errorf("run the demo's agent: %w", err)
		},
	}
}
