package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/panebridge/panebridge/internal/api/client"
)

func newKeys(p *program) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "keys SESSION KEY…",
		Short: "Press keys in a session's pane",
		Long: `Press keys in a session's pane, at once and whatever is on its screen. Keys have
tmux's names: Enter, Escape, Tab, BTab, BSpace, Space, Up, Down, Left, Right,
Home, End, PageUp, PageDown, F1 to F12, C-c (Ctrl), M-x (Alt), S-Up (Shift), or
are single characters. For text, use "panebridge input".`,
		Example:           "  panebridge keys demo Down Enter\n  panebridge keys demo C-c",
		Args:              takes(2, -1),
		ValidArgsFunction: p.completeSession,
		RunE: p.withDaemon(func(ctx context.Context, c *client.Client, args []string) error {
			s, err := findLiving(ctx, c, args[0])
			if err != nil {
				return err
			}
			if err := c.Keys(ctx, string(s.ID), args[1:]...); err != nil {
				return err
			}
			if asJSON {
				return p.printJSON(map[string]any{"session": s.ID, "keys": args[1:]})
			}
			return nil
		}),
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}
