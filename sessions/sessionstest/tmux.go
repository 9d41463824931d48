// Package sessionstest has the tmux that tests of sessions and of what types into them share.
package sessionstest

import (
	"context"
	"slices"
	"strings"

	"github.com/panebridge/panebridge/sessions"
)

// Run is the run of the tmux server.
var Run = sessions.ServerIdentity{PID: 1, Start: 1}

// Tmux is a tmux server with one pane, "%1". A test embeds it and adds what its program does;
// what neither has panics.
type Tmux struct{ sessions.TmuxServer }

// Name is the server's.
func (Tmux) Name() string { return "default" }

// Identity is Run: it's always connected.
func (Tmux) Identity() (sessions.ServerIdentity, bool) { return Run, true }

// Gone says that the server runs.
func (Tmux) Gone() bool { return false }

// Reach finds it.
func (Tmux) Reach(context.Context) error { return nil }

// Panes names none.
func (Tmux) Panes(context.Context) ([]sessions.PaneInfo, error) { return nil, nil }

// Create makes the pane.
func (Tmux) Create(context.Context, sessions.ID, sessions.PaneRequest) (sessions.PaneInfo, error) {
	return sessions.PaneInfo{ID: "%1"}, nil
}

// Mark forgets the mark.
func (Tmux) Mark(context.Context, string, sessions.ID) error { return nil }

// Kill ends nothing.
func (Tmux) Kill(context.Context, string) error { return nil }

// Leave leaves it running.
func (Tmux) Leave(context.Context) error { return nil }

// Terminal is one that reads keys, and has read them all.
func (Tmux) Terminal(string) (sessions.Terminal, error) { return sessions.Terminal{Echo: true}, nil }

// Check is tmux's check of a guard against the screen as it is now: Done, if it holds.
func Check(g sessions.PaneGuard, now *sessions.Snapshot) sessions.GuardOutcome {
	screen := strings.ToLower(strings.Join(now.Rows, "\n"))
	switch saw := g.Saw; {
	case g.Front != "" && g.Front != now.Front:
		return sessions.Moved
	case slices.ContainsFunc(g.Phrases, func(p string) bool { return strings.Contains(screen, p) }):
		return sessions.Held
	case saw == nil:
		return sessions.Done
	case saw.CursorX != now.CursorX || saw.CursorY != now.CursorY || saw.HistorySize != now.HistorySize || saw.Title != now.Title || g.Still && saw.Activity != now.Activity,
		slices.ContainsFunc(g.Rows, func(i int) bool { return i >= len(now.Rows) || now.Rows[i] != saw.Rows[i] }):
		return sessions.Moved
	}
	return sessions.Done
}
