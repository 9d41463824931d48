package qosbench

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/panebridge/panebridge/internal/drawtest"
)

// TestAnEndIsToldWithinAFewTurns: the ends of turns of sessions that end them without end are told within three
// fair intervals and a window: a session is three calls ahead at most, and finals, which keep to no pace, may use up a window. Of
// one such session beside others that only print it's two fair intervals, or a window if that's longer.
func TestAnEndIsToldWithinAFewTurns(t *testing.T) {
	worst, worstAlone := 0.0, 0.0
	for seed := range drawtest.Seeds(t, drawtest.Times(3000, 120, 25)) {
		s, talkative, plain := drawTalkative(rand.New(rand.NewPCG(seed, 12)))
		results, err := s.Run(Options{Seed: seed, Horizon: 15 * time.Minute, FinalCalls: 1})
		if err != nil {
			t.Fatal(err)
		}
		ours := results[0]
		longest := 0.0
		for _, p := range ours.Series.Finals {
			if p.Session < talkative {
				longest = max(longest, p.Value.Seconds())
			}
		}
		window := (limitWindow + s.Latency).Seconds()
		most := 3*float64(ours.fairGap) + window
		worst = max(worst, longest/most)
		if talkative == 1 && plain {
			most = max(2*float64(ours.fairGap), window)
			worstAlone = max(worstAlone, longest/most)
		}
		if longest > most {
			t.Errorf("seed %d: %s, %d sessions, %d talkative, latency %v: an end was told after %.1fs, want at most %.1fs; the fair interval is %.1fs",
				seed, s.Name, s.Sessions, talkative, s.Latency, longest, most, ours.fairGap)
		}
		checkSafety(t, ours)
	}
	t.Logf("at worst %.2f of the bound, %.2f of that of one beside others that only print", worst, worstAlone)
}

// drawTalkative draws a scenario whose first sessions end turns without end; plain says that the others end none.
func drawTalkative(r *rand.Rand) (s Scenario, talkative int, plain bool) {
	talkative = 1 + r.IntN(3)
	every := []time.Duration{500 * time.Millisecond, 3 * time.Second, 10 * time.Second, 30 * time.Second}[r.IntN(4)]
	jitter, commands := r.IntN(2) == 0, r.IntN(2) == 0
	others := r.IntN(3)
	s = Scenario{
		Name: []string{"others print", "others talk", "others talk in short turns"}[others], Sessions: talkative + r.IntN(30), noisy: true,
		Latency: []time.Duration{0, 100 * time.Millisecond, 300 * time.Millisecond, 2 * time.Second}[r.IntN(4)],
	}
	s.fill = func(t *trace, seed uint64) {
		rhythm := source(seed, forPlatform)
		for i := range talkative {
			for at := every; at < t.horizon; at += every {
				t.turn(i, at)
				if jitter {
					at += between(rhythm, -every/2, every/2)
				}
			}
		}
		for i := talkative; i < t.sessions; i++ {
			own := source(seed, forSessions+uint64(i))
			switch others {
			case 0:
				t.chatter(own, i)
			case 1:
				t.talk(own, i)
			default:
				t.talkFor(own, i, span{shortLeast, shortMost}, span{pauseLeast, pauseMost})
			}
		}
		if commands {
			t.commands(source(seed, forCommands))
		}
	}
	return s, talkative, others == 0
}

// TestAPenaltyCostsLittleWhateverIsPrinted: with one "too many requests", of any length and whatever sessions do, the worst
// gap is at most two calls at full pace and a second longer than the penalty and the gap without it together, or than 1.6
// times that of a FIFO which doesn't slow down. A lone session has nothing to catch up with, and waits for its next call at
// half the pace; the second is what's added to the platform's time.
func TestAPenaltyCostsLittleWhateverIsPrinted(t *testing.T) {
	const factor, beside = 1.6, 2*60.0/19 + 1
	later, runs, worst, several := 0, 0, 0.0, 0.0
	for seed := range drawtest.Seeds(t, drawtest.Times(3000, 120, 25), 51301, 300059, 300180, 14167119826776580696, 835, 2833) {
		r := rand.New(rand.NewPCG(seed, 13))
		kind := r.IntN(5)
		s := Scenario{
			Name:     []string{"random", "locked", "always dirty", "short turns", "one ends turns every 3s"}[kind],
			Sessions: 1 + r.IntN(16), fill: []func(*trace, uint64){talkAll, lockAll, chatterAll, talkShort, hurryOne}[kind], always: kind == 2,
			Latency: []time.Duration{0, 100 * time.Millisecond, fifoLatency}[r.IntN(3)],
			penalty: []time.Duration{1, 4, 6, 12, 30, 60, 120}[r.IntN(7)] * time.Second,
		}
		results, err := s.Run(Options{Seed: seed, Horizon: 15 * time.Minute, FinalCalls: 1})
		if err != nil {
			t.Fatal(err)
		}
		ours, fifo := results[0], results[2]
		runs++
		if ours.WorstGap > fifo.WorstGap {
			later++
		}
		if s.Sessions > 1 {
			several = max(several, float64(ours.WorstGap/fifo.WorstGap))
		}
		without := s
		without.penalty = 0
		usual, err := without.Run(Options{Seed: seed, Horizon: 15 * time.Minute, FinalCalls: 1})
		if err != nil {
			t.Fatal(err)
		}
		most := max(factor*fifo.WorstGap, usual[0].WorstGap+Seconds(s.penalty.Seconds())) + beside
		worst = max(worst, float64(ours.WorstGap/most))
		if ours.WorstGap > most {
			t.Errorf("seed %d: %s, %d sessions, a penalty of %v, latency %v: the worst gap is %.1fs, the FIFO's %.1fs, without a penalty %.1fs",
				seed, s.Name, s.Sessions, s.penalty, s.Latency, ours.WorstGap, fifo.WorstGap, usual[0].WorstGap)
		}
		checkSafety(t, ours)
	}
	t.Logf("later than the FIFO in %d of %d runs, at worst %.2f of the bound; with several sessions at worst %.2f of the FIFO's", later, runs, worst, several)
}

// checkSafety checks what holds in every run.
func checkSafety(t *testing.T, r Result) {
	t.Helper()
	if r.Inside > 0 || r.CallsWorstWindow > limitCalls || r.SessionsStale > 0 || r.LinesLost > 0 {
		t.Errorf("seed %d: %d calls within the penalty, %d in a window, %d sessions stale, %d lines lost",
			r.Seed, r.Inside, r.CallsWorstWindow, r.SessionsStale, r.LinesLost)
	}
}
