package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/panebridge/panebridge/internal/api/client"
)

func newSessionsClose(p *program) *cobra.Command {
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
