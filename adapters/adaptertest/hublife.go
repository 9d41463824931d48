package adaptertest

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing/synctest"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/sessions"
)

// hubLife is such a life while it's lived.
type hubLife struct {
	history hubHistory
	daemon  Daemon
	backend Backend
	house   *House
	texts   texts

	platform *Platform
	threads  bool // one chat with a thread for each session; else a chat each
	open     func() (qos.Ledger, func())
	rules    []adapters.Rule
	mode     qos.Mode

	conn    *Conn
	process *Process
	kill    func() // of the ledger's access
	hub     *adapters.Hub
	stop    context.CancelFunc
	stopped chan error

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
	d.Platform.NonceFor = nonceTime(d.New)
	l.platform = NewPlatform(d.Platform)
	l.platform.SetFault(l.fault)
	a := d.New(l.platform.Connect())
	l.threads = a.Shape(adapters.Target{Adapter: a.Name(), Chat: theChat}).OwnThread
	l.platform.AddGroup(theChat, true)
	for i := range mostSessions {
		l.platform.AddGroup(chatOf(i), true)
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

func chatOf(session int) string { return theChat + strconv.Itoa(session) }

func nameOf(session int) string { return fmt.Sprintf("agent-%d", session) }

func (l *hubLife) rule(adapter string, session int) adapters.Rule {
	r := adapters.Rule{Session: nameOf(session), To: adapters.Target{Adapter: adapter, Chat: theChat}}
	if !l.threads {
		r.To.Chat = chatOf(session)
	}
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
	l.conn = l.platform.Connect()
	l.process = &Process{Store: l.backend}
	var ledger qos.Ledger
	ledger, l.kill = l.open()
	var err error
	l.hub, err = adapters.NewHub(adapters.HubOptions{
		Outlets: []adapters.Outlet{{Adapter: l.daemon.New(l.conn), Budget: qos.NewLocalBudget(ledger)}},
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
		l.conn.Kill(l.half())
	}
	l.stop()
	err := <-l.stopped
	if killed {
		err = nil
	}
	l.doubtAll() // also when it's told to stop, slow calls are given up
	l.platform.Wait()
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
func (l *hubLife) doubt(k adapters.Kept) {
	if k.Document.Intent != nil {
		id := k.Binding.Session
		l.doubts[id] = append(l.doubts[id], doubtOf(k.Document))
	}
}

// fault is what goes wrong with a call. It's asked with the platform's lock held.
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
		l.hub.Focus(s.ID)
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
