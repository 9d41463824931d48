package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/panebridge/panebridge/internal/inbox"
	"github.com/panebridge/panebridge/sessions"
)

func newSend(p *invocation) *cobra.Command {
	var who whoFlag
	var to, text string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "send --to SESSION [--text TEXT]",
		Short: "Send a message to another session, or to a person",
		Long: `Store a message for another session (its id or name), for "director" (of your fleet)
or for person:NAME, and tell them of it: a session by two lines typed into its pane, if
nobody is writing there. Without --text, the text is read from standard input.

The message is stored whatever becomes of that: notification_sent and reason say it. It
waits for its recipient, who sees it with "panebridge poll" and settles it with
"panebridge ack".`,
		Example: "  panebridge send --to tester --text \"run the tests of ./api\"\n  git diff | panebridge send --to reviewer\n" +
			"  panebridge send --to person:me --text \"may I delete the old tables?\"",
		Args: takes(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if to == "" {
				return usageErrorf("--to says who it's for: a session, director, or person:NAME")
			}
			text, err := p.message(cmd.Flags().Changed("text"), text)
			if err != nil {
				return err
			}
			return p.openMailbox(cmd.Context(), func(m *agentInbox) error { return m.send(cmd.Context(), who, to, text, asJSON) })
		},
	}
	who.add(cmd)
	cmd.Flags().StringVar(&to, "to", "", "`WHO` it's for")
	cmd.Flags().StringVar(&text, "text", "", "the `TEXT`")
	jsonFlag(cmd, &asJSON)
	return cmd
}

func (m *agentInbox) send(ctx context.Context, who whoFlag, to, text string, asJSON bool) error {
	from, err := m.speaker(ctx, who)
	if err != nil {
		return err
	}
	recipient, err := m.all.Address(to, from)
	if err != nil {
		return err
	}
	sent, err := m.box().Send(ctx, m.all, from, recipient, text)
	if err != nil {
		return err
	}
	if asJSON {
		return m.printJSON(sent)
	}
	if sent.NotificationSent && sent.Reason != "" {
		return m.printf("%s: stored for %s: %s.\n", sent.Mail.ID, sent.Mail.ToName, sent.Reason)
	}
	if sent.NotificationSent {
		return m.printf("%s: sent to %s, who was told of it.\n", sent.Mail.ID, sent.Mail.ToName)
	}
	return m.printf("%s: stored for %s, who wasn't told of it: %s.\n", sent.Mail.ID, sent.Mail.ToName, sent.Reason)
}

func newBroadcast(p *invocation) *cobra.Command {
	var who whoFlag
	var fleet, text string
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "broadcast [--text TEXT]",
		Short:   "Send a message to each other session of your fleet",
		Example: "  panebridge broadcast --text \"stop, main is broken\"",
		Args:    takes(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			text, err := p.message(cmd.Flags().Changed("text"), text)
			if err != nil {
				return err
			}
			return p.openMailbox(cmd.Context(), func(m *agentInbox) error {
				from, err := m.speaker(cmd.Context(), who)
				if err != nil {
					return err
				}
				b, err := m.box().Broadcast(cmd.Context(), m.all, from, fleet, text)
				if err != nil {
					return err
				}
				if asJSON {
					return p.printJSON(b)
				}
				for _, one := range b.Summary.Messages {
					told := "told"
					if one.Preview != inbox.PreviewTyped {
						told = "not told: " + one.Why
					}
					if err := p.printf("%s  %s  %s\n", one.ID, one.ToName, told); err != nil {
						return err
					}
				}
				return p.printf("Sent to %d, of whom %d were told of it.\n", len(b.Summary.Messages), b.Sent)
			})
		},
	}
	who.add(cmd)
	cmd.Flags().StringVar(&fleet, "fleet", "", "another fleet's `NAME`")
	cmd.Flags().StringVar(&text, "text", "", "the `TEXT`")
	jsonFlag(cmd, &asJSON)
	return cmd
}

// pollFlags are the flags of `poll`.
type pollFlags struct {
	who           whoFlag
	since, status string
	limit         int
	full, sent    bool
	asJSON        bool
}

func newPoll(p *invocation) *cobra.Command {
	var f pollFlags
	cmd := &cobra.Command{
		Use:   "poll",
		Short: "Show the messages sent to you",
		Long: `Show the messages sent to you that nobody has settled, the newest first. Long texts are
cut; --full shows all.`,
		Example: "  panebridge poll\n  panebridge poll --full --json\n  panebridge poll --status all --since 2h\n  panebridge poll --sent --status all",
		Args:    takes(0, 0),
		RunE:    p.withMailbox(func(ctx context.Context, m *agentInbox, _ []string) error { return m.poll(ctx, f) }),
	}
	f.who.add(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.since, "since", "", "only those sent since a `TIME` (2026-01-02T15:04:05Z) or so long ago (90m)")
	flags.StringVar(&f.status, "status", string(inbox.InputRequired), "only those in this `STATE`: input_required, completed, canceled, undeliverable, or all")
	flags.IntVar(&f.limit, "limit", 20, "at most so many")
	flags.BoolVar(&f.full, "full", false, "show all of each text")
	flags.BoolVar(&f.sent, "sent", false, "those that you sent")
	jsonFlag(cmd, &f.asJSON)
	return cmd
}

// query translates the flags.
func (f pollFlags) query(me inbox.Address, now time.Time) (inbox.Query, error) {
	q := inbox.Query{To: me, Limit: f.limit}
	if f.sent {
		q.To, q.From = "", me
	}
	if f.limit < 1 {
		return q, usageErrorf("--limit is at least 1")
	}
	if f.status != "all" {
		if q.Status = inbox.MailState(f.status); !slices.Contains(inbox.States(), q.Status) {
			return q, usageErrorf("--status is one of input_required, completed, canceled, undeliverable, all, not %q", f.status)
		}
	}
	if f.since == "" {
		return q, nil
	}
	if ago, err := time.ParseDuration(f.since); err == nil {
		q.Since = now.Add(-ago)
		return q, nil
	}
	var err error
	if q.Since, err = time.Parse(time.RFC3339, f.since); err != nil {
		return q, usageErrorf("--since takes a time such as 2026-01-02T15:04:05Z, or a span such as 90m, not %q", f.since)
	}
	return q, nil
}

func (m *agentInbox) poll(ctx context.Context, f pollFlags) error {
	me, err := m.speaker(ctx, f.who)
	if err != nil {
		return err
	}
	q, err := f.query(me, time.Now())
	if err != nil {
		return err
	}
	mails, err := m.box().Poll(ctx, q)
	if err != nil {
		return err
	}
	for i := range mails {
		if !f.full {
			mails[i].Text = inbox.Cut(mails[i].Text, m.maxText(), "… [cut; --full shows all of it]")
		}
	}
	if f.asJSON {
		return m.printJSON(mails)
	}
	if len(mails) == 0 {
		m.notef("There's no message.")
	}
	for _, one := range mails {
		if err := m.printf("%s  from %s to %s  %s  %s\n%s\n", one.ID, one.FromName, one.ToName, moment(one.SentAt), one.Status, indented(one.Text)); err != nil {
			return err
		}
	}
	return nil
}

// indented sets a text off from what's around it. Control characters go: somebody else wrote
// the text, and to a terminal they're orders. --json has them, escaped.
func indented(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, text)
	return "    " + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n    ")
}

func newAck(p *invocation) *cobra.Command {
	return newSettle(p, "ack ID…", "Settle messages sent to you: they're done", inbox.Completed)
}

func newCancel(p *invocation) *cobra.Command {
	return newSettle(p, "cancel ID…", "Take back messages that you sent", inbox.Canceled)
}

func newSettle(p *invocation, use, short string, to inbox.MailState) *cobra.Command {
	var who whoFlag
	var asJSON bool
	cmd := &cobra.Command{
		Use: use, Short: short, Args: takes(1, -1),
		RunE: p.withMailbox(func(ctx context.Context, m *agentInbox, args []string) error {
			me, err := m.speaker(ctx, who)
			if err != nil {
				return err
			}
			var errs []error
			for _, id := range args {
				one, err := m.box().Settle(ctx, id, me, to)
				switch {
				case err != nil:
					errs = append(errs, err)
				case asJSON:
					errs = append(errs, p.printJSONLine(one))
				default:
					errs = append(errs, p.printf("%s: %s.\n", one.ID, one.Status))
				}
			}
			return errors.Join(errs...)
		}),
	}
	who.add(cmd)
	jsonFlag(cmd, &asJSON)
	return cmd
}

// pingEntry is the answer to a ping as `ping --json` prints it.
type pingEntry struct {
	Session sessions.ID `json:"session"`
	inbox.Pinged
	// As it was before.
	LastReceived time.Time `json:"last_received,omitzero"`
	Unread       int       `json:"unread"`
}

func newPing(p *invocation) *cobra.Command {
	var who whoFlag
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "ping SESSION",
		Short: "Type `panebridge poll` into a session's pane",
		Long: `Say when a session was shown mail last and how much it wasn't shown yet, then type
"panebridge poll" into its pane and submit it. While it's working, somebody is writing
there or a dialog is open, the ping is kept, and typed when that's over. Exit code 1, with
the reason, if it's refused: the session has ended, or the daemon is stopped and it can't be
typed at once.`,
		Args: takes(1, 1),
		RunE: p.withMailbox(func(ctx context.Context, m *agentInbox, args []string) error {
			return m.ping(ctx, who, args[0], asJSON)
		}),
	}
	who.add(cmd)
	jsonFlag(cmd, &asJSON)
	return cmd
}

func (m *agentInbox) ping(ctx context.Context, who whoFlag, name string, asJSON bool) error {
	from, err := m.who(who)
	if err != nil && (who.given != "" || !errors.Is(err, inbox.ErrNobody)) {
		return err
	}
	if err := m.store.Activity(ctx, m.all); err != nil {
		return err
	}
	to, err := m.all.Find(name)
	if err != nil {
		return err
	}
	if !asJSON {
		if err := m.printf("%s: shown mail last: %s; unread: %d.\n", to.Name, ago(to.LastReceived, time.Now()), to.Unread); err != nil {
			return err
		}
	}
	done, err := m.box().Ping(ctx, m.all, from, to.Address())
	if err != nil {
		return err
	}
	refused := !done.NotificationSent && !done.Kept
	switch {
	case asJSON:
		if err := m.printJSON(pingEntry{to.ID, done, to.LastReceived, to.Unread}); err != nil || !refused {
			return err
		}
		return silently(exitFailed)
	case refused:
		return fmt.Errorf("ping %s: %s", to.Name, done.Reason)
	case done.Kept:
		return m.printf("%s isn't pinged yet: %s. The ping is kept.\n", to.Name, done.Reason)
	case done.Reason != "":
		return m.printf("%s was pinged: %s.\n", to.Name, done.Reason)
	}
	return m.printf("%s was pinged.\n", to.Name)
}
