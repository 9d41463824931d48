package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/api/client"
	"github.com/panebridge/panebridge/sessions"
)

func newSessionsForget(p *program) *cobra.Command {
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
func (p *program) noteAsides(ctx context.Context, c *client.Client) error {
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
