package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/api/client"
	"github.com/panebridge/panebridge/sessions"
)

func newSessions(p *invocation) *cobra.Command {
	cmd := newGroup("sessions", "List, make, adopt, rename, restart, close and forget sessions",
		newSessionsList(p), newSessionsNew(p), newSessionsConversations(p), newSessionsAdopt(p), newSessionsRename(p), newSessionsRestart(p), newSessionsClose(p), newSessionsForget(p))
	cmd.Aliases = []string{"session"}
	cmd.Long = `A session is a program in a tmux pane that panebridge mirrors: one it made (new),
or one that was there (adopt). Closing it ends what was made and leaves alone what
was adopted; what it printed is kept until it's forgotten.`
	cmd.Example = "  panebridge sessions new --name api -- claude\n  panebridge sessions adopt work\n  panebridge sessions list --all"
	return cmd
}

// sessionTable returns a table of sessions with its head.
func sessionTable(list []api.Session, now time.Time) [][]string {
	rows := [][]string{{"ID", "NAME", "AGENT", "STATE", "LINES", "LAST OUTPUT", "PANE", "WHY"}}
	for _, s := range list {
		rows = append(rows, []string{
			string(s.ID), s.Name, orDash(cmp.Or(s.Agent, s.Source.Program)), stateText(s, now), strconv.FormatInt(s.Lines, 10),
			ago(s.LastOutputAt, now), s.Tmux.Server + " " + s.Tmux.Session + " " + s.Tmux.Pane, brief(s.Reason),
		})
	}
	return rows
}

// stateText is a session's state: of one that could go on but for its agent's limit, that.
func stateText(s api.Session, now time.Time) string {
	if limit := s.Usage.LimitWords(now); limit != "" && (s.State == sessions.StateIdle || s.State == sessions.StateError) {
		return limit
	}
	return string(s.State)
}

// notMirrored says of each session which chats don't show it as they should, and why.
func (p *invocation) notMirrored(list ...api.Session) {
	for _, s := range list {
		for _, b := range s.Bindings {
			if lack := b.Lack(); lack != "" && s.State != sessions.StateEnded {
				p.notef("%s %s", s.Name, lack)
			}
		}
	}
}

// brief cuts a reason so that the table isn't much wider than a terminal: status -v has
// all of it.
func brief(reason string) string {
	const most = 40 // characters
	reason = strings.Join(strings.Fields(reason), " ")
	if runes := []rune(reason); len(runes) > most {
		return strings.TrimRight(string(runes[:most-1]), " ") + "…"
	}
	return reason
}

// printSessions prints sessions that have just been made, adopted or closed.
func (p *invocation) printSessions(list ...api.Session) error {
	for _, s := range list {
		if err := p.printf("%s %s\n", s.ID, s.Name); err != nil {
			return err
		}
	}
	return nil
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// ago says how long before now a time was, in its largest unit.
func ago(t, now time.Time) string {
	d := now.Sub(t)
	switch {
	case t.IsZero():
		return "never"
	case d < time.Second:
		return "now"
	case d < time.Minute:
		return strconv.Itoa(int(d/time.Second)) + " s ago"
	case d < time.Hour:
		return strconv.Itoa(int(d/time.Minute)) + " min ago"
	case d < 48*time.Hour:
		return strconv.Itoa(int(d/time.Hour)) + " h ago"
	default:
		return strconv.Itoa(int(d/(24*time.Hour))) + " days ago"
	}
}

func newSessionsAdopt(p *invocation) *cobra.Command {
	var r api.Create
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "adopt TARGET",
		Short: "Mirror a tmux pane that exists",
		Long: `Mirror a tmux pane that exists. TARGET is a pane id, such as %12 (tmux shows it
with "tmux list-panes -a -F '#D #S'"), or the exact name of a tmux session, all
of whose panes are adopted. Closing an adopted session leaves its pane alone.`,
		Args:              takes(1, 1),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: p.withDaemon(func(ctx context.Context, c *client.Client, args []string) error {
			if r.Tmux = args[0]; r.Tmux == "" {
				return usageErrorf("TARGET is empty: give a pane id like %%12 or the name of a tmux session")
			}
			list, err := c.Adopt(ctx, r)
			if err != nil {
				return err
			}
			if asJSON {
				return p.printJSON(list)
			}
			return p.printSessions(list...)
		}),
	}
	flags := cmd.Flags()
	flags.StringVar(&r.Name, "name", "", "`NAME` of the session (else the tmux session's)")
	flags.StringVar(&r.Server, "server", "", "configured tmux `SERVER` it's on (else the first that has it)")
	jsonFlag(cmd, &asJSON)
	return cmd
}

func newSessionsRename(p *invocation) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:               "rename SESSION NAME",
		Short:             "Give a session another name",
		Long:              "Give a living session another name, in chats and on the page, too. What runs in it doesn't notice.",
		Example:           "  panebridge sessions rename agent-3 api",
		Args:              takes(2, 2),
		ValidArgsFunction: p.completeSession,
		RunE: p.withDaemon(func(ctx context.Context, c *client.Client, args []string) error {
			s, err := c.Rename(ctx, args[0], args[1])
			if err != nil {
				return err
			}
			return p.printChanged(s, asJSON)
		}),
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

func newSessionsRestart(p *invocation) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "restart SESSION",
		Short: "End a session's program and start it anew, with its conversation",
		Long: `End the program of a session that panebridge made, whatever it's doing, and start it anew
in the same pane; an agent goes on with its conversation. Of a session that has ended a
new one begins, with its agent, folder and conversation.`,
		Args:              takes(1, 1),
		ValidArgsFunction: p.completeSession,
		RunE: p.withDaemon(func(ctx context.Context, c *client.Client, args []string) error {
			s, err := c.Restart(ctx, args[0])
			if err != nil {
				return err
			}
			return p.printChanged(s, asJSON)
		}),
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

func newSessionsConversations(p *invocation) *cobra.Command {
	var folder string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "conversations AGENT",
		Short: "List the conversations that an agent can go on with",
		Long: `List the conversations that an agent has had in a folder, the one that changed last first,
with what was asked in it last. "panebridge sessions new --agent AGENT --resume ID" goes on
with one.`,
		Example:           "  panebridge sessions conversations claude --cwd ~/src/site",
		Args:              takes(1, 1),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: p.withDaemon(func(ctx context.Context, c *client.Client, args []string) error {
			in, err := filepath.Abs(folder) // "" is the current folder
			if err != nil {
				return fmt.Errorf("find the folder: %w; give --cwd", err)
			}
			list, err := c.Conversations(ctx, args[0], in)
			switch {
			case err != nil:
				return err
			case asJSON:
				return p.printJSON(list)
			case len(list) == 0:
				p.notef("%s has none in %s that it can go on with.", args[0], in)
				return nil
			}
			rows, now := [][]string{{"ID", "CHANGED", "SESSION", "ASKED LAST"}}, time.Now()
			for _, past := range list {
				rows = append(rows, []string{past.ID, ago(past.Changed, now), orDash(past.Session), past.Title})
			}
			return p.printTable(rows)
		}),
	}
	cmd.Flags().StringVar(&folder, "cwd", "", "`FOLDER` in which the agent worked (else the current one)")
	_ = cmd.MarkFlagDirname("cwd")
	jsonFlag(cmd, &asJSON)
	return cmd
}

// printChanged prints a session that has been changed.
func (p *invocation) printChanged(s api.Session, asJSON bool) error {
	if asJSON {
		return p.printJSON(s)
	}
	return p.printSessions(s)
}

func newSessionsClose(p *invocation) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "close SESSION",
		Short: "End a session",
		Long: `End a session: one that panebridge made with its pane and what runs in it, an
adopted one only as a mirror. Its output log is kept until the session is
forgotten ("panebridge sessions forget").`,
		Args:              takes(1, 1),
		ValidArgsFunction: p.completeSession,
		RunE: p.withDaemon(func(ctx context.Context, c *client.Client, args []string) error {
			s, err := findLiving(ctx, c, args[0])
			if err != nil {
				return err
			}
			if err := c.CloseSession(ctx, string(s.ID)); err != nil {
				return err
			}
			if !asJSON {
				return p.printSessions(s)
			}
			if now, err := c.Quiet().Session(ctx, string(s.ID)); err == nil {
				s = now
			} else if !client.Inside(err) {
				return err
			}
			return p.printJSON(s)
		}),
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

func newSessionsForget(p *invocation) *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:     "forget SESSION… | --all",
		Aliases: []string{"rm"},
		Short:   "Remove ended sessions with their output logs",
		Long: `Remove sessions that have ended, with their output logs. That can't be undone.
One that lives must be closed first.`,
		Example:           "  panebridge sessions forget build\n  panebridge sessions forget --all",
		Args:              takes(0, -1),
		ValidArgsFunction: p.completeEnded,
		RunE: p.withDaemon(func(ctx context.Context, c *client.Client, args []string) error {
			if all == (len(args) > 0) {
				return usageErrorf("name the sessions to forget, or give --all for all that have ended")
			}
			chosen, err := endedSessions(ctx, c, args)
			if err != nil {
				return err
			}
			for _, s := range chosen {
				if err := c.ForgetSession(ctx, string(s.ID)); err != nil {
					return err
				}
				if err := p.printSessions(s); err != nil {
					return err
				}
			}
			return p.noteAsides(ctx, c)
		}),
	}
	cmd.Flags().BoolVar(&all, "all", false, "all that have ended")
	return cmd
}

// noteAsides says where copies of what was forgotten may be still: in what was put aside beside the database.
func (p *invocation) noteAsides(ctx context.Context, c *client.Client) error {
	health, err := c.Health(ctx)
	for _, part := range health.Parts {
		if part.Name == api.PartAside {
			p.notef("What's forgotten may be in what was put aside: %s.", part.Detail)
		}
	}
	return err
}

// endedSessions finds sessions by id or name, or all if none is named. One that
// lives is an error.
func endedSessions(ctx context.Context, c *client.Client, names []string) ([]api.Session, error) {
	list, err := c.Sessions(ctx)
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return ended(list), nil
	}
	var out []api.Session
	for _, name := range names {
		s, err := find(ctx, c, name)
		if err != nil {
			return nil, err
		}
		if s.State != sessions.StateEnded {
			return nil, fmt.Errorf("session %s lives: `panebridge sessions close %s` ends it, and then it can be forgotten", s.Name, s.Name)
		}
		out = append(out, s)
	}
	return out, nil
}

func ended(list []api.Session) []api.Session {
	var out []api.Session
	for _, s := range list {
		if s.State == sessions.StateEnded {
			out = append(out, s)
		}
	}
	return out
}

func newSessionsList(p *invocation) *cobra.Command {
	var all, asJSON bool
	cmd := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List sessions",
		Args:    takes(0, 0),
		RunE: p.withDaemon(func(ctx context.Context, c *client.Client, _ []string) error {
			list, err := c.Sessions(ctx)
			if err != nil {
				return err
			}
			shown := list
			if !all {
				shown = living(list)
			}
			if asJSON {
				return p.printJSON(shown)
			}
			if len(shown) > 0 {
				if err := p.printTable(sessionTable(shown, time.Now())); err != nil {
					return err
				}
			} else {
				p.notef("No session is running; `panebridge sessions new` makes one.")
			}
			p.notMirrored(shown...)
			if hidden := len(list) - len(shown); hidden > 0 {
				p.notef("%d more ended; --all lists them too, `panebridge sessions forget` removes them.", hidden)
			}
			return nil
		}),
	}
	cmd.Flags().BoolVarP(&all, "all", "a", false, "also those that have ended")
	jsonFlag(cmd, &asJSON)
	return cmd
}

func living(list []api.Session) []api.Session {
	out := []api.Session{} // [] in JSON, not null
	for _, s := range list {
		if s.State != sessions.StateEnded {
			out = append(out, s)
		}
	}
	return out
}

func newSessionsNew(p *invocation) *cobra.Command {
	var r api.Create
	var asJSON bool
	var limit time.Duration
	cmd := &cobra.Command{
		Use:     "new [-- COMMAND [ARG…]]",
		Aliases: []string{"create"},
		Short:   "Make a session in a pane of its own",
		Long: `Make a session in a tmux pane of its own, and print its id and name. It runs the
command, else the agent's, else your shell.

The exit code is 1 when the program fails at once, as one that isn't installed does.

With --resume an agent goes on with one of its earlier conversations, which
"panebridge sessions conversations" lists.`,
		Example: "  panebridge sessions new --name build -- make -j4\n  panebridge sessions new --agent claude --cwd ~/src/site",
		Args:    takes(0, -1),
		RunE: p.withDaemon(func(ctx context.Context, c *client.Client, args []string) error {
			r.Command = args
			var err error
			if r.Cwd, err = filepath.Abs(r.Cwd); err != nil { // "" is the current folder
				return fmt.Errorf("find the folder: %w; give --cwd", err)
			}
			s, err := c.NewSession(ctx, r)
			if err != nil {
				return err
			}
			if !asJSON {
				if err := p.printSessions(s); err != nil {
					return err
				}
			}
			if s, err = watch(ctx, c, s, limit); err != nil {
				return err
			}
			if asJSON {
				if err := p.printJSON(s); err != nil {
					return err
				}
			}
			p.notMirrored(s)
			return endedAtOnce(ctx, c, s)
		}),
	}
	flags := cmd.Flags()
	flags.StringVar(&r.Name, "name", "", "`NAME` of the session (else made up)")
	flags.StringVar(&r.Agent, "agent", "", "`AGENT` to start: one of the configuration, or one that's in PATH")
	flags.StringVar(&r.Cwd, "cwd", "", "`FOLDER` to start it in (else the current one)")
	flags.StringVar(&r.Server, "server", "", "configured tmux `SERVER` to make it on (else the first)")
	flags.StringVar(&r.Resume, "resume", "", "`ID` of the agent's conversation to go on with")
	flags.DurationVar(&limit, "watch", 2*time.Second, "how long to look whether the program fails at once")
	_ = cmd.MarkFlagDirname("cwd")
	jsonFlag(cmd, &asJSON)
	return cmd
}

// watchEvery is how often a new session is asked for.
const watchEvery = 50 * time.Millisecond

// watch looks at a new session for a while, which may be longer than a call, in
// case its program ends at once, and returns it as it is then.
func watch(ctx context.Context, c *client.Client, s api.Session, limit time.Duration) (api.Session, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit+callTimeout)
	defer cancel()
	end := time.Now().Add(limit)
	for s.State != sessions.StateEnded && time.Now().Before(end) {
		select {
		case <-ctx.Done():
			return s, ctx.Err()
		case <-time.After(watchEvery):
		}
		now, err := c.Quiet().Session(ctx, string(s.ID))
		if client.Inside(err) {
			return s, nil
		}
		if err != nil {
			return s, err
		}
		s = now
	}
	return s, nil
}

// endedAtOnce says how a session's program ended that hardly began; nil if it's
// well, or has done what it had to.
func endedAtOnce(ctx context.Context, c *client.Client, s api.Session) error {
	if s.State != sessions.StateEnded || s.Exit != nil && s.Exit.Status == 0 && s.Exit.Signal == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTimeout)
	defer cancel()
	said := []string{fmt.Sprintf("session %s has ended already: %s", s.Name, s.Reason)}
	if e := s.Exit; e != nil && e.Signal != "" {
		said[0] += ", by signal " + e.Signal
	} else if e != nil {
		said[0] += fmt.Sprintf(", with status %d", e.Status)
	}
	out, err := c.Output(ctx, string(s.ID), max(1, s.Lines-lastWords), 0)
	if err != nil {
		return err
	}
	for _, l := range out.Lines {
		if l.Kind != sessions.KindNotice && strings.TrimSpace(l.Text) != "" {
			said = append(said, l.Text)
		}
	}
	return errors.New(strings.Join(said, "\n  "))
}

// lastWords is how many lines of such a session are shown.
const lastWords = 5

func newBind(p *invocation) *cobra.Command {
	var asJSON bool
	var b api.Bind
	var quotes bool
	var cmd *cobra.Command
	cmd = &cobra.Command{
		Use:   "bind SESSION ADAPTER:CHAT[/THREAD]",
		Short: "Have a chat mirror a session",
		Long: `Have a chat mirror a session, from its newest line on. Where it does already, the
view and whether input is taken are changed, and how much of an agent's work it shows
as far as that's given: --tools brief is one line that counts what the agent did, with a
button that shows it. Rules for many sessions belong into
mirrors: in the configuration.`,
		Example:           "  panebridge bind agent-1 telegram:-1001234567890 --input\n  panebridge bind agent-1 discord:112233/445566 --view final --tools brief",
		Args:              takes(2, 2),
		ValidArgsFunction: p.completeSession,
		RunE: p.withDaemon(func(ctx context.Context, c *client.Client, args []string) error {
			s, err := findLiving(ctx, c, args[0])
			if err != nil {
				return err
			}
			if b.To = args[1]; cmd.Flags().Changed("quote-replies") {
				b.Quotes = &quotes
			}
			bound, err := c.Bind(ctx, string(s.ID), b)
			if err != nil {
				return err
			}
			if asJSON {
				return p.printJSON(bound)
			}
			return p.printf("%s %s → %s (%s)\n", bound.ID, s.Name, bound.To, bound.View+unusualWork(bound))
		}),
	}
	cmd.Flags().StringVar(&b.View, "view", "stream", "what it shows: stream, final or screen")
	cmd.Flags().BoolVar(&b.Input, "input", false, "what is written there goes to the session")
	cmd.Flags().StringVar(&b.Tools, "tools", "", "how much of an agent's calls of tools it shows: all, brief or none (of a new one all)")
	cmd.Flags().StringVar(&b.Thinking, "thinking", "", "the same of what the agent thinks before it answers (of a new one none)")
	cmd.Flags().StringVar(&b.Prompts, "prompts", "", "the same of what's written to it elsewhere (of a new one all)")
	cmd.Flags().StringVar(&b.Output, "output", "", "how much of what's printed in one go: all, or the head and the tail in so many rows of a phone (of a new one 30)")
	cmd.Flags().BoolVar(&quotes, "quote-replies", false, "what's sent to an agent begins with the message that it answers")
	jsonFlag(cmd, &asJSON)
	return cmd
}

// unusualWork says how much of an agent's work a chat shows, if that's not what's usual.
func unusualWork(b api.Binding) (text string) {
	for _, w := range [][3]string{{"tools", b.Tools, "all"}, {"thinking", b.Thinking, "none"}, {"prompts", b.Prompts, "all"}, {"output", b.Output, "30"}} {
		if w[1] != w[2] && w[1] != "" {
			text += ", " + w[0] + ": " + w[1]
		}
	}
	if b.Quotes {
		text += ", replies quoted"
	}
	return text
}

func newUnbind(p *invocation) *cobra.Command {
	return &cobra.Command{
		Use:   "unbind SESSION [ADAPTER:CHAT[/THREAD]]",
		Short: "End what bind or a rule has begun",
		Long: `End the mirroring of a session to a chat; without a chat, to all of them. What
hasn't been sent yet isn't sent any more. A rule doesn't bring it back.`,
		Args:              takes(1, 2),
		ValidArgsFunction: p.completeSession,
		RunE: p.withDaemon(func(ctx context.Context, c *client.Client, args []string) error {
			s, err := c.Session(ctx, args[0])
			if err != nil {
				return err
			}
			chosen := s.Bindings
			if len(args) == 2 {
				chosen = boundTo(s.Bindings, args[1])
			}
			if len(chosen) == 0 {
				return fmt.Errorf("%s isn't bound %s", s.Name, boundPlaces(s.Bindings))
			}
			for _, b := range chosen {
				if err := c.Unbind(ctx, b.ID); err != nil {
					return err
				}
				if err := p.printf("%s %s → %s ended\n", b.ID, s.Name, b.To); err != nil {
					return err
				}
			}
			return nil
		}),
	}
}

// boundTo are the bindings with an id, or to a place; to a chat they're also those to the
// session's own threads in it, if none is to the chat itself.
func boundTo(all []api.Binding, to string) (out []api.Binding) {
	var threads []api.Binding
	for _, b := range all {
		switch {
		case b.To == to || b.ID == to:
			out = append(out, b)
		case strings.HasPrefix(b.To, to+"/"):
			threads = append(threads, b)
		}
	}
	if len(out) == 0 {
		return threads
	}
	return out
}

// boundPlaces is the rest of a sentence that begins with "isn't bound".
func boundPlaces(all []api.Binding) string {
	if len(all) == 0 {
		return "to any chat"
	}
	var to []string
	for _, b := range all {
		to = append(to, b.To)
	}
	return "there; it is to " + strings.Join(to, ", ")
}
