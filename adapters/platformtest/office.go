// Package platformtest is what the tests of the chat platforms share that takes more of a
// daemon than a hub: what's inbound, a database, recordings of agents. A platform's tests
// bring its adapter, its stand-in, and what people see and do there; the suites here play
// the same on each. What takes a hub at most is in adaptertest.
package platformtest

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/adapters/adaptertest"
	"github.com/panebridge/panebridge/adapters/inbound"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/internal/store"
	"github.com/panebridge/panebridge/internal/store/storetest"
	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/sessions"
)

// AskingText is the session of an Office that asks questions, and Second another one that may be there.
const (
	AskingText = sessions.ID("pb_000000000001")
	Second     = sessions.ID("pb_000000000002")
)

// Office is all of a daemon that questions pass through, over several processes. It's made
// and used in one bubble, and is what of an adaptertest.Stage is the same everywhere.
type Office struct {
	// Pinned says that the list of sessions is pinned.
	Pinned bool
	In     *inbound.Inbound // of the newest process

	tb        testing.TB
	bridge    *adaptertest.Bridge
	questions adaptertest.Questions
	keyboard  SessionKeyboard
	people    People
	dir       string
	name      string // of the platform's adapter
	side      func(db *store.Store) Side
	told      *told
	reader    UpdateReader
	end       func()
}

// People are who's let in: "discord:…", say. Both may type, and one may answer questions.
type People struct {
	Approver, Operator string
	Chat               adapters.Target // that they're let in at
}

// Side is a platform's side of one process.
type Side struct {
	Name     string // of its journal
	Platform intake.InboundAdapter
	Decode   func(raw []byte) (intake.Event, bool, error)
	// Reader returns what reads updates into a queue.
	Reader func(q *intake.Queue, in *inbound.Inbound) UpdateReader
}

// UpdateReader reads updates until its context ends, and says how well.
type UpdateReader interface {
	Run(ctx context.Context) error
	Health() intake.Health
}

// NewOffice returns one without a process, whose database is in a folder made outside of
// the bubble.
func NewOffice(tb testing.TB, b *adaptertest.Bridge, dir string, people People, side func(db *store.Store) Side) *Office {
	tb.Helper()
	return &Office{tb: tb, bridge: b, dir: dir, people: people, side: side}
}

// Open begins a process.
func (o *Office) Open() {
	o.tb.Helper()
	o.bridge.Start()
	db, err := storetest.Open(context.Background(), filepath.Join(o.dir, "db"))
	if err != nil {
		o.tb.Fatal(err)
	}
	side := o.side(db)
	o.told, o.name = &told{InboundAdapter: side.Platform}, side.Name
	o.In, err = inbound.New(inbound.Options{
		Platforms: []intake.InboundAdapter{o.told}, Sessions: registry{o.bridge.House, &o.questions, &o.keyboard, unused{}}, Hub: o.bridge.Hub, Store: db, Pinned: o.Pinned,
		Access: access.Config{
			Roles: map[string]access.Roles{
				o.people.Approver: {access.Operator: true, access.Approver: true},
				o.people.Operator: {access.Operator: true},
			},
			Chats: []adapters.Target{o.people.Chat},
		},
	})
	if err == nil {
		err = o.In.Load(context.Background())
	}
	if err != nil {
		o.tb.Fatal(err)
	}
	o.questions.Tell(o.In.HandlePrompt)
	o.bridge.Hub.SetInbound(o.In)
	o.bridge.House.SetFollowers(o.bridge.Hub, o.In)
	queue := intake.NewQueue(intake.QueueOptions{Journal: db.Journal(side.Name), Decode: side.Decode, Handle: o.In.Handle})
	o.reader = side.Reader(queue, o.In)
	stop := o.running(queue.Run, o.In.Run, o.reader.Run)
	o.Pass(2 * time.Second) // until it listens
	o.end = func() {
		o.questions.Tell(nil)
		stop()
		o.bridge.Stop()
		o.In.Finish(context.Background())
		if err := db.Close(); err != nil {
			o.tb.Error(err)
		}
	}
}

// running runs functions until the function it returns is called.
func (o *Office) running(all ...func(context.Context) error) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	for _, run := range all {
		running.Go(func() {
			if err := run(ctx); err != nil {
				o.tb.Error(err)
			}
		})
	}
	return func() {
		cancel()
		running.Wait()
	}
}

// Close ends the process.
func (o *Office) Close() { o.end() }

// Restart ends the process and begins another.
func (o *Office) Restart() {
	o.Close()
	o.Open()
}

// Kill ends the process without a word, and begins another: of what the Hub and the scheduler do
// meanwhile nothing is kept.
func (o *Office) Kill() {
	o.bridge.Kill()
	o.Restart()
}

// Session is the one that asks.
func (o *Office) Session() sessions.ID { return AskingText }

// Questions are those that it asks.
func (o *Office) Questions() *adaptertest.Questions { return &o.questions }

// Keyboard is where texts are typed.
func (o *Office) Keyboard() *SessionKeyboard { return &o.keyboard }

// Ask has it ask for a permission.
func (o *Office) Ask(id string) {
	o.questions.Change(sessions.Prompt{ID: id, Session: AskingText, Dialog: adaptertest.Permission(), State: sessions.PromptOpen, OpenedAt: time.Now()})
}

// Pass lets time pass, and what happens in it.
func (o *Office) Pass(d time.Duration) { adaptertest.After(d) }

// Chats are the platform's chats, as the scheduler of its calls sees them.
func (o *Office) Chats() []qos.ChatStatus {
	o.tb.Helper()
	s, err := o.bridge.Hub.Scheduler(o.name).Status(context.Background())
	if err != nil {
		o.tb.Fatal(err)
	}
	return s.Chats
}

// Wrong says what a person would be told of that's wrong: with reading updates, showing a living
// session, or asking; "": nothing.
func (o *Office) Wrong() string {
	if h := o.reader.Health(); h.Condition == intake.Down {
		return "reading: " + h.Detail
	}
	for _, st := range o.bridge.Hub.Status("") {
		if st.Binding.Unbound || st.Binding.Resting {
			continue
		}
		if p := cmp.Or(st.Binding.Disabled, st.Problem()); p != "" {
			return "a mirror: " + p
		}
	}
	if h := o.In.QuestionsHealth(); h.Condition != intake.Well {
		return "questions: " + h.Detail
	}
	return ""
}

// Rests says whether a session isn't to be shown: a person closed its place.
func (o *Office) Rests() bool {
	return slices.ContainsFunc(o.bridge.Hub.Status(""), func(st adapters.BindingStatus) bool { return st.Binding.Resting })
}

// TakeTold returns what somebody was told last in passing, and forgets it.
func (o *Office) TakeTold() string { return o.told.take() }

// registry is what of sessions questions and texts need.
type registry struct {
	*adaptertest.House
	*adaptertest.Questions
	*SessionKeyboard
	unused
}

// Rename gives a session another name; there is none that it refuses.
func (r registry) Rename(_ context.Context, id sessions.ID, name string) (sessions.Session, error) {
	r.House.Rename(id, name)
	return r.Get(string(id))
}

type unused struct{ inbound.Sessions }

// told is the platform, and remembers what people were told in passing.
type told struct {
	intake.InboundAdapter
	mu   sync.Mutex
	last string
}

func (p *told) TellPresser(ctx context.Context, press intake.Event, text string) error {
	p.mu.Lock()
	p.last = text
	p.mu.Unlock()
	return p.InboundAdapter.TellPresser(ctx, press, text)
}

func (p *told) take() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	text := p.last
	p.last = ""
	return text
}

// SessionDesk is what a person's wishes would change: one session, and the one chat that it's
// mirrored to. What isn't expected of updates that aim at nothing has no method, and panics.
type SessionDesk struct {
	inbound.Sessions
	inbound.Hub

	Session sessions.Session
	Chat    string
	Fetched atomic.Int64 // files that the platform was asked for

	mu    sync.Mutex
	typed []string
}

// Typed are the texts that were typed, in order.
func (d *SessionDesk) Typed() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.typed
}

// List implements inbound.Sessions.
func (d *SessionDesk) List() []sessions.Session { return []sessions.Session{d.Session} }

// Get implements inbound.Sessions.
func (d *SessionDesk) Get(name string) (sessions.Session, error) {
	if name == string(d.Session.ID) || name == d.Session.Name {
		return d.Session, nil
	}
	return sessions.Session{}, sessions.ErrUnknown
}

// Input implements inbound.Sessions.
func (d *SessionDesk) Input(_ context.Context, id sessions.ID, req sessions.InputRequest) (sessions.Receipt, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.typed = append(d.typed, req.Text)
	return sessions.Receipt{ID: fmt.Sprintf("in_%012x", len(d.typed)), Session: id, Text: req.Text, Key: req.Key, Submit: true, State: sessions.ReceiptSubmitted}, nil
}

// Receipt implements inbound.Sessions.
func (d *SessionDesk) Receipt(context.Context, string) (sessions.Receipt, error) {
	return sessions.Receipt{}, sessions.ErrUnknown
}

// Prompts implements inbound.Sessions.
func (d *SessionDesk) Prompts() []sessions.Prompt { return nil }

// Prompt implements inbound.Sessions.
func (d *SessionDesk) Prompt(context.Context, string) (sessions.Prompt, error) {
	return sessions.Prompt{}, sessions.ErrUnknown
}

// Post implements inbound.Hub.
func (d *SessionDesk) Post(p adapters.Post) error {
	p.TellSender("1", nil)
	return nil
}

// FocusSession implements inbound.Hub.
func (d *SessionDesk) FocusSession(sessions.ID) {}

// EndTailAt implements inbound.Hub.
func (d *SessionDesk) EndTailAt(adapters.Target) {}

// BindingsAt implements inbound.Hub.
func (d *SessionDesk) BindingsAt(place adapters.Target) []adapters.Binding {
	if place.Chat != d.Chat {
		return nil
	}
	return []adapters.Binding{{ID: "bd_000000000001", Session: d.Session.ID, Target: place, Input: true}}
}

// IsUnnamed implements inbound.Hub.
func (d *SessionDesk) IsUnnamed(adapters.Target) bool { return false }

// UsesChat implements inbound.Hub.
func (d *SessionDesk) UsesChat(_, chat string) bool { return chat == d.Chat }

// SetResting implements inbound.Hub.
func (d *SessionDesk) SetResting(context.Context, adapters.BindingID, bool) error { return nil }

// MoveChat implements inbound.Hub.
func (d *SessionDesk) MoveChat(context.Context, string, string, string) error { return nil }

// ChatMoves implements inbound.Hub.
func (d *SessionDesk) ChatMoves(context.Context) ([]adapters.Move, error) { return nil, nil }

// DisableChat implements inbound.Hub.
func (d *SessionDesk) DisableChat(context.Context, string, string, string) error { return nil }

// ReviveChat implements inbound.Hub.
func (d *SessionDesk) ReviveChat(context.Context, string, string) error { return nil }

// Status implements inbound.Hub.
func (d *SessionDesk) Status(sessions.ID) []adapters.BindingStatus { return nil }

// SessionKeyboard stands for what the Manager does with texts: each is taken at once, and once by its
// key. What was typed outlives processes.
type SessionKeyboard struct {
	// Echo prints a text in its session's log, as the Manager does before Enter. Nil: nothing is
	// printed.
	Echo func(id sessions.ID, req sessions.InputRequest) error

	mu    sync.Mutex
	typed []sessions.Receipt
}

// Typed returns all that was typed, in order.
func (k *SessionKeyboard) Typed() []sessions.Receipt {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.typed)
}

// Input implements inbound.Sessions.
func (k *SessionKeyboard) Input(_ context.Context, id sessions.ID, req sessions.InputRequest) (sessions.Receipt, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, t := range k.typed {
		if t.Key == req.Key {
			return t, nil
		}
	}
	r := sessions.Receipt{
		ID: fmt.Sprintf("in_%012x", len(k.typed)+1), Session: id, Text: req.Text, Key: req.Key, Submit: true,
		Author: req.Author, Name: req.Name, Origin: req.Origin,
		State: sessions.ReceiptSubmitted, CreatedAt: time.Now(), UpdatedAt: time.Now(),
	}
	k.typed = append(k.typed, r)
	if k.Echo == nil {
		return r, nil
	}
	return r, k.Echo(id, req)
}

// Receipt implements inbound.Sessions.
func (k *SessionKeyboard) Receipt(_ context.Context, id string) (sessions.Receipt, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, t := range k.typed {
		if t.ID == id {
			return t, nil
		}
	}
	return sessions.Receipt{}, fmt.Errorf("%w input", sessions.ErrUnknown)
}

// Waiting implements inbound.Sessions.
func (k *SessionKeyboard) Waiting(sessions.ID) []sessions.Receipt { return nil }

// ListedMessage is a message as people see it who look for the list of sessions.
type ListedMessage struct {
	Pinned, Rang bool
	Text         string
	Edits        []time.Time
}

// PinnedList is the conformance suite of the list of sessions: it's pinned where the bot may
// pin, without a ring, and edited when something has happened, not more often than twice a
// minute. seen is what people see of the bot where the list belongs, right whether its text
// is that of one session that works.
func PinnedList(t *testing.T, o *Office, seen func() []ListedMessage, right func(text string) bool) {
	t.Helper()
	board := func() ListedMessage {
		t.Helper()
		all := seen()
		if len(all) == 0 {
			t.Fatal("there's no list")
		}
		return all[0]
	}
	o.Pass(3 * time.Minute)
	if m := board(); !m.Pinned || m.Rang || !right(m.Text) {
		t.Errorf("the list is %+v", m)
	}
	for i := range 10 {
		id := fmt.Sprint("pr_", i)
		o.Ask(id)
		o.Pass(10 * time.Second)
		p, err := o.Questions().Prompt(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		p.State = sessions.PromptClosed
		o.Questions().Change(p)
		o.Pass(time.Second)
	}
	o.Pass(2 * time.Minute)
	edits := board().Edits
	for i := range edits {
		if i > 0 && edits[i].Sub(edits[i-1]) < 30*time.Second {
			t.Errorf("edited at %s and %s", edits[i-1], edits[i])
		}
	}
	if len(edits) == 0 {
		t.Error("it was never edited")
	}
	o.Restart()
	o.Pass(5 * time.Minute)
	if n := len(seen()); n != 1 {
		t.Errorf("there are %d messages, want the list alone", n)
	}
}
