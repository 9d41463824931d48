package qosbench

import (
	"math"
	"testing"
	"time"
)

const s = time.Second

// recorded plays events and calls of one session, by the second, to a record.
func recorded(t *testing.T, events []event, calls map[time.Duration]call) Row {
	t.Helper()
	arrivals := trace{sessions: 1, events: events}
	arrivals.finish()
	r := newRecord(1)
	for now := time.Duration(0); now <= 200*s; now += s {
		for _, ev := range arrivals.events {
			if ev.at == now {
				r.happened(ev)
			}
		}
		if c, ok := calls[now]; ok {
			r.arrived(now, &c, answer{})
		}
	}
	var row Row
	r.fill(&row)
	return row
}

func line(at time.Duration) event { return event{at: at, kind: lineEvent} }
func turn(at time.Duration) event { return event{at: at, kind: turnEvent} }

func TestDelaysAreFromPrintingToTheChat(t *testing.T) {
	row := recorded(t, []event{line(0), line(4 * s), turn(10 * s)}, map[time.Duration]call{
		6 * s:  {lines: 2},
		13 * s: {lines: 3, fromTurn: 1, toTurn: 1, forFinal: true},
	})
	if row.FinalP50 != 3 || row.FinalMax != 3 || row.StaleP50 != 3 || row.StaleMax != 6 {
		t.Errorf("got %+v, want finals 3 and lines 2, 3, 6", row)
	}
	if row.SessionsStale != 0 || row.LinesLost != 0 {
		t.Errorf("got %+v, want nothing lost", row)
	}
}

func TestAGapIsBetweenCallsOfASessionThatGoesOn(t *testing.T) {
	row := recorded(t, []event{line(0), line(3 * s), line(20 * s)}, map[time.Duration]call{
		2 * s:  {lines: 1},
		12 * s: {lines: 2},
		25 * s: {lines: 3},
	})
	if row.WorstGap != 10 { // 2 to 12; it was quiet from 12 to 20
		t.Errorf("the gap is %v, want 10", row.WorstGap)
	}
}

func TestWhatNeverArrivesIsInfinite(t *testing.T) {
	row := recorded(t, []event{line(0), turn(1 * s), line(2 * s)}, map[time.Duration]call{3 * s: {lines: 1}})
	for _, got := range []Seconds{row.FinalMax, row.StaleMax, row.WorstGap} {
		if !math.IsInf(float64(got), 1) {
			t.Errorf("got %v, want infinity: %+v", got, row)
		}
	}
	if row.SessionsStale != 1 || row.LinesLost != 2 {
		t.Errorf("got %+v, want one session stale and two lines lost", row)
	}
}

func TestAnOlderTextOverANewerOneLosesLines(t *testing.T) {
	row := recorded(t, []event{line(0), line(1 * s)}, map[time.Duration]call{2 * s: {lines: 2}, 5 * s: {lines: 1}})
	if row.SessionsStale != 1 || row.LinesLost != 1 || row.StaleMax != 2 {
		t.Errorf("got %+v, want one line lost that was there after 2 s", row)
	}
}

func TestQuantilesAreNearestRanks(t *testing.T) {
	values := make([]float64, 100)
	for i := range values {
		values[i] = float64(i + 1)
	}
	for q, want := range map[float64]float64{0.5: 50, 0.99: 99, 1: 100} {
		if got := quantile(values, q); got != want {
			t.Errorf("quantile %v is %v, want %v", q, got, want)
		}
	}
	if got := quantile(nil, 0.99); got != 0 {
		t.Errorf("quantile of nothing is %v", got)
	}
}

func TestJainIsOneForEqualSharesAndOneNthForOneTaker(t *testing.T) {
	if got := jain([]float64{3, 3, 3}); got != 1 {
		t.Errorf("equal shares: %v", got)
	}
	if got := jain([]float64{0, 7, 0, 0}); got != 0.25 {
		t.Errorf("one takes all: %v", got)
	}
}
