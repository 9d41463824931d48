package qosbench

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

// good are rows that keep to everything.
func good() []Result {
	row := func(name, policy string, s Scenario, light bool) Result {
		r := Result{scenario: s, light: light, GrantsPerPosition: 4}
		r.Scenario, r.Policy, r.CallsWorstWindow = name, policy, limitCalls
		r.FinalP99, r.WorstGap, r.OptimumGap, r.Jain = 5, 50, 40, 0.99
		r.FinalMax, r.fairGap = 50, 25
		return r
	}
	return []Result{
		row("light", Panebridge, Scenario{}, true), row("light", Original, Scenario{}, true),
		row("heavy", Panebridge, Scenario{}, false), row("heavy", Original, Scenario{}, false),
		row("always", Panebridge, Scenario{always: true}, true), row("always", Original, Scenario{always: true}, true),
		row("penalty", Panebridge, Scenario{penalty: time.Second}, true), row("penalty", Original, Scenario{penalty: time.Second}, true),
		row("locked", Panebridge, Scenario{together: true}, false), row("locked", FIFO, Scenario{together: true}, false),
		row("noisy", Panebridge, Scenario{noisy: true}, false), row("ordinary", Panebridge, Scenario{ordinary: true}, false),
		row("penalty", FIFO, Scenario{penalty: time.Second}, true),
		silent(row("silence", Panebridge, Scenario{breaks: 0.1}, true), 1.9), silent(row("silence", Unheard, Scenario{breaks: 0.1}, true), 25),
	}
}

// silent is a row of 100 silences, the longest but one so many seconds.
func silent(r Result, p99 float64) Result {
	r.silences = append(slices.Repeat([]float64{1}, 98), p99, 60)
	return r
}

func TestBars(t *testing.T) {
	const light, original, heavy, always, penalty, locked, noisy, ordinary, breaking = 0, 1, 2, 4, 6, 8, 10, 11, 13
	for name, c := range map[string]struct {
		spoil func(r []Result)
		miss  string // part of the one bar that isn't met; "": all are
	}{
		"all is well":                       {func([]Result) {}, ""},
		"a line is lost":                    {func(r []Result) { r[heavy].LinesLost = 1 }, "lost"},
		"the original loses one":            {func(r []Result) { r[original].LinesLost = 1 }, ""},
		"a session is stale":                {func(r []Result) { r[penalty].SessionsStale = 1 }, "stale"},
		"a call too many":                   {func(r []Result) { r[always].CallsWorstWindow = 21 }, "at most 20 calls"},
		"a call in a penalty":               {func(r []Result) { r[penalty].Inside = 1 }, "penalty"},
		"slower than the original":          {func(r []Result) { r[light].FinalP99 = 5.01 }, "p99"},
		"the original never":                {func(r []Result) { r[original].FinalP99 = Seconds(math.Inf(1)) }, ""},
		"both never":                        {func(r []Result) { r[light].FinalP99, r[original].FinalP99 = Seconds(math.Inf(1)), Seconds(math.Inf(1)) }, ""},
		"only we never":                     {func(r []Result) { r[light].FinalP99 = Seconds(math.Inf(1)) }, "p99"},
		"no delay at all":                   {func(r []Result) { r[light].FinalP99, r[original].FinalP99 = 0, 0 }, ""},
		"slower under load":                 {func(r []Result) { r[heavy].FinalP99 = 99 }, ""},
		"slower after a penalty":            {func(r []Result) { r[penalty].FinalP99 = 99 }, ""},
		"overtaken too often":               {func(r []Result) { r[heavy].GrantsPerPosition = 4.5 }, "4p"},
		"overtaken too often, light":        {func(r []Result) { r[light].GrantsPerPosition = 4.5 }, ""},
		"a gap":                             {func(r []Result) { r[always].WorstGap = 50.1 }, "gaps"},
		"a gap where not all always print":  {func(r []Result) { r[heavy].WorstGap = 99 }, ""},
		"silent for long":                   {func(r []Result) { r[breaking] = silent(r[breaking], 2.1) }, "goes on"},
		"slower where calls break":          {func(r []Result) { r[breaking].FinalP99 = 99 }, ""},
		"a noisy session's neighbours wait": {func(r []Result) { r[noisy].WorstGap = 75.1 }, "ordinary one"},
		"so do an ordinary one's":           {func(r []Result) { r[noisy].WorstGap, r[ordinary].WorstGap = 75.1, 51 }, ""},
		"a noisy session has most calls":    {func(r []Result) { r[noisy].Jain = 0.89 }, "beside such"},
		"a noisy session's turn waits":      {func(r []Result) { r[noisy].FinalMax = 50.1 }, "its turns"},
		"worse than the FIFO":               {func(r []Result) { r[locked].WorstGap = 50.1 }, "turns end together"},
		"the FIFO cheats":                   {func(r []Result) { r[locked].WorstGap, r[locked].scenario.Latency = 50.1, time.Second }, ""},
		"worse after a penalty":             {func(r []Result) { r[penalty].WorstGap = 50.1 }, "after a penalty"},
		"unfair":                            {func(r []Result) { r[always].Jain = 0.989 }, "Jain"},
	} {
		t.Run(name, func(t *testing.T) {
			rows := good()
			c.spoil(rows)
			bars := Bars(rows)
			want := 13
			if rows[locked].scenario.Latency > fifoLatency {
				want-- // nothing is said of it
			}
			if len(bars) != want {
				t.Fatalf("%d bars, want %d", len(bars), want)
			}
			var missed []string
			for _, b := range bars {
				if !b.Met {
					missed = append(missed, b.Text)
				}
			}
			switch {
			case c.miss == "" && len(missed) > 0:
				t.Errorf("not met: %q", missed)
			case c.miss != "" && (len(missed) != 1 || !strings.Contains(missed[0], c.miss)):
				t.Errorf("not met: %q, want the one about %q", missed, c.miss)
			}
		})
	}
}

func TestBarsWithoutRowsAreLeftOut(t *testing.T) {
	if got := Bars(good()[:2]); len(got) != 4 {
		t.Errorf("%d bars, want the three general ones and that of finals: %v", len(got), got)
	}
	if got := Bars(nil); len(got) != 0 {
		t.Errorf("%d bars of nothing", len(got))
	}
}
