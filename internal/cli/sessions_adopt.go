package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/api/client"
)

func newSessionsAdopt(p *program) *cobra.Command {
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
