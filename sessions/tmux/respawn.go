package tmux

import (
	"context"
	"fmt"
	"strings"

	"github.com/panebridge/panebridge/sessions"
)

// Respawn ends what runs in a pane and starts a program there. The pane keeps its id,
// its options and its history.
func (c *Client) Respawn(ctx context.Context, pane string, req sessions.PaneRequest) error {
	args := []string{"respawn-pane", "-k", "-t", pane}
	if req.Cwd != "" {
		args = append(args, "-c", quote(req.Cwd))
	}
	for _, kv := range req.Env {
		args = append(args, "-e", quote(kv))
	}
	line := strings.Join(args, " ")
	if len(req.Command) > 0 {
		line += " --" + quoteAll(drained(req.Command))
	}
	if _, err := c.do(ctx, &request{line: line, blocks: 1}); err != nil {
		return fmt.Errorf("start a program in pane %s anew: %w", pane, err)
	}
	return nil
}
