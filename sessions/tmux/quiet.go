package tmux

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

const (
	quietFor    = 100 * time.Millisecond // for which sessions have to stand before a control client comes, at least
	quietLists  = 8                      // the same in lists of them: a script on a busy machine takes as long for its next step as we do
	quietWithin = 3 * time.Second        // after which it comes anyway: some servers are never quiet
)

// awaitQuiet waits until no session has come, gone or got another name or window for quietFor and quietLists, and quietWithin at most. tmux
// before 3.7 crashes if it has to tell of one while a control client introduces itself (tmux/tmux#4980), as where a script begins
// sessions in a row on a server that has just started. It asks by plain clients, which are told nothing. The error is ctx' or
// says that the server doesn't answer.
func (c *Client) awaitQuiet(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, connectTimeout, errors.New("the tmux server doesn't answer"))
	defer cancel()
	before := ""
	for began := time.Now(); ; {
		asked := time.Now()
		now, err := c.listSessions(ctx)
		pause := min(max(quietFor, quietLists*time.Since(asked)), quietWithin-time.Since(began)) // negative: it's the last
		switch {
		case err != nil:
			return err
		case now != "" && now == before, time.Since(began) > quietWithin:
			return nil
		}
		before = now
		if err := sessions.Pause(ctx, pause); err != nil {
			return err
		}
	}
}

// listSessions is what a control client would be told changes of, as a plain client sees it; "": there's no session yet.
func (c *Client) listSessions(ctx context.Context) (string, error) {
	cmd := c.plainClient(ctx, "list-sessions", "-F", "#{session_id} #{session_name} #{window_id}")
	text, err := cmd.CombinedOutput()
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case err != nil && cmd.ProcessState == nil:
		return "", fmt.Errorf("ask the tmux server: %w", err)
	case err != nil:
		return "", nil //nolint:nilerr // it has no session, or has just ended: the control client says what's wrong
	}
	return strings.TrimSpace(string(text)), nil
}
