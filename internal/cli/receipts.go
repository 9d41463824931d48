package cli

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/panebridge/panebridge/internal/api/client"
	"github.com/panebridge/panebridge/sessions"
)

func newReceipts(p *invocation) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "receipts [SESSION]",
		Short: "List the texts that wait to be typed",
		Long: `List the texts that aren't submitted yet, of a session or of all, in the order in which
they'll be typed: with their state, who wrote them and what they wait for.
"panebridge receipts cancel" takes one back.`,
		Args:              takes(0, 1),
		ValidArgsFunction: p.completeSession,
		RunE: p.withDaemon(func(ctx context.Context, c *client.Client, args []string) error {
			waiting, err := waitingTexts(ctx, c, args)
			switch {
			case err != nil:
				return err
			case asJSON:
				return p.printJSON(waiting)
			case len(waiting) == 0:
				p.notef("No text waits.")
				return nil
			}
			names, err := sessionNames(ctx, c)
			if err != nil {
				return err
			}
			rows, now := [][]string{{"ID", "SESSION", "FROM", "WRITTEN", "STATE", "TEXT", "WHY"}}, time.Now()
			for _, r := range waiting {
				rows = append(rows, []string{
					r.ID, cmp.Or(names[string(r.Session)], string(r.Session)), r.Author, ago(r.CreatedAt, now), string(r.State), brief(r.Text), strings.Join(strings.Fields(r.Reason), " "),
				})
			}
			return p.printTable(rows)
		}),
	}
	jsonFlag(cmd, &asJSON)
	cmd.AddCommand(newReceiptsCancel(p))
	return cmd
}

// waitingTexts are those of the session that's named, or of all that live.
func waitingTexts(ctx context.Context, c *client.Client, named []string) ([]sessions.Receipt, error) {
	if len(named) > 0 {
		return c.Waiting(ctx, named[0])
	}
	list, err := c.Sessions(ctx)
	if err != nil {
		return nil, err
	}
	all := []sessions.Receipt{}
	for _, s := range list {
		if s.State == sessions.StateEnded {
			continue
		}
		waiting, err := c.Waiting(ctx, string(s.ID))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.Name, err)
		}
		all = append(all, waiting...)
	}
	return all, nil
}

func newReceiptsCancel(p *invocation) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:               "cancel ID…",
		Short:             "Take back texts that wait to be typed",
		Long:              "Take back texts that wait to be typed. Exit code 1 for one that's typed already.",
		Example:           "  panebridge receipts cancel in_0123456789ab",
		Args:              takes(1, -1),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: p.withDaemon(func(ctx context.Context, c *client.Client, args []string) error {
			for _, id := range args {
				r, err := c.Cancel(ctx, id)
				if err != nil {
					return err
				}
				if err := p.printReceipt(r, asJSON); err != nil {
					return err
				}
			}
			return nil
		}),
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}
