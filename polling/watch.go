package polling

import (
	"context"
	"errors"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

const (
	// allEvery is the time between two looks at all panes. The others are at
	// panes with output; what changes without any (a size, a pane that's killed
	// beside others in its window) is seen by these, and so is output that a
	// clock that was set back hides from the others.
	allEvery = 5 * time.Second
	// sweepLooks is in how many looks at all panes each is captured once,
	// whatever they say: the safety net below change detection, 5 min.
	sweepLooks = 60
)

// watch looks at the panes of one tmux server once a tick, and wakes the pollers
// of those that changed.
type watch struct {
	name   string
	source Source
	opt    *tuned
	typed  chan struct{} // somebody talks to a session; capacity 1
	tuned  chan struct{} // the options have changed; capacity 1

	mu      sync.Mutex
	pollers map[string]*OutputPoller   // by pane
	focus   map[*OutputPoller]struct{} // those that somebody talks to
	recent  map[*OutputPoller]struct{} // those that captured lately and may have to again, whatever a look finds

	// Owned by run:
	owner    Owner
	lastLook time.Time      // when the last look that was answered began
	lastAll  time.Time      // the same of looks at all panes
	looks    int            // at all panes
	hang     hang           // of its looks
	known    map[string]int // the panes that looks found, and how many looks at all there were by then
}

func newWatch(name string, src Source, opt *tuned) *watch {
	return &watch{
		name: name, source: src, opt: opt, typed: make(chan struct{}, 1), tuned: make(chan struct{}, 1),
		pollers: map[string]*OutputPoller{}, known: map[string]int{},
		focus: map[*OutputPoller]struct{}{}, recent: map[*OutputPoller]struct{}{},
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
	delete(w.focus, p)
	delete(w.recent, p)
}

// captured tells that a poller has looked at its pane, or tried to.
func (w *watch) captured(p *OutputPoller) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.recent[p] = struct{}{}
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
func (w *watch) run(ctx context.Context, owner Owner) {
	w.owner = owner
	tick := time.NewTicker(w.opt.get().Cadence)
	defer tick.Stop()
	focus := time.NewTicker(w.opt.get().FocusCadence)
	defer focus.Stop()
	focus.Stop() // a ticker nobody needs would wake the process for nothing
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.typed:
			focus.Reset(w.opt.get().FocusCadence)
		case <-w.tuned:
			tick.Reset(w.opt.get().Cadence)
			focus.Reset(w.opt.get().FocusCadence) // which stops by itself where nobody needs it
		case <-focus.C:
			if !w.wakeFocused() {
				focus.Stop()
			}
		case <-tick.C:
			if err := w.look(ctx); err != nil && ctx.Err() == nil {
				w.opt.get().Logger.Debug("look at panes", "server", w.name, "err", err)
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

// look lists the panes that had output since the last look, or all of them, and
// wakes the pollers of those that changed. Activity is in whole seconds, so it
// asks from the second before on.
func (w *watch) look(ctx context.Context) error {
	now := time.Now()
	since := w.lastLook.Unix() - 1
	if now.Sub(w.lastAll) >= allEvery {
		since = 0
	}
	asked, cancel := context.WithTimeout(ctx, w.opt.get().CaptureTimeout)
	panes, all, err := w.source.Glances(asked, since)
	cancel()
	log := w.opt.get().Logger.With("server", w.name)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		w.hang.begin(w.opt.get(), log)
	}
	if err != nil {
		return err
	}
	w.hang.end(log)
	w.lastLook = now
	if all {
		w.lastAll = now
		w.looks++
	}
	if w.wakeChanged(panes, all) {
		w.owner.NewPanes(w.name)
	}
	return nil
}

// wakeChanged reports whether there are panes that no look has found before.
func (w *watch) wakeChanged(panes []sessions.Glance, all bool) (fresh bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	found := 0
	for _, g := range panes {
		_, old := w.known[g.Pane]
		w.known[strings.Clone(g.Pane)], fresh = w.looks, fresh || !old // a part of the reply would keep all of it
		p := w.pollers[g.Pane]
		if p == nil {
			continue
		}
		found++
		delete(w.recent, p)
		if p.due(g) || all && found%sweepLooks == w.looks%sweepLooks {
			p.poke()
		}
	}
	w.wakeRecent()
	if !all {
		return fresh
	}
	if found < len(w.pollers) {
		w.endMissing()
	}
	maps.DeleteFunc(w.known, func(_ string, seen int) bool { return seen != w.looks })
	return fresh
}

// wakeRecent wakes those that have to capture again though this look didn't show
// them: their panes are as they were.
func (w *watch) wakeRecent() {
	for p := range w.recent {
		if p.dueAgain() {
			p.poke()
		}
	}
	clear(w.recent) // who captures is in again
}

// endMissing ends the pollers whose panes this look at all didn't find.
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
