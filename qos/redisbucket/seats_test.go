package redisbucket_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/qos/qostest"
)

// What is done to processes and their Redis, in any order: never more calls in a window
// than are allowed, also where a window has fewer calls than there are processes. All
// processes want to call all the time. A call arrives anywhere between its grant and its
// answer.
func TestNoHistoryExceedsASmallWindow(t *testing.T) {
	// Each history writes state files durably, many times.
	drawtest.CheckTimes(t, drawtest.Times(300, 8, 2), func(rt *rapid.T) {
		h := history{
			calls: rapid.IntRange(1, 4).Draw(rt, "calls"), most: rapid.IntRange(3, 6).Draw(rt, "most"),
			seed: rapid.Uint64().Draw(rt, "seed"), dir: mustTemp(rt),
		}
		defer func() { _ = os.RemoveAll(h.dir) }()
		for range rapid.IntRange(4, steps()).Draw(rt, "steps") {
			h.steps = append(h.steps, step{
				what: rapid.SampledFrom([]string{
					"cut", "cut", "cut", "heal", "deafen", "empty", "break", "mend", "kill", "start", "end", "all",
				}).Draw(rt, "what"),
				who:  rapid.IntRange(0, h.most-1).Draw(rt, "who"),
				rest: time.Duration(rapid.IntRange(50, 20000).Draw(rt, "rest ms")) * time.Millisecond,
			})
		}
		for _, wrong := range h.run(t) {
			rt.Error(wrong)
		}
	})
}

// steps is how long a history is at most.
func steps() int {
	if drawtest.Stressed() {
		return 25
	}
	return 10
}

func mustTemp(rt *rapid.T) string {
	dir, err := os.MkdirTemp("", "redisbucket-")
	if err != nil {
		rt.Fatal(err)
	}
	return dir
}

// history is what happens to the processes of a bot.
type history struct {
	calls, most int
	seed        uint64
	dir         string
	steps       []step
}

type step struct {
	what string
	who  int
	rest time.Duration
}

const (
	smallWindow = 3 * time.Second
	longWindow  = 5 * time.Second
	smallCalls  = 2 * time.Second // the longest call
)

// world is a history under way.
type world struct {
	history
	rig     *rig
	members []*member
	ledgers []*qostest.MemLedger
	kept    []*qostest.Process

	mu       sync.Mutex
	random   *rand.Rand
	arrivals []time.Time
	wrong    []string
}

func (h history) run(t *testing.T) (wrong []string) {
	t.Helper()
	inRig(t, h.most, func(r *rig) {
		w := &world{history: h, rig: r, members: make([]*member, h.most), random: rand.New(rand.NewPCG(h.seed, 0))}
		r.limits = qos.Limits{
			Bot:   qos.Limit{Windows: []qos.Window{{Calls: 30, Per: time.Second}}},
			Group: qos.Limit{Windows: []qos.Window{{Calls: h.calls, Per: smallWindow}, {Calls: 2 * h.calls, Per: longWindow}}},
		}
		r.callTimeout = smallCalls
		for i := range w.members {
			w.ledgers, w.kept = append(w.ledgers, qostest.NewMemLedger()), append(w.kept, nil)
			w.start(i)
		}
		time.Sleep(2 * smallWindow)
		for _, s := range h.steps {
			w.do(s)
			time.Sleep(s.rest)
		}
		w.do(step{what: "all"})
		for i := range w.members {
			w.end(i)
		}
		slices.SortFunc(w.arrivals, time.Time.Compare)
		for _, per := range r.limits.Group.Windows {
			for i := per.Calls; i < len(w.arrivals); i++ {
				if d := w.arrivals[i].Sub(w.arrivals[i-per.Calls]); d < per.Per {
					w.wrong = append(w.wrong, fmt.Sprintf("%d calls in %v; allowed are %d in %v", per.Calls+1, d, per.Calls, per.Per))
					break
				}
			}
		}
		wrong = w.wrong
	})
	return wrong
}

// do makes one step.
func (w *world) do(s step) {
	m := w.members[s.who]
	switch s.what {
	case "cut", "deafen", "heal":
		if m != nil {
			m.cut.Store(s.what == "cut")
			m.deaf.Store(s.what == "deafen")
		}
	case "empty":
		// All members have been heard of by others: else there's nobody to tell a Redis that
		// is empty.
		time.Sleep(time.Second)
		w.rig.redis.FlushAll()
	case "break":
		w.rig.redis.SetError("broken")
	case "mend":
		w.rig.redis.SetError("")
	case "kill":
		if m != nil {
			m.cut.Store(true) // nobody hears of its end
			m.dead.Store(true)
			w.kept[s.who].Kill()
			w.end(s.who)
		}
	case "start":
		if m == nil {
			w.start(s.who)
		}
	case "end":
		w.end(s.who)
	case "all":
		w.rig.redis.SetError("")
		for i, m := range w.members {
			if m == nil {
				w.start(i)
			} else {
				m.cut.Store(false)
				m.deaf.Store(false)
			}
		}
		time.Sleep(4 * smallWindow)
	}
}

func (w *world) start(i int) {
	w.kept[i] = w.ledgers[i].Process()
	m := w.rig.joinKept(fmt.Sprintf("%s/%d", w.dir, i), w.kept[i])
	w.members[i] = m
	ctx, stop := context.WithCancel(context.Background())
	m.quit = stop
	m.work.Go(func() {
		for ctx.Err() == nil {
			w.call(m)
		}
	})
}

func (w *world) end(i int) {
	m := w.members[i]
	if m == nil {
		return
	}
	w.members[i] = nil
	m.quit()
	m.work.Wait()
	m.stop()
	<-m.ended
}

func (w *world) some(d time.Duration) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return time.Duration(w.random.Int64N(int64(d)))
}

// call asks, and makes the call if it's granted.
func (w *world) call(m *member) {
	asked := time.Now()
	a := m.try()
	if a.State != qos.Granted {
		time.Sleep(min(time.Until(a.At), 500*time.Millisecond) + w.some(20*time.Millisecond))
		return
	}
	longest := 300 * time.Millisecond
	if w.some(20) == 0 {
		longest = smallCalls
	}
	longest = max(min(longest, time.Until(asked.Add(smallCalls))), 2)
	there := w.some(longest)
	time.Sleep(there)
	w.mu.Lock()
	w.arrivals = append(w.arrivals, time.Now())
	w.mu.Unlock()
	if m.dead.Load() {
		return // and it's never known that it was answered
	}
	time.Sleep(w.some(max(longest-there, 1)))
	m.Settle(time.Now(), a.Permit, time.Now())
}

// Cut off, those who hold the seats of a small window go on with one call each, and the
// others leave them that; who is new there has none.
func TestWhoHasASeatIsServedWithoutRedis(t *testing.T) {
	inRig(t, 4, func(r *rig) {
		const per = 3 * time.Second
		r.limits = qos.Limits{
			Bot:   qos.Limit{Windows: []qos.Window{{Calls: 30, Per: time.Second}}},
			Group: qos.Limit{Windows: []qos.Window{{Calls: 60, Per: time.Minute}, {Calls: 3, Per: per}}},
		}
		var all []*member
		for range 4 {
			all = append(all, r.join(""))
		}
		time.Sleep(aWindow + time.Second) // the server was empty
		for i, m := range all {
			if n, last := m.calls(1); n != 1 {
				r.t.Fatalf("with redis, process %d isn't served: %+v", i, last)
			}
			time.Sleep(per + time.Second)
		}
		all[0].cut.Store(true)
		time.Sleep(2 * time.Second)
		all[3].mustCall(2, "all but the seat of who vanished")
		time.Sleep(per + time.Second)
		for _, m := range all[1:] {
			m.cut.Store(true)
		}
		cut := time.Now()
		time.Sleep(2 * time.Second)
		_, last := all[1].calls(1)
		if at := last.At.Sub(cut); at > silence {
			r.t.Fatalf("silent for %v, want %v", at, silence)
		}
		time.Sleep(time.Until(last.At))
		for range 3 {
			for i, want := range []int{1, 1, 0, 0} {
				all[i].mustCall(want, fmt.Sprint("without redis, process ", i))
			}
			time.Sleep(per)
		}
		for _, m := range all {
			m.cut.Store(false)
		}
		time.Sleep(per + time.Second)
		all[3].mustCall(3, "all there is")
		for _, m := range all {
			m.leave()
		}
	})
}
