package adapters_test

import (
	"context"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/adaptertest"
	"github.com/panebridge/panebridge/internal/redact"
	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/sessions"
)

// rig is a hub with adapters a and b, each for a platform of its own with groups
// -1, -2 and -3.
type rig struct {
	*testing.T
	backend   adaptertest.Backend
	house     *adaptertest.House
	form      adapters.Shape
	qos       qos.Options
	keys      bool // ThreadKeys
	names     []string
	chats     []string // that the adapters know
	rules     []adapters.MirrorRule
	platforms map[string]*adaptertest.Platform
	ledgers   map[string]func() (qos.Ledger, func())
	log       slog.Handler
	disabled  []adapters.Binding
	full      atomic.Bool // the store takes no bindings
	quiet     func(t adapters.Target, s sessions.ID, now time.Time) bool
	users     func(t adapters.Target, now time.Time) []string
	ringAfter time.Duration
	masker    *redact.Masker
	endsTurn  func(line string) bool
	restored  func(ctx context.Context) error // Restored
	storing   func()                          // called while one is stored; nil: nothing is
	// dies counts down what the process writes: at 0 it's killed, behind that write or, with
	// diesBefore, in front of it.
	dies       atomic.Int64
	diesBefore bool

	process *adaptertest.Process
	hub     *adapters.Hub
	stop    func()
}

func newRig(t *testing.T, o adaptertest.Options) *rig {
	t.Helper()
	m := adaptertest.NewMemory(0)
	r := &rig{
		T: t, backend: m, house: adaptertest.NewHouse(m), form: adapters.Shape{MaxLen: 4096}, names: []string{"a", "b"}, chats: []string{"-1", "-2", "-3"}, log: slog.DiscardHandler,
		platforms: map[string]*adaptertest.Platform{}, ledgers: map[string]func() (qos.Ledger, func()){},
	}
	for _, name := range r.names {
		p := adaptertest.NewPlatform(o)
		for _, chat := range []string{"-1", "-2", "-3"} {
			p.AddGroup(chat, true)
		}
		r.platforms[name], r.ledgers[name] = p, adaptertest.MemLedgers()
	}
	return r
}

// start begins a process, and has it end with the test.
func (r *rig) start() {
	r.Helper()
	r.process = &adaptertest.Process{Store: &fullStore{Store: r.backend, rig: r}}
	var outlets []adapters.Outlet
	for _, name := range r.names {
		ledger, _ := r.ledgers[name]()
		o := r.qos
		o.Seed = 1
		outlets = append(outlets, adapters.Outlet{
			Adapter: &adaptertest.Adapter{
				Conn: r.platforms[name].Connect(), Named: name, Form: r.form, QoS: o, ThreadKeys: r.keys,
				Chats: r.chats,
			},
			Budget: qos.NewLocalBudget(ledger),
		})
	}
	var err error
	r.hub, err = adapters.NewHub(adapters.HubOptions{
		Outlets: outlets, Store: r.process, Log: r.backend, Sessions: r.house, Screens: r.house, Settings: adapters.Settings{Rules: r.rules, RingAfter: r.ringAfter},
		Disabled: func(b adapters.Binding) { r.disabled = append(r.disabled, b) }, EndsTurn: r.endsTurn, Masker: r.masker, Logger: slog.New(r.log), Restored: r.restored,
	})
	if err != nil {
		r.Fatal(err)
	}
	r.hub.SetInbound(people{r})
	if err := r.hub.Load(context.Background()); err != nil {
		r.Fatal(err)
	}
	r.house.SetFollowers(r.hub)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- r.hub.Run(ctx) }()
	stopped := false
	r.stop = func() {
		if stopped {
			return
		}
		stopped = true
		r.house.SetFollowers()
		cancel()
		if err := <-ended; err != nil {
			r.Error(err)
		}
		for _, p := range r.platforms {
			p.Wait()
		}
	}
	r.Cleanup(r.stop)
	synctest.Wait()
}

// people are the rig's inbound half.
type people struct{ r *rig }

func (p people) IsQuiet(t adapters.Target, s sessions.ID, now time.Time) bool {
	return p.r.quiet != nil && p.r.quiet(t, s, now)
}

func (p people) UsersOf(t adapters.Target, now time.Time) []string {
	if p.r.users == nil {
		return nil
	}
	return p.r.users(t, now)
}

func (people) HandlePlaced(sessions.ID) {}
func (people) FollowMoves()             {}

func (r *rig) must(err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
	synctest.Wait()
}

// reload replaces the rules.
func (r *rig) reload(rules []adapters.MirrorRule) error {
	return r.hub.Reload(context.Background(), adapters.Settings{Rules: rules})
}

func (r *rig) begin(id sessions.ID, name string) { r.Helper(); r.must(r.house.Begin(id, name)) }

func (r *rig) print(id sessions.ID, lines ...string) {
	r.Helper()
	r.must(r.house.Print(id, adaptertest.Output{Lines: lines}))
}

func (r *rig) ends(id sessions.ID, lines ...string) {
	r.Helper()
	r.must(r.house.Print(id, adaptertest.Output{Lines: lines, Ends: true}))
}

// pass lets time pass.
func (r *rig) pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func (r *rig) bind(id sessions.ID, to string, view adapters.View) adapters.Binding {
	r.Helper()
	t, err := adapters.ParseTarget(to)
	if err != nil {
		r.Fatal(err)
	}
	b, err := r.hub.Bind(context.Background(), id, t, view, false)
	r.must(err)
	return b
}

// texts are what a chat shows.
func (r *rig) texts(adapter, chat string) []string {
	var out []string
	for _, m := range r.platforms[adapter].Seen(chat, "") {
		out = append(out, m.Text)
	}
	return out
}

func (r *rig) wantTexts(adapter, chat string, want ...string) {
	r.Helper()
	if got := r.texts(adapter, chat); strings.Join(got, "|") != strings.Join(want, "|") {
		r.Errorf("%s:%s shows %q, want %q", adapter, chat, got, want)
	}
}

// rule mirrors each line: what a chat shows is compared with the log. That of long output only the ends are shown is usual
// (fold_test.go).
func rule(t *testing.T, pattern, to string) adapters.MirrorRule {
	t.Helper()
	target, err := adapters.ParseTarget(to)
	if err != nil {
		t.Fatal(err)
	}
	return adapters.MirrorRule{Session: pattern, To: target, Work: adapters.WorkShown{Output: adapters.LengthAll}}
}

// inBubble runs a test in fake time.
func inBubble(t *testing.T, f func(t *testing.T, r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { f(t, newRig(t, adaptertest.Options{})) })
}

// filter keeps the messages that begin so.
func filter(all []adaptertest.Message, prefix string) []adaptertest.Message {
	var out []adaptertest.Message
	for _, m := range all {
		if strings.HasPrefix(m.Text, prefix) {
			out = append(out, m)
		}
	}
	return out
}

// fullStore takes no bindings while it's full.
type fullStore struct {
	adapters.Store
	rig *rig
}

func (s *fullStore) PutBinding(ctx context.Context, b adapters.Binding, d *adapters.Document) error {
	if s.rig.full.Load() {
		return sessions.ErrUnavailable
	}
	if s.rig.storing != nil {
		s.rig.storing()
	}
	return s.write(func() error { return s.Store.PutBinding(ctx, b, d) })
}

func (s *fullStore) PutDocument(ctx context.Context, id adapters.BindingID, d adapters.Document, sent *adapters.Message) error {
	return s.write(func() error { return s.Store.PutDocument(ctx, id, d, sent) })
}

func (s *fullStore) TakeUp(ctx context.Context, id sessions.ID) error {
	return s.write(func() error { return s.Store.TakeUp(ctx, id) })
}

// write writes something, and kills the process if it's to die there.
func (s *fullStore) write(do func() error) error {
	if s.rig.dies.Add(-1) != 0 {
		return do()
	}
	s.rig.process.Kill()
	if s.rig.diesBefore {
		return adaptertest.ErrKilled
	}
	return do()
}
