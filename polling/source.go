package polling

import (
	"context"

	"github.com/panebridge/panebridge/sessions"
)

// Source is a tmux server as the pollers need it. Its methods block until the
// server has answered or ctx ends, and may be called by many at once.
type Source interface {
	// Glances looks at many panes at once, cheaply: at all where since is 0,
	// else at least at those that are dead, or whose window had output in that
	// second (since 1970) or later. all: these are all panes there are, also
	// where fewer were asked for.
	Glances(ctx context.Context, since int64) (panes []sessions.Glance, all bool, err error)
	// Snapshot takes one pane's state and rows at one instant. A pane that's
	// gone is sessions.ErrUnknown.
	Snapshot(ctx context.Context, pane string, w sessions.Window) (sessions.Snapshot, error)
}

// Owner hears what becomes of pollers. It's called from their goroutines and
// must not call back into the coordinator.
type Owner interface {
	// Output is called after an event's lines are in the log.
	Output(ev sessions.OutputEvent)
	// Ended is called once, when a poller has read its last: the pane is gone
	// or its program has ended. All output was handed on before.
	Ended(id sessions.ID, exit *sessions.Exit, reason string)
	// NewPanes is called when a look at server found panes that no look before
	// had found.
	NewPanes(server string)
}
