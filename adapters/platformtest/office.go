package platformtest

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"sync"
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

// Asking is the session of an Office that asks questions, and Second another one that may be there.
const (
	Asking = sessions.ID("pb_000000000001")
	Second = sessions.ID("pb_000000000002")
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
	keyboard  Keyboard
	people    People
	dir       string
	name      string // of the platform's adapter
	side      func(db *store.Store) Side
	told      *told
	reader    Reader
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
	Platform intake.Platform
	Decode   func(raw []byte) (intake.Event, bool, error)
	// Reader returns what reads updates into a queue.
	Reader func(q *intake.Queue, in *inbound.Inbound) Reader
}

// Reader reads updates until its context ends, and says how well.
type Reader interface {
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
	o.told, o.name = &told{Platform: side.Platform}, side.Name
	o.In, err = inbound.New(inbound.Options{
		Platforms: []intake.Platform{o.told}, Sessions: registry{o.bridge.House, &o.questions, &o.keyboard, unused{}}, Hub: o.bridge.Hub, Store: db, Pinned: o.Pinned,
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
	o.questions.Tell(o.In.Prompted)
	o.bridge.SetPeople(&adaptertest.People{Placed: o.In.Placed, Users: o.In.Users, Moved: o.In.Moved})
	o.bridge.House.SetFollowers(o.bridge.Hub, o.In)
	queue := intake.NewQueue(intake.QueueOptions{Journal: db.Journal(side.Name), Decode: side.Decode, Handle: o.In.Handle})
	o.reader = side.Reader(queue, o.In)
	stop := o.running(queue.Run, o.In.Run, o.reader.Run)
	o.Pass(2 * time.Second) // until it listens
	o.end = func() {
		o.questions.Tell(nil)
		o.bridge.SetPeople(nil)
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
func (o *Office) Session() sessions.ID { return Asking }

// Questions are those that it asks.
func (o *Office) Questions() *adaptertest.Questions { return &o.questions }

// Keyboard is where texts are typed.
func (o *Office) Keyboard() *Keyboard { return &o.keyboard }

// Ask has it ask for a permission.
func (o *Office) Ask(id string) {
	o.questions.Change(sessions.Prompt{ID: id, Session: Asking, Dialog: adaptertest.Permission(), State: sessions.PromptOpen, OpenedAt: time.Now()})
}

// Pass lets time pass, and what happens in it.
func (o *Office) Pass(d time.Duration) { adaptertest.After(d) }

// Chats are the platform's chats, as the scheduler of its calls sees them.
func (o *Office) Chats() []qos.ChatStatus {
	o.tb.Helper()
	s, err := o.bridge.Hub.Scheduler(o.name).Snapshot(context.Background())
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
	if h := o.In.Questions(); h.Condition != intake.Well {
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
	*Keyboard
	unused
}

type unused struct{ inbound.Sessions }

// told is the platform, and remembers what people were told in passing.
type told struct {
	intake.Platform
	mu   sync.Mutex
	last string
}

func (p *told) Answer(ctx context.Context, press intake.Event, text string) error {
	p.mu.Lock()
	p.last = text
	p.mu.Unlock()
	return p.Platform.Answer(ctx, press, text)
}

func (p *told) take() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	text := p.last
	p.last = ""
	return text
}
