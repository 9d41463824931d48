package sessions

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"
)

// Agent is how to start an agent program.
type Agent struct {
	Command []string
	Env     []string // NAME=value
	// Resume are arguments, to be added to Command, with which it goes on with a
	// conversation; ConversationID in them stands for its id. None: it can't.
	Resume        []string
	Width, Height int // cells, of panes made for it; 0: 120 columns, 40 rows
	HistoryLimit  int // rows; 0: Options.HistoryLimit
}

// ConversationID stands for the id of a conversation in Agent.Resume.
const ConversationID = "{id}"

// Options configure a Manager.
type Options struct {
	Servers []TmuxServer // the first is where new sessions are made
	Store   Store
	Pollers Pollers
	Notes   LineLog
	Feed    *Feed    // hears of all that happens; nil: nobody does
	Adopt   []string // patterns of tmux session names (path.Match)
	// Recover says that some of the registry was lost: panes that carry a session's mark which
	// nobody knows are sessions again, under the same id.
	Recover      bool
	Prefix       string // of the names of tmux sessions made here
	HistoryLimit int    // rows, for panes made here
	Agents       map[string]Agent
	// FindAgents looks for programs that can be started though Agents doesn't name them. It
	// looks at files, whenever an agent is begun or the names are asked for. Nil: there are none.
	FindAgents func() AgentSearch
	Env        []string // NAME=value, for panes made here
	Shell      string   // what a session without a command runs
	// Integrate changes the command of a shell, and adds to its environment, so that it
	// tells of its commands. Nil: nothing is changed.
	Integrate func(command []string) (changed, env []string)
	// HasEnded reports whether a run of a program has ended: see Program.Run. Nil: that isn't known.
	HasEnded func(run string) bool
	// Hides reports whether what people see of a text hides something that could do more than be
	// secret. Nil: it hides nothing.
	Hides func(text string) bool
	// Diff makes of what a session's call would change a diff against the files on the disk.
	// Where that can't be made it's "", and note says why. It reads these files. Nil: there are no diffs.
	Diff func(s Session, edits []FileEdit) (diff, note string)
	// Asked has tell hear what a session's agent was asked, as its transcript and its hooks
	// say, until stop is called. tell may be called by any goroutine, and returns at once.
	// Nil: nothing is known of it.
	Asked   func(id ID, tell func(Asked)) (stop func())
	Hand    func(*Desk) Hand // makes the hand that types into a session: package typing; nil: nothing is typed
	Dialogs Dialogs          // reads the dialogs of the programs; nil: there are none
	// Panicked is told that a worker of a session panicked, and was begun anew: one of
	// the Worker constants. It must not block. Nil: nobody is told.
	Panicked func(worker string)
	Logger   *slog.Logger
}

// Manager owns the registry of sessions and their life cycle. Its methods may
// be called from any goroutine, but not before Load.
type Manager struct {
	opt Options
	log *slog.Logger

	life    sync.Mutex // held by what changes the set of sessions; may be held during I/O
	asks    sync.Mutex // held by what changes prompts, so that they're stored and told in order; may be held during I/O
	writing sync.Mutex // held by what changes receipts, so that they're stored and told in order; may be held during I/O

	mu      sync.Mutex // guards what's below; never held during I/O
	entries map[ID]*sessionEntry
	closed  map[closedPaneKey]bool
	pending map[string]bool             // servers that Run will look at
	todo    []func(ctx context.Context) // for Run
	wake    chan struct{}
	ctx     context.Context //nolint:containedctx // the typists' life is Run's, not that of the request that woke them
	typists sync.WaitGroup
}

// sessionEntry is a session, the inputs that wait for it, and what it asks.
type sessionEntry struct {
	Session
	openQuestion
	answers
	proofs
	queue    []*Receipt // the first may be in work
	typing   bool       // a typist is at work
	keyboard Keyboard
	hand     Hand     // nil: nothing is typed
	left     bool     // the first of queue was being typed when the daemon's last run ended
	was      Source   // the last agent program's that has ended
	ahead    *GoAhead // for the first of queue, until its typist takes it; nil: none
}

func (m *Manager) newEntry(s Session) *sessionEntry {
	e := &sessionEntry{Session: s, keyboard: make(Keyboard, 1)}
	if m.opt.Hand != nil {
		e.hand = m.opt.Hand(&Desk{m: m, id: s.ID})
	}
	return e
}

// entryWithHand is a living session into which a hand types.
func (m *Manager) entryWithHand(id ID) (*sessionEntry, error) {
	if _, _, err := m.livingSession(id); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.entries[id]
	if e == nil || e.hand == nil {
		return nil, fmt.Errorf("%w session %q", ErrUnknown, id)
	}
	return e, nil
}

// withEntry reports whether a session is known, and something holds of it. f is called with the registry
// locked, and may change what it's given.
func (m *Manager) withEntry(id ID, f func(e *sessionEntry) bool) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.entries[id]
	return e != nil && f(e)
}

// closedPaneKey is a pane that was closed by hand: no pattern adopts it again.
type closedPaneKey struct {
	server   string
	identity ServerIdentity
	pane     string
}

// NewManager returns a manager without sessions; Load reads them.
func NewManager(opt Options) *Manager {
	if opt.Logger == nil {
		opt.Logger = slog.New(slog.DiscardHandler)
	}
	if opt.Feed == nil {
		opt.Feed = new(Feed)
	}
	if opt.Panicked == nil {
		opt.Panicked = func(string) {}
	}
	if opt.Dialogs == nil {
		opt.Dialogs = NoDialogs{}
	}
	return &Manager{
		opt: opt, log: opt.Logger, entries: map[ID]*sessionEntry{}, closed: map[closedPaneKey]bool{}, pending: map[string]bool{},
		wake: make(chan struct{}, 1),
	}
}

// Load reads what the store has.
func (m *Manager) Load(ctx context.Context) error {
	all, err := m.opt.Store.Sessions(ctx)
	if err != nil {
		return fmt.Errorf("load sessions: %w", err)
	}
	panes, err := m.opt.Store.ClosedPanes(ctx)
	if err != nil {
		return fmt.Errorf("load closed panes: %w", err)
	}
	open, err := m.opt.Store.OpenReceipts(ctx)
	if err != nil {
		return fmt.Errorf("load receipts: %w", err)
	}
	asked, err := m.opt.Store.OpenPrompts(ctx)
	if err != nil {
		return fmt.Errorf("load prompts: %w", err)
	}
	m.mu.Lock()
	for _, s := range all {
		m.entries[s.ID] = m.newEntry(s)
	}
	for _, p := range panes {
		m.closed[closedPaneKey{p.Server, p.Identity, p.ID}] = true
	}
	m.mu.Unlock()
	m.loadPrompts(ctx, asked)
	if err := m.loadReceipts(ctx, open); err != nil {
		return err
	}
	return m.loadUnanswered(ctx)
}

// Run does what others leave to it (reconciling with tmux, ending sessions)
// until ctx ends, and returns when all typists have.
func (m *Manager) Run(ctx context.Context) error {
	m.mu.Lock()
	m.ctx = ctx
	var waiting []ID
	for id, e := range m.entries {
		if len(e.queue) > 0 {
			waiting = append(waiting, id)
		}
	}
	m.mu.Unlock()
	for _, id := range waiting {
		m.startTypist(id) //nolint:contextcheck // it uses ctx, which is kept in m
	}
	for {
		select {
		case <-ctx.Done():
			m.typists.Wait()
			return nil
		case <-m.wake:
		}
		m.mu.Lock()
		todo := m.todo
		m.todo = nil
		m.mu.Unlock()
		for _, f := range todo {
			m.containPanic(ctx, "", WorkerLife, func() { f(ctx) })
		}
	}
}

func (m *Manager) runLater(f func(ctx context.Context)) {
	m.mu.Lock()
	m.todo = append(m.todo, f)
	m.mu.Unlock()
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// List returns all sessions, the living first, then by age.
func (m *Manager) List() []Session {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := make([]Session, 0, len(m.entries))
	for _, e := range m.entries {
		out = append(out, e.Session)
	}
	slices.SortFunc(out, func(a, b Session) int {
		if (a.State == StateEnded) != (b.State == StateEnded) {
			if a.State == StateEnded {
				return 1
			}
			return -1
		}
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	return out
}

// Get finds a session by id, or by the name of a living one.
func (m *Manager) Get(idOrName string) (Session, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if e := m.entries[ID(idOrName)]; e != nil {
		return e.Session, nil
	}
	var hit *sessionEntry
	for _, e := range m.entries {
		if e.Name != idOrName || e.State == StateEnded {
			continue
		}
		if hit != nil {
			return Session{}, fmt.Errorf("%w: several sessions are named %q; use the id", ErrConflict, idOrName)
		}
		hit = e
	}
	if hit == nil {
		return Session{}, fmt.Errorf("%w session %q; `panebridge sessions list` shows those there are", ErrUnknown, idOrName)
	}
	return hit.Session, nil
}

func (m *Manager) livingSession(id ID) (Session, TmuxServer, error) {
	s, err := m.Get(string(id))
	if err != nil {
		return s, nil, err
	}
	if s.State == StateEnded {
		return s, nil, fmt.Errorf("%s: %w: %s", s.Name, ErrEnded, s.Reason)
	}
	srv := m.serverNamed(s.Pane.Server)
	if srv == nil {
		return s, nil, fmt.Errorf("%w tmux server %q: it isn't in the configuration", ErrUnknown, s.Pane.Server)
	}
	return s, srv, nil
}

func (m *Manager) serverNamed(name string) TmuxServer {
	for _, s := range m.opt.Servers {
		if s.Name() == name {
			return s
		}
	}
	return nil
}

// changeSession changes a session in the registry; false: there's none of that id.
func (m *Manager) changeSession(id ID, change func(*Session)) (s Session, ok bool) {
	ok = m.withEntry(id, func(e *sessionEntry) bool { change(&e.Session); s = e.Session; return true })
	return s, ok
}

// Output takes an event of a poller into the registry and hands it on.
func (m *Manager) Output(ev OutputEvent) {
	s, news, ok := m.takeOutput(ev, time.Now())
	if !ok {
		return
	}
	m.opt.Feed.PublishOutput(ev)
	if news.changed {
		m.opt.Feed.PublishSession(s)
	}
	if news.turn {
		m.runLater(func(ctx context.Context) { m.settleAnswers(ctx, s.ID) })
	}
	if news.asked {
		m.reconcilePrompt(context.Background(), s.ID) // an event has no context: it's taken in whatever ends
	}
}

// outputNews says what of an output event others than its readers hear of.
type outputNews struct {
	changed bool // the session itself
	asked   bool // what it asks
	turn    bool // something that a text waits for
}

// takeOutput takes an event into the registry; false: the session has ended.
func (m *Manager) takeOutput(ev OutputEvent, now time.Time) (s Session, news outputNews, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.entries[ev.Session]
	if e == nil || e.State == StateEnded {
		return Session{}, outputNews{}, false
	}
	news.changed = ev.State != "" && ev.State != e.State || ev.Complete || ev.Turn.Number != e.Turn.Number
	if n := len(ev.Lines); n > 0 {
		e.Lines, e.LastOutputAt = ev.Lines[n-1].N, now
	}
	e.Turn = ev.Turn
	var turn turnNews
	if turn, news.turn = e.turnNewsOf(ev); news.turn {
		e.noteTurn(turn)
	}
	if ev.State != "" {
		e.State, e.Reason = ev.State, ev.Reason
	}
	if ev.Exit != nil {
		e.Exit = ev.Exit
	}
	if ev.Usage != nil {
		news.changed = news.changed || !ev.Usage.Equal(e.Usage)
		e.Usage = ev.Usage
	}
	if news.asked = e.noteShown(ev); e.away {
		m.awaitReturn(e)
	}
	return e.Session, news, true
}

// Pause waits for a time, or until ctx ends, whose error it returns then.
func Pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// Note writes a notice of panebridge itself into a session's log, where
// everybody who follows it sees it.
func (m *Manager) Note(ctx context.Context, id ID, text string) error {
	return m.NoteElsewhere(ctx, id, "", text)
}

// NoteElsewhere is Note for those who don't follow the session at a place, or in one of its
// threads: it's about that place. "": it's for everybody.
func (m *Manager) NoteElsewhere(ctx context.Context, id ID, place, text string) error {
	if err := m.publishLines(ctx, id, []Line{{Kind: KindNotice, Text: text, Origin: place}}); err != nil {
		return fmt.Errorf("write a notice: %w", err)
	}
	return nil
}

const maxName = 64 // of an author, in characters

// shortLine is a text on one line, of at most n characters.
func shortLine(s string, n int) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}

// publishLines appends lines, and tells everybody.
func (m *Manager) publishLines(ctx context.Context, id ID, lines []Line) error {
	lines, gaps, err := m.appendLines(ctx, id, lines, nil)
	if err != nil {
		return err
	}
	s, err := m.Get(string(id))
	if err != nil {
		return err
	}
	m.opt.Feed.PublishOutput(OutputEvent{Session: id, First: lines[0].N, Lines: lines, Gaps: gaps, Turn: s.Turn})
	return nil
}

// appendLines appends lines, and takes the last one's number into the registry.
func (m *Manager) appendLines(ctx context.Context, id ID, lines []Line, gap *Gap) ([]Line, []Gap, error) {
	now := time.Now()
	for i := range lines {
		lines[i].At = now
	}
	lines, gaps, err := m.opt.Notes.AppendLines(ctx, id, lines, gap)
	if err != nil {
		return nil, nil, err
	}
	m.withEntry(id, func(e *sessionEntry) bool { e.Lines = max(e.Lines, lines[len(lines)-1].N); return true })
	return lines, gaps, nil
}

// Feed hands on what happens to sessions to all who want to know. Whoever does subscribes while
// a daemon is put together, before any of its parts runs. The Publish methods call all subscribers
// one after the other, in the order in which they subscribed, on the goroutine that made it happen;
// so a subscriber must not block and must not call back. The zero value has no subscribers.
type Feed struct {
	output  []func(OutputEvent)
	session []func(Session)
	receipt []func(Receipt)
	prompt  []func(Prompt)
}

// OnOutput subscribes to events of output. An event's lines are in the output log by then.
func (f *Feed) OnOutput(hear ...func(OutputEvent)) { f.output = append(f.output, hear...) }

// OnSession subscribes to sessions that are created, change or end.
func (f *Feed) OnSession(hear ...func(Session)) { f.session = append(f.session, hear...) }

// OnReceipt subscribes to each change of a receipt, in order, after it was stored.
func (f *Feed) OnReceipt(hear ...func(Receipt)) { f.receipt = append(f.receipt, hear...) }

// OnPrompt subscribes to each change of a prompt, in order, after it was stored.
func (f *Feed) OnPrompt(hear ...func(Prompt)) { f.prompt = append(f.prompt, hear...) }

// PublishOutput tells of an event whose lines are in the output log.
func (f *Feed) PublishOutput(ev OutputEvent) {
	for _, hear := range f.output {
		hear(ev)
	}
}

// PublishSession tells of a session that was created, has changed or ended.
func (f *Feed) PublishSession(s Session) {
	for _, hear := range f.session {
		hear(s)
	}
}

// PublishReceipt tells of a receipt that has changed and is stored.
func (f *Feed) PublishReceipt(r Receipt) {
	for _, hear := range f.receipt {
		hear(r)
	}
}

// PublishPrompt tells of a prompt that has changed and is stored.
func (f *Feed) PublishPrompt(p Prompt) {
	for _, hear := range f.prompt {
		hear(p)
	}
}

// The workers whose panics are contained: see Options.Panicked.
const (
	WorkerTypist  = "typist"  // types one input
	WorkerPreview = "preview" // types one preview
	WorkerAnswer  = "answer"  // gives one answer to a dialog
	WorkerLook    = "look"    // looks whether an answered dialog stands there again
	WorkerWhole   = "whole"   // reads a dialog whole of which the screen shows a part
	WorkerLife    = "life"    // compares the registry with tmux, and ends sessions
)

// containPanic runs work for a session and reports whether it returned. A panic in it
// is logged with its stack, counted, and told in the session's log; id is "" where it's
// the work of no single session. All of Manager's locks are released by defer, or
// around code that can't panic: what was contained leaves none of them held.
func (m *Manager) containPanic(ctx context.Context, id ID, worker string, work func()) (returned bool) {
	defer func() {
		if r := recover(); r != nil {
			m.reportPanic(context.WithoutCancel(ctx), id, worker, r)
		}
	}()
	work()
	return true
}

// goContained does the same on a goroutine for which Run waits.
func (m *Manager) goContained(ctx context.Context, id ID, worker string, work func()) {
	m.typists.Go(func() { m.containPanic(ctx, id, worker, work) })
}

// PanicError returns what recover returned as an error. It keeps the words of the runtime's
// own errors alone: others may have a person's words in them.
func PanicError(r any) error {
	if known, ok := r.(runtime.Error); ok {
		return fmt.Errorf("panic: %w", known)
	}
	return fmt.Errorf("panic: a %T", r)
}

func (m *Manager) reportPanic(ctx context.Context, id ID, worker string, r any) {
	m.log.Error("a worker panicked; it's begun anew", "session", id, "worker", worker, "err", PanicError(r), "stack", string(debug.Stack()))
	m.opt.Panicked(worker)
	if id == "" {
		return
	}
	defer func() { _ = recover() }() // the fault may be in telling; it's logged above
	if err := m.Note(ctx, id, "panebridge had a fault in its own work here ("+worker+"); it's in the log, and the work was begun anew"); err != nil {
		m.log.Warn("a fault isn't told in the session's log", "session", id, "err", err)
	}
}
