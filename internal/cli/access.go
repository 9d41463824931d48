package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/panebridge/panebridge/internal/api/client"
)

func newAccess(p *invocation) *cobra.Command {
	cmd := newGroup("access", "Say who may do what in chats, and change it", newAccessList(p), newAccessGrant(p), newAccessRevoke(p))
	cmd.Long = `What the configuration's access: gives and what was given by pairing codes or by name
is one list. What was given counts as long as whoever gave it could give it again; what a
code gave in a group, as long as its person is in there.`
	return cmd
}

func newAccessList(p *invocation) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "list", Short: "List who may do what", Args: takes(0, 0),
		RunE: p.withDaemon(func(ctx context.Context, c *client.Client, _ []string) error {
			list, err := c.Access(ctx)
			if err != nil {
				return err
			}
			if asJSON {
				return p.printJSON(list)
			}
			rows := [][]string{{"PERSON", "NAME", "ROLE", "GIVEN BY", "AT", "IN", "LAST USED", "VOID"}}
			for _, e := range list {
				rows = append(rows, []string{e.Person, orDash(e.Name), e.Role, e.By, moment(e.At), orDash(e.Chat), moment(e.LastUsed), orDash(e.Void)})
			}
			return p.printTable(rows)
		}),
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

func newAccessGrant(p *invocation) *cobra.Command {
	return &cobra.Command{
		Use: "grant PERSON ROLE", Short: "Give a person a role: viewer, operator, approver or admin", Args: takes(2, 2),
		Example: "  panebridge access grant telegram:123456 viewer",
		RunE: p.withDaemon(func(ctx context.Context, c *client.Client, args []string) error {
			if err := c.GrantAccess(ctx, args[0], args[1]); err != nil {
				return err
			}
			return p.printf("%s: %s\n", args[0], args[1])
		}),
	}
}

func newAccessRevoke(p *invocation) *cobra.Command {
	var role string
	cmd := &cobra.Command{
		Use: "revoke PERSON", Short: "Take back what a person was given, by pairing or by name", Args: takes(1, 1),
		RunE: p.withDaemon(func(ctx context.Context, c *client.Client, args []string) error {
			done, err := c.RevokeAccess(ctx, args[0], role)
			if err != nil {
				return err
			}
			return p.printf("%s\n", done.Message)
		}),
	}
	cmd.Flags().StringVar(&role, "role", "", "this `ROLE` alone (else all)")
	return cmd
}

func newPair(p *invocation) *cobra.Command {
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
