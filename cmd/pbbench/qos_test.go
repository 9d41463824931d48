package main

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/panebridge/panebridge/internal/qosbench"
)

// documented are the fields of a row, sorted.
var documented = []string{
	"calls_worst_window", "final_max_s", "final_p50_s", "final_p99_s", "jain", "limit", "lines_lost", "optimum_gap_s",
	"policy", "scenario", "seed", "sessions_stale", "silence_max_s", "silence_p50_s", "silence_p99_s", "silences", "stale_max_s", "stale_p50_s", "stale_p99_s", "worst_gap_s",
}

func TestQoSPrintsARowForEachPolicyAndSeed(t *testing.T) {
	var out bytes.Buffer
	if err := (qosOptions{seeds: 2, only: "30 finals at once, latency 0s", finalCalls: 1, json: true}).run(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	var got []string
	for dec := json.NewDecoder(&out); ; {
		var row map[string]any
		err := dec.Decode(&row)
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if fields := slices.Sorted(maps.Keys(row)); !slices.Equal(fields, documented) {
			t.Errorf("a row has the fields %v, want %v", fields, documented)
		}
		for _, field := range documented {
			_, text := row[field].(string)
			_, number := row[field].(float64)
			if name := field == "policy" || field == "scenario"; text != name || number == name {
				t.Errorf("%s is %v", field, row[field])
			}
		}
		got = append(got, row["policy"].(string))
	}
	if want := "panebridge original fifo optimum panebridge original fifo optimum"; strings.Join(got, " ") != want {
		t.Errorf("rows of %v, want %s", got, want)
	}
}

func TestQoSPrintsTheWorstOfTheSeeds(t *testing.T) {
	row := func(seed uint64, p99 float64, jain float64) qosbench.Result {
		return qosbench.Result{Row: qosbench.Row{Scenario: "x", Policy: qosbench.Panebridge, Seed: seed, FinalP99: qosbench.Seconds(p99), Jain: jain}}
	}
	var out bytes.Buffer
	if err := printQoS(&out, []qosbench.Result{row(1, 2, 0.5), row(2, math.Inf(1), 0.9)}, 2, 0); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); strings.Count(got, "panebridge") != 1 || !strings.Contains(got, "∞") || !strings.Contains(got, "0.500") {
		t.Errorf("printed:\n%s", got)
	}
}

func TestQoSFailsWhenABarIsNotMet(t *testing.T) {
	rows := []qosbench.Result{{Row: qosbench.Row{Policy: qosbench.Panebridge, LinesLost: 1}}}
	var out bytes.Buffer
	if err := qosBars(&out, rows); err == nil {
		t.Error("no error")
	}
	if got := out.String(); !strings.Contains(got, "NOT MET") || !strings.Contains(got, "met    ") {
		t.Errorf("printed:\n%s", got)
	}
}

func TestQoSRefusesFlagsThatCannotBe(t *testing.T) {
	for _, o := range []qosOptions{{seeds: 0, finalCalls: 1}, {seeds: 1}, {seeds: 1, finalCalls: 1, only: "no such scenario"}} {
		if err := o.run(t.Context(), io.Discard); err == nil {
			t.Errorf("%+v: no error", o)
		}
	}
}
