package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/api/client"
	"github.com/panebridge/panebridge/sessions"
)

func newSessionsList(p *program) *cobra.Command {
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
