package main

import (
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/panebridge/panebridge/internal/qosbench"
)

// printQoS prints a row for each scenario and policy: the worst of the seeds, in
// each column by itself.
func printQoS(w io.Writer, results []qosbench.Result, seeds int, horizon time.Duration) error {
	_, _ = fmt.Fprintf(w, "A chat that allows %d calls a minute; arrivals of %v, the worst of %d seeds in each column; times in s\n", results[0].Limit, horizon, seeds)
	return printQoSRows(w, results)
}

// printQoSRows prints the table, and the silences.
func printQoSRows(w io.Writer, results []qosbench.Result) error {
	t := newTable(w, "scenario", "policy", "calls/60 s", "final p50", "p99", "max", "stale p50", "p99", "max", "gap", "optimum", "jain", "stale at the end", "lines lost", "calls/final")
	rows, order := map[[2]string]*qosbench.Result{}, [][2]string{}
	for _, r := range results {
		key := [2]string{r.Scenario, r.Policy}
		if rows[key] == nil {
			rows[key] = &r
			order = append(order, key)
			continue
		}
		worse(rows[key], r)
	}
	for _, key := range order {
		r := rows[key]
		t.row(
			r.Scenario, r.Policy, r.CallsWorstWindow, r.FinalP50, r.FinalP99, r.FinalMax, r.StaleP50, r.StaleP99, r.StaleMax,
			r.WorstGap, r.OptimumGap, strconv.FormatFloat(r.Jain, 'f', 3, 64), r.SessionsStale, r.LinesLost,
			strconv.FormatFloat(r.CallsPerFinal, 'f', 2, 64),
		)
	}
	if err := t.Flush(); err != nil {
		return fmt.Errorf("print the table: %w", err)
	}
	_, _ = fmt.Fprintln(w)
	return printSilences(w, rows, order)
}

// printSilences prints for how long the chat was silent after answered failures, of the
// scenarios whose calls break.
func printSilences(w io.Writer, rows map[[2]string]*qosbench.Result, order [][2]string) error {
	t, found := newTable(w, "scenario", "policy", "failures", "silence p50", "p99", "max"), false
	for _, key := range order {
		if r := rows[key]; r.Breaks() && r.Silences > 0 {
			t.row(r.Scenario, r.Policy, r.Silences, r.SilenceP50, r.SilenceP99, r.SilenceMax)
			found = true
		}
	}
	if !found {
		return nil
	}
	if err := t.Flush(); err != nil {
		return fmt.Errorf("print the table: %w", err)
	}
	_, _ = fmt.Fprintln(w)
	return nil
}

// worse takes in another seed's row.
func worse(r *qosbench.Result, o qosbench.Result) {
	r.CallsWorstWindow = max(r.CallsWorstWindow, o.CallsWorstWindow)
	r.FinalP50, r.FinalP99, r.FinalMax = max(r.FinalP50, o.FinalP50), max(r.FinalP99, o.FinalP99), max(r.FinalMax, o.FinalMax)
	r.StaleP50, r.StaleP99, r.StaleMax = max(r.StaleP50, o.StaleP50), max(r.StaleP99, o.StaleP99), max(r.StaleMax, o.StaleMax)
	r.WorstGap, r.OptimumGap = max(r.WorstGap, o.WorstGap), max(r.OptimumGap, o.OptimumGap)
	r.Silences += o.Silences
	r.SilenceP50, r.SilenceP99, r.SilenceMax = max(r.SilenceP50, o.SilenceP50), max(r.SilenceP99, o.SilenceP99), max(r.SilenceMax, o.SilenceMax)
	r.Jain = min(r.Jain, o.Jain)
	r.SessionsStale, r.LinesLost = max(r.SessionsStale, o.SessionsStale), max(r.LinesLost, o.LinesLost)
	r.CallsPerFinal = max(r.CallsPerFinal, o.CallsPerFinal)
}

// qosBars prints which bars are met. It fails if one isn't.
func qosBars(w io.Writer, results []qosbench.Result) error {
	missed := 0
	for _, b := range qosbench.Bars(results) {
		bar(w, b.Met, "%s", b.Text)
		if !b.Met {
			missed++
		}
	}
	if missed > 0 {
		return fmt.Errorf("%d bars aren't met", missed)
	}
	return nil
}
