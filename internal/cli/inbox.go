package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/panebridge/panebridge/internal/api/client"
	"github.com/panebridge/panebridge/internal/inbox"
	"github.com/panebridge/panebridge/internal/statedir"
	"github.com/panebridge/panebridge/internal/store"
	"github.com/panebridge/panebridge/sessions"
	"github.com/panebridge/panebridge/sessions/agent"
	"github.com/panebridge/panebridge/sessions/tmux"
	"github.com/panebridge/panebridge/sessions/typing"
)

// agentInbox is what the agents' commands work on: the database, which they write themselves, so that
// they work with the daemon stopped.
type agentInbox struct {
	*invocation
	store *store.Inbox
	dir   string // state folder
	all   inbox.Parties
	// silent is set when a daemon runs and hasn't answered: it isn't waited for as long again.
	silent bool
}

// withMailbox opens the database for a command and closes it after.
func (p *invocation) withMailbox(do func(ctx context.Context, m *agentInbox, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		return p.openMailbox(cmd.Context(), func(m *agentInbox) error { return do(cmd.Context(), m, args) })
	}
}

func (p *invocation) openMailbox(ctx context.Context, do func(m *agentInbox) error) (err error) {
	dir, err := p.stateDir()
	if err != nil {
		return err
	}
	if err := statedir.Make(dir); err != nil {
		return err
	}
	db, err := store.OpenInbox(ctx, statedir.DatabasePath(dir))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	all, err := db.Parties(ctx)
	if err != nil {
		return err
	}
	return do(&agentInbox{invocation: p, store: db, dir: dir, all: all})
}

// whoFlag is who a command is called by, if that's said.
type whoFlag struct{ given string }

// add adds the flag under both of its names.
func (w *whoFlag) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&w.given, "from", "", "who you are: `SESSION` or person:NAME (else the session of the pane this is called in)")
	flags.StringVar(&w.given, "id", "", "the same as --from")
	_ = flags.MarkHidden("id") // fails only for a flag that isn't there
}

// who finds out who calls.
func (m *agentInbox) who(w whoFlag) (inbox.Address, error) {
	var at inbox.CallSite
	at.Session, _ = m.env("PANEBRIDGE_SESSION")
	at.Pane, _ = m.env("TMUX_PANE")
	tmux, _ := m.env("TMUX") // SOCKET,PID,SESSION; the socket's path may have commas
	if fields := strings.Split(tmux, ","); len(fields) >= 3 {
		at.Server, _ = strconv.Atoi(fields[len(fields)-2])
	}
	who, err := m.all.Who(w.given, at)
	if errors.Is(err, inbox.ErrNobody) {
		err = &exitError{exitUsage, err}
	}
	return who, err
}

// speaker is who, for a command that reads or writes their mail, which takes somebody's
// word if it's called in the pane of another session.
func (m *agentInbox) speaker(ctx context.Context, w whoFlag) (inbox.Address, error) {
	who, err := m.who(w)
	if err != nil {
		return who, err
	}
	return who, m.allowed(ctx, func(ctx context.Context, c *client.Client) error { return c.AllowMailbox(ctx, who) })
}

// allowTime is how long the daemon takes at most to say that nobody's word is needed.
const allowTime = 5 * time.Second

// allowed asks the daemon whether this program may do what the daemon itself has no part
// in. Where none answers it may: the store is its user's, as these commands are.
func (m *agentInbox) allowed(ctx context.Context, ask func(ctx context.Context, c *client.Client) error) error {
	c := client.New(statedir.SocketPath(m.dir))
	defer c.Close()
	call, cancel := m.callContext(ctx, c, allowTime)
	defer cancel()
	if err := ask(call, c); client.Inside(err) {
		return calling(err)
	}
	m.silent = call.Err() != nil
	return ctx.Err()
}

// box is mail that's announced by the daemon, or by this program while that's stopped.
func (m *agentInbox) box() inbox.PostOffice {
	return inbox.PostOffice{Store: m.store, Announce: m.announcer()}
}

// bells wake listeners.
func (m *agentInbox) bells() inbox.Bells {
	return inbox.Bells{Folder: filepath.Join(m.dir, inbox.BellFolder)}
}

// maxText is how long the text of a preview gets. A configuration that can't be read is no
// reason not to tell somebody of a message.
func (m *agentInbox) maxText() int {
	cfg, err := m.loadPublic()
	if err != nil {
		return inbox.DefaultMaxTextRunes
	}
	return cfg.Mail.MaxTextLen
}

// message returns the text of a message: of the flag, or all of standard input.
func (p *invocation) message(given bool, text string) (string, error) {
	if given {
		return text, nil
	}
	if isTerminal(p.stdio.In) {
		p.notef("Write the text; Ctrl-D on a line of its own ends it.")
	}
	all, err := io.ReadAll(io.LimitReader(p.stdio.In, inbox.MaxTextBytes+2))
	if err != nil {
		return "", fmt.Errorf("read the text from standard input: %w", err)
	}
	return strings.TrimSuffix(string(all), "\n"), nil
}

// moment is a time as these commands print it.
func moment(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.Local().Format("2006-01-02 15:04:05")
}

// notifyFlags are the flags of `notify`.
type notifyFlags struct {
	who      whoFlag
	to, kind string
	asJSON   bool
}

func newNotify(p *invocation) *cobra.Command {
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

func (p *invocation) notify(ctx context.Context, f notifyFlags, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("notify takes one text, not %d: put it in quotes", len(args))
	}
	kind, err := inbox.ParseNoticeType(f.kind)
	if err != nil {
		return err
	}
	return p.openMailbox(ctx, func(m *agentInbox) error {
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
func (m *agentInbox) notifier(ctx context.Context, w whoFlag) (inbox.Address, string, error) {
	from, err := m.speaker(ctx, w)
	if w.given != "" || !errors.Is(err, inbox.ErrNobody) {
		return from, m.all.Name(from), err
	}
	return "", inbox.System, m.allowed(ctx, func(ctx context.Context, c *client.Client) error {
		return c.Quiet().AllowMailbox(ctx, inbox.Person(inbox.System))
	})
}

// noticeFor finds who a notice is for.
func (m *agentInbox) noticeFor(from inbox.Address, given string) (inbox.Address, error) {
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

func newListen(p *invocation) *cobra.Command {
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
		RunE:    p.withMailbox(func(ctx context.Context, m *agentInbox, _ []string) error { return m.listen(ctx, f) }),
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

func (m *agentInbox) listen(ctx context.Context, f listenFlags) error {
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
func (m *agentInbox) printNotices(ctx context.Context, notices []inbox.Notice) error {
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

const (
	// announceTime bounds the daemon's answer: it types, which takes some seconds.
	announceTime = 45 * time.Second
	silentTime   = 2 * time.Second  // and that of one that hasn't answered just before
	typistsTime  = 60 * time.Second // until others must have typed
	typistsLook  = 50 * time.Millisecond
	daemonLook   = 500 * time.Millisecond // between looks whether one has started
	paneLookTime = 5 * time.Second        // until tmux must have answered
)

// announcer asks the daemon, and types itself while that's stopped.
type announcer struct{ m *agentInbox }

func (m *agentInbox) announcer() inbox.Announcer { return announcer{m} }

func (a announcer) daemon() *client.Client { return client.New(statedir.SocketPath(a.m.dir)) }

// Announce has a recipient's waiting previews typed.
func (a announcer) Announce(ctx context.Context, to inbox.Address) error {
	if to.Session() == "" { // only the daemon reaches people
		if err := a.ask(ctx, func(ctx context.Context, c *client.Client) error { return c.Announce(ctx, to) }); !errors.Is(err, client.ErrNotRunning) && !client.CutOff(err) {
			return err
		}
		return nil // it stays as it's stored, and the next daemon goes on with it
	}
	return a.either(ctx,
		func(ctx context.Context, c *client.Client) error { return c.Announce(ctx, to) },
		func(p *inbox.Previews) error { return p.Announce(ctx, to) })
}

// ask asks the daemon.
func (a announcer) ask(ctx context.Context, daemon func(ctx context.Context, c *client.Client) error) error {
	c := a.daemon()
	defer c.Close()
	within := announceTime
	if a.m.silent {
		within = silentTime
	}
	call, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	err := daemon(call, c)
	if err != nil && call.Err() != nil && ctx.Err() == nil {
		return errors.New("the daemon doesn't answer; it tells them as soon as it goes on")
	}
	return err
}

// either has the daemon do it, or does it while none runs and nobody else types. One that
// starts or ends meanwhile is asked again: it types from its first connection to tmux
// until its last has ended. What one has left that was killed is finished, and not done
// again.
func (a announcer) either(ctx context.Context, daemon func(ctx context.Context, c *client.Client) error, alone func(p *inbox.Previews) error) error {
	for began := time.Now(); ; {
		if err := a.ask(ctx, daemon); !errors.Is(err, client.ErrNotRunning) && !client.CutOff(err) {
			return err
		}
		give, ours, err := inbox.Typists{Folder: a.m.dir}.Try()
		switch {
		case err != nil:
			return err
		case ours && a.answers(ctx):
			give()
			continue // it waits for its turn
		case ours:
			defer give()
			stop, done := a.untilDaemon(ctx)
			defer done()
			return alone(&inbox.Previews{Store: a.m.store, Once: true, MaxRunes: a.m.maxText(), Typist: lonelyTypist{a.m.invocation, stop}})
		case time.Since(began) > typistsTime:
			return fmt.Errorf("others have been typing for %s", typistsTime)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(typistsLook):
		}
	}
}

// answers reports whether a daemon runs, which may not have connected to tmux yet.
func (a announcer) answers(ctx context.Context) bool {
	d := net.Dialer{Timeout: time.Second}
	c, err := d.DialContext(ctx, "unix", statedir.SocketPath(a.m.dir))
	if err != nil {
		return false
	}
	_ = c.Close()
	return true
}

// untilDaemon returns what's closed when a daemon has started, which waits until nobody
// else types. done has to be called when that's the case.
func (a announcer) untilDaemon(ctx context.Context) (stop <-chan struct{}, done func()) {
	started, ctxDone := make(chan struct{}), make(chan struct{})
	go func() {
		for !a.answers(ctx) {
			select {
			case <-ctxDone:
				return
			case <-time.After(daemonLook):
			}
		}
		close(started)
	}()
	return started, sync.OnceFunc(func() { close(ctxDone) })
}

// lonelyTypist types by a connection to tmux of its own, for one text. What only the
// daemon knows, whether an agent is working, isn't known here: agents queue what's
// submitted meanwhile.
type lonelyTypist struct {
	p    *invocation
	stop <-chan struct{} // closed when the daemon wants to
}

func (t lonelyTypist) Type(ctx context.Context, to inbox.Party, text string, fixed bool) (sent bool, why string, err error) {
	unreachable := t.connected(ctx, to, func(ctx context.Context, pane lonelyPane) {
		sent, why, err = pane.hand(to).TypePreview(ctx, pane.preview(text, fixed))
	})
	if unreachable != "" {
		return false, unreachable, nil
	}
	return sent, why, err
}

func (t lonelyTypist) Finish(ctx context.Context, to inbox.Party, text string) (p inbox.PreviewState, why string) {
	p = inbox.PreviewTyping
	unreachable := t.connected(ctx, to, func(ctx context.Context, pane lonelyPane) {
		var end sessions.PreviewEnd
		end, why = pane.hand(to).FinishPreview(ctx, pane.preview(text, false))
		p = map[sessions.PreviewEnd]inbox.PreviewState{
			sessions.PreviewFinished: inbox.PreviewTyped, sessions.PreviewUnclear: inbox.PreviewTyping, sessions.PreviewUnknown: inbox.PreviewNone,
		}[end]
	})
	if unreachable != "" {
		return p, unreachable
	}
	return p, why
}

func (l lonelyPane) hand(to inbox.Party) *typing.Hand {
	return typing.NewLonely(l.client, to.Pane, l.generic.DialogPhrases(), l.generic.Dialog)
}

// lonelyPane is a pane to which a lonely typist is connected.
type lonelyPane struct {
	client  *tmux.Client
	watch   *agent.Foreground
	generic *agent.Profile
	stop    <-chan struct{}
}

func (l lonelyPane) preview(text string, fixed bool) sessions.Preview {
	executable, _ := ownPath() // without it, it's called by its name
	return sessions.Preview{
		Text: text, Command: fixed, Plain: inbox.PollCommand, Box: l.watch.Box, Shell: l.watch.Shell, Stop: l.stop,
		Fit: func(text string, s *sessions.Snapshot) string {
			return inbox.Fit(text, l.watch.CalledIn(s, executable))
		},
	}
}

// connected does something at a pane, or says why it can't be reached.
func (t lonelyTypist) connected(ctx context.Context, to inbox.Party, do func(ctx context.Context, pane lonelyPane)) (unreachable string) {
	profiles, err := t.p.loadProfiles()
	if err != nil {
		return err.Error()
	}
	options := tmux.Options{SocketName: to.Pane.Server}
	if strings.Contains(to.Pane.Server, "/") {
		options = tmux.Options{SocketPath: to.Pane.Server}
	}
	up := make(chan struct{}, 1)
	options.OnUp = func(sessions.ServerIdentity) { up <- struct{}{} }
	c := tmux.New(options)
	if _, err := os.Stat(c.SocketPath()); err != nil {
		return "no tmux server runs at " + c.SocketPath()
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() { defer close(done); _ = c.Run(ctx) }()
	defer func() { cancel(); <-done }()
	select {
	case <-up:
	case <-time.After(paneLookTime):
		return reachable(c.Status())
	}
	do(ctx, lonelyPane{c, agent.NewForeground(profiles), profiles.Generic(), t.stop})
	return ""
}

// reachable says why there's no connection to a tmux server.
func reachable(s tmux.ConnStatus) string {
	if s.Err != nil {
		return "tmux can't be reached: " + s.Err.Error()
	}
	return "tmux doesn't answer"
}
