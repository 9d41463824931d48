package qosbench

import (
	"fmt"
	"slices"
)

// What panebridge has to keep to in every run.
const (
	// maxGrants a final may wait for, by its position: it's behind p-1 others, and
	// before each of the p at most three go that are no finals.
	maxGrants = 4
	// gapFactor is how far from the optimum the worst gap may be.
	gapFactor = 1.25
	minJain   = 0.99
	// maxSilence is how long a chat may be silent after an answered failure where a slot is
	// free; p99 of all such failures.
	maxSilence = 2.0
	// lightLoad is the share of the limit that finals and commands may need on
	// average for the delay of finals to be compared with the original's, if they
	// never need more than all of it. Otherwise the original may be faster, because
	// it exceeds the limit.
	lightLoad = 0.5
)

// Bar is something that has to be so, and whether it is.
type Bar struct {
	Met  bool
	Text string
}

// Bars checks results against what panebridge promises. Bars about which the
// results say nothing are left out.
func Bars(results []Result) []Bar {
	c := checker{original: map[runKey]Seconds{}}
	for _, r := range results {
		if r.Policy == Original {
			c.original[runKey{r.Scenario, r.Seed}] = r.FinalP99
		}
	}
	for _, r := range results {
		if r.Policy == Panebridge {
			c.check(r)
		}
	}
	return c.bars()
}

// runKey tells the runs apart.
type runKey struct {
	scenario string
	seed     uint64
}

// checker goes through panebridge's rows.
type checker struct {
	original map[runKey]Seconds // p99 of finals

	rows, lines, stale, calls, inside int

	silences []float64

	finals, places, gaps, jains worst
}

// worst is the row that stands worst to what's asked, by the ratio of the two.
type worst struct {
	rows  int
	ratio float64
	text  string
}

func (w *worst) add(value, bar float64, r Result, format string, args ...any) {
	w.rows++
	ratio := value / bar
	if value == bar {
		ratio = 1 // also of nought, and of what never ends
	}
	if w.rows == 1 || ratio > w.ratio {
		w.ratio = ratio
		w.text = fmt.Sprintf("%s (%s, seed %d)", fmt.Sprintf(format, args...), r.Scenario, r.Seed)
	}
}

func (w *worst) met() bool { return w.ratio <= 1 }

func (c *checker) check(r Result) {
	c.rows++
	c.lines += r.LinesLost
	c.stale += r.SessionsStale
	c.calls = max(c.calls, r.CallsWorstWindow)
	c.inside += r.Inside
	original, compared := c.original[runKey{r.Scenario, r.Seed}]
	switch {
	case r.scenario.always:
		bar := gapFactor * float64(r.OptimumGap)
		c.gaps.add(float64(r.WorstGap), bar, r, "%.2fs of %.2fs", float64(r.WorstGap), bar)
		c.jains.add(minJain, r.Jain, r, "%.4f", r.Jain)
	case r.scenario.breaks > 0:
		c.silences = append(c.silences, r.silences...)
	case r.scenario.penalty > 0: // we wait longer, on purpose
	case compared && r.light:
		c.finals.add(float64(r.FinalP99), float64(original), r, "%.2fs, the original %.2fs", float64(r.FinalP99), float64(original))
	default:
		c.places.add(r.GrantsPerPosition, maxGrants, r, "%.2fp", r.GrantsPerPosition)
	}
}

func (c *checker) bars() []Bar {
	if c.rows == 0 {
		return nil
	}
	bars := []Bar{
		{c.lines == 0 && c.stale == 0, fmt.Sprintf("no line is lost and no session left stale: %d lines, %d sessions in %d runs", c.lines, c.stale, c.rows)},
		{c.calls <= limitCalls, fmt.Sprintf("at most %d calls arrive in any %gs: %d", limitCalls, limitWindow.Seconds(), c.calls)},
		{c.inside == 0, fmt.Sprintf("no call arrives during a penalty: %d", c.inside)},
	}
	add := func(w worst, what string) {
		if w.rows > 0 {
			bars = append(bars, Bar{w.met(), fmt.Sprintf("%s, in %d runs: at worst %s", what, w.rows, w.text)})
		}
	}
	add(c.finals, fmt.Sprintf("p99 of finals at most the original's where finals and commands need at most %g%% of the limit, and never more than all of it", 100*lightLoad))
	add(c.places, fmt.Sprintf("elsewhere the final at position p gets a slot within %dp grants", maxGrants))
	add(c.gaps, fmt.Sprintf("gaps of equal sessions that are always dirty at most %g times the optimum", gapFactor))
	add(c.jains, fmt.Sprintf("Jain index of equal sessions that are always dirty at least %g", minJain))
	if n := len(c.silences); n > 0 {
		slices.Sort(c.silences)
		p99 := quantile(c.silences, 0.99)
		bars = append(bars, Bar{p99 <= maxSilence, fmt.Sprintf("after an answered failure the chat goes on within %gs where a slot is free, p99 of %d failures: %.2fs, at worst %.2fs", maxSilence, n, p99, c.silences[n-1])})
	}
	return bars
}
