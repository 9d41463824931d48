package intake_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/adapters/intake/journaltest"
	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/sessions"
)

// The most crashes and failures of one history together don't make the queue give
// an update up.
const (
	mostCrashes  = 4
	mostFailures = 3
)

// queueHistory is a random life of a queue: updates come, are handled, fail or
// poison, and the process is killed between any two steps of the journal's.
type queueHistory struct {
	seed    uint64
	updates []deed
	crashes []int   // after so many steps of each life
	trouble float64 // of the journal's calls that fail
}

// deed is what happens when an update is handled.
type deed struct {
	place  string
	after  time.Duration // it comes so long after the one before
	takes  time.Duration
	fails  int // times
	panics bool
	poison bool // it always fails
	absent int  // times that something is unavailable
	button bool // it needn't wait for long for what came before it
}

func drawQueueHistory(t *rapid.T) queueHistory {
	h := queueHistory{seed: rapid.Uint64().Draw(t, "seed")}
	for _, seed := range rapid.SliceOfN(rapid.Uint64(), 1, 60).Draw(t, "updates") {
		r := rand.New(rand.NewPCG(seed, seed))
		d := deed{place: strconv.Itoa(r.IntN(5))}
		d.after = []time.Duration{0, 0, 0, 100 * time.Millisecond, 10 * time.Second}[r.IntN(5)]
		d.takes = []time.Duration{0, 0, time.Millisecond, time.Second, 20 * time.Second}[r.IntN(5)]
		switch r.IntN(8) {
		case 0:
			d.fails, d.panics = 1+r.IntN(mostFailures), r.IntN(2) == 0
		case 1:
			d.absent = 1 + r.IntN(15)
		case 2:
			d.poison = r.IntN(3) == 0
		}
		d.button = r.IntN(3) == 0
		h.updates = append(h.updates, d)
	}
	h.trouble = rapid.SampledFrom([]float64{0, 0.03, 0.3}).Draw(t, "trouble")
	h.crashes = rapid.SliceOfN(rapid.IntRange(1, 120), 0, mostCrashes).Draw(t, "crashes")
	return h
}

// queueLife is such a life while it's lived.
type queueLife struct {
	queueHistory
	journal *journaltest.Memory
	random  *rand.Rand

	mu      sync.Mutex
	wrong   []string
	process int // counts lives
	kept    map[int]time.Time
	running map[string][]int // place → updates, in this life
	done    map[int]int      // update → how often it was handled
	failed  map[int]int      // update → how often it failed
	absent  map[int]int
	gaveUp  map[int]bool
}

func (l *queueLife) complain(format string, args ...any) {
	l.wrong = append(l.wrong, fmt.Sprintf(format, args...))
}

func (h queueHistory) live() []string {
	l := &queueLife{
		queueHistory: h, journal: journaltest.NewMemory(), random: rand.New(rand.NewPCG(h.seed, 2)),
		done: map[int]int{}, kept: map[int]time.Time{}, failed: map[int]int{}, absent: map[int]int{}, gaveUp: map[int]bool{},
	}
	next := 0 // the update that the platform sends next, as far as it has been told
	for _, steps := range append(slices.Clone(h.crashes), 0) {
		next = l.once(steps, next)
	}
	l.check()
	return l.wrong
}

// once lives until a crash after so many steps; 0: until all is done.
func (l *queueLife) once(steps, next int) int {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	l.process++
	l.running = map[string][]int{}
	p, me, taken := l.journal.Process(), l.process, 0
	p.Hook = func(method string, done bool) error {
		l.mu.Lock()
		if !done && method != "try" && l.random.Float64() < l.trouble {
			l.mu.Unlock()
			return errors.New("the disk has a moment")
		}
		taken++
		crash := steps != 0 && taken == steps
		if crash {
			l.process++ // nothing of this life counts any more
		}
		l.mu.Unlock()
		if crash {
			p.Kill()
			cancel()
			return journaltest.ErrKilled
		}
		return nil
	}
	q := intake.NewQueue(intake.QueueOptions{
		Journal: p, Decode: decode, Places: 3,
		Handle: func(ctx context.Context, e intake.Event) error { return l.handle(ctx, me, e) },
		GaveUp: func(e intake.Event) {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.gaveUp[number(e)] = true
		},
	})
	ended := make(chan error)
	go func() { ended <- q.Run(ctx) }()
	next = l.feed(ctx, q, next)
	if steps == 0 {
		time.Sleep(2 * time.Hour) // more than all of it can take
		synctest.Wait()
		if s := q.Stats(); s.Waiting != 0 || s.Failing != 0 {
			l.complain("in the end the figures are %+v", s)
		}
	} else {
		time.Sleep(l.rest())
	}
	cancel()
	if err := <-ended; err != nil {
		l.complain("the queue ended with %v", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.process++
	return next
}

// feed is the platform: it sends batches, some of it again, and goes on when it's
// told that they've come.
func (l *queueLife) feed(ctx context.Context, q *intake.Queue, next int) int {
	for next < len(l.updates) && ctx.Err() == nil {
		time.Sleep(l.updates[next].after)
		from, to := l.batch(next)
		var batch []intake.Update
		for i := from; i < to; i++ {
			batch = append(batch, update(strconv.Itoa(i), l.updates[i].place+"/"+l.sign(i)+strconv.Itoa(i)))
		}
		if q.Keep(ctx, batch) == nil {
			next = to
		} else {
			time.Sleep(time.Second)
		}
	}
	return next
}

func (l *queueLife) rest() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return time.Duration(l.random.IntN(int(time.Minute)))
}

func (l *queueLife) batch(next int) (from, to int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return max(0, next-l.random.IntN(3)), min(len(l.updates), next+1+l.random.IntN(5))
}

// sign begins what an update says. Only now can it be kept.
func (l *queueLife) sign(i int) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.kept[i].IsZero() {
		l.kept[i] = time.Now()
	}
	if l.updates[i].button {
		return "!"
	}
	return ""
}

func number(e intake.Event) int {
	_, n, _ := strings.Cut(e.Key, "/")
	n = strings.TrimPrefix(n, "!")
	i, _ := strconv.Atoi(n)
	return i
}

func (l *queueLife) handle(ctx context.Context, me int, e intake.Event) error {
	i := number(e)
	d := l.updates[i]
	if !l.begin(me, i, d) {
		return errors.New("nobody is there any more")
	}
	select {
	case <-time.After(d.takes):
	case <-ctx.Done():
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if me != l.process {
		return nil // a dead process says what it likes
	}
	l.running[d.place] = slices.DeleteFunc(l.running[d.place], func(n int) bool { return n == i })
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case l.absent[i] < d.absent:
		l.absent[i]++
		return fmt.Errorf("handle: %w", sessions.ErrUnavailable)
	case d.poison || l.failed[i] < d.fails:
		l.failed[i]++
		if d.panics {
			panic("handle")
		}
		return errors.New("handle: no")
	}
	l.done[i]++
	return nil
}

// begin checks that an update may be handled now.
func (l *queueLife) begin(me, i int, d deed) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if me != l.process {
		return false
	}
	// Of two at once the later one has passed the other.
	mayPass := func(n int) bool { return l.updates[n].button && time.Since(l.kept[n]) >= 2*time.Second }
	beside := l.running[d.place]
	atOnce := 1
	for _, others := range l.running {
		atOnce += len(others)
	}
	switch {
	case len(beside) > 1, len(beside) == 1 && !mayPass(max(i, beside[0])):
		l.complain("update %d is handled while updates %v of its place are", i, beside)
	case atOnce > 3:
		l.complain("%d updates are handled at a time", atOnce)
	}
	l.running[d.place] = append(beside, i)
	if o, _ := l.journal.Outcome(strconv.Itoa(i)); o != "" {
		l.complain("update %d is handled again, though it was %s", i, o)
	}
	for j := range i {
		if o, _ := l.journal.Outcome(strconv.Itoa(j)); l.updates[j].place == d.place && o == "" && !mayPass(i) {
			l.complain("update %d is handled before update %d of its place", i, j)
		}
	}
	return true
}

func (l *queueLife) check() {
	for i, d := range l.updates {
		o, _ := l.journal.Outcome(strconv.Itoa(i))
		switch {
		case d.poison:
			if o != intake.SetAside || !l.gaveUp[i] {
				l.complain("the poisoned update %d was %q, told: %v", i, o, l.gaveUp[i])
			}
		case o != intake.Handled || l.done[i] < 1:
			l.complain("update %d was %q, after %d times", i, o, l.done[i])
		case l.done[i] > 1+len(l.crashes):
			l.complain("update %d was handled %d times", i, l.done[i])
		}
	}
}

func TestQueueHistories(t *testing.T) {
	drawtest.CheckTimes(t, drawtest.Times(10_000, 400, 80), func(rt *rapid.T) {
		h := drawQueueHistory(rt)
		var wrong []string
		synctest.Test(t, func(*testing.T) { wrong = h.live() })
		for _, w := range wrong {
			rt.Error(w)
		}
	})
}
