package app

import (
	"context"
	"time"

	"github.com/panebridge/panebridge/internal/callers"
	"github.com/panebridge/panebridge/internal/forgetting"
	"github.com/panebridge/panebridge/internal/store"
	"github.com/panebridge/panebridge/polling"
	"github.com/panebridge/panebridge/sessions"
)

// pollers is the coordinator as the manager sees it.
type pollers struct{ *daemon }

func (p pollers) Stop(ctx context.Context, id sessions.ID) error { return p.coord.Stop(ctx, id) }
func (p pollers) Typed(id sessions.ID, text string)              { p.coord.Typed(id, text) }
func (p pollers) ServerGone(server string)                       { p.coord.ServerGone(server) }

func (p pollers) Start(s sessions.Session) error {
	return p.coord.Start(polling.Target{
		Session: s.ID, Server: s.Pane.Server, Pane: s.Pane.ID, Identity: s.Pane.Identity, Drained: s.Owned,
		Observe: func(kept []byte) (polling.Observer, error) { return p.observe(s, kept) },
	})
}

// outputLog is the store as the API reads it.
type outputLog struct{ *store.Store }

func (l outputLog) ReadSince(ctx context.Context, id sessions.ID, line, gap int64, limit int) (sessions.Output, int64, int64, error) {
	out, next, err := l.Store.ReadSince(ctx, id, store.Cursor{Line: line, Gap: gap}, limit)
	return out, next.Line, next.Gap, err
}

func (l outputLog) Head(ctx context.Context, id sessions.ID) (line, gap int64, err error) {
	c, err := l.End(ctx, id)
	return c.Line, c.Gap, err
}

// notes writes into the output log what doesn't come from a poller.
type notes struct{ *store.Store }

func (n notes) Note(ctx context.Context, id sessions.ID, lines []sessions.Line, gap *sessions.Gap) ([]sessions.Line, []sessions.Gap, error) {
	b := polling.Batch{Session: id, Lines: lines}
	if gap != nil {
		b.Gaps = []sessions.Gap{{AtLeast: gap.AtLeast, Reason: gap.Reason}}
	}
	done, err := n.Append(ctx, b)
	if err != nil {
		return nil, nil, err
	}
	return done.Lines, done.Gaps, nil
}

// shell is what a session without a command runs.
func (d *daemon) shell() string {
	if s, _ := d.lookUpPane("SHELL"); s != "" {
		return s
	}
	return "/bin/sh"
}

// lives reports whether a session of that name lives, as soon as that's sure:
// one of an earlier run of its tmux server, or whose pane is gone, is about to
// be ended.
func (d *daemon) lives(ctx context.Context, name string) bool {
	for ctx.Err() == nil {
		s, err := d.manager.Get(name)
		if err != nil {
			return false
		}
		if _, err := d.manager.Screen(ctx, s.ID); err == nil && s.State != sessions.StateStarting {
			return true
		}
		select {
		case <-ctx.Done():
		case <-time.After(20 * time.Millisecond):
		}
	}
	return false
}

// awaitServer waits until the tmux server's client is connected, or knows that
// there's no server yet.
func (d *daemon) awaitServer(ctx context.Context, name string) error {
	for {
		for _, c := range d.clients {
			if s := c.Status(); (name == "" || c.Name() == name) && (s.Connected || s.Absent) {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// registry is the manager as the API calls it: who forgets a session has all parts
// forget it.
type registry struct {
	callers.Questions
	*forgetting.Forgetter
}

// keepEnded is for how long ended sessions are kept.
func (d *daemon) keepEnded() time.Duration { return d.currentConfig().Sessions.KeepEnded.Duration() }
