package qosbench

import (
	"fmt"
	"testing"
	"time"

	"github.com/panebridge/panebridge/internal/drawtest"
)

func TestNoPolicyIsBetterThanTheOptimum(t *testing.T) {
	horizon, seeds := 30*time.Minute, uint64(2)
	if !drawtest.Stressed() {
		horizon, seeds = 12*time.Minute, 1
	}
	for _, s := range Scenarios() {
		for seed := range seeds {
			results, err := s.Run(Options{Seed: seed + 1, Horizon: horizon, FinalCalls: 1})
			if err != nil {
				t.Fatal(err)
			}
			best := columns(results[len(results)-1].Row)
			for _, r := range results {
				for i, got := range columns(r.Row) {
					if got.value < best[i].value-0.001 { // a bound is looked for to the millisecond
						t.Errorf("%s, seed %d: %s of %s is %v, the optimum %v", s.Name, seed+1, got.name, r.Policy, got.value, best[i].value)
					}
				}
			}
		}
	}
}

type column struct {
	name  string
	value Seconds
}

// columns are those where less is better.
func columns(r Row) []column {
	return []column{
		{"final p50", r.FinalP50},
		{"final p99", r.FinalP99},
		{"final max", r.FinalMax},
		{"stale p50", r.StaleP50},
		{"stale p99", r.StaleP99},
		{"stale max", r.StaleMax},
		{"worst gap", r.WorstGap},
		{"unfairness", Seconds(1 - r.Jain)},
		{"sessions stale", Seconds(r.SessionsStale)},
		{"lines lost", Seconds(r.LinesLost)},
	}
}

func TestTheOptimumOfFinalsAtOnce(t *testing.T) {
	for _, c := range []struct {
		finals int
		want   Seconds
	}{{limitCalls, 0}, {limitCalls + 1, 60}, {2 * limitCalls, 60}, {2*limitCalls + 1, 120}} {
		t.Run(fmt.Sprint(c.finals), func(t *testing.T) {
			arrivals := trace{sessions: c.finals, horizon: time.Hour}
			for s := range c.finals {
				arrivals.turn(s, time.Minute)
			}
			arrivals.finish()
			if got := optimum(arrivals).FinalMax; got < c.want-0.001 || got > c.want {
				t.Errorf("the longest delay is at best %v, want %v", got, c.want)
			}
		})
	}
}

// Thirty sessions that print all the time can each be served every 90 s.
func TestTheOptimumOfSessionsThatAlwaysPrint(t *testing.T) {
	s := Scenario{Sessions: 30, fill: chatterAll}
	got := optimum(s.trace(1, time.Hour))
	if got.StaleMax < 85 || got.StaleMax > 90 {
		t.Errorf("the stalest line is at best %v s old, want a bit below 90", got.StaleMax)
	}
	if got.StaleP50 < 30 || got.StaleP50 > 45 {
		t.Errorf("half of the lines are at best %v s old, want a bit below 45", got.StaleP50)
	}
}

// Turns of one session that end soon after each other can share a call.
func TestTheOptimumCoalesces(t *testing.T) {
	arrivals := trace{sessions: 1, horizon: time.Hour}
	for i := range 5 * limitCalls {
		arrivals.turn(0, time.Duration(i)*100*time.Millisecond)
	}
	arrivals.finish()
	if got := optimum(arrivals).FinalMax; got > 0.5 {
		t.Errorf("the longest delay is at best %v s, but ten calls do", got)
	}
}
