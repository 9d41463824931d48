package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/panebridge/panebridge/internal/api/client"
)

func newPair(p *program) *cobra.Command {
	var asJSON bool
	var role string
	cmd := &cobra.Command{
		Use:   "pair",
		Short: "Make a code that lets a person in",
		Long: `Make a code and print it. Whoever writes "/pair CODE" to the bot first, within ten
minutes, may do what the role says: in a private chat that person, in a group the
group is known from then on, too. Nobody else can use the code again.`,
		Example: "  panebridge pair\n  panebridge pair --role viewer",
		Args:    takes(0, 0),
		RunE: p.withDaemon(func(ctx context.Context, c *client.Client, _ []string) error {
			made, err := c.Pair(ctx, role)
			if err != nil {
				return err
			}
			if asJSON {
				return p.printJSON(made)
			}
			return p.printf("/pair %s\n\nWrite this to the bot before %s. It works once, and makes the writer %s.\n",
				made.Code, made.Expires.Local().Format(time.TimeOnly), made.Role)
		}),
	}
	cmd.Flags().StringVar(&role, "role", "operator", "what the person may do: viewer, operator, approver or admin")
	jsonFlag(cmd, &asJSON)
	return cmd
}
