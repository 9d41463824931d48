package polling

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// focusFor is how long a session is polled at the focus cadence after an input,
// unless its turn ends earlier.
const focusFor = 30 * time.Second

// ErrRunning says that the session has a poller already.
var ErrRunning = errors.New("the session has a poller already")

// Options configure a PollingCoordinator. The zero value of a field means its
// default, if one is given.
type Options struct {
	Cadence         time.Duration       // between two looks at the panes; 1 s
	FocusCadence    time.Duration       // between two captures of a session somebody talks to; 200 ms
	CaptureTimeout  time.Duration       // after which a capture is given up; 5 s
	MaxCaptureLines int                 // rows of history a capture may have; 5,000, at least 100
	Marker          *Marker             // what ends a turn; nil: nothing does
	Prompts         []*regexp.Regexp    // what shells' prompts look like, see NewPrompts; none: they aren't recognised
	Panicked        func()              // is told that a poller panicked and is begun anew; nil: nobody is
	Hung            func()              // is told once of each time that looks, or captures of a pane, aren't answered; nil: nobody is
	Captured        func(time.Duration) // is told how long each capture of a pane took, with the comparison of its rows; nil: nobody is
	// WatchWrites watches a terminal by its path, so that sessions which somebody talks to or looks at are read as soon as
	// their programs write. nil: nothing tells of writes.
	WatchWrites func(tty string) (WriteWatch, error)
	Logger      *slog.Logger
}

func (o Options) withDefaults() Options {
	if o.Cadence <= 0 {
		o.Cadence = time.Second
	}
	if o.FocusCadence <= 0 {
		o.FocusCadence = min(200*time.Millisecond, o.Cadence)
	}
	if o.CaptureTimeout <= 0 {
		o.CaptureTimeout = 5 * time.Second
	}
	if o.MaxCaptureLines <= 0 {
		o.MaxCaptureLines = 5000
	}
	o.MaxCaptureLines = max(o.MaxCaptureLines, minCaptureLines)
	if o.Panicked == nil {
		o.Panicked = func() {}
	}
	if o.Captured == nil {
		o.Captured = func(time.Duration) {}
	}
	if o.Hung == nil {
		o.Hung = func() {}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// PollingCoordinator owns all pollers: one per session, started and ended with
// it. Run looks at each tmux server once a tick and wakes the pollers of the
// panes that changed.
type PollingCoordinator struct {
	opt       *tuned
	log       Log
	owner     Owner // from Run on
	mu        sync.Mutex
	ctx       context.Context //nolint:containedctx // the pollers' life is Run's, not Start's
	pollers   map[sessions.ID]*OutputPoller
	servers   map[string]*serverWatch
	followers map[sessions.ID]int // how many want a session's output as soon as it's written
	running   sync.WaitGroup
}

// NewCoordinator returns a coordinator of pollers over the named sources.
func NewCoordinator(sources map[string]PaneSource, log Log, opt Options) *PollingCoordinator {
	c := &PollingCoordinator{
		opt: newTuned(opt), log: log,
		pollers: map[sessions.ID]*OutputPoller{}, servers: map[string]*serverWatch{}, followers: map[sessions.ID]int{},
	}
	for name, src := range sources {
		c.servers[name] = newServerWatch(name, src, c.opt)
	}
	return c
}

// Run looks and wakes until ctx ends, and returns when all pollers have. It tells owner what
// becomes of them. It's called once.
func (c *PollingCoordinator) Run(ctx context.Context, owner Owner) error {
	c.mu.Lock()
	c.ctx, c.owner = ctx, owner
	for _, p := range c.pollers { // started before Run
		c.launchPoller(ctx, p)
		c.followWrites(p)
	}
	c.mu.Unlock()
	var wg sync.WaitGroup
	for _, w := range c.servers {
		wg.Go(func() { w.run(ctx, owner) })
	}
	wg.Wait()
	c.running.Wait()
	return nil
}

func (c *PollingCoordinator) launchPoller(ctx context.Context, p *OutputPoller) {
	p.owner = c.owner
	c.running.Go(func() {
		p.run(ctx)
		c.forgetPoller(p)
	})
}

// Start gives a session its poller. ErrRunning if it has one.
func (c *PollingCoordinator) Start(t PolledPane) error {
	server := c.servers[t.Server]
	if server == nil {
		return fmt.Errorf("start poller of %s: %w tmux server %q", t.Session, sessions.ErrUnknown, t.Server)
	}
	if t.Profile == nil {
		t.Profile = PlainProfile{}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pollers[t.Session] != nil {
		return fmt.Errorf("start poller of %s: %w", t.Session, ErrRunning)
	}
	p := &OutputPoller{
		target: t, source: server.source, log: c.log, watch: server, opt: c.opt,
		slog: c.opt.get().Logger.With("session", string(t.Session)),
		wake: make(chan struct{}, 1), gone: make(chan struct{}), stop: make(chan struct{}), ended: make(chan struct{}),
		depth: minDepth, changed: time.Now(), looks: LookBudget{Share: followShare, Burst: followBurst},
	}
	if !server.addPoller(p) {
		return fmt.Errorf("start poller of %s: pane %s: %w", t.Session, t.Pane, ErrRunning)
	}
	c.pollers[t.Session] = p
	p.followers = c.followers[t.Session]
	if c.ctx != nil {
		c.launchPoller(c.ctx, p)
		c.followWrites(p)
	}
	return nil
}

// Stop ends a session's poller after a last look, and returns when it has
// cleaned up. A session without one is no error.
func (c *PollingCoordinator) Stop(ctx context.Context, id sessions.ID) error {
	c.mu.Lock()
	p, started := c.pollers[id], c.ctx != nil
	c.mu.Unlock()
	if p == nil || !started {
		return nil
	}
	p.once.stop.Do(func() { close(p.stop) })
	select {
	case <-p.ended:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("stop poller of %s: %w", id, ctx.Err())
	}
}

// NoteTyped takes in that text was typed into a session: its poller looks now, and at
// the focus cadence for a while. It doesn't block.
func (c *PollingCoordinator) NoteTyped(id sessions.ID, text string) {
	c.mu.Lock()
	p := c.pollers[id]
	c.mu.Unlock()
	if p == nil {
		return
	}
	p.noteTyped(text, time.Now(), c.opt.get().Marker)
	c.servers[p.target.Server].focusOn(p)
	c.mu.Lock()
	c.followWrites(p)
	c.mu.Unlock()
}

// LookNow wakes a session's poller, which looks at the pane at once. It doesn't block.
func (c *PollingCoordinator) LookNow(id sessions.ID) {
	c.mu.Lock()
	p := c.pollers[id]
	c.mu.Unlock()
	if p != nil {
		p.wakeUp()
	}
}

// ServerGone ends all pollers of a server whose panes are no more.
func (c *PollingCoordinator) ServerGone(server string) {
	if w := c.servers[server]; w != nil {
		w.endAllPollers()
	}
}

func (c *PollingCoordinator) forgetPoller(p *OutputPoller) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ctx.Err() == nil {
		delete(c.pollers, p.target.Session)
		c.servers[p.target.Server].removePoller(p)
	}
}

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

// serverWatch looks at the panes of one tmux server once a tick, and wakes the pollers
// of those that changed.
type serverWatch struct {
	name   string
	source PaneSource
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
	hang     hangWatch      // of its looks
	known    map[string]int // the panes that looks found, and how many looks at all there were by then
}

func newServerWatch(name string, src PaneSource, opt *tuned) *serverWatch {
	return &serverWatch{
		name: name, source: src, opt: opt, typed: make(chan struct{}, 1), tuned: make(chan struct{}, 1),
		pollers: map[string]*OutputPoller{}, known: map[string]int{},
		focus: map[*OutputPoller]struct{}{}, recent: map[*OutputPoller]struct{}{},
	}
}

// addPoller gives a pane its poller; false: it has one.
func (w *serverWatch) addPoller(p *OutputPoller) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.pollers[p.target.Pane] != nil {
		return false
	}
	w.pollers[p.target.Pane] = p
	return true
}

func (w *serverWatch) removePoller(p *OutputPoller) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.pollers, p.target.Pane)
	delete(w.focus, p)
	delete(w.recent, p)
}

// noteCaptured tells that a poller has looked at its pane, or tried to.
func (w *serverWatch) noteCaptured(p *OutputPoller) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.recent[p] = struct{}{}
}

// focusOn has a session captured at the focus cadence while its poller wants it.
func (w *serverWatch) focusOn(p *OutputPoller) {
	w.mu.Lock()
	w.focus[p] = struct{}{}
	w.mu.Unlock()
	select {
	case w.typed <- struct{}{}:
	default:
	}
}

// endAllPollers ends all pollers: the server is no more.
func (w *serverWatch) endAllPollers() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range w.pollers {
		p.notePaneGone()
	}
}

// run looks each cadence, and wakes the sessions in focus in between. A look
// that isn't answered delays only this server.
func (w *serverWatch) run(ctx context.Context, owner Owner) {
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
			if err := w.lookAtPanes(ctx); err != nil && ctx.Err() == nil {
				w.opt.get().Logger.Debug("look at panes", "server", w.name, "err", err)
			}
		}
	}
}

// wakeFocused reports whether anybody is in focus still.
func (w *serverWatch) wakeFocused() bool {
	now := time.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	for p := range w.focus {
		if p.isFocused(now) {
			p.wakeUp()
		} else {
			delete(w.focus, p)
		}
	}
	return len(w.focus) > 0
}

// lookAtPanes lists the panes that had output since the last look, or all of them, and
// wakes the pollers of those that changed. Activity is in whole seconds, so it
// asks from the second before on.
func (w *serverWatch) lookAtPanes(ctx context.Context) error {
	now := time.Now()
	since := w.lastLook.Unix() - 1
	if now.Sub(w.lastAll) >= allEvery {
		since = 0
	}
	bounded, cancel := context.WithTimeout(ctx, w.opt.get().CaptureTimeout)
	panes, all, err := w.source.Glances(bounded, since)
	cancel()
	log := w.opt.get().Logger.With("server", w.name)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		w.hang.noteSilence(w.opt.get(), log)
	}
	if err != nil {
		return err
	}
	w.hang.noteAnswer(log)
	w.lastLook = now
	if all {
		w.lastAll = now
		w.looks++
	}
	if w.wakeChanged(panes, all) {
		w.owner.Reconcile(w.name)
	}
	return nil
}

// wakeChanged reports whether there are panes that no look has found before.
func (w *serverWatch) wakeChanged(panes []sessions.Glance, all bool) (fresh bool) {
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
		if p.isDue(g) || all && found%sweepLooks == w.looks%sweepLooks {
			p.wakeUp()
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
func (w *serverWatch) wakeRecent() {
	for p := range w.recent {
		if p.isDueAgain() {
			p.wakeUp()
		}
	}
	clear(w.recent) // who captures is in again
}

// endMissing ends the pollers whose panes this look at all didn't find.
func (w *serverWatch) endMissing() {
	for pane, p := range w.pollers {
		switch seen, ok := w.known[pane]; {
		case ok && seen == w.looks:
		case ok:
			p.notePaneGone()
		default: // begun after this look, or gone before the first: a capture tells
			p.wakeUp()
		}
	}
}

// hangWatch is a tmux server that doesn't answer: it's logged and counted once, however many
// captures or looks are given up meanwhile, and that it's over is logged. It has one owner.
type hangWatch struct {
	since time.Time // zero: it answers
}

// noteSilence takes in that a time-out has passed without an answer.
func (h *hangWatch) noteSilence(opt *Options, log *slog.Logger) {
	if !h.since.IsZero() {
		return
	}
	h.since = time.Now().Add(-opt.CaptureTimeout)
	log.Warn("tmux doesn't answer: what's new is seen when it does", "timeout", opt.CaptureTimeout)
	opt.Hung()
}

// noteAnswer takes in an answer.
func (h *hangWatch) noteAnswer(log *slog.Logger) {
	if h.since.IsZero() {
		return
	}
	log.Info("tmux answers again", "after", time.Since(h.since).Round(time.Millisecond))
	h.since = time.Time{}
}

// Tuning is what of the Options can change at run time. Zero means the default.
type Tuning struct {
	Cadence         time.Duration
	FocusCadence    time.Duration
	CaptureTimeout  time.Duration
	MaxCaptureLines int
	Marker          *Marker
}

// Tune replaces the options that can change at run time; all pollers use them from their next look on.
func (c *PollingCoordinator) Tune(t Tuning) {
	next := *c.opt.get()
	next.Cadence, next.FocusCadence, next.CaptureTimeout, next.MaxCaptureLines, next.Marker = t.Cadence, t.FocusCadence, t.CaptureTimeout, t.MaxCaptureLines, t.Marker
	next = next.withDefaults()
	c.opt.now.Store(&next)
	for _, w := range c.servers {
		select {
		case w.tuned <- struct{}{}:
		default: // it hasn't taken in the change before, and will take in both
		}
	}
}

// CountPollers is how many sessions' panes are polled. It waits for nothing but a mutex.
func (c *PollingCoordinator) CountPollers() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.pollers)
}

// Cadence is the time between two looks at the panes now.
func (c *PollingCoordinator) Cadence() time.Duration { return c.opt.get().Cadence }

// Marker is what ends a turn now; nil: nothing does.
func (c *PollingCoordinator) Marker() *Marker { return c.opt.get().Marker }

// tuned are options that may change at any time: what needs several of them to fit gets them
// once.
type tuned struct{ now atomic.Pointer[Options] }

func newTuned(o Options) *tuned {
	o = o.withDefaults()
	t := new(tuned)
	t.now.Store(&o)
	return t
}

func (t *tuned) get() *Options { return t.now.Load() }
