package adaptertest

import (
	"math/rand/v2"
	"slices"
	"sync"
	"testing/synctest"
	"time"
)

// quickest is the least time that a call or its answer travels.
const quickest = 30 * time.Millisecond

// Latency returns how long calls and their answers travel, at random but repeatably: there
// and back less than slowest.
func Latency(seed uint64, slowest time.Duration) func() (here, back time.Duration) {
	var mu sync.Mutex
	r := rand.New(rand.NewPCG(seed, 2))
	one := func() time.Duration { return quickest + time.Duration(r.Int64N(int64(slowest/2-quickest))) }
	return func() (here, back time.Duration) {
		mu.Lock()
		defer mu.Unlock()
		return one(), one()
	}
}

// Percentile is the least duration that a share of all don't exceed.
func Percentile(all []time.Duration, share float64) time.Duration {
	all = slices.Sorted(slices.Values(all))
	return all[min(len(all)-1, int(float64(len(all))*share))]
}

// After lets time pass in a bubble, and what happens in it.
func After(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}
