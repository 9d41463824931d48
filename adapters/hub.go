package adapters

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/panebridge/panebridge/internal/redact"
	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/sessions"
)

const (
	// endLimit is how long Run's end may take, and drainLimit how much of that what matters has to be
	// sent. The rest is for calls that began at its end, and for what's to be stored.
	endLimit   = 7 * time.Second
	drainLimit = 4 * time.Second
	// retryAfter is how long after a failure the store is asked again.
	retryAfter = 5 * time.Second
)

// HubOptions are a Hub's parts.
type HubOptions struct {
	Outlets  []Outlet
	Store    Store
	Log      Log
	Sessions Sessions
	Screens  Screens // nil: live regions aren't shown
	Settings
	// Masker takes secrets out of whatever goes to chats. Nil: nothing is masked.
	Masker *redact.Masker
	// EndsTurn says whether a line of a pane says nothing but that a turn has ended: it isn't
	// shown, since the Ending says so. It returns at once. Nil: none does.
	EndsTurn func(line string) bool
	// Disabled is told when the platform has refused a binding, or when what was
	// left of an ended session couldn't be sent in time; Binding.Disabled says why.
	// It returns at once. Nil: nobody is told.
	Disabled func(b Binding)
	// Restored says that the store was restored from a backup: chats have seen more than it knows. It's called when
	// each of them goes on from its session's newest line. Nil: the store wasn't.
	Restored func(ctx context.Context) error
	// Panicked is told that a call or a task of the Hub's panicked, and was contained. It
	// must not block. Nil: nobody is told.
	Panicked func()
	Logger   *slog.Logger
}

// Inbound is the inbound half of the adapters, as the Hub asks and tells it. Its methods return at
// once, and ask the Hub nothing but Status, BindingsAt and Shape before they do.
type Inbound interface {
	// IsQuiet says whether nothing of a session may ring at a place now.
	IsQuiet(place Target, session sessions.ID, now time.Time) bool
	// UsersOf returns who has used a place lately, as lines name them, or two of them.
	UsersOf(place Target, now time.Time) []string
	// HandlePlaced takes in that a session is shown at a place where it wasn't: a binding begins to work,
	// or has got its thread.
	HandlePlaced(id sessions.ID)
	// FollowMoves takes in that a call was told of a chat's new id, which ChatMoves has now.
	FollowMoves()
}

// noInbound is the Inbound before SetInbound: nothing is quiet, and nobody writes.
type noInbound struct{}

func (noInbound) IsQuiet(Target, sessions.ID, time.Time) bool { return false }
func (noInbound) UsersOf(Target, time.Time) []string          { return nil }
func (noInbound) HandlePlaced(sessions.ID)                    {}
func (noInbound) FollowMoves()                                {}

// Outlet is an adapter and the budget of its bot.
type Outlet struct {
	Adapter Adapter
	Budget  qos.Budget
	Meter   qos.Meter     // of its scheduler, if the adapter's options have none
	Trace   qos.TraceSink // the same
}

// Hub is the outbound half of the adapters: it keeps the bindings, hears what
// happens to sessions, and marks the documents of their bindings. Each adapter has
// a scheduler of its own, so that a slow one holds up no other. It holds no text.
//
// Call Load before the first event, and Run once. HandleOutput and HandleSession return at
// once; the other methods may do I/O.
type Hub struct {
	opt     HubOptions
	log     *slog.Logger
	outlets map[string]*outlet // by name; fixed
	// ringAfter is Settings.RingAfter in nanoseconds.
	ringAfter atomic.Int64
	inbound   atomic.Pointer[Inbound]

	life sync.Mutex // held by what changes bindings; may be held during I/O

	mu       sync.RWMutex // guards what's below; never held during I/O
	rules    []MirrorRule
	bindings map[BindingID]*hubBinding
	sessions map[sessions.ID]*watched
	refused  map[refusedKey]*refusedGroup
	moves    map[Target]string // of chats that have another id, without threads: which one
	tasks    []*hubTask
	wake     chan struct{}
	restored bool // documents are closed: see awaitRestored
}

// outlet is an adapter at work.
type outlet struct {
	adapter   Adapter
	options   qos.Options // the adapter's own, before Settings.Tune
	deliverer *Deliverer
	scheduler *qos.OutputQoSScheduler
	outbox    *Outbox // nil: the adapter can't post
}

// hubBinding is a binding and whether its document is open. It's changed with both
// life and mu held, so either is enough to read it.
type hubBinding struct {
	Binding
	open  bool
	live  bool   // it shows a live region
	place Target // where it was when its document was last open; zero: where Binding says
	// notBefore is until when nothing can be shown there, as its document knew; zero: it can.
	notBefore time.Time
	outlet    *outlet
	// drafted is when the live region was last to be shown in passing; nil: never.
	drafted atomic.Pointer[time.Time]
}

// watched is a session that the Hub has heard of.
type watched struct {
	bindings []*hubBinding
	name     string // the session's
	begun    bool   // the rules were applied to it
	ended    bool
	spoken   atomic.Pointer[time.Time] // when somebody last spoke to it; nil: nobody did
	heard    atomic.Int64              // number of the newest line that was told of
	seen     atomic.Pointer[glimpse]   // of its live region; nil: nothing
}

func newWatched(s sessions.Session) *watched {
	w := &watched{name: s.Name}
	w.heard.Store(s.Lines)
	return w
}

// NewHub makes the adapters' schedulers. The error joins all that's wrong with
// the options and the rules, but for chats that an adapter doesn't know: Load says that.
func NewHub(opt HubOptions) (*Hub, error) {
	if opt.Logger == nil {
		opt.Logger = slog.New(slog.DiscardHandler)
	}
	if opt.Disabled == nil {
		opt.Disabled = func(Binding) {}
	}
	if opt.Panicked == nil {
		opt.Panicked = func() {}
	}
	h := &Hub{
		opt: opt, log: opt.Logger, outlets: map[string]*outlet{}, rules: opt.Rules,
		bindings: map[BindingID]*hubBinding{}, refused: map[refusedKey]*refusedGroup{}, moves: map[Target]string{}, sessions: map[sessions.ID]*watched{}, wake: make(chan struct{}, 1),
		restored: opt.Restored != nil,
	}
	h.ringAfter.Store(int64(opt.RingAfter))
	h.SetInbound(noInbound{})
	var errs []error
	for _, o := range opt.Outlets {
		errs = append(errs, h.addOutlet(o))
	}
	hasAdapter := func(t Target) error { // more isn't known before Load
		_, err := h.outletOf(t)
		return err
	}
	if err := errors.Join(append(errs, h.checkRules(opt.Rules, hasAdapter))...); err != nil {
		return nil, fmt.Errorf("make the hub: %w", err)
	}
	return h, nil
}

// SetInbound says who is the inbound half from now on. It's made over the Hub, so this comes before
// Load, or while nobody writes yet.
func (h *Hub) SetInbound(in Inbound) { h.inbound.Store(&in) }

func (h *Hub) currentInbound() Inbound { return *h.inbound.Load() }

func (h *Hub) addOutlet(o Outlet) error {
	name := o.Adapter.Name()
	if h.outlets[name] != nil {
		return fmt.Errorf("adapter %s is there twice", name)
	}
	out := &outlet{adapter: o.Adapter, options: o.Adapter.Options()}
	log := h.log.With("adapter", name)
	if poster, ok := o.Adapter.(Poster); ok {
		out.outbox = newOutbox(poster, o.Adapter, h.opt.Masker, log)
	}
	out.deliverer = NewDeliverer(DelivererOptions{
		Adapter: o.Adapter, Outbox: out.outbox, Store: h.opt.Store, Log: h.opt.Log, Sessions: h.opt.Sessions, Screens: h.opt.Screens, Masker: h.opt.Masker,
		Inbound: h.currentInbound, Heard: h.heardLine, EndsTurn: h.opt.EndsTurn, RingAfter: h.RingAfter, Moved: h.chatMoves(name), Panicked: h.opt.Panicked, Logger: log,
	})
	options := h.opt.tuned(name, out.options)
	if options.Logger == nil {
		options.Logger = log
	}
	if options.Meter == nil {
		options.Meter = o.Meter
	}
	if options.Trace == nil {
		options.Trace = o.Trace
	}
	options.OnEvent = func(ev qos.SchedulerEvent) { h.handleSchedulerEvent(out, ev) }
	var err error
	if out.scheduler, err = qos.New(options, out.deliverer, o.Budget); err != nil {
		return &TuneError{Adapter: name, Err: err}
	}
	if out.outbox != nil {
		out.outbox.deliverer, out.outbox.scheduler = out.deliverer, out.scheduler
	}
	h.outlets[name] = out
	return nil
}

// Run sends until ctx ends, then drains for up to 4 s, and returns when all it
// started has ended, within some 7 s.
func (h *Hub) Run(ctx context.Context) error {
	rest := context.WithoutCancel(ctx)
	sending, stop := context.WithCancel(rest)
	defer stop()
	ended := make(chan error, len(h.outlets))
	for name, o := range h.outlets {
		go func() {
			err := o.scheduler.Run(sending)
			if err != nil {
				err = fmt.Errorf("run adapter %s: %w", name, err)
			}
			ended <- err
		}()
	}
	var waiting sync.WaitGroup
	waiting.Go(func() { h.awaitRestored(ctx) })
	h.runTasks(ctx)
	waiting.Wait()
	last, cancel := context.WithTimeout(rest, endLimit)
	defer cancel()
	h.drainSchedulers(last)
	stop()
	var errs []error
	for range h.outlets {
		errs = append(errs, <-ended)
	}
	h.runTasksOnce(last)
	return errors.Join(errs...)
}

// drainSchedulers makes all schedulers send what matters, and waits for them.
func (h *Hub) drainSchedulers(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, drainLimit)
	defer cancel()
	var drains sync.WaitGroup
	for name, o := range h.outlets {
		drains.Go(func() {
			if left := o.scheduler.Drain(ctx); left > 0 {
				h.log.Info("what waits goes on after the next start", "adapter", name, "waiting", left)
			}
		})
	}
	drains.Wait()
}

// Follow subscribes to what happens to sessions.
func (h *Hub) Follow(feed *sessions.Feed) {
	feed.OnOutput(h.HandleOutput)
	feed.OnSession(h.HandleSession)
}

// HandleOutput marks the documents of a session's bindings. It doesn't block.
func (h *Hub) HandleOutput(ev sessions.OutputEvent) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	w := h.sessions[ev.Session]
	if w == nil {
		return
	}
	p, live := progressOf(ev), w.takeLive(ev.Live)
	w.heard.Store(max(w.heard.Load(), p.Head))
	for _, b := range w.bindings {
		if b.open {
			b.wantProgress(p, live)
			w.showInPassing(b, ev)
		}
	}
}

// heardLine is Deliverer.Heard.
func (h *Hub) heardLine(id sessions.ID) int64 {
	h.mu.RLock()
	defer h.mu.RUnlock()
	if w := h.sessions[id]; w != nil {
		return w.heard.Load()
	}
	return 0
}

// progressOf is how far an event brings a session; zeros where it says nothing.
func progressOf(ev sessions.OutputEvent) LogProgress {
	var p LogProgress
	if n := len(ev.Lines); n > 0 {
		p.Head = ev.Lines[n-1].N
	}
	if ev.Complete {
		p.TurnEnd = ev.Turn.LastLine
	}
	return p
}

// wantProgress tells the scheduler what's new for a document.
func (b *hubBinding) wantProgress(p LogProgress, live liveChange) {
	s, id := b.outlet.scheduler, b.ID.Doc()
	if p.TurnEnd > 0 {
		s.Want(id, p.TurnEnd, true)
	}
	switch {
	case b.View == ViewStream && p.Head > 0:
		s.Want(id, p.Head, false)
	case !b.live || live == unchanged || live == moved && b.View != ViewScreen:
	case live == written && b.View == ViewStream:
		s.Grow(id)
	default:
		s.Touch(id)
	}
}

// expected says that somebody looks for the session's thread, whether it has said anything or
// not: it was begun for them, or they asked for it to be shown. Programs that say nothing until
// they're asked could be asked nowhere. Hundreds may be adopted at a time, and get theirs with
// their first output.
func (b Binding) expected(s sessions.Session) bool {
	return s.State != sessions.StateEnded && (s.Owned || b.Origin == ByHand)
}

// needThread wakes a document whose session asks something, or is looked for: it may
// have no thread of its own yet in which that's shown. mu is held.
func (b *hubBinding) needThread(s sessions.Session) {
	if b.open && b.currentPlace().Thread == "" && (s.State == sessions.StateWaiting || b.expected(s)) && b.outlet.adapter.Shape(b.Target).OwnThread {
		b.outlet.scheduler.Grow(b.ID.Doc())
	}
}

// HandleSession takes in that a session was created, has changed or ended. It doesn't
// block.
func (h *Hub) HandleSession(s sessions.Session) {
	h.mu.Lock()
	defer h.mu.Unlock()
	w := h.sessions[s.ID]
	if w != nil {
		for _, b := range w.bindings {
			b.needThread(s)
		}
	}
	switch {
	case w == nil && s.State != sessions.StateEnded && h.restored:
		h.sessions[s.ID] = newWatched(s)
	case h.restored: // it's bound as it is then
		if w != nil {
			w.name, w.ended = s.Name, w.ended || s.State == sessions.StateEnded
		}
	case w == nil && s.State != sessions.StateEnded:
		h.sessions[s.ID] = newWatched(s)
		h.addTask("bind a new session by rules", func(ctx context.Context) error { return h.beginSession(ctx, s) })
	case w != nil && !w.ended && s.State != sessions.StateEnded && s.Name != w.name:
		w.name = s.Name
		h.addTask("take in the new name of a session", func(ctx context.Context) error { return h.renameSession(ctx, s) })
	case w != nil && !w.ended && s.State == sessions.StateEnded:
		w.ended = true
		h.addTask("end the bindings of a session", func(ctx context.Context) error { return h.endSession(ctx, s.ID) })
	}
}

// FocusSession says that somebody just spoke to a session.
func (h *Hub) FocusSession(id sessions.ID) {
	h.showTyping(id)
	for _, o := range h.outlets {
		o.scheduler.FocusSession(qos.SessionKey(id))
	}
}

// Scheduler returns an adapter's scheduler; nil if there's no such adapter.
func (h *Hub) Scheduler(adapter string) *qos.OutputQoSScheduler {
	if o := h.outlets[adapter]; o != nil {
		return o.scheduler
	}
	return nil
}

// outletOf finds a target's adapter.
func (h *Hub) outletOf(t Target) (*outlet, error) {
	if o := h.outlets[t.Adapter]; o != nil {
		return o, nil
	}
	if len(h.outlets) == 0 {
		return nil, fmt.Errorf("%w adapter %q: none is enabled below `adapters` in the configuration", sessions.ErrUnknown, t.Adapter)
	}
	return nil, fmt.Errorf("%w adapter %q: what's enabled below `adapters` in the configuration is %s",
		sessions.ErrUnknown, t.Adapter, strings.Join(slices.Sorted(maps.Keys(h.outlets)), ", "))
}

// hubTask is what Run does because of something heard. It's done again until it
// works.
type hubTask struct {
	what   string
	do     func(ctx context.Context) error
	failed bool
	panics int
}

// addTask leaves something to Run. h.mu is held.
func (h *Hub) addTask(what string, do func(ctx context.Context) error) {
	h.tasks = append(h.tasks, &hubTask{what: what, do: do})
	h.wakeRun()
}

// wakeRun wakes Run.
func (h *Hub) wakeRun() {
	select {
	case h.wake <- struct{}{}:
	default:
	}
}

// runTasks does what was left to it until ctx ends.
func (h *Hub) runTasks(ctx context.Context) {
	retry := time.NewTimer(time.Hour)
	defer retry.Stop()
	for {
		if at := h.nextRetry(); !at.IsZero() && !time.Now().Before(at) {
			h.retryRefused(ctx)
		}
		wait := time.Hour
		if h.runTasksOnce(ctx) {
			wait = retryAfter
		}
		if at := h.nextRetry(); !at.IsZero() {
			wait = min(wait, max(time.Until(at), 0))
		}
		retry.Reset(wait)
		select {
		case <-ctx.Done():
			return
		case <-h.wake:
		case <-retry.C:
		}
	}
}

// runTasksOnce does each task once, and keeps those that fail. It returns whether
// there are any.
func (h *Hub) runTasksOnce(ctx context.Context) bool {
	h.mu.Lock()
	tasks := h.tasks
	h.tasks = nil
	h.mu.Unlock()
	var again []*hubTask
	for _, t := range tasks {
		err := h.tryTask(ctx, t)
		if err == nil || t.panics >= maxPanics {
			continue
		}
		if !t.failed {
			h.log.Warn("something is tried again until it works", "what", t.what, "err", err)
			t.failed = true
		}
		again = append(again, t)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.tasks = append(again, h.tasks...)
	return len(again) > 0
}

// tryTask does a task once. A panic in it is logged with its stack, counted and returned
// as an error; the log gets no word of a session's.
func (h *Hub) tryTask(ctx context.Context, t *hubTask) (err error) {
	defer func() {
		if r := recover(); r != nil {
			t.panics++
			err = sessions.PanicError(r)
			h.log.Error("a task panicked", "what", t.what, "times", t.panics, "given_up", t.panics >= maxPanics, "err", err, "stack", string(debug.Stack()))
			h.opt.Panicked()
		}
	}()
	return t.do(ctx)
}

// beginSession binds a new session by the rules, from where it was when it was heard of.
func (h *Hub) beginSession(ctx context.Context, s sessions.Session) error {
	h.life.Lock()
	defer h.life.Unlock()
	if err := h.takeUpSession(ctx, s, s.Lines); err != nil {
		return err
	}
	now, err := h.opt.Sessions.Get(string(s.ID))
	ended := err == nil && now.State == sessions.StateEnded // before this worked
	h.mu.Lock()
	if w := h.sessions[s.ID]; w != nil {
		w.begun, w.ended = true, w.ended || ended
	}
	h.mu.Unlock()
	if ended {
		return h.endSessionLocked(ctx, s.ID)
	}
	return nil
}

// takeUpSession binds a new session by the rules, from behind a line on, and keeps that it has. A session
// that wasn't taken up before a kill is at the next start: that its bindings are missing doesn't
// tell it from one that rules want only later, which goes on from its newest line. life is held.
func (h *Hub) takeUpSession(ctx context.Context, s sessions.Session, start int64) error {
	if err := h.applyRules(ctx, s, start); err != nil {
		return err
	}
	if err := h.opt.Store.TakeUp(ctx, s.ID); err != nil {
		return fmt.Errorf("keep that the rules were applied to %s: %w", s.ID, err)
	}
	return nil
}

// endSession sends all that's left of an ended session.
func (h *Hub) endSession(ctx context.Context, id sessions.ID) error {
	h.life.Lock()
	defer h.life.Unlock()
	return h.endSessionLocked(ctx, id)
}

func (h *Hub) endSessionLocked(ctx context.Context, id sessions.ID) error {
	p, err := h.opt.Log.Progress(ctx, id)
	if err != nil {
		return fmt.Errorf("end the bindings of %s: %w", id, err)
	}
	for _, b := range h.bindingsOf(id) {
		if !b.open {
			if b.Active() || b.isRefusal() && !b.Unbound && !b.Resting {
				continue // its adapter may be back after the next start; what was refused is tried again
			}
			if err := h.dropBinding(ctx, b); err != nil {
				return err
			}
			continue
		}
		wanted := p.Head
		doc, _ := b.outlet.deliverer.Document(b.ID)
		if b.outlet.adapter.Shape(b.Target).ClosesThreads || doc.showsLive() {
			wanted++ // a call after the last line's: to close the thread, or to take a live region away
		}
		b.outlet.scheduler.Want(b.ID.Doc(), wanted, false)
		b.outlet.scheduler.Close(b.ID.Doc(), qos.Flush)
	}
	h.forgetEnded(id)
	return nil
}

// forgetEnded drops what's known of an ended session without bindings.
func (h *Hub) forgetEnded(id sessions.ID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if w := h.sessions[id]; w != nil && w.ended && len(w.bindings) == 0 {
		delete(h.sessions, id)
	}
}
