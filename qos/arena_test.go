package qos_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/qos/qostest"
)

// arena is a scheduler in a bubble with a platform that does what it's told, and
// a record of what it was told.
type arena struct {
	t      *testing.T
	sched  *qos.OutputQoSScheduler
	began  time.Time
	cancel context.CancelFunc
	ended  chan error

	mu      sync.Mutex
	latency func() time.Duration                // of a call; nil: none
	outcome func(call qos.Call) *qos.CallResult // what the platform answers; nil: delivered
	greedy  map[qos.DocID]bool                  // documents that always have more
	grants  []grant
	events  []qos.SchedulerEvent
	wanted  map[qos.DocID]int64
	inChat  map[qos.ChatKey]int
}

// grant is a call that was made.
type grant struct {
	qos.Call
	at, end time.Duration // since the arena began
}

// inArena runs a test in a bubble. budget makes the budget, there too; nil: one
// that's kept nowhere.
func inArena(t *testing.T, opt qos.Options, budget func() qos.Budget, test func(a *arena)) {
	t.Helper()
	if budget == nil {
		budget = func() qos.Budget { return qos.NewLocalBudget(nil) }
	}
	synctest.Test(t, func(t *testing.T) {
		a := newArena(t, opt, budget())
		defer a.close()
		test(a)
	})
}

func newArena(t *testing.T, opt qos.Options, budget qos.Budget) *arena {
	t.Helper()
	a := newStillArena(t, opt, budget)
	a.run()
	return a
}

// newStillArena returns one whose scheduler doesn't run yet.
func newStillArena(t *testing.T, opt qos.Options, budget qos.Budget) *arena {
	t.Helper()
	a := &arena{
		t: t, began: time.Now(), ended: make(chan error, 1),
		greedy: map[qos.DocID]bool{}, wanted: map[qos.DocID]int64{}, inChat: map[qos.ChatKey]int{},
	}
	if opt.Seed == 0 {
		opt.Seed = 1
	}
	if opt.OnEvent == nil {
		opt.OnEvent = func(ev qos.SchedulerEvent) {
			a.mu.Lock()
			defer a.mu.Unlock()
			a.events = append(a.events, ev)
		}
	}
	sched, err := qos.New(qostest.WithLimits(opt), a, budget)
	if err != nil {
		t.Fatal(err)
	}
	a.sched = sched
	return a
}

func (a *arena) run() {
	ctx, cancel := context.WithCancel(context.Background())
	a.cancel = cancel
	go func() { a.ended <- a.sched.Run(ctx) }()
}

func (a *arena) close() {
	a.t.Helper()
	a.cancel()
	if err := <-a.ended; err != nil {
		a.t.Errorf("Run ended with %v", err)
	}
}

func (a *arena) now() time.Duration { return time.Since(a.began) }

// Deliver implements qos.Deliverer.
func (a *arena) Deliver(ctx context.Context, call qos.Call) qos.CallResult {
	a.mu.Lock()
	g := grant{Call: call, at: a.now()}
	var takes time.Duration
	if a.latency != nil {
		takes = a.latency()
	}
	if a.inChat[call.Chat]++; a.inChat[call.Chat] > 1 {
		a.t.Errorf("two calls at a time in %s", call.Chat)
	}
	r := qos.CallResult{Outcome: qos.Delivered, Delivered: max(call.Wanted, a.wanted[call.Doc]), Final: call.Final}
	if a.outcome != nil {
		if o := a.outcome(call); o != nil {
			r = *o
		}
	}
	a.mu.Unlock()
	answered := sleep(ctx, takes)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.inChat[call.Chat]--
	g.end = a.now()
	a.grants = append(a.grants, g)
	if !answered {
		return qos.CallResult{Outcome: qos.Uncertain}
	}
	if a.greedy[call.Doc] {
		a.wanted[call.Doc] = r.Delivered + 1
		a.sched.Want(call.Doc, r.Delivered+1, false)
	}
	return r
}

// open opens a document of a session with the same name.
func (a *arena) open(id qos.DocID, chat qos.ChatKey) {
	a.t.Helper()
	if err := a.sched.Open(qos.Doc{ID: id, Chat: chat, Session: qos.SessionKey(id)}); err != nil {
		a.t.Fatal(err)
	}
}

// feed opens a document that always has more to send.
func (a *arena) feed(id qos.DocID, chat qos.ChatKey) {
	a.t.Helper()
	a.open(id, chat)
	a.mu.Lock()
	a.greedy[id] = true
	a.wanted[id] = 1
	a.mu.Unlock()
	a.want(id, 1, false)
}

func (a *arena) want(id qos.DocID, line int64, final bool) {
	a.t.Helper()
	if !a.sched.Want(id, line, final) {
		a.t.Fatalf("%s isn't open", id)
	}
}

func (a *arena) post(chat qos.ChatKey, key string, class qos.Class) {
	a.t.Helper()
	if err := a.sched.PostRequest(qos.Request{Chat: chat, Key: key, Class: class}); err != nil {
		a.t.Fatal(err)
	}
}

// answers changes what the platform answers while calls may be under way.
func (a *arena) answers(outcome func(call qos.Call) *qos.CallResult) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.outcome = outcome
}

// pass lets time pass, and everything happen that's due.
func (a *arena) pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// made are the calls made so far, in their order, that keep says yes to.
func (a *arena) made(keep func(g grant) bool) []grant {
	a.mu.Lock()
	defer a.mu.Unlock()
	var out []grant
	for _, g := range a.grants {
		if keep == nil || keep(g) {
			out = append(out, g)
		}
	}
	return out
}

func (a *arena) seen(kind qos.SchedulerEventKind) []qos.SchedulerEvent {
	a.mu.Lock()
	defer a.mu.Unlock()
	var out []qos.SchedulerEvent
	for _, ev := range a.events {
		if ev.Kind == kind {
			out = append(out, ev)
		}
	}
	return out
}

func (a *arena) snapshot() qos.SchedulerStatus {
	a.t.Helper()
	s, err := a.sched.Status(context.Background())
	if err != nil {
		a.t.Fatal(err)
	}
	return s
}

func always(d time.Duration) func() time.Duration { return func() time.Duration { return d } }
