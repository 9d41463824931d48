package qosbench

import (
	"reflect"
	"testing"
	"time"

	"github.com/panebridge/panebridge/internal/drawtest"
)

func TestPanebridgeLosesNothingAndKeepsToTheLimit(t *testing.T) {
	horizon := 8 * time.Minute
	if drawtest.Stressed() {
		horizon = 20 * time.Minute
	}
	for _, s := range Scenarios() {
		for _, calls := range []int{1, 2} {
			results, err := s.Run(Options{Seed: 7, Horizon: horizon, FinalCalls: calls})
			if err != nil {
				t.Fatal(err)
			}
			r := results[0]
			if r.Policy != Panebridge {
				t.Fatalf("the first row is %s's", r.Policy)
			}
			if r.LinesLost > 0 || r.SessionsStale > 0 || r.CallsWorstWindow > limitCalls || r.Inside > 0 {
				t.Errorf("%s, %d calls a final: %d lines lost, %d sessions stale, %d calls in a window, %d during a penalty",
					s.Name, calls, r.LinesLost, r.SessionsStale, r.CallsWorstWindow, r.Inside)
			}
		}
	}
}

func TestTheSameSeedGivesTheSameRows(t *testing.T) {
	for _, s := range Scenarios() {
		if s.Sessions != 12 && s.penalty == 0 && s.failures == 0 && s.breaks == 0 {
			continue
		}
		opt := Options{Seed: 3, Horizon: 10 * time.Minute, FinalCalls: 1}
		first, err := s.Run(opt)
		if err != nil {
			t.Fatal(err)
		}
		again, err := s.Run(opt)
		if err != nil {
			t.Fatal(err)
		}
		for i := range first {
			if !reflect.DeepEqual(first[i].Row, again[i].Row) {
				t.Errorf("%s: %+v, then %+v", s.Name, first[i].Row, again[i].Row)
			}
		}
	}
}

func TestAFinalOfTwoCallsIsAnnouncedByTheSecond(t *testing.T) {
	p, err := newPanebridge(1, 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	p.take(0, event{kind: turnEvent, lines: 1, turns: 1})
	var calls []call
	drive(p, time.Minute, func(_ time.Duration, c *call) answer {
		calls = append(calls, *c)
		return answer{}
	})
	if len(calls) != 2 || calls[0].toTurn != 0 || calls[1].toTurn != 1 || !calls[0].forFinal {
		t.Errorf("calls are %+v, want two, the second announcing turn 1", calls)
	}
}

// The grants are counted from when a final begins to wait, its own included.
func TestGrantsPerPosition(t *testing.T) {
	p := &panebridge{sessions: []session{{printed: []time.Duration{1}}, {printed: []time.Duration{2}}, {printed: []time.Duration{3}}}}
	p.wait(0)
	p.wait(1)
	p.wait(0) // waits already
	p.grants = 4
	p.granted(0)
	if p.worst != 4 {
		t.Errorf("the first final waited for %v grants per position, want 4", p.worst)
	}
	p.grants = 10
	p.granted(1)
	if p.worst != 5 {
		t.Errorf("the second final waited for %v grants per position, want 10/2", p.worst)
	}
}
