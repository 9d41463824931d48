package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/api/client"
	"github.com/panebridge/panebridge/sessions"
)

// watchEvery is how often a new session is asked for.
const watchEvery = 50 * time.Millisecond

// watch looks at a new session for a while, which may be longer than a call, in
// case its program ends at once, and returns it as it is then.
func watch(ctx context.Context, c *client.Client, s api.Session, limit time.Duration) (api.Session, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit+callTimeout)
	defer cancel()
	end := time.Now().Add(limit)
	for s.State != sessions.StateEnded && time.Now().Before(end) {
		select {
		case <-ctx.Done():
			return s, ctx.Err()
		case <-time.After(watchEvery):
		}
		now, err := c.Quiet().Session(ctx, string(s.ID))
		if client.Inside(err) {
			return s, nil
		}
		if err != nil {
			return s, err
		}
		s = now
	}
	return s, nil
}

// endedAtOnce says how a session's program ended that hardly began; nil if it's
// well, or has done what it had to.
func endedAtOnce(ctx context.Context, c *client.Client, s api.Session) error {
	if s.State != sessions.StateEnded || s.Exit != nil && s.Exit.Status == 0 && s.Exit.Signal == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTimeout)
	defer cancel()
	said := []string{fmt.Sprintf("session %s has ended already: %s", s.Name, s.Reason)}
	if e := s.Exit; e != nil && e.Signal != "" {
		said[0] += ", by signal " + e.Signal
	} else if e != nil {
		said[0] += fmt.Sprintf(", with status %d", e.Status)
	}
	out, err := c.Output(ctx, string(s.ID), max(1, s.Lines-lastWords), 0)
	if err != nil {
		return err
	}
	for _, l := range out.Lines {
		if l.Kind != sessions.KindNotice && strings.TrimSpace(l.Text) != "" {
			said = append(said, l.Text)
		}
	}
	return errors.New(strings.Join(said, "\n  "))
}

// lastWords is how many lines of such a session are shown.
const lastWords = 5
