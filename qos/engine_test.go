package qos_test

import (
	"container/heap"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/qos/qostest"
)

// simulation drives a SlotEngine in time of its own: no goroutine, no clock.
type simulation struct {
	engine *qos.SlotEngine
	now    time.Time
	ends   ends
	log    []string
	look   func(next time.Time) // called before time passes; may be nil
}

type ending struct {
	at   time.Time
	call *qos.Started
}

type ends []ending

func (e ends) Len() int           { return len(e) }
func (e ends) Less(i, j int) bool { return e[i].at.Before(e[j].at) }
func (e ends) Swap(i, j int)      { e[i], e[j] = e[j], e[i] }
func (e *ends) Push(x any)        { *e = append(*e, x.(ending)) }

func (e *ends) Pop() any {
	old := *e
	x := old[len(old)-1]
	*e = old[:len(old)-1]
	return x
}

// until runs the engine up to a time; each call takes as long as latency says.
func (s *simulation) until(end time.Time, latency func() time.Duration, answer func(qos.Call) qos.CallResult) {
	for {
		for _, c := range s.engine.Advance(s.now) {
			s.log = append(s.log, fmt.Sprint(s.now.UnixNano(), c.Call))
			heap.Push(&s.ends, ending{at: s.now.Add(latency()), call: c})
		}
		next := end
		if at := s.engine.NextLook(); !at.IsZero() && at.Before(next) {
			next = at
		}
		ended := len(s.ends) > 0 && !s.ends[0].at.After(next)
		if ended {
			next = s.ends[0].at
		}
		if s.look != nil {
			s.look(next)
		}
		s.now = next
		if ended {
			e := heap.Pop(&s.ends).(ending)
			s.engine.Finish(s.now, e.call, answer(e.call.Call), s.now)
			continue
		}
		if !next.Before(end) {
			return
		}
	}
}

// TestEngineRepeats: the same arrivals and the same seed give the same calls at
// the same instants, so that simulations can be compared.
func TestEngineRepeats(t *testing.T) {
	simulate := func(seed uint64) []string {
		engine, err := qos.NewSlotEngine(qostest.WithLimits(qos.Options{Seed: seed}), qos.NewLocalBudget(nil), nil)
		if err != nil {
			t.Fatal(err)
		}
		random := rand.New(rand.NewPCG(1, 1))
		s := &simulation{engine: engine, now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
		for i := range 40 {
			engine.Open(s.now, qos.Doc{ID: docID(i), Chat: qos.ChatKey(fmt.Sprint("-", i%7)), Session: qos.SessionKey(docID(i))})
		}
		for step := range 3000 {
			i := random.IntN(40)
			engine.Want(s.now, docID(i), int64(step), random.IntN(9) == 0)
			if step%20 == 0 {
				if err := engine.PostRequest(s.now, qos.Request{Chat: qos.ChatKey(fmt.Sprint("-", i%7)), Key: fmt.Sprint(step)}); err != nil {
					t.Fatal(err)
				}
			}
			latency := func() time.Duration { return time.Duration(random.Int64N(int64(time.Second))) }
			s.until(s.now.Add(time.Duration(random.Int64N(int64(time.Second)))), latency, func(c qos.Call) qos.CallResult {
				if random.IntN(60) == 0 {
					return qos.CallResult{Outcome: qos.Throttled, RetryAfter: 7 * time.Second}
				}
				if random.IntN(60) == 0 {
					return qos.CallResult{Outcome: qos.NotSent}
				}
				return qos.CallResult{Outcome: qos.Delivered, Delivered: c.Wanted, Final: c.Final}
			})
		}
		return s.log
	}
	one, two, three := simulate(1), simulate(1), simulate(2)
	if len(one) < 500 {
		t.Fatalf("only %d calls", len(one))
	}
	if !slices.Equal(one, two) {
		t.Error("two runs with one seed differ")
	}
	if slices.Equal(one, three) {
		t.Error("the seed changes nothing, though there's jitter")
	}
}

// BenchmarkEngineWant is what an update costs the scheduler's goroutine.
func BenchmarkEngineWant(b *testing.B) {
	for _, perChat := range []int{1, 200, manyDocuments} {
		b.Run(fmt.Sprint(manyDocuments/perChat, " chats"), func(b *testing.B) {
			engine, err := qos.NewSlotEngine(qostest.WithLimits(qos.Options{}), qos.NewLocalBudget(nil), nil)
			if err != nil {
				b.Fatal(err)
			}
			now := time.Now()
			for i := range manyDocuments {
				engine.Open(now, qos.Doc{
					ID: docID(i), Chat: qos.ChatKey(fmt.Sprint("-", i/perChat)), Session: qos.SessionKey(docID(i)), Wanted: 1,
				})
			}
			engine.Advance(now) // as many calls as may be in flight; they never end
			ids := make([]qos.DocID, manyDocuments)
			for i := range ids {
				ids[i] = docID(i)
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				engine.Want(now, ids[i%manyDocuments], int64(2+i/manyDocuments), false)
				engine.Advance(now)
			}
		})
	}
}

// TestNextMissesNothing is P8 for all that waits: when the engine says that nothing can
// go before a time, nothing can, whatever it's that makes it possible (a slot, the pace,
// a rest that ends, a busy minute that's forgotten, a session that falls silent).
func TestNextMissesNothing(t *testing.T) {
	check(t, func(_ *testing.T, rt *rapid.T) (bad []string) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))
		opt := qos.Options{
			Seed: 1, HardReserve: random.IntN(2) == 0, GroupMPM: []int{4, 20, 60}[random.IntN(3)],
			Mode:              []qos.Mode{qos.Strict, qos.Strict, qos.CoalesceOnly}[random.IntN(3)],
			OutputBudgetRatio: []float64{0.3, 0.8, 1}[random.IntN(3)], ActiveEmitterEMAAlpha: 1,
			ReserveMPM: []int{0, 0, qos.NoReserve}[random.IntN(3)],
		}
		engine, err := qos.NewSlotEngine(qostest.WithLimits(opt), qos.NewLocalBudget(nil), nil)
		if err != nil {
			rt.Fatal(err)
		}
		began := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		s := &simulation{engine: engine, now: began}
		s.look = func(next time.Time) {
			if next.Sub(s.now) < 2*time.Microsecond {
				return
			}
			at := s.now.Add(time.Duration(random.Int64N(int64(next.Sub(s.now) - time.Microsecond))))
			for _, c := range qos.LookAgain(engine, at) {
				bad = append(bad, fmt.Sprintf("at %v a %v call could be made, and at %v it was said that nothing can before %v",
					at.Sub(began), c.Call.Class, s.now.Sub(began), next.Sub(began)))
				heap.Push(&s.ends, ending{at: at, call: c})
			}
		}
		n := 1 + random.IntN(8)
		for i := range n {
			engine.Open(s.now, qos.Doc{ID: docID(i), Chat: "-1", Session: qos.SessionKey(docID(i))})
		}
		latency := func() time.Duration { return time.Duration(random.Int64N(int64(2 * time.Second))) }
		answer := func(c qos.Call) qos.CallResult {
			if random.IntN(200) == 0 {
				return qos.CallResult{Outcome: qos.Throttled, RetryAfter: 7 * time.Second}
			}
			return qos.CallResult{Outcome: qos.Delivered, Delivered: c.Wanted, Final: c.Final}
		}
		for step := range 150 {
			engine.Want(s.now, docID(random.IntN(n)), int64(step+1), random.IntN(15) == 0)
			if random.IntN(15) == 0 {
				if err := engine.PostRequest(s.now, qos.Request{Chat: "-1", Key: fmt.Sprint(step)}); err != nil {
					rt.Fatal(err)
				}
			}
			longest := []time.Duration{time.Second, time.Second, 5 * time.Second, 90 * time.Second}[random.IntN(4)]
			s.until(s.now.Add(time.Duration(random.Int64N(int64(longest)))), latency, answer)
			if len(bad) > 0 {
				return bad
			}
		}
		return nil
	})
}
