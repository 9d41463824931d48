package polling

import (
	"context"
	"maps"
	"sync"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// sweepTicks is in how many ticks every pane is captured once, whatever the
// looks say: the safety net below change detection.
const sweepTicks = 300

// watch looks at all panes of one tmux server once a tick, and wakes the
// pollers of those that changed.
type watch struct {
	name   string
	source Source
	opt    *Options
	owner  Owner
	typed  chan struct{} // somebody talks to a session; capacity 1

	mu      sync.Mutex
	pollers map[string]*OutputPoller   // by pane
	focus   map[*OutputPoller]struct{} // those that somebody talks to

	// Owned by run:
	looks int
	known map[string]int // the panes of the last look, and in which look each was seen
}

func newWatch(name string, src Source, opt *Options, owner Owner) *watch {
	return &watch{
		name: name, source: src, opt: opt, owner: owner, typed: make(chan struct{}, 1),
		pollers: map[string]*OutputPoller{}, focus: map[*OutputPoller]struct{}{}, known: map[string]int{},
	}
}

// add gives a pane its poller; false: it has one.
func (w *watch) add(p *OutputPoller) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.pollers[p.target.Pane] != nil {
		return false
	}
	w.pollers[p.target.Pane] = p
	return true
}

func (w *watch) remove(p *OutputPoller) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.pollers, p.target.Pane)
}

// focusOn has a session captured at the focus cadence while its poller wants it.
func (w *watch) focusOn(p *OutputPoller) {
	w.mu.Lock()
	w.focus[p] = struct{}{}
	w.mu.Unlock()
	select {
	case w.typed <- struct{}{}:
	default:
	}
}

// allGone ends all pollers: the server is no more.
func (w *watch) allGone() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range w.pollers {
		p.vanished()
	}
}

// run looks each cadence, and wakes the sessions in focus in between. A look
// that isn't answered delays only this server.
func (w *watch) run(ctx context.Context) {
	tick := time.NewTicker(w.opt.Cadence)
	defer tick.Stop()
	focus := time.NewTicker(w.opt.FocusCadence)
	defer focus.Stop()
	focus.Stop() // a ticker nobody needs would wake the process for nothing
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.typed:
			focus.Reset(w.opt.FocusCadence)
		case <-focus.C:
			if !w.wakeFocused() {
				focus.Stop()
			}
		case <-tick.C:
			if err := w.look(ctx); err != nil && ctx.Err() == nil {
				w.opt.Logger.Debug("look at panes", "server", w.name, "err", err)
			}
		}
	}
}

// wakeFocused reports whether anybody is in focus still.
func (w *watch) wakeFocused() bool {
	now := time.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	for p := range w.focus {
		if p.focused(now) {
			p.poke()
		} else {
			delete(w.focus, p)
		}
	}
	return len(w.focus) > 0
}

// look lists the panes and wakes the pollers of those that changed.
func (w *watch) look(ctx context.Context) error {
	asked, cancel := context.WithTimeout(ctx, w.opt.CaptureTimeout)
	panes, err := w.source.Glances(asked)
	cancel()
	if err != nil {
		return err
	}
	w.looks++
	if w.wakeChanged(panes) {
		w.owner.NewPanes(w.name)
	}
	return nil
}

// wakeChanged reports whether there are panes the last look didn't find.
func (w *watch) wakeChanged(panes []sessions.Glance) (fresh bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	found := 0
	for _, g := range panes {
		_, old := w.known[g.Pane]
		w.known[g.Pane], fresh = w.looks, fresh || !old
		p := w.pollers[g.Pane]
		if p == nil {
			continue
		}
		found++
		if p.due(g) || found%sweepTicks == w.looks%sweepTicks {
			p.poke()
		}
	}
	if found < len(w.pollers) {
		w.endMissing()
	}
	maps.DeleteFunc(w.known, func(_ string, seen int) bool { return seen != w.looks })
	return fresh
}

// endMissing ends the pollers whose panes this look didn't find.
func (w *watch) endMissing() {
	for pane, p := range w.pollers {
		switch seen, ok := w.known[pane]; {
		case ok && seen == w.looks:
		case ok:
			p.vanished()
		default: // begun after this look, or gone before the first: a capture tells
			p.poke()
		}
	}
}
