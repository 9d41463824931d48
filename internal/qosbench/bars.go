package qosbench

import (
	"fmt"
	"slices"
	"time"
)

// What panebridge has to keep to in every run.
const (
	// maxGrants a final may wait for, by its position: it's behind the p-1 sessions whose lines have waited
	// longer, and before each of the p at most three go that are no finals.
	maxGrants = 4
	// gapFactor is how far from the optimum the worst gap may be.
	gapFactor = 1.25
	minJain   = 0.99
	// noisyGap is how much longer the others' worst gap may be beside a session that ends turns without
	// end than beside one like them; minNoisyJain is the index over all, and noisyFair in how many of its
	// fair intervals an end of its turns is told.
	noisyGap     = 1.5
	minNoisyJain = 0.9
	noisyFair    = 2.0
	// fifoLatency is the longest latency at which the FIFO is a measure: it counts by the beginnings of
	// calls, so that with slow ones it has more of them than the platform allows.
	fifoLatency = 300 * time.Millisecond
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
	c := checker{original: map[runKey]Seconds{}, fifo: map[runKey]Seconds{}, ordinary: map[ordinaryKey]Seconds{}}
	for _, r := range results {
		switch {
		case r.Policy == Original:
			c.original[runKey{r.Scenario, r.Seed}] = r.FinalP99
		case r.Policy == FIFO:
			c.fifo[runKey{r.Scenario, r.Seed}] = r.WorstGap
		case r.Policy == Panebridge && r.scenario.ordinary:
			c.ordinary[r.ordinaryKey()] = r.WorstGap
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

// ordinaryKey tells which run has the same arrivals but for the noisy session.
type ordinaryKey struct {
	sessions int
	latency  time.Duration
	seed     uint64
}

func (r Result) ordinaryKey() ordinaryKey {
	return ordinaryKey{r.scenario.Sessions, r.scenario.Latency, r.Seed}
}

// checker goes through panebridge's rows.
type checker struct {
	original map[runKey]Seconds      // p99 of finals
	fifo     map[runKey]Seconds      // worst gap
	ordinary map[ordinaryKey]Seconds // panebridge's worst gap

	rows, lines, stale, calls, inside int

	silences []float64

	finals, places, gaps, jains                     worst
	noisy, noisyJains, noisyFinals, together, lifts worst
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
	c.checkFIFO(r)
	original, compared := c.original[runKey{r.Scenario, r.Seed}]
	switch {
	case r.scenario.noisy:
		c.checkNoisy(r)
	case r.scenario.ordinary: // what the noisy ones are held against
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

// checkNoisy checks a run in which one session ends turns without end.
func (c *checker) checkNoisy(r Result) {
	if ordinary, ok := c.ordinary[r.ordinaryKey()]; ok {
		bar := noisyGap * float64(ordinary)
		c.noisy.add(float64(r.WorstGap), bar, r, "%.1fs of %.1fs", float64(r.WorstGap), bar)
	}
	c.noisyJains.add(minNoisyJain, r.Jain, r, "%.4f", r.Jain)
	bar := noisyFair * float64(r.fairGap)
	c.noisyFinals.add(float64(r.FinalMax), bar, r, "%.1fs of %.1fs", float64(r.FinalMax), bar)
}

// checkFIFO checks what may be no worse than a FIFO's.
func (c *checker) checkFIFO(r Result) {
	fifo, compared := c.fifo[runKey{r.Scenario, r.Seed}]
	if !compared || r.scenario.Latency > fifoLatency {
		return
	}
	switch {
	case r.scenario.together:
		c.together.add(float64(r.WorstGap), float64(fifo), r, "%.1fs, the FIFO %.1fs", float64(r.WorstGap), float64(fifo))
	case r.scenario.penalty > 0:
		c.lifts.add(float64(r.WorstGap), float64(fifo), r, "%.1fs, the FIFO %.1fs", float64(r.WorstGap), float64(fifo))
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
	add(c.noisy, fmt.Sprintf("beside a session that ends turns without end the worst gap is at most %g times that beside an ordinary one", noisyGap))
	add(c.noisyJains, fmt.Sprintf("Jain index beside such a session at least %g", minNoisyJain))
	add(c.noisyFinals, fmt.Sprintf("the ends of its turns are told within %g times its fair interval", noisyFair))
	add(c.together, fmt.Sprintf("where turns end together and calls take %v at most, the worst gap is at most the FIFO's", fifoLatency))
	add(c.lifts, "the same after a penalty")
	add(c.jains, fmt.Sprintf("Jain index of equal sessions that are always dirty at least %g", minJain))
	if n := len(c.silences); n > 0 {
		slices.Sort(c.silences)
		p99 := quantile(c.silences, 0.99)
		bars = append(bars, Bar{p99 <= maxSilence, fmt.Sprintf("after an answered failure the chat goes on within %gs where a slot is free, p99 of %d failures: %.2fs, at worst %.2fs", maxSilence, n, p99, c.silences[n-1])})
	}
	return bars
}
