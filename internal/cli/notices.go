package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/panebridge/panebridge/internal/api/client"
	"github.com/panebridge/panebridge/internal/inbox"
)

// notifyFlags are the flags of `notify`.
type notifyFlags struct {
	who      whoFlag
	to, kind string
	asJSON   bool
}

func newNotify(p *program) *cobra.Command {
	var f notifyFlags
	cmd := &cobra.Command{
		Use:   "notify TEXT",
		Short: "Leave a notice for who listens",
		Long: `Leave a notice for the director of your fleet, or for who's given: "panebridge listen"
prints it there. Where you're in no fleet, it's for whoever listens and is in none.
Outside of any session, as in cron or CI, it's from "system".

What the types mean is the same where panebridge tells a director by itself: complete, a
piece of work is done (a turn has ended, whatever came of it); question, somebody is asked
that; waiting, who sent it can't go on without somebody (it stands still, and what it asks
can't be read); info, anything else (it has ended).

The exit code is 0 whatever happens, so that it can stand anywhere in a script; what
went wrong is on standard error.`,
		Example: "  panebridge notify \"the tests pass\"\n  panebridge notify --type question \"which branch?\"",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := p.notify(cmd.Context(), f, args); err != nil {
				p.printError(err)
			}
			return nil
		},
	}
	f.who.add(cmd)
	cmd.Flags().StringVar(&f.to, "to", "", "`WHO` it's for: a session, or director")
	cmd.Flags().StringVar(&f.kind, "type", string(inbox.Info), "what it's about: complete, waiting, question or info")
	// Also a wrong flag mustn't end a script.
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		p.printError(err)
		return silently(exitDone)
	})
	jsonFlag(cmd, &f.asJSON)
	return cmd
}

func (p *program) notify(ctx context.Context, f notifyFlags, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("notify takes one text, not %d: put it in quotes", len(args))
	}
	kind, err := inbox.ParseNoticeType(f.kind)
	if err != nil {
		return err
	}
	return p.openMailbox(ctx, func(m *mailbox) error {
		from, name, err := m.notifier(ctx, f.who)
		if err != nil {
			return err
		}
		to, err := m.noticeFor(from, f.to)
		if err != nil {
			return err
		}
		n := inbox.Notice{To: to, Session: from, At: time.Now(), From: name, Type: kind, Msg: args[0]}
		if err := inbox.Notify(ctx, m.store, m.bells(), n); err != nil || !f.asJSON {
			return err
		}
		return p.printJSON(map[string]any{"to": to, "notice": n})
	})
}

// notifier is who leaves a notice, and what they're called: outside of any session, as in
// cron or CI, that's the system. A session's program that hides where it was begun isn't
// taken for it.
func (m *mailbox) notifier(ctx context.Context, w whoFlag) (inbox.Address, string, error) {
	from, err := m.speaker(ctx, w)
	if w.given != "" || !errors.Is(err, inbox.ErrNobody) {
		return from, m.all.Name(from), err
	}
	return "", inbox.System, m.allowed(ctx, func(ctx context.Context, c *client.Client) error {
		return c.Quiet().AllowMailbox(ctx, inbox.Person(inbox.System))
	})
}

// noticeFor finds who a notice is for.
func (m *mailbox) noticeFor(from inbox.Address, given string) (inbox.Address, error) {
	if given != "" {
		return m.all.Address(given, from)
	}
	if d, ok := m.all.DirectorFor(from); ok {
		return d.Address(), nil
	}
	return "", nil
}

// listenFlags are the flags of `listen`.
type listenFlags struct {
	who     whoFlag
	timeout listenSpan
	follow  bool
}

// listenSpan is a flag as waitSpan, that may be 0: for ever.
type listenSpan time.Duration

func (s *listenSpan) String() string { return time.Duration(*s).String() }
func (s *listenSpan) Type() string   { return "duration" }

func (s *listenSpan) Set(text string) error {
	if d, err := time.ParseDuration(text); err == nil && d == 0 {
		*s = 0
		return nil
	}
	return (*waitSpan)(s).Set(text)
}

func newListen(p *program) *cobra.Command {
	f := listenFlags{timeout: listenSpan(300 * time.Second)}
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "listen",
		Short: "Wait for notices",
		Long: `Print the notices that are there for you, one a line as JSON, and end; if there are
none, wait for the first. Each is printed by one listener, once; only one whose listener
ended while it was printing it comes again, with "redelivered": true.

After --timeout it prints {"ts":"timeout","from":"listener","msg":…} and ends, with exit
code 0 as well: start it again to listen on.`,
		Example: "  panebridge listen\n  panebridge listen --follow --timeout 1h",
		Args:    takes(0, 0),
		RunE:    p.withMailbox(func(ctx context.Context, m *mailbox, _ []string) error { return m.listen(ctx, f) }),
	}
	f.who.add(cmd)
	cmd.Flags().Var(&f.timeout, "timeout", "end after so long; 0: never")
	cmd.Flags().BoolVar(&f.follow, "follow", false, "go on after the first")
	jsonFlag(cmd, &asJSON) // it's JSON anyway
	return cmd
}

// timedOut is the line that says that the time is over: it has the form of a notice.
type timedOut struct {
	TS   string `json:"ts"`   // "timeout"
	From string `json:"from"` // "listener"
	Msg  string `json:"msg"`
}

func (m *mailbox) listen(ctx context.Context, f listenFlags) error {
	me, err := m.speaker(ctx, f.who)
	if err != nil && (f.who.given != "" || !errors.Is(err, inbox.ErrNobody)) {
		return err
	}
	self, _ := m.all.Get(me.Session()) // nobody in particular listens to what's for nobody in particular
	stopped, stop := untilSignal(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx = stopped
	if f.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(f.timeout))
		defer cancel()
	}
	told, err := inbox.Listening{
		Store: m.store, Bells: m.bells(), Follow: f.follow,
		Print: func(notices []inbox.Notice) error { return m.printNotices(stopped, notices) },
	}.Run(ctx, me, len(self.Fleets()) == 0)
	if err != nil || told && !f.follow || !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return err
	}
	what := "no notice came within " + f.timeout.String()
	if told {
		what = "the time (" + f.timeout.String() + ") is over"
	}
	return m.printJSONLine(timedOut{"timeout", "listener", what + "; run `panebridge listen` again to listen on"})
}

// printGrace is how long notices are still printed when listening is to end.
const printGrace = time.Second

// printNotices prints notices in one piece: a pipe takes it, or it doesn't. Where nobody
// reads the pipe it ends with the context, and the notices are told again.
func (m *mailbox) printNotices(ctx context.Context, notices []inbox.Notice) error {
	var text bytes.Buffer
	for _, n := range notices {
		if err := encode(&text, n, ""); err != nil {
			return err
		}
	}
	written := make(chan error, 1)
	go func() {
		_, err := m.stdio.Out.Write(text.Bytes())
		written <- err
	}()
	var err error
	select {
	case err = <-written:
	case <-ctx.Done():
		select {
		case err = <-written:
		case <-time.After(printGrace):
			err = context.Cause(ctx)
		}
	}
	if err != nil {
		return fmt.Errorf("write the notices: %w", err)
	}
	return nil
}
