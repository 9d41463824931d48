package qosbench

import (
	"math"
	"slices"
	"testing"
	"time"
)

// A call that breaks, and the next one two seconds after its answer.
func TestASilenceIsFromAFailuresAnswerToTheNextCall(t *testing.T) {
	var r silences
	r.dispatched(0)
	r.answered(3*s, broken)
	r.dispatched(5 * s)
	r.answered(6*s, accepted)
	r.dispatched(20 * s)
	r.answered(21*s, failed)
	r.dispatched(22 * s)
	r.answered(22*s, throttled)
	r.dispatched(90 * s)
	if r.finish(); !slices.Equal(r.took, []float64{1, 2}) {
		t.Errorf("silent for %v, want 1 and 2", r.took)
	}
}

func TestASilenceBeginsWithAFreeSlot(t *testing.T) {
	var r silences
	for i := range time.Duration(limitCalls) {
		r.dispatched(i * s)
		r.answered(i*s, accepted)
	}
	r.dispatched(30 * s) // the twenty-first
	r.answered(30*s, failed)
	r.dispatched(62 * s)
	if r.finish(); !slices.Equal(r.took, []float64{1}) { // the second of them came back at 61 s
		t.Errorf("silent for %v, want 1", r.took)
	}
}

func TestASilenceThatNothingEndsIsInfinite(t *testing.T) {
	var r silences
	var row Row
	r.dispatched(0)
	r.answered(s, failed)
	if r.fill(&row); row.Silences != 1 || !math.IsInf(float64(row.SilenceMax), 1) {
		t.Errorf("%+v, want one without end", row)
	}
}

// A chat goes on soon after a call that broke. It's silent for the rest of the call's time
// where nobody tells the scheduler that it's over.
func TestAChatGoesOnAfterAnsweredFailures(t *testing.T) {
	var ours, unheard []float64
	for _, sc := range Scenarios() {
		if sc.breaks == 0 {
			continue
		}
		for seed := range uint64(3) {
			results, err := sc.Run(Options{Seed: seed + 1, Horizon: time.Hour, FinalCalls: 1})
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range results {
				switch r.Policy {
				case Panebridge:
					ours = append(ours, r.silences...)
				case Unheard:
					unheard = append(unheard, r.silences...)
				}
			}
		}
	}
	slices.Sort(ours)
	slices.Sort(unheard)
	t.Logf("%d failures: p50 %.2f s, p99 %.2f s, at worst %.2f s", len(ours), quantile(ours, 0.5), quantile(ours, 0.99), quantile(ours, 1))
	if len(ours) < 300 || quantile(ours, 0.99) > maxSilence {
		t.Errorf("%d failures, silent for %.2f s (p99)", len(ours), quantile(ours, 0.99))
	}
	if got := quantile(unheard, 0.5); got < 20 {
		t.Errorf("silent for %.2f s (p50) where nobody tells, want more than 20", got)
	}
}
