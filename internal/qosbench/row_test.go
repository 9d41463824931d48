package qosbench

import (
	"encoding/json"
	"math"
	"testing"
)

func TestARowIsTheDocumentedObject(t *testing.T) {
	row := Row{
		Scenario: "4 random", Policy: Original, Seed: 3, CallsWorstWindow: 24, Limit: 20,
		FinalP50: 2.1, FinalP99: 6.30049, FinalMax: Seconds(math.Inf(1)), StaleP50: 14.6, StaleP99: 33.7, StaleMax: 56.6,
		WorstGap: 57, OptimumGap: 12, Silences: 4, SilenceP50: 0.9, SilenceP99: 1.75, SilenceMax: 3.3, Jain: 0.5, SessionsStale: 1, LinesLost: 2,
	}
	got, err := json.Marshal(row)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"scenario":"4 random","policy":"original","seed":3,"calls_worst_window":24,"limit":20,` +
		`"final_p50_s":2.1,"final_p99_s":6.3,"final_max_s":1.7976931348623157e+308,"stale_p50_s":14.6,"stale_p99_s":33.7,"stale_max_s":56.6,` +
		`"worst_gap_s":57,"optimum_gap_s":12,"silences":4,"silence_p50_s":0.9,"silence_p99_s":1.75,"silence_max_s":3.3,"jain":0.5,"sessions_stale":1,"lines_lost":2}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	var back Row
	if err := json.Unmarshal(got, &back); err != nil {
		t.Fatal(err)
	}
	if !math.IsInf(float64(back.FinalMax), 1) || back.FinalP50 != 2.1 {
		t.Errorf("read back: %+v", back)
	}
}
