package tmux

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/panebridge/panebridge/sessions"
)

// Respawn ends what runs in a pane and starts a program there. The pane keeps its id,
// its options and its history. It returns when the program is in its folder; if it can't
// be entered, that's an error with sessions.ErrInvalid, and the pane is dead.
func (c *Client) Respawn(ctx context.Context, pane string, req sessions.PaneRequest) error {
	if err := c.respawn(ctx, pane, req); err != nil {
		return fmt.Errorf("start a program in pane %.40q anew: %w", pane, err)
	}
	return nil
}

func (c *Client) respawn(ctx context.Context, pane string, req sessions.PaneRequest) error {
	if err := checkPane(pane); err != nil {
		return err
	}
	if err := checkStart(req); err != nil {
		return err
	}
	l, err := c.current()
	if err != nil {
		return err
	}
	withheld, err := c.withhold(ctx, pane)
	if err != nil {
		return err
	}
	// A command that was kept by tmux since before there was folderVariable knows none.
	reply, err := l.do(ctx, &request{blocks: 2 + len(withheld), line: strings.Join(withheld, "") + "respawn-pane -k -t " + pane + startOptions(req) +
		" ; display-message -p -t " + pane + " '#{pane_pid} #{m:*" + folderVariable + "*,#{pane_start_command}}'"})
	if err != nil {
		return explainScarce(err)
	}
	pid, goes, _ := strings.Cut(strings.Join(reply[1+len(withheld)].lines, ""), " ")
	n, err := strconv.Atoi(pid)
	if err != nil {
		return fmt.Errorf("%w: process %.80q", errProtocol, pid)
	}
	if goes != "1" {
		return nil
	}
	return l.awaitEntered(ctx, pane, n, req.Cwd)
}
