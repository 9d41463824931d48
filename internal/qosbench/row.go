package qosbench

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
)

// The policies, as rows name them.
const (
	Panebridge = "panebridge"
	Original   = "original"
	FIFO       = "fifo"
	Optimum    = "optimum"
	// Unheard is panebridge where it isn't told that a call that broke is over, and takes it
	// for one that wasn't answered. Only in scenarios in which calls break.
	Unheard = "unheard"
)

// Row is what one policy made of one scenario. Times are seconds.
type Row struct {
	Scenario         string  `json:"scenario"`
	Policy           string  `json:"policy"`
	Seed             uint64  `json:"seed"`
	CallsWorstWindow int     `json:"calls_worst_window"` // at the platform, refused ones included
	Limit            int     `json:"limit"`              // calls a window
	FinalP50         Seconds `json:"final_p50_s"`
	FinalP99         Seconds `json:"final_p99_s"`
	FinalMax         Seconds `json:"final_max_s"`
	StaleP50         Seconds `json:"stale_p50_s"`
	StaleP99         Seconds `json:"stale_p99_s"`
	StaleMax         Seconds `json:"stale_max_s"`
	WorstGap         Seconds `json:"worst_gap_s"`
	OptimumGap       Seconds `json:"optimum_gap_s"` // n(W + latency)/(N - other calls), whatever the policy
	Silences         int     `json:"silences"`      // answered failures
	SilenceP50       Seconds `json:"silence_p50_s"` // from one to the chat's next call, where a slot is free
	SilenceP99       Seconds `json:"silence_p99_s"`
	SilenceMax       Seconds `json:"silence_max_s"`
	Jain             float64 `json:"jain"` // of the calls that sessions got
	SessionsStale    int     `json:"sessions_stale"`
	LinesLost        int     `json:"lines_lost"`
}

// Seconds is a time that may be infinite. JSON has no infinity, so it's written
// as the largest double, 1.7976931348623157e308: every parser reads that, and it
// compares as longer than any time.
type Seconds float64

// MarshalJSON implements json.Marshaler. Times are rounded to the millisecond.
func (s Seconds) MarshalJSON() ([]byte, error) {
	if math.IsInf(float64(s), 1) {
		return json.Marshal(math.MaxFloat64)
	}
	return strconv.AppendFloat(nil, math.Round(float64(s)*1000)/1000, 'f', -1, 64), nil
}

// UnmarshalJSON implements json.Unmarshaler.
func (s *Seconds) UnmarshalJSON(data []byte) error {
	var f float64
	if err := json.Unmarshal(data, &f); err != nil {
		return fmt.Errorf("read a time in seconds: %w", err)
	}
	if f == math.MaxFloat64 {
		f = math.Inf(1)
	}
	*s = Seconds(f)
	return nil
}

// String writes a time for tables.
func (s Seconds) String() string {
	if math.IsInf(float64(s), 1) {
		return "∞"
	}
	return strconv.FormatFloat(float64(s), 'f', 1, 64)
}

// Result is a row and what's needed beside it.
type Result struct {
	Row
	// CallsPerFinal is how many calls were made for finals, by finals. Turns that end
	// before the first of them is announced may share a call.
	CallsPerFinal float64
	// Inside is how many calls arrived during a penalty.
	Inside int
	// GrantsPerPosition is the most grants of the chat until a final got one, by its
	// position among the waiting finals. Panebridge only.
	GrantsPerPosition float64

	// Series is for plots. The optimum has none.
	Series Series

	// fairGap is how often each session's turn comes if all are always dirty and get all that commands
	// leave.
	fairGap  Seconds
	silences []float64 // s, sorted
	scenario Scenario
	light    bool // see lightLoad
}

// Breaks reports whether calls break in the scenario.
func (r Result) Breaks() bool { return r.scenario.breaks > 0 }
