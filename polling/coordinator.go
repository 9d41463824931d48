package polling

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"sync"
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
	Cadence         time.Duration    // between two looks at the panes; 1 s
	FocusCadence    time.Duration    // between two captures of a session somebody talks to; 200 ms
	CaptureTimeout  time.Duration    // after which a capture is given up; 5 s
	MaxCaptureLines int              // rows of history a capture may have; 5,000, at least 100
	Marker          *Marker          // what ends a turn; nil: nothing does
	Prompts         []*regexp.Regexp // what shells' prompts look like, see NewPrompts; none: they aren't recognised
	Panicked        func()           // is told that a poller panicked and is begun anew; nil: nobody is
	Hung            func()           // is told once of each time that looks, or captures of a pane, aren't answered; nil: nobody is
	Logger          *slog.Logger
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
	opt     *tuned
	log     Log
	owner   Owner // from Run on
	mu      sync.Mutex
	ctx     context.Context //nolint:containedctx // the pollers' life is Run's, not Start's
	pollers map[sessions.ID]*OutputPoller
	servers map[string]*watch
	running sync.WaitGroup
}

// NewCoordinator returns a coordinator of pollers over the named sources.
func NewCoordinator(sources map[string]Source, log Log, opt Options) *PollingCoordinator {
	c := &PollingCoordinator{
		opt: newTuned(opt), log: log,
		pollers: map[sessions.ID]*OutputPoller{}, servers: map[string]*watch{},
	}
	for name, src := range sources {
		c.servers[name] = newWatch(name, src, c.opt)
	}
	return c
}

// Run looks and wakes until ctx ends, and returns when all pollers have. It tells owner what
// becomes of them. It's called once.
func (c *PollingCoordinator) Run(ctx context.Context, owner Owner) error {
	c.mu.Lock()
	c.ctx, c.owner = ctx, owner
	for _, p := range c.pollers { // started before Run
		c.launch(ctx, p)
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

func (c *PollingCoordinator) launch(ctx context.Context, p *OutputPoller) {
	p.owner = c.owner
	c.running.Go(func() {
		p.run(ctx)
		c.forget(p)
	})
}

// Start gives a session its poller. ErrRunning if it has one.
func (c *PollingCoordinator) Start(t Target) error {
	server := c.servers[t.Server]
	if server == nil {
		return fmt.Errorf("start poller of %s: %w tmux server %q", t.Session, sessions.ErrUnknown, t.Server)
	}
	if t.Profile == nil {
		t.Profile = Generic{}
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
		depth: minDepth, changed: time.Now(),
	}
	if !server.add(p) {
		return fmt.Errorf("start poller of %s: pane %s: %w", t.Session, t.Pane, ErrRunning)
	}
	c.pollers[t.Session] = p
	if c.ctx != nil {
		c.launch(c.ctx, p)
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

// Typed tells that text was typed into a session: it's looked at now, and at
// the focus cadence for a while.
func (c *PollingCoordinator) Typed(id sessions.ID, text string) {
	c.mu.Lock()
	p := c.pollers[id]
	c.mu.Unlock()
	if p == nil {
		return
	}
	p.typed(text, time.Now(), c.opt.get().Marker)
	c.servers[p.target.Server].focusOn(p)
}

// Poke has a session looked at now.
func (c *PollingCoordinator) Poke(id sessions.ID) {
	c.mu.Lock()
	p := c.pollers[id]
	c.mu.Unlock()
	if p != nil {
		p.poke()
	}
}

// ServerGone ends all pollers of a server whose panes are no more.
func (c *PollingCoordinator) ServerGone(server string) {
	if w := c.servers[server]; w != nil {
		w.allGone()
	}
}

func (c *PollingCoordinator) forget(p *OutputPoller) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ctx.Err() == nil {
		delete(c.pollers, p.target.Session)
		c.servers[p.target.Server].remove(p)
	}
}
