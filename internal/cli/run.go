package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
	"github.com/lmittmann/tint"
	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"

	"github.com/panebridge/panebridge/internal/api/client"
	"github.com/panebridge/panebridge/internal/app"
	"github.com/panebridge/panebridge/sessions/tmux"
)

func newRun(p *invocation) *cobra.Command {
	var starter string
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Run the daemon",
		Long: `Run the daemon until Ctrl-C or SIGTERM; the sessions go on without it. SIGHUP, or
"panebridge config reload", has it read its configuration again.

"panebridge service install" has systemd or launchd run it.`,
		Args: takes(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error { return p.run(cmd.Context(), starter) },
	}
	cmd.Flags().StringVar(&starter, "starter", "", "have tmux servers started by who listens on this `SOCKET`, as the service does")
	return cmd
}

// run runs the daemon. starter is the socket of who starts tmux servers for it; "": it does.
func (p *invocation) run(ctx context.Context, starter string) error {
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
		Config: cfg, ConfigPath: path, StateDir: dir, Starter: starter,
		Ready: func(info app.Info) { p.sayReady(info) },
	})
}

// endsWithin is how long the daemon may take to end. Service managers wait for ten seconds or
// longer.
const endsWithin = 9 * time.Second

// endWithin ends the program a time after ctx, whatever hangs: a disk, say. It's the last resort: where
// a platform hangs, or somebody else has locked the database, the daemon gives up before. That's like a kill, after which nothing is missing or twice. The
// function it returns says that the program ends by itself.
func (p *invocation) endWithin(ctx context.Context, limit time.Duration) (ended func()) {
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
func (p *invocation) sayReady(info app.Info) {
	switch {
	case info.Page == "":
		p.say("panebridge is ready; the page is off (adapters.web.enabled)")
	case info.Enter == "":
		p.say("panebridge is ready: " + info.Page + " (`panebridge page share` lets a browser in)")
	case isTerminal(p.stdio.Out):
		p.say("panebridge is ready: " + info.Enter + " (lets one browser in, for ten minutes)")
	default:
		p.say("panebridge is ready: " + info.Page + " (`panebridge page` prints an address that lets a browser in)")
	}
}

// say prints a line of a daemon, which goes on when nobody reads it.
func (p *invocation) say(line string) { _ = p.printf("%s\n", line) }

// stopSignal is the cause of a context that a signal has ended.
type stopSignal struct{ sig os.Signal }

func (s *stopSignal) Error() string { return fmt.Sprintf("stopped by signal: %v", s.sig) }

// untilSignal returns a context that ends with the first of the signals. A
// second one then does what it always does: whoever is in a hurry presses
// Ctrl-C twice. Call stop when it's not needed any more.
func untilSignal(ctx context.Context, sigs ...os.Signal) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	ch := make(chan os.Signal, 1)
	signal.Notify(ch, sigs...)
	go func() {
		defer signal.Stop(ch)
		select {
		case sig := <-ch:
			cancel(&stopSignal{sig})
		case <-ctx.Done():
		}
	}()
	return ctx, func() { cancel(nil) }
}

// stoppedBy reports whether that signal ended the context.
func stoppedBy(ctx context.Context, sig os.Signal) bool {
	s, ok := errors.AsType[*stopSignal](context.Cause(ctx))
	return ok && s.sig == sig
}

// newLogger returns the daemon's logger: text for people, in colour on a
// terminal, or JSON. The format is that of the configuration's log.format.
func newLogger(w io.Writer, format string, level slog.Leveler, colour bool) *slog.Logger {
	if format == "json" || format == "auto" && !isTerminal(w) {
		return slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{Level: level}))
	}
	return slog.New(tint.NewTextHandler(w, &tint.Options{
		Level: level, TimeFormat: time.TimeOnly, NoColor: !colour || !isTerminal(w),
	}))
}

// colour reports whether colour is welcome: see no-color.org.
func (p *invocation) colour() bool {
	value, _ := p.env("NO_COLOR")
	return value == ""
}

func isTerminalFile(f *os.File) bool { return isatty.IsTerminal(f.Fd()) }

// systemd tells the service manager how the daemon is, if it was started by one
// that wants to know (Type=notify or notify-reload).
type systemd struct{ log *slog.Logger }

func (s systemd) ready()    { s.notify(daemon.SdNotifyReady) }
func (s systemd) stopping() { s.notify(daemon.SdNotifyStopping) }

// waiting has systemd wait for a start that waits, which it would end after TimeoutStartSec.
func (s systemd) waiting() {
	s.notify(fmt.Sprintf("EXTEND_TIMEOUT_USEC=%d", extendStart.Microseconds()))
}

// extendStart is longer than a start takes to be tried again.
const extendStart = 2 * time.Minute

// reloading is followed by ready.
func (s systemd) reloading() {
	s.notify(daemon.SdNotifyReloading + "\n" + daemon.SdNotifyMonotonicUsec())
}

func (s systemd) notify(state string) {
	if _, err := daemon.SdNotify(false, state); err != nil {
		s.log.Warn("tell systemd", "state", state, "error", err)
	}
}

// watchdog tells systemd that the daemon is alive for as long as its API answers and the sessions can be listed,
// until ctx ends. It returns at once if systemd doesn't ask for it. A part that's down counts as answered: a new start
// mends neither a platform nor a tmux server.
func (s systemd) watchdog(ctx context.Context, socket string) {
	within, err := daemon.SdWatchdogEnabled(false)
	if err != nil {
		s.log.Warn("read systemd's watchdog interval", "error", err)
	}
	if within <= 0 {
		return
	}
	c := client.New(socket)
	defer c.Close()
	tick := time.NewTicker(within / 3) // systemd asks for twice within the interval, and one may be slow
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		callCtx, cancel := context.WithTimeout(ctx, within/3)
		_, err := c.Health(callCtx)
		if err == nil {
			_, err = c.Sessions(callCtx) // which waits for whoever holds the registry
		}
		if err == nil {
			s.notify(daemon.SdNotifyWatchdog)
		}
		cancel()
	}
}
