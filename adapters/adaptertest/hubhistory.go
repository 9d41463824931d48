package adaptertest

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/qos/qostest"
	"github.com/panebridge/panebridge/sessions"
)

// Daemon is what HubHistories runs on.
type Daemon struct {
	New New
	// Backend returns an empty one and what closes it, within a bubble. Nil: in memory.
	Backend func(maxLines int64) (Backend, func())
	// Ledger returns, for each life, a function that opens the ledger of a new
	// process, and what ends that process's access at once. Nil: in memory.
	Ledger func() func() (qos.Ledger, func())
}

// hubHistory is a random life of a daemon: several sessions that come, print and
// end, mirrored by rules through Hub, scheduler and adapter to a platform that keeps
// its windows, with failures, restarts and crashes. At its end every chat must show
// what its session printed, and the platform must never have had to say no.
type hubHistory struct {
	Seed   uint64
	Rate   float64       // of calls that fail
	Slow   time.Duration // the longest a call takes to the platform, and its answer back
	Longer time.Duration // of the penalties that come unasked
	Steps  []hubStep
}

type hubStep struct {
	What  string
	After time.Duration
	Seed  uint64
}

func (h hubHistory) String() string {
	var s strings.Builder
	fmt.Fprintf(&s, "seed %d, %.0f %% of calls fail, calls take up to %v, penalties %v\n", h.Seed, 100*h.Rate, h.Slow, h.Longer)
	for _, st := range h.Steps {
		fmt.Fprintf(&s, "after %v: %s\n", st.After, st.What)
	}
	return s.String()
}

var hubLikely = []struct {
	what   string
	weight int
}{
	{"print", 50}, {"turn", 15}, {"live", 10}, {"begin", 6}, {"end", 2}, {"focus", 2}, {"reload", 4}, {"restart", 2}, {"crash", 3}, {"disk", 1},
}

func drawHubHistory(t *rapid.T) hubHistory {
	h := hubHistory{Seed: rapid.Uint64().Draw(t, "seed")}
	r := rand.New(rand.NewPCG(h.Seed, 1))
	h.Rate = []float64{0, 0.05, 0.3}[r.IntN(3)]
	h.Slow = []time.Duration{0, time.Second, 13 * time.Second}[r.IntN(3)]
	h.Longer = []time.Duration{3 * time.Second, time.Minute}[r.IntN(2)]
	for _, seed := range rapid.SliceOfN(rapid.Uint64(), 10, 80).Draw(t, "steps") {
		if seed < 1000 {
			continue // so that shrinking can leave steps out
		}
		r := rand.New(rand.NewPCG(seed, seed))
		st := hubStep{Seed: r.Uint64()}
		st.After = []time.Duration{0, 100 * time.Millisecond, time.Second, 5 * time.Second, 40 * time.Second}[r.IntN(5)]
		sum := 0
		for _, l := range hubLikely {
			sum += l.weight
		}
		n := r.IntN(sum)
		for _, l := range hubLikely {
			if n -= l.weight; n < 0 {
				st.What = l.what
				break
			}
		}
		h.Steps = append(h.Steps, st)
	}
	return h
}

// HubHistories lets so many daemons live random lives.
func HubHistories(t *testing.T, times int, d Daemon) {
	t.Helper()
	if d.Backend == nil {
		d.Backend = memoryBackend
	}
	if d.Ledger == nil {
		d.Ledger = MemLedgers
	}
	check(t, times, func(rt *rapid.T) []string {
		h := drawHubHistory(rt)
		var wrong []string
		synctest.Test(t, func(*testing.T) {
			b, done := d.Backend(0)
			defer done()
			wrong = h.live(d, b)
		})
		if len(wrong) > 0 {
			rt.Logf("%v", h)
		}
		return wrong
	})
}

// MemLedgers is Daemon.Ledger in memory.
func MemLedgers() func() (qos.Ledger, func()) {
	kept := qostest.NewMemLedger()
	return func() (qos.Ledger, func()) {
		p := kept.Process()
		return p, p.Kill
	}
}

// hubLife is such a life while it's lived.
type hubLife struct {
	history hubHistory
	daemon  Daemon
	backend Backend
	house   *House
	texts   texts

	world   World
	chats   []string
	threads bool // one chat with a thread for each session; else a chat each
	open    func() (qos.Ledger, func())
	rules   []adapters.MirrorRule
	mode    qos.Mode

	adapter   adapters.Adapter
	killCalls func(lost bool)
	process   *Process
	kill      func() // of the ledger's access
	hub       *adapters.Hub
	stop      context.CancelFunc
	stopped   chan error

	faulty atomic.Bool
	wrong  []string

	mu     sync.Mutex // calls fail on goroutines of their own
	random *rand.Rand
	doubts map[sessions.ID][]Doubt
}

// mostSessions live in one life.
const mostSessions = 4

func (h hubHistory) live(d Daemon, b Backend) []string {
	l := &hubLife{
		history: h, daemon: d, backend: b, house: NewHouse(b), random: rand.New(rand.NewPCG(h.Seed, 2)),
		open: d.Ledger(), doubts: map[sessions.ID][]Doubt{},
	}
	l.world = d.New(false)
	l.world.SetFault(l.fault)
	l.chats = l.world.Chats()
	a, _ := l.world.NewProcess()
	l.threads = a.Shape(adapters.Target{Adapter: a.Name(), Chat: l.chats[0]}).OwnThread
	for i := range mostSessions {
		l.rules = append(l.rules, l.rule(a.Name(), i))
	}
	if err := l.start(); err != nil {
		return []string{err.Error()}
	}
	l.faulty.Store(true)
	for _, st := range h.Steps {
		time.Sleep(st.After)
		synctest.Wait()
		if err := l.step(st, rand.New(rand.NewPCG(st.Seed, st.Seed))); err != nil {
			l.wrong = append(l.wrong, fmt.Sprintf("%s: %v", st.What, err))
			break
		}
	}
	l.end()
	return l.wrong
}

// chatOf is where a session is mirrored.
func (l *hubLife) chatOf(session int) string {
	if l.threads {
		return l.chats[0]
	}
	return l.chats[1+session]
}

func nameOf(session int) string { return fmt.Sprintf("agent-%d", session) }

func (l *hubLife) rule(adapter string, session int) adapters.MirrorRule {
	r := adapters.MirrorRule{Session: nameOf(session), To: adapters.Target{Adapter: adapter, Chat: l.chatOf(session)}, Work: eachLine()}
	if session == 2 {
		r.View = adapters.ViewFinal
	}
	return r
}

func (l *hubLife) settings() adapters.Settings {
	return adapters.Settings{Rules: slices.Clone(l.rules), Tune: func(_ string, o *qos.Options) { o.Mode = l.mode }}
}

// start begins a process.
func (l *hubLife) start() error {
	l.adapter, l.killCalls = l.world.NewProcess()
	l.process = &Process{Store: l.backend}
	var ledger qos.Ledger
	ledger, l.kill = l.open()
	var err error
	l.hub, err = adapters.NewHub(adapters.HubOptions{
		Outlets: []adapters.Outlet{{Adapter: l.adapter, Budget: qos.NewLocalBudget(ledger)}},
		Store:   l.process, Log: l.backend, Sessions: l.house, Screens: l.house,
		Settings: l.settings(), Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return err
	}
	if err := l.hub.Load(context.Background()); err != nil {
		return err
	}
	l.house.SetFollowers(l.hub)
	ctx, stop := context.WithCancel(context.Background())
	l.stop, l.stopped = stop, make(chan error, 1)
	go func() { l.stopped <- l.hub.Run(ctx) }()
	synctest.Wait()
	return nil
}

// end of a process: it's told to stop, or just dies.
func (l *hubLife) exit(killed bool) error {
	l.house.SetFollowers()
	if killed {
		l.process.Kill()
		l.kill()
		l.killCalls(l.half())
	}
	l.stop()
	err := <-l.stopped
	if killed {
		err = nil
	}
	l.doubtAll() // also when it's told to stop, slow calls are given up
	l.world.Wait()
	return err
}

// half is true in one of two cases.
func (l *hubLife) half() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.random.IntN(2) == 0
}

// doubtAll notes that what's under way may be shown or not.
func (l *hubLife) doubtAll() {
	kept, err := l.backend.Bindings(context.Background())
	if err != nil {
		l.wrong = append(l.wrong, err.Error())
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, k := range kept {
		l.doubt(k)
	}
}

// doubt notes that a document's intent may be shown or not. mu is held.
func (l *hubLife) doubt(k adapters.KeptBinding) {
	if k.Document.Intent != nil {
		id := k.Binding.Session
		l.doubts[id] = append(l.doubts[id], doubtOf(k.Document))
	}
}

// fault is what goes wrong with a call.
func (l *hubLife) fault(c Call) Fault {
	if !l.faulty.Load() {
		return Fault{}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	f := Fault{RetryAfter: l.history.Longer}
	if l.history.Slow > 0 {
		f.Out, f.Back = time.Duration(l.random.Int64N(int64(l.history.Slow))), time.Duration(l.random.Int64N(int64(l.history.Slow)))
	}
	if l.random.Float64() < l.history.Rate {
		f.Kind = FaultKind(l.random.IntN(int(faultKinds)))
	}
	if f.Kind == Throttled {
		f.Back = min(f.Back, time.Second) // an order that isn't heard can't be kept
	}
	if f.Kind >= BadGateway || f.Out+f.Back >= 15*time.Second { // nobody may hear what came of it
		kept, _ := l.backend.Bindings(context.Background())
		for _, k := range kept {
			if k.Binding.Target.Chat == c.Chat && (!l.threads || k.Document.Thread == c.Thread) {
				l.doubt(k)
			}
		}
	}
	return f
}

func (l *hubLife) step(st hubStep, r *rand.Rand) error {
	living := slices.DeleteFunc(l.house.List(), func(s sessions.Session) bool { return s.State == sessions.StateEnded })
	switch st.What {
	case "restart", "crash":
		if err := l.exit(st.What == "crash"); err != nil {
			return err
		}
		return l.start()
	case "begin":
		return l.begin()
	case "disk": // full for a while
		l.process.SetFault(func(adapters.Document) error { return sessions.ErrUnavailable })
		time.Sleep(20 * time.Second)
		synctest.Wait()
		l.process.SetFault(nil)
		l.doubtAll() // a receipt that couldn't be kept is one that a crash forgets
		return nil
	case "reload": // the same rules: nothing may change but the mode
		l.mode = []qos.Mode{qos.Strict, qos.CoalesceOnly}[r.IntN(2)]
		return l.hub.Reload(context.Background(), l.settings())
	}
	if len(living) == 0 {
		return l.begin()
	}
	s := living[r.IntN(len(living))]
	switch st.What {
	case "print":
		return l.house.Print(s.ID, Output{Lines: l.texts.random(r, 400)})
	case "turn":
		return l.house.Print(s.ID, Output{Lines: l.texts.random(r, 400)[:1], Ends: true})
	case "live":
		return l.house.Print(s.ID, someRegion(r))
	case "end":
		return l.house.End(s.ID, "session ended")
	default:
		l.hub.FocusSession(s.ID)
		return nil
	}
}

func (l *hubLife) begin() error {
	n := len(l.house.List())
	if n == mostSessions {
		return nil
	}
	return l.house.Begin(sessions.ID(fmt.Sprintf("pb_%012d", n)), nameOf(n))
}

// end lets the faults cease, ends all sessions, waits until everything is sent, and
// looks.
func (l *hubLife) end() {
	l.faulty.Store(false)
	for _, s := range l.house.List() {
		if s.State == sessions.StateEnded {
			continue
		}
		synctest.Wait() // who reads the log as its last line is written doesn't know that it's the last
		if err := l.house.End(s.ID, "session ended"); err != nil {
			l.wrong = append(l.wrong, err.Error())
		}
	}
	synctest.Wait()
	for hours := 0; hours < 48 && len(l.hub.Status("")) > 0; hours++ {
		time.Sleep(time.Hour)
		synctest.Wait()
	}
	if left := l.hub.Status(""); len(left) > 0 {
		l.wrong = append(l.wrong, fmt.Sprintf("2 days after all sessions have ended, bindings are left: %+v", left))
	}
	if err := l.exit(false); err != nil {
		l.wrong = append(l.wrong, fmt.Sprintf("the hub ended with %v", err))
	}
	l.compare()
	l.judge()
}

// compare holds each chat against its session.
func (l *hubLife) compare() {
	for i, s := range l.house.List() {
		chat, threads := l.chatOf(i), []string{""}
		if l.threads {
			threads = l.world.Threads(chat, s.Name)
		}
		var seen []Message
		for _, thread := range threads {
			seen = append(seen, l.world.Seen(chat, thread)...)
		}
		slices.SortFunc(seen, func(a, b Message) int {
			return cmp.Or(cmp.Compare(len(a.ID), len(b.ID)), cmp.Compare(a.ID, b.ID))
		})
		for _, w := range l.house.Compare(seen, Want{Session: s.ID, To: s.Lines, Oldest: 1, Doubts: l.doubts[s.ID]}) {
			l.wrong = append(l.wrong, fmt.Sprintf("%s: %s", s.Name, w))
		}
	}
}

// judge holds what came to the platform against its rules.
func (l *hubLife) judge() {
	budget := func(c Call) qos.ChatKey {
		return l.adapter.Chat(adapters.Target{Adapter: l.adapter.Name(), Chat: c.Chat, Thread: c.Thread})
	}
	arrivals := l.world.Arrivals()
	for _, a := range Banned(arrivals, budget) {
		l.wrong = append(l.wrong, fmt.Sprintf("at %v a call came to %s during a penalty", a.At, budget(a.Call)))
	}
	all := map[qos.ChatKey]bool{}
	for _, a := range arrivals {
		all[budget(a.Call)] = true
	}
	for key := range all {
		if n := Worst(arrivals, time.Minute, func(c Call) bool { return budget(c) == key }); n > 20 {
			l.wrong = append(l.wrong, fmt.Sprintf("%d calls came to %s within a minute", n, key))
		}
	}
	l.wrong = append(l.wrong, l.world.Wrong()...)
}
