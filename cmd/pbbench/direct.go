package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/panebridge/panebridge/sessions"
	"github.com/panebridge/panebridge/sessions/tmux"
)

// The window of a capture at a low rate, as pollers take it.
const windowRows = 60

// direct measures what only a client of one's own shows: how long a tick's
// requests take, and that captures leave nothing behind in the tmux server.
func (o captureOptions) direct(ctx context.Context, b *bed, row *captureRow, memoryToo bool) error {
	ctx, cancel := context.WithCancel(ctx)
	up := make(chan struct{}, 8)
	c := tmux.New(tmux.Options{SocketPath: b.socket, OnUp: func(sessions.ServerIdentity) { up <- struct{}{} }})
	ended := make(chan struct{})
	go func() { defer close(ended); _ = c.Run(ctx) }() // ends with ctx, never by itself
	defer func() { cancel(); <-ended }()
	select {
	case <-up:
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(killTimeout):
		return fmt.Errorf("connect to the tmux server: %w", c.Status().Err)
	}
	var err error
	if row.WallMS, err = wallOfTick(ctx, c, b, row.Active, min(o.seconds, 6)); err != nil || !memoryToo || o.captures == 0 {
		return err
	}
	progress("%d sessions: the tmux server's memory over %d captures", len(b.panes), o.captures)
	growth, err := growthOf(ctx, c, b, o.captures)
	row.Captures, row.CapturesKB = o.captures, &growth
	return err
}

// wallOfTick is the median time of one look at all panes with the captures of
// the active ones behind it, in ms.
func wallOfTick(ctx context.Context, c *tmux.Client, b *bed, active, ticks int) (float64, error) {
	var wall []float64
	for range ticks {
		start := time.Now()
		if _, _, err := c.Glances(ctx, start.Unix()-1); err != nil {
			return 0, err
		}
		g, inner := errgroup.WithContext(ctx)
		for _, p := range b.panes[:active] {
			g.Go(func() error {
				_, err := c.Snapshot(inner, p.id, sessions.RowWindow{Start: -windowRows})
				return err
			})
		}
		if err := g.Wait(); err != nil {
			return 0, err
		}
		wall = append(wall, ms(time.Since(start)))
		if err := pause(ctx, 500*time.Millisecond); err != nil {
			return 0, err
		}
	}
	return round(median(wall)), nil
}

// growthOf is how much the server's memory grows over n captures, in KB. A tenth
// of them before the first look fills what the server reuses.
func growthOf(ctx context.Context, c *tmux.Client, b *bed, n int) (int64, error) {
	take := func(n int) error {
		for i := range n {
			if _, err := c.Snapshot(ctx, b.panes[i%len(b.panes)].id, sessions.RowWindow{Start: -windowRows}); err != nil {
				return err
			}
		}
		return nil
	}
	if err := take(n / 10); err != nil {
		return 0, err
	}
	before, err := memory(b.pid)
	if err != nil {
		return 0, err
	}
	if err := take(n); err != nil {
		return 0, err
	}
	after, err := memory(b.pid)
	return (after - before) / 1024, errors.Join(err, ctx.Err())
}
