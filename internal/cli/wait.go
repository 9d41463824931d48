package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/panebridge/panebridge/config"
	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/api/client"
	"github.com/panebridge/panebridge/internal/app"
	"github.com/panebridge/panebridge/sessions"
	"github.com/panebridge/panebridge/sessions/tmux"
)

// Exit codes of `wait` besides those of all commands.
const (
	exitStopped     = 5
	exitAlternate   = 6
	exitDied        = 7
	exitRespawned   = 8
	exitHistoryLost = 9
)

// waitExit is the exit code of an outcome.
func waitExit(o sessions.WaitOutcome) int {
	switch o {
	case sessions.WaitMatched, sessions.WaitAnyOutput, waitSignalled:
		return exitDone
	case sessions.WaitTimeout:
		return exitTimedOut
	case sessions.WaitStopped:
		return exitStopped
	case sessions.WaitAlternate:
		return exitAlternate
	case sessions.WaitDied:
		return exitDied
	case sessions.WaitRespawned:
		return exitRespawned
	case sessions.WaitHistoryLost:
		return exitHistoryLost
	}
	return exitFailed
}

// waitFlags are the flags of `wait`.
type waitFlags struct {
	patterns, stops  []string
	regex, matchCase bool
	timeout          waitSpan
	interval         waitSpan
	channel, server  string
	asJSON           bool
}

// waitSpan is a flag: a span ("8s", "2m"), or a number of seconds.
type waitSpan time.Duration

func (s *waitSpan) String() string { return time.Duration(*s).String() }
func (s *waitSpan) Type() string   { return "duration" }

func (s *waitSpan) Set(text string) error {
	d, err := time.ParseDuration(text)
	if seconds, numErr := strconv.ParseFloat(text, 64); numErr == nil && seconds < 1e9 {
		d, err = time.Duration(seconds*float64(time.Second)), nil
	}
	switch {
	case err != nil:
		return errors.New("it must be a span like 500ms, 8s or 2m, or a number of seconds")
	case d <= 0:
		return errors.New("it must be more than nothing")
	}
	*s = waitSpan(d)
	return nil
}

func newWait(p *invocation) *cobra.Command {
	f := waitFlags{timeout: waitSpan(sessions.DefaultWaitTimeout), interval: waitSpan(sessions.DefaultWaitInterval)}
	cmd := &cobra.Command{
		Use:   "wait SESSION",
		Short: "Wait for output of a session",
		Long: `Wait until a session prints something that one of the patterns is found in, or
anything if there are none. What's printed after the call counts, also in the row
in which the cursor is, and also a line that was printed before; what stood on the
screen at the call doesn't. So it's started before what it's to see:

  panebridge wait api --pattern "tests passed" --stop "tests failed" --timeout 5m &
  sleep 1; panebridge input api "make test"; wait $!

A command that's typed is printed, too, by the pane's echo, and so is the next prompt: a
pattern should be of what the command prints ("^PASS" and --regex, say), not of its text.

A line is searched as the program printed it, however it's wrapped, as soon as it's
on the screen, finished or not. A stop wins over a pattern that's found at the same
look. While a program shows the alternate screen, nothing is searched. Of agents
whose text panebridge reads from their transcript, the lines of that are searched:
answers and tools, not what was written to them.

With --channel it's tmux's own wait-for: it ends when somebody runs
"tmux wait-for -S NAME" on the same tmux server.

It works with the daemon stopped, too; one that's under way when the daemon ends fails,
since nobody knows what was printed meanwhile. It ends when whoever started it does. The
first word that's printed is the outcome, what follows is the session's output.

Exit codes:
  0  matched, any_output (without a pattern), or signalled (with --channel)
  1  failed
  2  wrong usage
  4  timeout
  5  stopped: a stop was found
  6  alternate_screen: timed out while the alternate screen was shown
  7  died: the program, its pane or its tmux server has ended
  8  respawned: another program was started in the pane
  9  history_lost: tmux dropped lines that could have matched, or its history
     was cleared`,
		Example: "  panebridge wait api --pattern \"listening on\"\n  panebridge wait api --regex --pattern 'ok|passed' --stop 'FAIL|panic' --timeout 2m --json\n" +
			"  panebridge wait --channel build-done --timeout 10m",
		Args:              takes(0, 1),
		ValidArgsFunction: p.completeSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, stop := untilAbandoned(cmd.Context())
			defer stop()
			var r sessions.WaitResult
			var err error
			switch {
			case f.channel != "" && (len(args) > 0 || len(f.patterns)+len(f.stops) > 0):
				return usageErrorf("--channel goes with neither a session nor patterns: %s", useLine(cmd))
			case f.channel != "":
				r, err = p.waitChannel(ctx, f)
			case len(args) == 0:
				return usageErrorf("something is missing: %s", useLine(cmd))
			default:
				r, err = p.waitSession(ctx, args[0], f)
			}
			if err != nil {
				return calling(waitError(ctx, err))
			}
			return p.printWait(r, f)
		},
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&f.patterns, "pattern", nil, "`TEXT` to wait for; several may be given")
	flags.StringArrayVar(&f.stops, "stop", nil, "`TEXT` that ends the wait with exit code 5; several may be given")
	flags.BoolVar(&f.regex, "regex", false, "patterns and stops are regular expressions (RE2)")
	flags.BoolVar(&f.matchCase, "match-case", false, "upper and lower case are different")
	flags.Var(&f.timeout, "timeout", "how long to wait; at most wait.max_timeout of the configuration")
	flags.Var(&f.interval, "interval", "`pause` between two looks, 10ms or more")
	flags.StringVar(&f.channel, "channel", "", "wait for the tmux channel `NAME`")
	flags.StringVar(&f.server, "server", "", "socket `NAME` or path of the channel's tmux server (else the one this runs in, else the first that's configured)")
	jsonFlag(cmd, &f.asJSON)
	return cmd
}

// request is what the flags ask for.
func (f *waitFlags) request() sessions.WaitRequest {
	return sessions.WaitRequest{
		Patterns: f.patterns, Stops: f.stops, Regex: f.regex, MatchCase: f.matchCase,
		Timeout: time.Duration(f.timeout), Interval: time.Duration(f.interval),
	}
}

// waitSession has the daemon wait; if none runs, it's done here.
func (p *invocation) waitSession(ctx context.Context, session string, f waitFlags) (sessions.WaitResult, error) {
	if err := f.request().CheckInterval(); err != nil { // a shorter one than 1 ms is none to the API
		return sessions.WaitResult{}, usageErrorf("%w", err)
	}
	for _, text := range append(append([]string(nil), f.patterns...), f.stops...) {
		if !utf8.ValidString(text) { // JSON would make another text of it
			return sessions.WaitResult{}, usageErrorf("invalid pattern %q: it isn't valid UTF-8", text)
		}
	}
	c, err := p.dial()
	if err != nil {
		return sessions.WaitResult{}, err
	}
	defer c.Close()
	note := func(n sessions.WaitNote) { p.noteWait(n, f) }
	callCtx, cancel := context.WithTimeout(ctx, callTimeout)
	s, err := find(callCtx, c, session) // also one that has ended
	cancel()
	if errors.Is(err, client.ErrNotRunning) {
		return p.waitAlone(ctx, session, f, note)
	}
	if err != nil {
		return sessions.WaitResult{}, err
	}
	return c.Wait(ctx, string(s.ID), api.WaitRequest{
		Patterns: f.patterns, Stops: f.stops, Regex: f.regex, MatchCase: f.matchCase,
		TimeoutMS: milliseconds(time.Duration(f.timeout)), IntervalMS: milliseconds(time.Duration(f.interval)),
	}, note)
}

// longestWait is the most that the API takes; the configuration allows less.
const longestWait = 30 * 24 * time.Hour

// milliseconds is a span for the API, where 0 would be the default.
func milliseconds(d time.Duration) int64 { return max(1, min(d, longestWait).Milliseconds()) }

func (p *invocation) waitAlone(ctx context.Context, session string, f waitFlags, note func(sessions.WaitNote)) (sessions.WaitResult, error) {
	cfg, err := p.loadPublic()
	if err != nil {
		return sessions.WaitResult{}, err
	}
	dir, err := p.stateDir()
	if err != nil {
		return sessions.WaitResult{}, err
	}
	return app.WaitAlone(ctx, cfg, dir, session, f.request(), note)
}

// noteWait says on standard error what whoever waits should know meanwhile.
func (p *invocation) noteWait(n sessions.WaitNote, f waitFlags) {
	switch n.Event {
	case sessions.WaitBegun:
		if asked := milliseconds(time.Duration(f.timeout)); n.TimeoutMS > 0 && n.TimeoutMS < asked {
			p.notef("panebridge: the time-out is cut to %s (wait.max_timeout)", time.Duration(n.TimeoutMS)*time.Millisecond)
		}
	case sessions.WaitSuspended:
		p.notef("panebridge: the program shows the alternate screen: nothing is searched until it leaves that")
	case sessions.WaitResumed:
		p.notef("panebridge: the alternate screen is gone: searching again")
	}
}

// waitError explains an error.
func waitError(ctx context.Context, err error) error {
	if refused, ok := errors.AsType[*api.Error](err); ok && refused.Code == "invalid" || errors.Is(err, sessions.ErrInvalid) {
		return usageErrorf("%w", err)
	}
	if stopped, ok := errors.AsType[*stopSignal](context.Cause(ctx)); ok {
		return &exitError{128 + int(stopped.number()), stopped}
	}
	if errors.Is(err, client.ErrCutOff) {
		return errCutOff
	}
	return err
}

// errCutOff is what's told when the daemon was killed, say.
var errCutOff = errors.New("the daemon has ended while this waited, and nobody knows what was printed meanwhile: look at the session, and wait again (with the daemon or without it)")

// printWait prints how a wait ended and ends with its exit code.
func (p *invocation) printWait(r sessions.WaitResult, f waitFlags) error {
	code := waitExit(r.Outcome)
	var err error
	if f.asJSON {
		err = p.printJSON(struct {
			sessions.WaitResult

			ExitCode int `json:"exit_code"`
		}{r, code})
	} else {
		err = p.printWaitText(r)
	}
	switch {
	case err != nil:
		return err
	case code != exitDone:
		return silently(code)
	}
	return nil
}

func (p *invocation) printWaitText(r sessions.WaitResult) error {
	head := string(r.Outcome)
	switch {
	case r.Match != nil:
		head += fmt.Sprintf(": %s %q in %q", r.Match.Kind, r.Match.Pattern, r.Match.Line)
	case r.Reason != "":
		head += ": " + r.Reason
	case r.Outcome == sessions.WaitTimeout:
		head += ": nothing that was waited for came within " + (time.Duration(r.TimeoutMS) * time.Millisecond).String()
	}
	if err := p.printf("%s\n", head); err != nil {
		return err
	}
	if r.LinesMissed {
		p.notef("panebridge: some output may not have been seen")
	}
	if n := r.LinesTotal - len(r.Lines); n > 0 {
		p.notef("panebridge: %d lines before these aren't shown", n)
	}
	for _, line := range r.Lines {
		if err := p.printf("%s\n", line); err != nil {
			return err
		}
	}
	return nil
}

// abandonedEvery is how often a wait looks whether whoever started it is still there.
const abandonedEvery = 250 * time.Millisecond

// errAbandoned: the process that started this one has ended.
var errAbandoned = errors.New("whoever started this has ended")

// untilAbandoned returns a context that ends with a signal to end, and with the process
// that started this one. Call stop when it's not needed any more.
func untilAbandoned(ctx context.Context) (_ context.Context, stop func()) {
	ctx, stopSignals := untilSignal(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	ctx, cancel := context.WithCancelCause(ctx)
	parent := os.Getppid()
	go func() {
		for os.Getppid() == parent {
			select {
			case <-ctx.Done():
				return
			case <-time.After(abandonedEvery):
			}
		}
		cancel(errAbandoned)
	}()
	return ctx, func() { cancel(nil); stopSignals() }
}

// number is the signal's, by which shells know what ended a program.
func (s *stopSignal) number() syscall.Signal {
	n, _ := s.sig.(syscall.Signal)
	return n
}

// waitSignalled is the outcome of a wait for a channel.
const waitSignalled sessions.WaitOutcome = "signalled"

// errChannelTimeout ends a wait for a channel.
var errChannelTimeout = errors.New("the time is out")

// waitChannel waits until a channel of a tmux server is signalled.
func (p *invocation) waitChannel(ctx context.Context, f waitFlags) (sessions.WaitResult, error) {
	cfg, err := p.loadPublic()
	if err != nil {
		return sessions.WaitResult{}, err
	}
	timeout := min(time.Duration(f.timeout), cfg.Wait.MaxTimeout.Duration())
	p.noteWait(sessions.WaitNote{Event: sessions.WaitBegun, TimeoutMS: timeout.Milliseconds()}, f)
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, errChannelTimeout)
	defer cancel()
	began := time.Now()
	err = tmux.WaitFor(ctx, p.channelServer(cfg, f.server), f.channel)
	r := sessions.WaitResult{
		Outcome: waitSignalled, Lines: []string{}, Tail: []string{}, Source: "channel",
		ElapsedMS: time.Since(began).Milliseconds(), TimeoutMS: timeout.Milliseconds(),
	}
	switch {
	case errors.Is(err, errChannelTimeout):
		r.Outcome = sessions.WaitTimeout
	case errors.Is(err, tmux.ErrServerGone):
		r.Outcome, r.Reason = sessions.WaitDied, "the channel wasn't signalled: "+err.Error()
	case err != nil:
		return r, err
	}
	return r, nil
}

// channelServer is the tmux server that's meant: the given one, else that of the pane this
// runs in, else the first of the configuration.
func (p *invocation) channelServer(cfg *config.Config, given string) tmux.Options {
	if given != "" {
		if strings.Contains(given, "/") {
			return tmux.Options{SocketPath: given}
		}
		return tmux.Options{SocketName: given}
	}
	if inside, ok := p.env("TMUX"); ok && inside != "" {
		socket, _, _ := strings.Cut(inside, ",")
		return tmux.Options{SocketPath: socket}
	}
	if len(cfg.Tmux.Servers) == 0 {
		return tmux.Options{SocketName: "default"}
	}
	first := cfg.Tmux.Servers[0]
	return tmux.Options{SocketName: first.SocketName, SocketPath: first.SocketPath}
}
