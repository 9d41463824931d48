package cli

import (
	"context"
	"errors"
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

func newPage(p *invocation) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "page",
		Short: "Let a browser use the page, and say which may",
		Long: `Print an address of the page that lets one browser in: the first that opens it within
ten minutes. That browser makes a key of its own, which never leaves it, and is known for
thirty days from its last visit; no other needs to be let in again.

An address that wasn't opened is void when the daemon is started anew.`,
		Example: "  panebridge page\n  panebridge page list\n  panebridge page revoke br_0123456789ab\n  panebridge page rotate",
		Args:    takes(0, 0),
		RunE: p.withDaemon(func(ctx context.Context, c *client.Client, _ []string) error {
			return p.printAddress(ctx, c, asJSON)
		}),
	}
	jsonFlag(cmd, &asJSON)
	cmd.AddCommand(newPageList(p), newPageRevoke(p), newPageRotate(p))
	return cmd
}

func newPageList(p *invocation) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the browsers that may use the page",
		Args:  takes(0, 0),
		RunE: p.withDaemon(func(ctx context.Context, c *client.Client, _ []string) error {
			page, err := c.Page(ctx)
			if err != nil {
				return err
			}
			if asJSON {
				return p.printJSON(page.Browsers)
			}
			now := time.Now()
			rows := [][]string{{"ID", "BROWSER", "ADDRESS", "LET IN", "LAST USED", "EXPIRES"}}
			for _, b := range page.Browsers {
				rows = append(rows, []string{b.ID, b.Label, b.Address, ago(b.Created, now), ago(b.Used, now), b.Expires.Local().Format(time.DateOnly)})
			}
			return p.printTable(rows)
		}),
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

func newPageRevoke(p *invocation) *cobra.Command {
	return &cobra.Command{
		Use:               "revoke ID…",
		Short:             "Let browsers use the page no longer",
		Long:              `Let browsers use the page no longer. What they have open ends at once.`,
		Args:              takes(1, -1),
		ValidArgsFunction: p.completeBrowser,
		RunE: p.withDaemon(func(ctx context.Context, c *client.Client, ids []string) error {
			var errs []error
			for _, id := range ids {
				errs = append(errs, c.RevokeBrowser(ctx, id))
			}
			return errors.Join(errs...)
		}),
	}
}

func newPageRotate(p *invocation) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "rotate",
		Short: "Let no browser use the page that does now, and print a new address",
		Long: `Revoke all browsers, void all addresses that weren't opened yet, and print one that
lets one browser in. Do this when somebody else may have used a browser of yours, or when
another program has answered at the page's address.`,
		Args: takes(0, 0),
		RunE: p.withDaemon(func(ctx context.Context, c *client.Client, _ []string) error {
			done, err := c.RotatePage(ctx)
			if err != nil {
				return err
			}
			p.notef("%d browsers were revoked.", done.Browsers)
			return p.printAddress(ctx, c, asJSON)
		}),
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

// completeBrowser completes arguments with the ids of browsers.
func (p *invocation) completeBrowser(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	c, err := p.dial()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(cmd.Context(), time.Second) // a person waits behind the tab key
	defer cancel()
	page, err := c.Page(ctx)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var ids []cobra.Completion
	for _, b := range page.Browsers {
		ids = append(ids, cobra.CompletionWithDesc(b.ID, b.Label))
	}
	return ids, cobra.ShellCompDirectiveNoFileComp
}
