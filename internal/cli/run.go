package cli

import (
	"context"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/panebridge/panebridge/internal/app"
	"github.com/panebridge/panebridge/sessions/tmux"
)

func newRun(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "run",
		Short: "Run the daemon",
		Long: `Run the daemon until Ctrl-C or SIGTERM; the sessions go on without it. SIGHUP, or
"panebridge config reload", has it read its configuration again.

Under systemd it fits Type=notify-reload and WatchdogSec.`,
		Args: takes(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error { return p.run(cmd.Context()) },
	}
}

func (p *program) run(ctx context.Context) error {
	ctx, stop := untilSignal(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	defer p.endWithin(ctx, endsWithin)()
	cfg, path, err := p.loadConfig()
	if err != nil {
		return err
	}
	if path, err = absoluteFile(path); err != nil {
		return err
	}
	dir, err := p.stateDir()
	if err != nil {
		return err
	}
	if _, err := tmux.ProgramVersion(ctx, tmuxProgram); err != nil {
		return err
	}
	return p.serve(ctx, app.Options{
		Config: cfg, ConfigPath: path, StateDir: dir,
		Ready: func(info app.Info) { p.sayReady(info) },
	})
}

// endsWithin is how long the daemon may take to end. Service managers wait for ten seconds or
// longer.
const endsWithin = 9 * time.Second

// endWithin ends the program a time after ctx, whatever hangs: a disk, say. It's the last resort: where
// a platform hangs, or somebody else has locked the database, the daemon gives up before. That's like a kill, after which nothing is missing or twice. The
// function it returns says that the program ends by itself.
func (p *program) endWithin(ctx context.Context, limit time.Duration) (ended func()) {
	done := make(chan struct{})
	go func() {
		select {
		case <-ctx.Done():
		case <-done:
			return
		}
		select {
		case <-time.After(limit):
			p.notef("panebridge didn't end within %s, and is ended: what's left goes on with the next start", limit)
			os.Exit(1) //nolint:revive // nothing else ends what hangs
		case <-done:
		}
	}()
	return sync.OnceFunc(func() { close(done) })
}

// sayReady prints where the page is, with a token only on a terminal: elsewhere the line
// ends in a log that more people read than the page is for.
func (p *program) sayReady(info app.Info) {
	switch {
	case info.Page == "":
		p.say("panebridge is ready; the page is off (adapters.web.enabled)")
	case isTerminal(p.stdio.Out):
		p.say("panebridge is ready: " + info.Enter + " (lets one browser in, for ten minutes)")
	default:
		p.say("panebridge is ready: " + info.Page + " (`panebridge page` prints an address that lets a browser in)")
	}
}

// say prints a line of a daemon, which goes on when nobody reads it.
func (p *program) say(line string) { _ = p.printf("%s\n", line) }
