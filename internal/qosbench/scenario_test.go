package qosbench

import (
	"reflect"
	"slices"
	"testing"
	"time"
)

func TestTracesAreOrderedAndRepeatable(t *testing.T) {
	names := map[string]bool{}
	for _, s := range Scenarios() {
		if names[s.Name] {
			t.Errorf("%s: the name is there twice", s.Name)
		}
		names[s.Name] = true
		first, again, other := s.trace(1, 15*time.Minute), s.trace(1, 15*time.Minute), s.trace(2, 15*time.Minute)
		if !reflect.DeepEqual(first.events, again.events) {
			t.Errorf("%s: the same seed gives other arrivals", s.Name)
		}
		if !s.always && reflect.DeepEqual(first.events, other.events) {
			t.Errorf("%s: another seed gives the same arrivals", s.Name)
		}
		if !slices.IsSortedFunc(first.events, func(a, b event) int { return int(a.at - b.at) }) {
			t.Errorf("%s: not in order", s.Name)
		}
	}
}

// 2 commands a minute, and a turn every 90 s.
func TestScenariosHaveTheRhythmThatIsSaid(t *testing.T) {
	for _, c := range []struct {
		scenario Scenario
		want     float64 // finals and commands a minute
		within   float64
	}{
		{Scenario{Sessions: 12, fill: talkAll}, 2 + 12*60.0/90, 0.1},
		{Scenario{Sessions: 12, fill: lockAll}, 2 + 12*60.0/90, 0.05},
		{Scenario{Sessions: 12, fill: chatterAll}, 2, 0.02},
		{Scenario{Sessions: 12, fill: hurryOne}, 2 + 20, 0.02},
		{Scenario{Sessions: 30, fill: finalsAtOnce}, 2 + 30.0/10, 0.1},
	} {
		if got, _ := c.scenario.trace(1, 4*time.Hour).essential(1); !near(got, c.want, c.within) {
			t.Errorf("%d sessions: %.2f finals and commands a minute, want about %.2f", c.scenario.Sessions, got, c.want)
		}
	}
}

func TestTheBusiestWindowIsHalfOpen(t *testing.T) {
	arrivals := trace{sessions: 1, horizon: time.Hour}
	for _, at := range []time.Duration{0, 10 * s, 60 * s, 69 * s, 69 * s} {
		arrivals.turn(0, at)
	}
	arrivals.line(0, 65*s)
	arrivals.finish()
	for calls, want := range map[int]int{1: 4, 2: 8} { // from 10 s to 69 s
		if _, most := arrivals.essential(calls); most != want {
			t.Errorf("%d calls in the busiest window with %d a final, want %d", most, calls, want)
		}
	}
}

func TestEverySessionThatTalksEndsWithATurn(t *testing.T) {
	arrivals := Scenario{Sessions: 12, fill: talkAll}.trace(1, time.Hour)
	last := map[int]eventKind{}
	for _, ev := range arrivals.events {
		if ev.kind != commandEvent {
			last[ev.session] = ev.kind
		}
	}
	for session, kind := range last {
		if kind != turnEvent {
			t.Errorf("session %d ends with a line", session)
		}
	}
}

func TestTheOptimumGapIsTheFormula(t *testing.T) {
	s := Scenario{Sessions: 12, Latency: 2 * time.Second, fill: chatterAll}
	others, _ := s.trace(1, time.Hour).essential(1)
	if got := s.optimumGap(others); !near(float64(got), 12*62.0/18, 1e-9) {
		t.Errorf("got %v, want 12*(60+2)/(20-2)", got)
	}
}
