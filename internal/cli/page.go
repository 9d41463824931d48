package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mdp/qrterminal/v3"
	"github.com/spf13/cobra"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/api/client"
)

func newPage(p *invocation) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "page",
		Short: "Let a browser use the page, and say which may",
		Long: `Print an address of the page that lets one browser in: the first that opens it within
ten minutes. That browser makes a key of its own, which never leaves it, and is known for
thirty days from its last visit; no other needs to be let in again.

An address that wasn't opened is void when the daemon is started anew. It's for browsers of
this machine; "panebridge page share" is for a phone and other machines.`,
		Example: "  panebridge page\n  panebridge page share --name phone --role operator\n  panebridge page list\n  panebridge page revoke br_0123456789ab\n  panebridge page rotate",
		Args:    takes(0, 0),
		RunE: p.withDaemon(func(ctx context.Context, c *client.Client, _ []string) error {
			return p.printAddress(ctx, c, asJSON)
		}),
	}
	jsonFlag(cmd, &asJSON)
	cmd.AddCommand(newPageShare(p), newPageList(p), newPageConfirm(p), newPageRevoke(p), newPageRotate(p))
	return cmd
}

func newPageList(p *invocation) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "list",
		Aliases: []string{"devices"},
		Short:   "List the browsers that may use the page, and those that wait to be let in",
		Args:    takes(0, 0),
		RunE: p.withDaemon(func(ctx context.Context, c *client.Client, _ []string) error {
			page, err := c.Page(ctx)
			if err != nil {
				return err
			}
			if asJSON {
				return p.printJSON(page)
			}
			now := time.Now()
			rows := [][]string{{"ID", "NAME", "BROWSER", "ROLES", "ADDRESS", "LET IN", "LAST USED", "EXPIRES"}}
			for _, b := range page.Browsers {
				rows = append(rows, []string{
					b.ID, cmp.Or(b.Name, "-"), b.Label, strings.Join(b.Roles, ","), b.Address, ago(b.Created, now), ago(b.Used, now), b.Expires.Local().Format(time.DateOnly),
				})
			}
			if err := p.printTable(rows); err != nil || len(page.Waiting) == 0 {
				return err
			}
			rows = [][]string{{"ID", "NAME", "BROWSER", "ROLES", "FROM", "NUMBER", "UNTIL"}}
			for _, b := range page.Waiting {
				rows = append(rows, []string{b.ID, b.Name, b.Label, strings.Join(b.Roles, ","), b.From, b.Number, b.Until.Local().Format(time.TimeOnly)})
			}
			if err := p.printf("\nThese wait to be let in (panebridge page confirm ID):\n"); err != nil {
				return err
			}
			return p.printTable(rows)
		}),
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

type shareFlags struct {
	roles  []string
	name   string
	noWait bool
	asJSON bool
}

func newPageShare(p *invocation) *cobra.Command {
	var f shareFlags
	cmd := &cobra.Command{
		Use:   "share",
		Short: "Let a phone or another machine use the page",
		Long: `Print a code to be scanned, and the address that's in it, which has one device ask to be
let in: the first that opens it within ten minutes. When it has, say whether that's the one
you mean: it shows the number that stands here, too.

The address is that of adapters.web.public_url: docs/page.md shows how to have one.`,
		Example: "  panebridge page share\n  panebridge page share --name \"Ann's phone\" --role operator --role approver",
		Args:    takes(0, 0),
		RunE: p.withDaemon(func(ctx context.Context, c *client.Client, _ []string) error {
			return p.sharePage(ctx, c, f)
		}),
	}
	cmd.Flags().StringArrayVar(&f.roles, "role", []string{"viewer"}, "what the device may do: viewer, operator, approver or admin; may be given several times")
	cmd.Flags().StringVar(&f.name, "name", "", "what the device is called; without it what it calls itself")
	cmd.Flags().BoolVar(&f.noWait, "no-wait", false, "don't wait for the device")
	jsonFlag(cmd, &f.asJSON)
	return cmd
}

// sharePage shows an address and waits for the device that opens it.
func (p *invocation) sharePage(ctx context.Context, c *client.Client, f shareFlags) error {
	before, err := c.Page(ctx)
	if err != nil {
		return err
	}
	made, err := c.SharePage(ctx, api.ShareRequest{Name: f.name, Roles: f.roles})
	if err != nil {
		return err
	}
	if f.asJSON {
		return p.printJSON(made)
	}
	person := isTerminal(p.stdio.In) && isTerminal(p.stdio.Out)
	if err := p.printf("%s%s\n\nOpen this on the device before %s. It works once, and gives: %s.\n",
		qrCode(made.URL, isTerminal(p.stdio.Out)), made.URL, made.Expires.Local().Format(time.TimeOnly), strings.Join(f.roles, ", ")); err != nil {
		return err
	}
	if f.noWait || !person {
		return p.printf("Then let it in: panebridge page list, and panebridge page confirm ID\n")
	}
	if err := p.printf("\nWaiting for the device. (Ctrl-C stops that; panebridge page confirm lets it in as well.)\n"); err != nil {
		return err
	}
	device, err := awaitDevice(ctx, c, before.Waiting, made.Expires)
	if err != nil {
		return err
	}
	return p.askAboutDevice(ctx, c, device)
}

// deviceEvery is how often it's asked whether the device is there.
const deviceEvery = time.Second

// awaitDevice blocks until a device waits that didn't before.
func awaitDevice(ctx context.Context, c *client.Client, before []api.WaitingDevice, until time.Time) (api.WaitingDevice, error) {
	ctx, cancel := context.WithDeadlineCause(ctx, until, errors.New("no device has opened the address: it's void now"))
	defer cancel()
	ticker := time.NewTicker(deviceEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return api.WaitingDevice{}, context.Cause(ctx)
		case <-ticker.C:
		}
		page, err := c.Page(ctx)
		if err != nil {
			return api.WaitingDevice{}, cmp.Or(context.Cause(ctx), err)
		}
		for _, d := range page.Waiting {
			if !slices.ContainsFunc(before, func(b api.WaitingDevice) bool { return b.ID == d.ID }) {
				return d, nil
			}
		}
	}
}

func (p *invocation) askAboutDevice(ctx context.Context, c *client.Client, d api.WaitingDevice) error {
	question := fmt.Sprintf("\n%s at %s wants in as %s (%s).\nIt must show the number %s. Let it in? [y/N]", d.Label, d.From, d.Name, strings.Join(d.Roles, ", "), d.Number)
	said, err := newAsker(p).Ask(ctx, question, "panebridge page confirm "+d.ID)
	if err != nil {
		return err
	}
	if said = strings.ToLower(said); said != "y" && said != "yes" {
		if err := c.RevokeBrowser(ctx, d.ID); err != nil {
			return err
		}
		return p.printf("It isn't let in.\n")
	}
	return p.confirmDevice(ctx, c, d.ID)
}

func (p *invocation) confirmDevice(ctx context.Context, c *client.Client, id string) error {
	b, err := c.ConfirmDevice(ctx, id)
	if err != nil {
		return err
	}
	return p.printf("%s is let in (%s), until thirty days from its last visit. To end that: panebridge page revoke %s\n", b.Name, strings.Join(b.Roles, ", "), b.ID)
}

// qrCode draws a text as a code to be scanned. Colours make it dark on light wherever it's shown.
func qrCode(text string, colours bool) string {
	var drawn bytes.Buffer
	qrterminal.GenerateWithConfig(text, qrterminal.Config{
		Level: qrterminal.L, Writer: &drawn, HalfBlocks: true, QuietZone: 2,
		BlackChar: qrterminal.BLACK_BLACK, WhiteChar: qrterminal.WHITE_WHITE, BlackWhiteChar: qrterminal.BLACK_WHITE, WhiteBlackChar: qrterminal.WHITE_BLACK,
	})
	if !colours {
		return drawn.String() + "\n"
	}
	const whiteOnBlack, plain = "\x1b[97;40m", "\x1b[0m"
	var out strings.Builder
	for line := range strings.Lines(drawn.String()) {
		out.WriteString(whiteOnBlack + strings.TrimSuffix(line, "\n") + plain + "\n")
	}
	return out.String() + "\n"
}

func newPageConfirm(p *invocation) *cobra.Command {
	return &cobra.Command{
		Use:               "confirm ID…",
		Short:             "Let devices in that wait",
		Long:              `Let devices in that have opened a shared address. "panebridge page list" shows them, with the number that each of them shows.`,
		Args:              takes(1, -1),
		ValidArgsFunction: p.completeBrowser,
		RunE: p.withDaemon(func(ctx context.Context, c *client.Client, ids []string) error {
			var errs []error
			for _, id := range ids {
				errs = append(errs, p.confirmDevice(ctx, c, id))
			}
			return errors.Join(errs...)
		}),
	}
}

func newPageRevoke(p *invocation) *cobra.Command {
	return &cobra.Command{
		Use:               "revoke ID…",
		Short:             "Let browsers use the page no longer, or refuse those that wait",
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
		ids = append(ids, cobra.CompletionWithDesc(b.ID, cmp.Or(b.Name, b.Label)))
	}
	for _, b := range page.Waiting {
		ids = append(ids, cobra.CompletionWithDesc(b.ID, b.Name+" (waits)"))
	}
	return ids, cobra.ShellCompDirectiveNoFileComp
}
