package adaptertest

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/qos/qostest"
	"github.com/panebridge/panebridge/sessions"
)

// Bridge is a hub with the adapter of a real platform, and the sessions that it mirrors.
// What it keeps outlives its processes. It's made and used in one bubble.
type Bridge struct {
	House *House
	Rules []adapters.Rule
	// Others are outlets of other platforms. Nil: there are none.
	Others func() []adapters.Outlet
	// RingAfter is Settings.RingAfter.
	RingAfter time.Duration

	Hub  *adapters.Hub // of the newest process
	Stop func()
	Kill func() // what happens from then on isn't kept

	tb      testing.TB
	adapter func() adapters.Adapter
	backend *Memory
	ledger  *qostest.MemLedger
	people  atomic.Pointer[People]
}

// People are what a process is told of people, and whom it tells.
type People struct {
	Placed func(id sessions.ID)                            // HubOptions.Placed
	Users  func(t adapters.Target, now time.Time) []string // HubOptions.Users
	Moved  func()                                          // HubOptions.Moved
}

// NewBridge returns one without sessions, whose processes have an adapter each.
func NewBridge(tb testing.TB, adapter func() adapters.Adapter, rules ...adapters.Rule) *Bridge {
	tb.Helper()
	m := NewMemory(0)
	return &Bridge{House: NewHouse(m), Rules: rules, tb: tb, adapter: adapter, backend: m, ledger: qostest.NewMemLedger()}
}

// SetPeople has a process that may be sending already know people. Nil: nobody is known or told,
// as at first.
func (b *Bridge) SetPeople(p *People) { b.people.Store(p) }

// Start begins a process, which Stop ends.
func (b *Bridge) Start() {
	b.tb.Helper()
	ledger, store := b.ledger.Process(), &Process{Store: b.backend}
	b.Kill = func() {
		ledger.Kill()
		store.Kill()
	}
	outlets := []adapters.Outlet{{Adapter: b.adapter(), Budget: qos.NewLocalBudget(ledger)}}
	if b.Others != nil {
		outlets = append(outlets, b.Others()...)
	}
	hub, err := adapters.NewHub(adapters.HubOptions{
		Outlets: outlets, Store: store, Log: b.backend, Sessions: b.House, Screens: b.House,
		Settings: adapters.Settings{Rules: b.Rules, RingAfter: b.RingAfter}, Logger: slog.New(slog.DiscardHandler),
		Users: func(t adapters.Target, now time.Time) []string {
			if p := b.people.Load(); p != nil {
				return p.Users(t, now)
			}
			return nil
		},
		Moved: func() {
			if p := b.people.Load(); p != nil {
				p.Moved()
			}
		},
		Placed: func(id sessions.ID) {
			if p := b.people.Load(); p != nil {
				p.Placed(id)
			}
		},
	})
	if err == nil {
		err = hub.Load(context.Background())
	}
	if err != nil {
		b.tb.Fatal(err)
	}
	b.Hub = hub
	b.House.SetFollowers(hub)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- hub.Run(ctx) }()
	b.Stop = func() {
		b.tb.Helper()
		b.House.SetFollowers()
		cancel()
		if err := <-ended; err != nil && !store.Killed() {
			b.tb.Error(err)
		}
	}
}

// Print has a session print.
func (b *Bridge) Print(id sessions.ID, o Output) {
	b.tb.Helper()
	b.must(b.House.Print(id, o))
}

// Begin makes a session.
func (b *Bridge) Begin(id sessions.ID, name string) {
	b.tb.Helper()
	b.must(b.House.Begin(id, name))
}

// End ends a session.
func (b *Bridge) End(id sessions.ID) {
	b.tb.Helper()
	b.must(b.House.End(id, "session ended"))
}

// Compare holds what a person sees against all that a session has printed.
func (b *Bridge) Compare(seen []Message, id sessions.ID) {
	b.tb.Helper()
	s, err := b.House.Get(string(id))
	b.must(err)
	for _, wrong := range b.House.Compare(seen, Want{Session: id, To: s.Lines, Oldest: 1}) {
		b.tb.Errorf("%s: %s", s.Name, wrong)
	}
}

func (b *Bridge) must(err error) {
	b.tb.Helper()
	if err != nil {
		b.tb.Fatal(err)
	}
}
