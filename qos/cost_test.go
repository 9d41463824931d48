package qos_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/qos/qostest"
)

const manyDocuments = 10_000

// silent is a platform that orders an hour's silence at the first call, so that
// what's measured is the scheduler.
type silent struct{}

func (silent) Deliver(context.Context, qos.Call) qos.CallResult {
	return qos.CallResult{Outcome: qos.Throttled, RetryAfter: time.Hour, Global: true}
}

// prompt is a platform that takes everything at once.
type prompt struct{}

func (prompt) Deliver(_ context.Context, call qos.Call) qos.CallResult {
	return qos.CallResult{Outcome: qos.Delivered, Delivered: call.Wanted, Final: call.Final}
}

// run starts a scheduler with 10,000 documents, so many per chat, and waits until
// it has taken them in.
func run(tb testing.TB, d qos.Deliverer, perChat int) (s *qos.OutputQoSScheduler, ids []qos.DocID) {
	tb.Helper()
	s, err := qos.New(qostest.WithLimits(qos.Options{}), d, qos.NewLocalBudget(nil))
	if err != nil {
		tb.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	tb.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			tb.Error(err)
		}
	})
	for i := range manyDocuments {
		id := qos.DocID(fmt.Sprint("binding", i))
		ids = append(ids, id)
		err := s.Open(qos.Doc{
			ID: id, Chat: qos.ChatKey(fmt.Sprint("-", i/perChat)), Session: qos.SessionKey(fmt.Sprint("pb_", i)), Wanted: 1,
		})
		if err != nil {
			tb.Fatal(err)
		}
	}
	settle(tb, s)
	return s, ids
}

func settle(tb testing.TB, s *qos.OutputQoSScheduler) {
	tb.Helper()
	if _, err := s.Status(context.Background()); err != nil {
		tb.Fatal(err)
	}
}

// BenchmarkWant is one update among 10,000 documents, with the scheduler taking
// them in at the same time: at most 2 µs and no allocation.
func BenchmarkWant(b *testing.B) {
	for _, bench := range []struct {
		name    string
		d       qos.Deliverer
		perChat int
	}{
		{"10000 chats", silent{}, 1},
		{"50 chats", silent{}, 200},
		{"1 chat", silent{}, manyDocuments},
		{"10000 chats that are served", prompt{}, 1},
		{"50 chats that are served", prompt{}, 200},
		{"1 chat that is served", prompt{}, manyDocuments},
	} {
		b.Run(bench.name, func(b *testing.B) {
			s, ids := run(b, bench.d, bench.perChat)
			b.ReportAllocs()
			line := int64(1)
			for i := 0; b.Loop(); i++ {
				if i%len(ids) == 0 {
					line++
				}
				if !s.Want(ids[i%len(ids)], line, false) {
					b.Fatal("a document isn't open")
				}
			}
			settle(b, s)
		})
	}
}

// BenchmarkWantFromMany is the same from eight goroutines.
func BenchmarkWantFromMany(b *testing.B) {
	s, ids := run(b, silent{}, 200)
	b.ReportAllocs()
	b.SetParallelism(4)
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for i := 0; pb.Next(); i++ {
			s.Want(ids[i*7919%len(ids)], int64(2+i/len(ids)), false)
		}
	})
	settle(b, s)
}

// BenchmarkNaive is the baseline: a channel, and a goroutine that looks through
// all that waits, in a map, for each update.
func BenchmarkNaive(b *testing.B) {
	updates := make(chan int, 1000)
	var wg sync.WaitGroup
	wg.Go(func() {
		waiting := map[int]int64{}
		for doc := range updates {
			waiting[doc]++
			oldest := -1
			for d, line := range waiting {
				if oldest < 0 || line > waiting[oldest] {
					oldest = d
				}
			}
		}
	})
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		updates <- i % manyDocuments
	}
	close(updates)
	wg.Wait()
}

// TestWantDoesntAllocate, on either side of the letterbox.
func TestWantDoesntAllocate(t *testing.T) {
	for _, perChat := range []int{1, 200, manyDocuments} {
		s, ids := run(t, silent{}, perChat)
		line, i := int64(1), 0
		round := func() {
			if i++; i == len(ids) {
				line, i = line+1, 0
			}
			s.Want(ids[i], line, line%5 == 0)
		}
		for range 3 * len(ids) { // what grows has grown
			round()
		}
		settle(t, s)
		if n := testing.AllocsPerRun(5*len(ids), round); n != 0 {
			t.Errorf("%d documents a chat: %v allocations per update", perChat, n)
		}
	}
}

// TestClosedSessionsLeaveNothing in a chat that goes on.
func TestClosedSessionsLeaveNothing(t *testing.T) {
	inArena(t, qos.Options{}, nil, func(a *arena) {
		a.feed("stays", group)
		for i := range 200 {
			a.feed(docID(i), group)
			a.pass(30 * time.Second)
			a.sched.CloseSession(qos.SessionKey(docID(i)), qos.CloseMode(i%2))
			if i%3 > 0 {
				continue
			}
			if err := a.sched.PostRequest(qos.Request{Chat: group, Key: docIDString(i), Class: qos.Stream, Session: qos.SessionKey(docID(i))}); err != nil {
				t.Fatal(err)
			}
		}
		a.pass(time.Minute)
		if n := qos.Flows(a.sched); n > 3 {
			t.Errorf("%d flows are kept for one session", n)
		}
	})
}

func docIDString(i int) string { return string(docID(i)) }

// TestMemoryComesBack is P11: after all sessions have closed nothing is left, and
// the memory is as before.
func TestMemoryComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		before := heapBytes()
		s, ids := run(t, prompt{}, 3)
		for i, id := range ids {
			s.Want(id, int64(i), i%2 == 0)
		}
		for i := range 1000 {
			chat := qos.ChatKey(fmt.Sprint("-", i))
			if err := s.PostRequest(qos.Request{Chat: chat, Key: "x", Session: qos.SessionKey(fmt.Sprint("pb_", i))}); err != nil {
				t.Fatal(err)
			}
			s.TryRequest(qos.Request{Chat: chat, Key: "typing", Family: qos.FamilyTyping})
		}
		time.Sleep(time.Hour)
		for i := range manyDocuments {
			s.CloseSession(qos.SessionKey(fmt.Sprint("pb_", i)), qos.CloseMode(i%2))
		}
		time.Sleep(2 * time.Hour)
		if left := qos.Left(s); left != "" {
			t.Errorf("still there: %s", left)
		}
		clear(ids)
		during := heapBytes()
		if grown := int64(during) - int64(before); grown > 512<<10 {
			t.Errorf("the heap has grown by %d KiB", grown>>10)
		}
		t.Logf("the heap was %d KiB before, and is %d KiB after", before>>10, during>>10)
		runtime.KeepAlive(s)
	})
}

func heapBytes() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// recorder is a Meter.
type recorder struct {
	called                     map[string]int
	coalesced, shed, penalized int
	waited                     time.Duration
}

func (r *recorder) CountCall(c qos.Class, f qos.Family, o qos.CallOutcome, wait, _ time.Duration) {
	r.called[c.String()+" "+string(f)+" "+o.String()]++
	r.waited = max(r.waited, wait)
}
func (r *recorder) CountCoalesced(n int)                       { r.coalesced += n }
func (r *recorder) CountShed(qos.Family)                       { r.shed++ }
func (r *recorder) CountPenalty(_ qos.Family, _ time.Duration) { r.penalized++ }

// TestLoad: a snapshot tells the pace, who prints, and for how long the oldest has waited.
func TestLoad(t *testing.T) {
	inArena(t, qos.Options{}, nil, func(a *arena) {
		load := func() qos.LoadStatus {
			s, err := a.sched.Status(context.Background())
			if err != nil {
				t.Error(err)
			}
			return s.Load
		}
		if got := load(); got != (qos.LoadStatus{Pace: 1}) {
			t.Errorf("at the start: %+v", got)
		}
		a.open("doc", group)
		a.want("doc", 1, false)
		a.pass(time.Second)
		a.want("doc", 2, false) // which the pace holds back
		a.pass(500 * time.Millisecond)
		want := qos.LoadStatus{Tick: 3200 * time.Millisecond, ActiveSessions: 1, Oldest: 500 * time.Millisecond, Pace: 1, Reserve: 1}
		want.Waiting[qos.Stream] = qos.WaitingCount{Count: 1, Oldest: 500 * time.Millisecond}
		if got := load(); got != want {
			t.Errorf("while a session prints: %+v, want %+v", got, want)
		}
		a.pass(time.Minute)
		if got := load(); got.ActiveSessions != 0 || got.Oldest != 0 {
			t.Errorf("when it's quiet: %+v", got)
		}
	})
}

// TestObserverAndSummary: metrics hear of everything, and the log sums it up every
// 30 s while there's traffic.
func TestObserverAndSummary(t *testing.T) {
	r := &recorder{called: map[string]int{}}
	var log bytes.Buffer
	opt := qos.Options{Meter: r, Logger: slog.New(slog.NewTextHandler(&log, nil))}
	inArena(t, opt, nil, func(a *arena) {
		a.outcome = func(call qos.Call) *qos.CallResult {
			switch call.Key {
			case "slow down":
				return throttled(time.Second)
			case "unchanged":
				return &qos.CallResult{Outcome: qos.Unchanged}
			default:
				return nil
			}
		}
		a.open("doc", group)
		a.want("doc", 1, false)
		a.pass(time.Second)
		for line := range int64(20) { // before the chat's next slot, which is why all but one are coalesced
			a.want("doc", line+2, false)
		}
		a.pass(time.Second)
		a.sched.TryRequest(qos.Request{Chat: group, Key: "typing", Family: qos.FamilyTyping})
		a.post("-200", "unchanged", qos.Interactive)
		a.pass(58 * time.Second)
		a.post("-300", "slow down", qos.Final)
		a.pass(500 * time.Millisecond)
		a.answers(nil)
		a.pass(time.Hour)
		if lines := strings.Count(log.String(), "msg=output"); lines != 2 {
			t.Errorf("%d summaries, want one per half minute with traffic:\n%s", lines, log.String())
		}
		if want := "mode=strict tick_s=3.2 active_sessions=0 pace=1 reserve=1 oldest_s=0 errors=0 updates=21"; !strings.Contains(log.String(), want) {
			t.Errorf("the log says, without %s:\n%s", want, log.String())
		}
		if want := "oldest_s=0 errors=1 updates=0"; !strings.Contains(log.String(), want) {
			t.Errorf("the log says, without %s:\n%s", want, log.String())
		}
		if !strings.Contains(log.String(), "updates=21 coalesced=19 shed=1") {
			t.Errorf("the log says:\n%s", log.String())
		}
	})
	want := map[string]int{
		"stream  delivered": 2, "interactive  unchanged": 1, "final  throttled": 1, "final  delivered": 1,
	}
	if fmt.Sprint(r.called) != fmt.Sprint(want) {
		t.Errorf("calls: %v, want %v", r.called, want)
	}
	if r.coalesced != 19 || r.shed != 1 || r.penalized != 1 || r.waited < time.Second {
		t.Errorf("observed: %+v", r)
	}
}
