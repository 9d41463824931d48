package cli

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/panebridge/panebridge/internal/api/client"
)

func newScreen(p *program) *cobra.Command {
	var format string
	var asJSON bool
	formats := []cobra.Completion{"text", "ansi", "html"}
	cmd := &cobra.Command{
		Use:               "screen SESSION",
		Short:             "Print a session's pane as it looks now",
		Args:              takes(1, 1),
		ValidArgsFunction: p.completeSession,
		RunE: p.withDaemon(func(ctx context.Context, c *client.Client, args []string) error {
			if !slices.Contains(formats, format) {
				return usageErrorf("--format is one of %s, not %q", strings.Join(formats, ", "), format)
			}
			s, err := findLiving(ctx, c, args[0])
			if err != nil {
				return err
			}
			text, err := c.Screen(ctx, string(s.ID), format)
			if err != nil {
				return err
			}
			if asJSON {
				return p.printJSON(map[string]any{"session": s.ID, "format": format, "screen": text})
			}
			return p.printf("%s", text)
		}),
	}
	cmd.Flags().StringVar(&format, "format", "text", "`FORMAT`: text, ansi (with colours) or html")
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp))
	jsonFlag(cmd, &asJSON)
	return cmd
}
