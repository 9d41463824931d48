package adaptertest

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/qos/qostest"
)

// Daemon is what HubHistories runs on.
type Daemon struct {
	New New
	// Platform are the rules of the platform; NonceFor is as the adapter's.
	Platform Options
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

// HubHistories has so many daemons live random lives.
func HubHistories(t *testing.T, times int, d Daemon) {
	t.Helper()
	if d.Backend == nil {
		d.Backend = func(maxLines int64) (Backend, func()) { return NewMemory(maxLines), func() {} }
	}
	if d.Ledger == nil {
		d.Ledger = memLedgers
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

// memLedgers is Daemon.Ledger in memory.
func memLedgers() func() (qos.Ledger, func()) {
	kept := qostest.NewMemLedger()
	return func() (qos.Ledger, func()) {
		p := kept.Process()
		return p, p.Kill
	}
}
