package qosbench

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/panebridge/panebridge/internal/drawtest"
)

// TestAPenaltyCostsNobodyATurn: of sessions that always have something to send, none waits much longer because of a "too
// many requests", however short or long, than a FIFO that doesn't slow down would have it wait. Half a pace for five calls is
// what's left of the difference.
func TestAPenaltyCostsNobodyATurn(t *testing.T) {
	const most = 1.35
	worst := 0.0
	for seed := range drawtest.Seeds(t, drawtest.Times(600, 60, 12)) {
		random := rand.New(rand.NewPCG(seed, 9))
		s := Scenario{
			Name: "always dirty, a 429", Sessions: 3 + random.IntN(14), fill: chatterAll, always: true,
			Latency: []time.Duration{0, 100 * time.Millisecond, 300 * time.Millisecond}[random.IntN(3)],
			penalty: []time.Duration{1, 4, 6, 12, 30, 60}[random.IntN(6)] * time.Second,
		}
		results, err := s.Run(Options{Seed: seed, Horizon: 15 * time.Minute, FinalCalls: 1})
		if err != nil {
			t.Fatal(err)
		}
		ours, fifo := results[0], results[2]
		worst = max(worst, float64(ours.WorstGap/fifo.WorstGap))
		if ours.WorstGap > most*fifo.WorstGap {
			t.Errorf("%d sessions, a penalty of %v, latency %v: the worst gap is %.1fs, the FIFO's %.1fs", s.Sessions, s.penalty, s.Latency, ours.WorstGap, fifo.WorstGap)
		}
		if ours.Inside > 0 || ours.CallsWorstWindow > limitCalls || ours.SessionsStale > 0 {
			t.Errorf("%d calls within the penalty, %d in a window, %d sessions stale", ours.Inside, ours.CallsWorstWindow, ours.SessionsStale)
		}
	}
	t.Logf("at worst %.2f of the FIFO's", worst)
}
