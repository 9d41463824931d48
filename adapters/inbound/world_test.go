package inbound_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/adapters/adaptertest"
	"github.com/panebridge/panebridge/adapters/cards"
	"github.com/panebridge/panebridge/adapters/commands"
	"github.com/panebridge/panebridge/adapters/inbound"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/internal/continuing"
	"github.com/panebridge/panebridge/internal/masked"
	"github.com/panebridge/panebridge/internal/redact"
	"github.com/panebridge/panebridge/internal/search"
	"github.com/panebridge/panebridge/internal/store"
	"github.com/panebridge/panebridge/internal/store/storetest"
	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/sessions"
	"github.com/panebridge/panebridge/sessions/sessionstest"
	"github.com/panebridge/panebridge/sessions/typing"
)

// options are those of a manager and of its hands.
type options struct {
	sessions.Options

	Hands typing.Options
}

// world is all that outlives a process: the database, the panes, what people see.
type world struct {
	*testing.T
	dir   string
	panes *panes
	hub   *hub
	chat  *chat
	opt   func(*inbound.Options)
	ways  func(*options)
	had   conversations
	// interrupt is inbound.Options.Interrupt; nil: nothing is known.
	interrupt func(s sessions.Session) []string

	process *process
	in      *inbound.Inbound
	manager *sessions.Manager
	goesOn  *continuing.Continuer
	store   *kept
	log     *strings.Builder
	asks    *adaptertest.Questions
	stop    func()
	events  int
}

// People and places.
const (
	ann  = "chat:1" // operator
	bob  = "chat:2" // viewer
	cleo = "chat:3" // admin
	dora = "chat:4" // operator and approver
	evil = "chat:666"
)

var group = adapters.Target{Adapter: "chat", Chat: "-1"}

func roles(all ...access.Role) access.Roles {
	r := access.Roles{}
	for _, x := range all {
		r[x] = true
	}
	return r
}

func newWorld(t *testing.T) *world {
	t.Helper()
	return &world{T: t, dir: t.TempDir(), panes: &panes{}, hub: &hub{}, chat: &chat{}, log: &strings.Builder{}, asks: &adaptertest.Questions{}}
}

// inWorld runs a test in a bubble, with one session "agent" bound to the group.
func inWorld(t *testing.T, test func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		defer w.end()
		w.start()
		w.bind(w.session("agent"), group, true)
		test(w)
	})
}

// start begins a process.
func (w *world) start() {
	w.Helper()
	db, err := storetest.Open(context.Background(), filepath.Join(w.dir, "db"))
	if err != nil {
		w.Fatal(err)
	}
	w.process = &process{}
	w.store = &kept{Store: db, p: w.process}
	w.panes.p = w.process
	w.hub.p = w.process
	var in *inbound.Inbound
	opts := options{Hands: typing.Options{Dialog: func([]string) string { return "" }}}
	opts.Options = sessions.Options{
		Servers: []sessions.TmuxServer{&tmux{x: w.panes, p: w.process}}, Store: w.store, Pollers: pollers{}, Notes: pollers{}, Feed: new(sessions.Feed),
		Shell: "sh",
	}
	if w.ways != nil {
		w.ways(&opts)
	}
	opts.Hand, opts.Dialogs = typing.New(opts.Hands), opts.Hands.Dialogs
	w.manager = sessions.NewManager(opts.Options)
	w.hub.sessions = w.manager
	index, err := search.OpenIndex(context.Background(), filepath.Join(w.dir, search.File), db)
	if err != nil {
		w.Fatal(err)
	}
	indexer := &search.Indexer{Index: index, List: w.manager.List, Logger: slog.New(slog.DiscardHandler)}
	masker, err := redact.New(redact.Options{})
	if err != nil {
		w.Fatal(err)
	}
	w.goesOn = continuing.New(continuing.Options{
		Sessions: w.manager, Store: w.store, Text: func() string { return "continue" }, Changed: opts.Feed.PublishSession,
	})
	opt := inbound.Options{
		Continuations: w.goesOn,
		Finder:        masked.LineIndex{Indexer: indexer, Log: adapters.MaskedLog(db, masker)},
		Platforms:     []intake.InboundAdapter{w.chat}, Sessions: asking{w.manager, w.asks}, Hub: w.hub, Store: w.store, StateDir: w.dir, Conversations: w.had,
		Access: access.Config{
			Roles: map[string]access.Roles{ann: roles(access.Operator), bob: roles(access.Viewer), cleo: roles(access.Admin), dora: roles(access.Operator, access.Approver)},
			Chats: []adapters.Target{group},
		},
		Interrupt: func(s sessions.Session) []string {
			if w.interrupt == nil {
				return nil
			}
			return w.interrupt(s)
		},
		Logger: slog.New(slog.NewTextHandler(w.log, nil)),
	}
	if w.opt != nil {
		w.opt(&opt)
	}
	if in, err = inbound.New(opt); err != nil {
		w.Fatal(err)
	}
	opts.Feed.OnReceipt(in.HandleReceipt)
	opts.Feed.OnSession(in.HandleSession)
	w.goesOn.Follow(opts.Feed)
	indexer.Follow(opts.Feed)
	w.in = in
	w.asks.Tell(in.HandlePrompt)
	if err := errors.Join(w.manager.Load(context.Background()), in.Load(context.Background()), w.goesOn.Load(context.Background())); err != nil {
		w.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var children sync.WaitGroup
	children.Go(func() { _ = w.manager.Run(ctx) })
	children.Go(func() { _ = in.Run(ctx) })
	children.Go(func() { _ = w.goesOn.Run(ctx) })
	children.Go(func() { _ = indexer.Run(ctx) })
	w.stop = func() {
		cancel()
		children.Wait()
		in.Finish(context.Background())
		if err := errors.Join(index.Close(), db.Close()); err != nil {
			w.Error(err)
		}
	}
}

// end ends a process, at whatever it's at.
func (w *world) end() {
	if w.stop != nil {
		w.process.kill()
		w.stop()
		w.stop = nil
	}
}

func (w *world) restart() {
	w.end()
	w.start()
	synctest.Wait()
}

func (w *world) session(name string) sessions.ID {
	w.Helper()
	s, err := w.manager.New(context.Background(), sessions.NewRequest{Name: name, Cwd: w.dir})
	if err != nil {
		w.Fatal(err)
	}
	return s.ID
}

func (w *world) bind(id sessions.ID, to adapters.Target, input bool) adapters.Binding {
	b, _ := w.hub.Bind(context.Background(), id, to, adapters.ViewStream, input)
	return b
}

// event is something that a person does in the group now.
func (w *world) event(person string, a intake.Action) intake.Event {
	w.events++
	return intake.Event{
		Key: fmt.Sprint("chat:", w.events), At: time.Now(), Place: group, Person: intake.Person{ID: person, Name: "Somebody"},
		Message: fmt.Sprint("m", w.events), Action: a,
	}
}

// do handles an event and waits until nothing moves any more.
func (w *world) do(ev intake.Event) {
	w.Helper()
	if err := w.in.Handle(context.Background(), ev); err != nil {
		w.Errorf("%s: %v", ev.Key, err)
	}
	synctest.Wait()
}

func (w *world) say(person, text string) intake.Event {
	w.Helper()
	ev := w.event(person, intake.Said{Text: text})
	w.do(ev)
	return ev
}

func (w *world) press(person, data string) intake.Event {
	w.Helper()
	ev := w.event(person, intake.Pressed{Data: data, Token: "t"})
	w.do(ev)
	return ev
}

func (w *world) pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// wantTyped wants exactly these texts in the panes, each submitted.
func (w *world) wantTyped(want ...string) {
	w.Helper()
	if got := w.panes.typed(); !slices.Equal(got, want) {
		w.Errorf("typed %q, want %q", got, want)
	}
}

// wantPosts wants these posts, by what each says, and forgets them.
func (w *world) wantPosts(want ...string) []adapters.Post {
	w.Helper()
	all := w.hub.take()
	var got []string
	for _, p := range all {
		got = append(got, p.Reaction+p.Text)
	}
	ok := len(got) == len(want)
	for i := range want {
		ok = ok && strings.Contains(strings.ReplaceAll(got[i], `\`, ""), want[i])
	}
	if !ok {
		w.Errorf("posts %q, want %q", got, want)
	}
	return all
}

// wantPostsInAnyOrder wants posts of which several workers make one each.
func (w *world) wantPostsInAnyOrder(want ...string) {
	w.Helper()
	all := w.hub.take()
	ok := len(all) == len(want)
	for _, one := range want {
		ok = ok && slices.ContainsFunc(all, func(p adapters.Post) bool {
			return strings.Contains(strings.ReplaceAll(p.Text, `\`, ""), one)
		})
	}
	if !ok {
		w.Errorf("posts %+v, want %q in any order", all, want)
	}
}

// button finds one by its label.
func (w *world) button(posts []adapters.Post, label string) string {
	w.Helper()
	for _, p := range posts {
		for _, row := range p.Buttons {
			for _, b := range row {
				if b.Label == label {
					return b.Data
				}
			}
		}
	}
	w.Fatalf("there's no button %q", label)
	return ""
}

func (w *world) wantAnswer(want string) {
	w.Helper()
	got := w.chat.take()
	if len(got) != 1 || !strings.Contains(got[0], want) {
		w.Errorf("answers %q, want one with %q", got, want)
	}
}

var errKilled = fmt.Errorf("%w: the process was killed", sessions.ErrUnavailable)

// process is one run of the daemon. It can be killed at its nth step to the outside.
type process struct {
	mu     sync.Mutex
	steps  int
	killAt int // 0: never
	dead   bool

	intent atomic.Bool // something was about to be typed
}

func (p *process) kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dead = true
}

func (p *process) step() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.steps++; p.steps == p.killAt {
		p.dead = true
	}
	if p.dead {
		return errKilled
	}
	return nil
}

// around does something that leaves a trace outside: the process may be killed before
// it and after it.
func around[T any](p *process, do func() (T, error)) (T, error) {
	var zero T
	if err := p.step(); err != nil {
		return zero, err
	}
	x, err := do()
	if killed := p.step(); killed != nil {
		return zero, killed
	}
	return x, err
}

func around1(p *process, do func() error) error {
	_, err := around(p, func() (struct{}, error) { return struct{}{}, do() })
	return err
}

// kept is the store as one process has it.
type kept struct {
	*store.Store
	p *process
}

func (k *kept) PutReceipt(ctx context.Context, r sessions.Receipt) error {
	return around1(k.p, func() error {
		if r.State == sessions.ReceiptTyping {
			k.p.intent.Store(true)
		}
		return k.Store.PutReceipt(ctx, r)
	})
}

func (k *kept) BeginEntry(ctx context.Context, e inbound.AuditEntry) (*inbound.AuditEntry, error) {
	return around(k.p, func() (*inbound.AuditEntry, error) { return k.Store.BeginEntry(ctx, e) })
}

func (k *kept) EndEntry(ctx context.Context, e inbound.AuditEntry, replies []cards.StoredReply) error {
	return around1(k.p, func() error { return k.Store.EndEntry(ctx, e, replies) })
}

func (k *kept) DropReplies(ctx context.Context, ids []string) error {
	if k.p.killed() {
		return errKilled
	}
	return k.Store.DropReplies(ctx, ids)
}

func (k *kept) AddOrigin(ctx context.Context, o cards.InputOrigin) error {
	return around1(k.p, func() error { return k.Store.AddOrigin(ctx, o) })
}

func (k *kept) PutOrigin(ctx context.Context, o cards.InputOrigin) error {
	return around1(k.p, func() error { return k.Store.PutOrigin(ctx, o) })
}

func (k *kept) PutDeferred(ctx context.Context, x cards.DeferredText) error {
	return around1(k.p, func() error { return k.Store.PutDeferred(ctx, x) })
}

func (k *kept) DropDeferred(ctx context.Context, key string) error {
	return around1(k.p, func() error { return k.Store.DropDeferred(ctx, key) })
}

func (k *kept) PutOffer(ctx context.Context, o cards.Offer) error {
	return around1(k.p, func() error { return k.Store.PutOffer(ctx, o) })
}

func (k *kept) TakeOffer(ctx context.Context, id string, u cards.OfferUse) (cards.OfferUse, error) {
	return around(k.p, func() (cards.OfferUse, error) { return k.Store.TakeOffer(ctx, id, u) })
}

func (k *kept) MoveChat(ctx context.Context, adapter, from, to string) error {
	return around1(k.p, func() error { return k.Store.MoveChat(ctx, adapter, from, to) })
}

func (k *kept) PutFollowed(ctx context.Context, m adapters.Move) error {
	return around1(k.p, func() error { return k.Store.PutFollowed(ctx, m) })
}

func (k *kept) UseCode(ctx context.Context, hash string, u access.CodeUse) (access.PairingCode, error) {
	return around(k.p, func() (access.PairingCode, error) { return k.Store.UseCode(ctx, hash, u) })
}

// panes are the panes of a tmux server. Each shows what was submitted in it.
type panes struct {
	p *process

	mu     sync.Mutex
	n      int
	box    map[string]string // what's typed and not submitted
	sent   []string          // submitted, over all panes, in order
	dialog bool              // an open dialog refuses what's typed
	blind  bool              // they show nothing of what's typed
	deaf   bool              // Enter does nothing that can be seen
	keys   []string
	screen sessions.Screen
	ended  []string // panes that were killed
	// made are the commands that new panes run, respawned those that were started anew.
	made, respawned []string
}

func (x *panes) typed() []string {
	x.mu.Lock()
	defer x.mu.Unlock()
	out := slices.Clone(x.sent)
	for _, b := range x.box {
		if b != "" {
			out = append(out, b+" (not submitted)")
		}
	}
	return out
}

func (x *panes) setDialog(open bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.dialog = open
}

// conversations are those of agents, by "AGENT FOLDER".
type conversations map[string][]commands.Conversation

func (c conversations) Conversations(_ context.Context, agent, folder string) ([]commands.Conversation, error) {
	if agent == "codex" {
		return nil, fmt.Errorf("%w: codex keeps none", sessions.ErrInvalid)
	}
	return c[agent+" "+folder], nil
}

var identity = sessions.ServerIdentity{PID: 7, Start: 7}

// tmux is one process's connection to the panes.
type tmux struct {
	sessionstest.Tmux

	x *panes
	p *process
}

func (t *tmux) Identity() (sessions.ServerIdentity, bool) { return identity, true }

func (t *tmux) Respawn(_ context.Context, pane string, req sessions.PaneRequest) error {
	t.x.mu.Lock()
	defer t.x.mu.Unlock()
	t.x.respawned = append(t.x.respawned, pane+" "+strings.Join(req.Command, " "))
	return nil
}

func (t *tmux) Screen(context.Context, string) (sessions.Screen, error) {
	t.x.mu.Lock()
	defer t.x.mu.Unlock()
	return t.x.screen, nil
}

func (t *tmux) Kill(_ context.Context, pane string) error {
	t.x.mu.Lock()
	defer t.x.mu.Unlock()
	t.x.ended = append(t.x.ended, pane)
	return nil
}

func (t *tmux) Create(_ context.Context, id sessions.ID, req sessions.PaneRequest) (sessions.PaneInfo, error) {
	t.x.mu.Lock()
	defer t.x.mu.Unlock()
	t.x.n++
	t.x.made = append(t.x.made, fmt.Sprintf("%s %dx%d", strings.Join(req.Command, " "), req.Width, req.Height))
	return sessions.PaneInfo{ID: fmt.Sprint("%", t.x.n), Session: string(id), Mark: id}, nil
}

func (t *tmux) Snapshot(_ context.Context, pane string, _ sessions.RowWindow) (sessions.Snapshot, error) {
	if t.p.killed() {
		return sessions.Snapshot{}, errKilled
	}
	t.x.mu.Lock()
	defer t.x.mu.Unlock()
	if t.x.blind {
		return sessions.Snapshot{Server: identity, Pane: pane, Rows: []string{">"}}, nil
	}
	rows := append(slices.Clone(t.x.sent), strings.Split("> "+t.x.box[pane], "\n")...)
	return sessions.Snapshot{Server: identity, Pane: pane, Rows: rows, CursorX: utf8.RuneCountInString(rows[len(rows)-1]), CursorY: len(rows) - 1}, nil
}

func (p *process) killed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.dead
}

func (t *tmux) Paste(_ context.Context, g sessions.PaneGuard, text string) (sessions.GuardOutcome, error) {
	return around(t.p, func() (sessions.GuardOutcome, error) {
		t.x.mu.Lock()
		defer t.x.mu.Unlock()
		if t.x.dialog {
			return sessions.Held, nil
		}
		if t.x.box == nil {
			t.x.box = map[string]string{}
		}
		t.x.box[g.Pane] += text
		return sessions.Done, nil
	})
}

func (t *tmux) Press(_ context.Context, g sessions.PaneGuard, keys ...string) (sessions.GuardOutcome, error) {
	return around(t.p, func() (sessions.GuardOutcome, error) {
		t.x.mu.Lock()
		defer t.x.mu.Unlock()
		if len(g.Phrases) == 0 && !slices.Equal(keys, []string{"Enter"}) {
			t.x.keys = append(t.x.keys, keys...)
			return sessions.Done, nil
		}
		if t.x.box[g.Pane] != "" && !t.x.deaf {
			t.x.sent = append(t.x.sent, t.x.box[g.Pane])
			t.x.box[g.Pane] = ""
		}
		return sessions.Done, nil
	})
}

// pollers do nothing.
type pollers struct{}

func (pollers) Start(sessions.Session) error            { return nil }
func (pollers) Stop(context.Context, sessions.ID) error { return nil }
func (pollers) NoteTyped(sessions.ID, string)           {}
func (pollers) ServerGone(string)                       {}
func (pollers) AppendLines(_ context.Context, _ sessions.ID, lines []sessions.Line, _ *sessions.Gap) ([]sessions.Line, []sessions.Gap, error) {
	return lines, nil, nil
}

// hub keeps bindings, and makes all posts at once.
type hub struct {
	p        *process
	sessions *sessions.Manager

	mu       sync.Mutex
	bindings []adapters.Binding
	posts    []adapters.Post
	n        int
	refuse   error
	gloomy   error                       // reactions aren't allowed
	refused  func(p adapters.Post) error // says why a post is, in every form; nil: none is
	moved    []string
	moves    []adapters.Move

	brief     map[int64]bool // numbers of turns whose ends don't ring
	ringAfter time.Duration
	reopened  []adapters.Target
	limits    adapters.LimitStatus
	maxFile   int // bytes
	forum     bool
	ownThread bool
	threads   map[sessions.ID]string // that were made for sessions
	unnamed   bool
	menus     int // that fit below a post
	faults    int // posts to come that panic

	holds bool            // posts wait
	busy  bool            // nothing cosmetic can be made
	held  []adapters.Post // those that do, one for each key
}

// hold lets posts wait until release.
func (h *hub) hold() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.holds = true
}

// refuseSome has posts be refused of which refused says why; nil: none is.
func (h *hub) refuseSome(refused func(adapters.Post) error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.refused = refused
}

// release makes the posts that wait: the reactions first, with gloomy as what comes of them. It
// returns what waited before.
func (h *hub) release(gloomy error) []adapters.Post {
	h.mu.Lock()
	waited := slices.Clone(h.held)
	h.held = slices.DeleteFunc(h.held, func(p adapters.Post) bool { return p.Reaction != "" })
	h.mu.Unlock()
	for _, p := range waited {
		if p.Reaction != "" {
			p.TellSender("", gloomy)
		}
	}
	h.mu.Lock()
	held := h.held
	h.holds, h.held = false, nil
	h.mu.Unlock()
	for _, p := range held {
		_ = h.Post(p)
	}
	return waited
}

// seen are the posts that were made, and not taken.
func (h *hub) seen() []adapters.Post {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.posts)
}

func (h *hub) take() []adapters.Post {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := h.posts
	h.posts = nil
	return out
}

func (h *hub) Post(p adapters.Post) error {
	if err := h.p.step(); err != nil {
		return err
	}
	h.mu.Lock()
	if h.faults > 0 {
		defer h.mu.Unlock()
		h.faults--
		panic("what somebody wrote")
	}
	if h.refuse != nil {
		defer h.mu.Unlock()
		return h.refuse
	}
	if h.busy && p.Class >= qos.Cosmetic { // it's made now or not at all
		h.mu.Unlock()
		return nil
	}
	if h.holds {
		i := slices.IndexFunc(h.held, func(q adapters.Post) bool { return q.To == p.To && q.Key == p.Key })
		if i < 0 {
			h.held = append(h.held, p)
			h.mu.Unlock()
			return nil
		}
		was := h.held[i]
		h.held[i] = p
		h.mu.Unlock()
		was.TellSender("", adapters.ErrReplaced)
		return nil
	}
	refused := h.gloomy
	if p.Reaction == "" {
		refused = nil
		if h.refused != nil {
			refused = h.refused(p)
		}
	}
	if refused != nil {
		h.mu.Unlock()
		p.TellSender("", refused)
		return nil
	}
	h.posts = append(h.posts, p)
	h.n++
	id := fmt.Sprint("p", h.n)
	if p.Message != "" {
		id = p.Message
	}
	h.mu.Unlock()
	if !h.p.killed() {
		p.TellSender(id, nil)
	}
	return nil
}

func (h *hub) FocusSession(sessions.ID) {}

func (h *hub) EndTailAt(adapters.Target) {}

func (h *hub) ReopenThread(t adapters.Target) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.reopened = append(h.reopened, t)
	return nil
}

func (h *hub) Shape(adapters.Target) adapters.Shape {
	h.mu.Lock()
	defer h.mu.Unlock()
	return adapters.Shape{Len: adapters.UTF16Len, MaxLen: 4096, MaxFile: h.maxFile, OwnThread: h.ownThread, OnlyThreads: h.forum, Threads: "topic", Menus: h.menus, MenuOptions: 25}
}

func (h *hub) RingsAt(_ context.Context, _ sessions.ID, _ adapters.Target, turn sessions.Turn) (bool, error) {
	return !h.brief[turn.Number], nil
}

func (h *hub) RingAfter() time.Duration { return h.ringAfter }

func (h *hub) LimitStatus(context.Context, adapters.Target) (adapters.LimitStatus, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.limits, nil
}

func (h *hub) BindingsAt(place adapters.Target) []adapters.Binding {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(h.bindings), func(b adapters.Binding) bool { return b.Target != place || b.Unbound })
}

func (h *hub) IsUnnamed(adapters.Target) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.unnamed
}

func (h *hub) UsesChat(adapter, chat string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.ContainsFunc(h.bindings, func(b adapters.Binding) bool { return b.Target.Adapter == adapter && b.Target.Chat == chat })
}

func (h *hub) Status(id sessions.ID) []adapters.BindingStatus {
	h.mu.Lock()
	defer h.mu.Unlock()
	var out []adapters.BindingStatus
	for _, b := range h.bindings {
		if id == "" || b.Session == id {
			at := b.Target
			if thread := h.threads[b.Session]; thread != "" {
				at.Thread = thread
			}
			out = append(out, adapters.BindingStatus{Binding: b, Target: at, Open: b.Active()})
		}
	}
	return out
}

func (h *hub) Bind(ctx context.Context, id sessions.ID, t adapters.Target, view adapters.View, input bool) (adapters.Binding, error) {
	return h.BindAs(ctx, id, t, adapters.BindingWish{View: view, Input: input})
}

func (h *hub) BindAs(_ context.Context, id sessions.ID, t adapters.Target, wish adapters.BindingWish) (adapters.Binding, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	work := wish.Work
	b := adapters.Binding{ID: adapters.NewBindingID(), Session: id, Target: t, View: wish.View, Work: work, Input: wish.Input, Quotes: wish.Quotes != nil && *wish.Quotes}
	for i, old := range h.bindings {
		if old.Session == id && old.Target == t {
			b.ID, b.Work, b.Quotes = old.ID, old.Work, wish.Quotes == nil && old.Quotes || b.Quotes
			b.Work.Output = cmp.Or(work.Output, b.Work.Output)
			for _, w := range [][2]*adapters.Extent{{&b.Work.Tools, &work.Tools}, {&b.Work.Thinking, &work.Thinking}, {&b.Work.Prompts, &work.Prompts}} {
				*w[0] = cmp.Or(*w[1], *w[0])
			}
			h.bindings[i] = b
			return b, nil
		}
	}
	h.bindings = append(h.bindings, b)
	return b, nil
}

func (h *hub) Unbind(_ context.Context, id adapters.BindingID) error {
	return h.change(id, func(b *adapters.Binding) { b.Unbound = true })
}

func (h *hub) SetResting(_ context.Context, id adapters.BindingID, rest bool) error {
	return h.change(id, func(b *adapters.Binding) { b.Resting = rest })
}

func (h *hub) change(id adapters.BindingID, change func(*adapters.Binding)) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := range h.bindings {
		if h.bindings[i].ID == id {
			change(&h.bindings[i])
			return nil
		}
	}
	return sessions.ErrUnknown
}

func (h *hub) MoveChat(_ context.Context, _, from, to string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.moved = append(h.moved, from+" to "+to)
	for i := range h.bindings {
		if h.bindings[i].Target.Chat == from {
			h.bindings[i].Target.Chat = to
		}
	}
	return nil
}

// learn has it know of a move, once.
func (h *hub) learn(m adapters.Move) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !slices.Contains(h.moves, m) {
		h.moves = append(h.moves, m)
	}
}

func (h *hub) ChatMoves(context.Context) ([]adapters.Move, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.moves), nil
}

func (h *hub) DisableChat(_ context.Context, _, chat, why string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := range h.bindings {
		if h.bindings[i].Target.Chat == chat {
			h.bindings[i].Disabled = why
		}
	}
	return nil
}

func (h *hub) ReviveChat(ctx context.Context, _, chat string) error {
	return h.DisableChat(ctx, "", chat, "")
}

// chat is the platform.
type chat struct {
	name    string // "": chat
	mu      sync.Mutex
	answers []string
	files   map[string]string
	fetches int
	fail    int             // fetches that fail first
	gone    map[string]bool // who isn't in any group
	unread  error           // why nobody can tell who is
	asked   int             // how often it was looked who's in a group
}

// with changes it, whoever asks it meanwhile.
func (c *chat) with(change func(c *chat)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change(c)
}

// Member implements inbound.MemberReader.
func (c *chat) Member(_ context.Context, _ adapters.Target, person string) (bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked++
	return !c.gone[person], c.unread
}

func (c *chat) take() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := c.answers
	c.answers = nil
	return out
}

func (c *chat) Name() string { return cmp.Or(c.name, "chat") }

func (c *chat) TellPresser(_ context.Context, _ intake.Event, text string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answers = append(c.answers, text)
	return nil
}

func (c *chat) Fetch(_ context.Context, f intake.Attachment, limit int64, w io.Writer) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fetches++
	if c.fail > 0 {
		c.fail--
		return errors.New("no connection")
	}
	content := c.files[f.ID]
	if int64(len(content)) > limit {
		content = content[:limit]
		_, _ = io.WriteString(w, content)
		return intake.ErrTooLarge
	}
	_, err := io.WriteString(w, content)
	return err
}

func (c *chat) Link(place adapters.Target, message string) string {
	return place.String() + "#" + message
}
func (c *chat) SetCommands(context.Context, []intake.CommandInfo) error { return nil }

// Grow finds that somebody is at the terminal.
func (*tmux) Grow(context.Context, string, sessions.ServerIdentity, int, time.Duration) (sessions.Snapshot, error) {
	return sessions.Snapshot{}, sessions.ErrConflict
}
func (*tmux) Shrink(context.Context, string) error { return nil }
func (*tmux) Settle(string)                        {}
