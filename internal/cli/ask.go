package cli

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/api/client"
	"github.com/panebridge/panebridge/sessions"
)

// Exit codes of `ask` besides those of all commands.
const (
	exitRefused   = 5
	exitEnded     = 6
	exitNobody    = 7
	exitWithdrawn = 8
)

// askFlags are the flags of `ask`.
type askFlags struct {
	session, await string
	key            string
	options        []string
	takesText      bool
	timeout        waitSpan
	noWait, asJSON bool
}

func newAsk(p *invocation) *cobra.Command {
	f := askFlags{timeout: waitSpan(sessions.DefaultInquiryTimeout)}
	cmd := &cobra.Command{
		Use:   "ask TEXT",
		Short: "Ask people something, and print their answer",
		Long: `Ask people something in the session's chats and on the page, wait for the answer and print it:
the option that somebody chose, or the text that they wrote. Without options it's a text. People
see that these are the words of a program in the session, whose they are, and that they may choose
to give no answer. It's answered by whoever may answer the agents' own questions; the first answer
counts. Without TEXT, or with -, it's read from standard input.

It waits on if the daemon is started anew meanwhile. If it's killed, the question is closed: nobody
waits for the answer any more. With --no-wait it stays open until its time is over, and its id is
printed, for --await. Whoever repeats a call that was killed gives both the same --key.

At most 4 questions of a session are open at a time.

Exit codes:
  0  answered (or, with --no-wait, asked)
  1  failed
  2  wrong usage
  3  the daemon isn't running
  4  nobody answered in time
  5  refused: somebody chose to give no answer
  6  the session has ended
  7  there's nobody to ask: no chat shows the session, and the page is off
  8  the question was taken back, or closed since nobody waited for it`,
		Example: "  panebridge ask \"Which database?\" --option PostgreSQL --option SQLite --timeout 1h\n" +
			"  name=$(panebridge ask \"What shall the release be called?\") || exit\n  panebridge ask --session api \"Deploy now?\" --option yes --json",
		Args: takes(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if (len(args) > 0 || f.noWait || len(f.options) > 0) && f.await != "" {
				return usageErrorf("--await waits for what was asked before, and asks nothing: %s", useLine(cmd))
			}
			text := ""
			if f.await == "" {
				var err error
				given := len(args) > 0 && args[0] != "-"
				if given {
					text = args[0]
				}
				if text, err = p.message(given, text); err != nil {
					return err
				}
			}
			ctx, stop := untilAbandoned(cmd.Context())
			defer stop()
			return calling(p.ask(ctx, text, f))
		},
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&f.options, "option", nil, "a `TEXT` that can be chosen; several may be given")
	flags.BoolVar(&f.takesText, "text", false, "a text can be the answer besides the options")
	flags.Var(&f.timeout, "timeout", "how long to wait for the answer, at most a day")
	flags.BoolVar(&f.noWait, "no-wait", false, "print the question's id, and don't wait")
	flags.StringVar(&f.await, "await", "", "wait for the answer to the question of that `ID`")
	flags.StringVar(&f.key, "key", "", "your own name for it, 16 to 64 letters and digits: a `KEY` asks once, however often this is called")
	p.sessionFlag(cmd, &f.session)
	jsonFlag(cmd, &f.asJSON)
	return cmd
}

// sessionFlag adds --session, for commands that are called in a session's pane.
func (p *invocation) sessionFlag(cmd *cobra.Command, session *string) {
	cmd.Flags().StringVar(session, "session", "", "in whose name: `SESSION` (else that of the pane this is called in)")
	_ = cmd.RegisterFlagCompletionFunc("session", func(cmd *cobra.Command, _ []string, text string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return p.completeSession(cmd, nil, text)
	})
}

// ask puts the question, and waits for what comes of it.
func (p *invocation) ask(ctx context.Context, text string, f askFlags) error {
	c, err := p.dial()
	if err != nil {
		return err
	}
	defer c.Close()
	if f.session, err = p.ownSession(ctx, c, f.session); err != nil {
		return err
	}
	t := &tenacious{invocation: p, c: c}
	var q api.Inquiry
	if f.await != "" {
		err = t.do(ctx, func(ctx context.Context) (err error) { q, err = c.Inquiry(ctx, f.session, f.await, 0); return err })
	} else {
		r := api.InquiryRequest{
			Key: cmp.Or(f.key, rand.Text()), Text: text, Options: f.options, TakesText: f.takesText, TimeoutMS: milliseconds(time.Duration(f.timeout)), Stays: f.noWait,
		}
		err = t.do(ctx, func(ctx context.Context) (err error) { q, err = c.Inquire(ctx, f.session, r); return err })
	}
	if err != nil {
		return askError(ctx, err)
	}
	if f.noWait {
		return p.printInquiry(q, f.asJSON)
	}
	if q, err = p.awaitInquiry(ctx, t, f, q); err != nil {
		return err
	}
	return p.printInquiry(q, f.asJSON)
}

// awaitInquiry waits until a question is answered or closed. Whoever ends it by a signal takes the question back,
// unless that's another's.
func (p *invocation) awaitInquiry(ctx context.Context, t *tenacious, f askFlags, q api.Inquiry) (api.Inquiry, error) {
	for q.Outcome == "" {
		now := q
		err := t.do(ctx, func(ctx context.Context) (err error) {
			now, err = t.c.Inquiry(ctx, f.session, q.ID, awaitEach)
			return err
		})
		if err == nil {
			q = now
			continue
		}
		if ctx.Err() != nil && f.await == "" {
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTimeout)
			defer cancel()
			_, _ = t.c.Quiet().WithdrawInquiry(last, f.session, q.ID) // else it's closed since nobody waits
		}
		return q, askError(ctx, err)
	}
	return q, nil
}

// printInquiry prints what came of a question and ends with its exit code.
func (p *invocation) printInquiry(q api.Inquiry, asJSON bool) error {
	code, answered := inquiryExit(q.Outcome), q.Outcome == sessions.InquiryAnswered
	var err error
	switch {
	case asJSON:
		err = p.printJSON(q)
	case answered && isTerminal(p.stdio.Out): // which would obey what's in it
		err = p.printf("%s\n", sessions.Legible(q.Answer))
	case answered:
		err = p.printf("%s\n", q.Answer)
	case q.Outcome == "":
		err = p.printf("%s\n", q.ID)
	default:
		p.notef("panebridge: no answer: %s", sessions.Legible(q.Reason))
	}
	if err != nil || code == exitDone {
		return err
	}
	return silently(code)
}

func inquiryExit(o sessions.InquiryOutcome) int {
	switch o {
	case "", sessions.InquiryAnswered:
		return exitDone
	case sessions.InquiryTimeout:
		return exitTimedOut
	case sessions.InquiryRefused:
		return exitRefused
	case sessions.InquiryEnded:
		return exitEnded
	case sessions.InquiryAbandoned, sessions.InquiryWithdrawn:
		return exitWithdrawn
	}
	return exitFailed
}

// askError gives an error its exit code.
func askError(ctx context.Context, err error) error {
	if stopped, ok := errors.AsType[*stopSignal](context.Cause(ctx)); ok {
		return &exitError{128 + int(stopped.number()), stopped}
	}
	refused, ok := errors.AsType[*api.Error](err)
	switch {
	case !ok:
		return err
	case refused.Code == "nobody":
		return &exitError{exitNobody, err}
	case refused.Code == "ended":
		return &exitError{exitEnded, err}
	case refused.Code == "invalid" || refused.Status == http.StatusBadRequest:
		return usageErrorf("%w", err)
	}
	return err
}

// ownSession returns the session in whose name something is asked or shown: the one that's given, else that of the
// pane this is called in.
func (p *invocation) ownSession(ctx context.Context, c *client.Client, given string) (string, error) {
	if given != "" {
		return given, nil
	}
	if id, _ := p.env("PANEBRIDGE_SESSION"); id != "" {
		return id, nil
	}
	pane, _ := p.env("TMUX_PANE")
	if pane == "" {
		return "", usageErrorf("this isn't called in a session's pane: --session says in whose name it is")
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	all, err := c.Quiet().Sessions(ctx) // in a pane it's the pane's session alone
	if err != nil {
		return "", err
	}
	found := ""
	for _, s := range living(all) {
		switch {
		case s.Tmux.Pane != pane:
		case found != "":
			return "", usageErrorf("several tmux servers have sessions in pane %s: --session says in whose name it is", pane)
		default:
			found = string(s.ID)
		}
	}
	if found == "" {
		return "", usageErrorf("pane %s is no session of panebridge's: `panebridge sessions adopt` makes it one, --session names another", pane)
	}
	return found, nil
}

const (
	// awaitEach is how long one call waits, less than connections may be silent.
	awaitEach = 20 * time.Second
	// againEvery is how often a call is made again whose daemon has gone.
	againEvery = 250 * time.Millisecond
	// awayFor is how long a daemon may be gone that's started anew.
	awayFor = 2 * time.Minute
	// settlesWithin is how long after its start a daemon may not know whose pane this is.
	settlesWithin = 10 * time.Second
)

// tenacious makes calls again whose answers were lost with the daemon, or which a daemon that has just started can't
// answer yet: they have keys, or change nothing.
type tenacious struct {
	*invocation

	c    *client.Client
	met  bool      // a daemon has been there
	lost time.Time // when it was last found gone
}

func (t *tenacious) do(ctx context.Context, call func(ctx context.Context) error) error {
	var since time.Time
	for {
		one, cancel := t.callContext(ctx, t.c, awaitEach+callTimeout)
		err := call(one)
		late := one.Err() != nil
		cancel()
		now := time.Now()
		switch {
		case err == nil || ctx.Err() != nil || !t.isPassing(err, late, now):
			t.met = true
			return err
		case since.IsZero():
			since = now
		case now.Sub(since) > awayFor:
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(againEvery):
		}
	}
}

// isPassing reports whether a call's failure is one of a daemon that ends, is gone for a moment, or has just begun.
func (t *tenacious) isPassing(err error, late bool, now time.Time) bool {
	refused, ok := errors.AsType[*api.Error](err)
	switch {
	case client.CutOff(err), ok && refused.Status == http.StatusServiceUnavailable:
		t.met, t.lost = true, now
		return true
	case errors.Is(err, client.ErrNotRunning):
		t.lost = now
		return t.met
	case late:
		return t.met
	case ok && refused.Inside():
		return now.Sub(t.lost) < settlesWithin
	}
	return false
}
