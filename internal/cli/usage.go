package cli

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/api/client"
	"github.com/panebridge/panebridge/sessions"
)

func newUsage(p *invocation) *cobra.Command {
	var by, since string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "usage",
		Short: "Print what agents have used, and how their limits stand",
		Long: `Print, of each session that lives, how full its conversation's context is, how many tokens
were used since it began, what that cost where the agent says so, how its account stands, and
until when it's limited. With --by, print sums: of sessions, those that have ended included until
they're forgotten; of agents, or of days in the daemon's time zone.

Figures are those that agents write into their transcripts; of some there are none, see
docs/agents.md.`,
		Example: "  panebridge usage\n  panebridge usage --by day --since 2026-11-01",
		Args:    takes(0, 0),
		RunE: p.withDaemon(func(ctx context.Context, c *client.Client, _ []string) error {
			if by == "" && since == "" {
				return p.printUsageNow(ctx, c, asJSON)
			}
			if by == "" {
				by = string(sessions.BySession)
			}
			sums, err := c.Usage(ctx, sessions.UsageBy(by), since)
			if err != nil {
				return err
			}
			if asJSON {
				return p.printJSON(sums)
			}
			return p.printUsageSums(sums, sessions.UsageBy(by))
		}),
	}
	cmd.Flags().StringVar(&by, "by", "", "print sums by `THING`: session, agent or day")
	cmd.Flags().StringVar(&since, "since", "", "count from a `DAY` on, as 2026-11-30")
	_ = cmd.RegisterFlagCompletionFunc("by", cobra.FixedCompletions([]string{"session", "agent", "day"}, cobra.ShellCompDirectiveNoFileComp)) // the flag is there
	jsonFlag(cmd, &asJSON)
	return cmd
}

// usageNow is what `usage --json` prints of a session.
type usageNow struct {
	Session      sessions.ID       `json:"session"`
	Name         string            `json:"name"`
	Usage        *sessions.Usage   `json:"usage"` // null: its agent has said nothing
	Continuation *api.Continuation `json:"continuation,omitempty"`
}

func (p *invocation) printUsageNow(ctx context.Context, c *client.Client, asJSON bool) error {
	all, err := c.Sessions(ctx)
	if err != nil {
		return err
	}
	list, now := living(all), time.Now()
	if asJSON {
		out := make([]usageNow, 0, len(list))
		for _, s := range list {
			out = append(out, usageNow{s.ID, s.Name, s.Usage, s.Continuation})
		}
		return p.printJSON(out)
	}
	rows := [][]string{{"SESSION", "AGENT", "CONTEXT", "LEFT", "TOKENS", "COST", "ACCOUNT"}}
	for _, s := range list {
		if s.Usage != nil {
			rows = append(rows, usageRow(s, now))
		}
	}
	if len(rows) == 1 {
		p.notef("No agent has said yet what it uses; `panebridge usage --by day` has what earlier ones did.")
		return nil
	}
	return p.printTable(rows)
}

// usageRow is a session's row.
func usageRow(s api.Session, now time.Time) []string {
	u := s.Usage
	context, left, cost := "-", "-", "-"
	if c := u.Context; c != nil {
		context = sessions.ShortCount(c.Used)
		if n, known := c.Left(); known {
			left = sessions.ShortCount(n)
		}
	}
	if u.CostUSD > 0 {
		cost = sessions.Dollars(u.CostUSD)
	}
	account := []string{}
	if limit := u.LimitWords(now); limit != "" {
		account = append(account, limit+goesOn(s))
	}
	windows := *u
	windows.Context, windows.Tokens, windows.CostUSD = nil, sessions.Tokens{}, 0
	account = append(account, windows.Words(now)...)
	if len(account) == 0 {
		account = []string{"-"}
	}
	return []string{s.Name, u.Agent, context, left, sessions.ShortCount(u.Tokens.Total()), cost, strings.Join(account, ", ")}
}

// goesOn says that a session goes on by itself; "": it doesn't.
func goesOn(s api.Session) string {
	if s.Continuation == nil {
		return ""
	}
	return fmt.Sprintf(", then %q is sent (%s)", s.Continuation.Text, s.Continuation.By)
}

func (p *invocation) printUsageSums(sums []api.UsageSum, by sessions.UsageBy) error {
	if len(sums) == 0 {
		p.notef("Nothing was used.")
		return nil
	}
	rows := [][]string{{strings.ToUpper(string(by)), "INPUT", "CACHE READ", "CACHE WRITE", "OUTPUT", "COST", "ANSWERS"}}
	for _, u := range sums {
		of := u.Day + u.Agent + u.Name
		if of == "" {
			of = string(u.Session)
		}
		if of == "" {
			of = "(forgotten)"
		}
		rows = append(rows, []string{
			of, sessions.ShortCount(u.Tokens.Input), sessions.ShortCount(u.Tokens.CacheRead), sessions.ShortCount(u.Tokens.CacheWrite),
			sessions.ShortCount(u.Tokens.Output), sessions.Dollars(u.CostUSD), strconv.FormatInt(u.Answers, 10),
		})
	}
	return p.printTable(rows)
}

func newContinue(p *invocation) *cobra.Command {
	var off, asJSON bool
	cmd := &cobra.Command{
		Use:   "continue SESSION",
		Short: "Have a session go on when its agent's limit is over",
		Long: `Have a text, "continue" unless sessions.continue_text is another, be typed into a session when the
limit of its agent's account is over, as any text is. It isn't if somebody has written to the
session by then, if its agent is at work, or if a question is open: then the session's log says so.`,
		Example:           "  panebridge continue api\n  panebridge continue api --off",
		Args:              takes(1, 1),
		ValidArgsFunction: p.completeSession,
		RunE: p.withDaemon(func(ctx context.Context, c *client.Client, args []string) error {
			if off {
				return c.Unschedule(ctx, args[0])
			}
			one, err := c.Schedule(ctx, args[0])
			if err != nil {
				return err
			}
			if asJSON {
				return p.printJSON(one)
			}
			return p.printf("%q is sent to %s at %s, unless somebody writes to it before.\n", one.Text, args[0], clock(one.Due, time.Now()))
		}),
	}
	cmd.Flags().BoolVar(&off, "off", false, "have it not go on by itself")
	jsonFlag(cmd, &asJSON)
	return cmd
}
