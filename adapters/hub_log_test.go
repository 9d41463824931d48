package adapters_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters"
)

// While there's traffic, a line every 30 s sums up each adapter's; else nothing.
func TestTheLogSumsUpTheTraffic(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		t.Helper()
		var log bytes.Buffer
		r.log = slog.NewJSONHandler(&log, nil)
		r.rules = []adapters.MirrorRule{rule(t, "*", "a:-1")}
		r.start()
		r.pass(time.Hour)
		r.begin("pb_1", "agent-1")
		for range 120 {
			r.print("pb_1", "a secret")
			r.pass(time.Second)
		}
		r.ends("pb_1", "done")
		r.pass(time.Hour)
		type line struct {
			Msg, Adapter                      string
			Time                              time.Time
			Updates, Coalesced, Stream, Final int
			Shed, Penalties, Documents        int
		}
		var sums []line
		for text := range strings.Lines(log.String()) {
			var l line
			if err := json.Unmarshal([]byte(text), &l); err != nil {
				t.Fatal(err)
			}
			if l.Msg == "output" {
				sums = append(sums, l)
			}
		}
		var updates, finals, calls int
		for i, l := range sums {
			if l.Adapter != "a" {
				t.Errorf("adapter %q had no traffic", l.Adapter)
			}
			if i > 0 && l.Time.Sub(sums[i-1].Time) < 30*time.Second {
				t.Errorf("a line at %v, and the next at %v", sums[i-1].Time, l.Time)
			}
			updates, finals, calls = updates+l.Updates, finals+l.Final, calls+l.Stream+l.Final
		}
		if n := len(sums); n < 4 || n > 5 {
			t.Errorf("%d lines for two minutes of traffic", n)
		}
		if made := len(r.platforms["a"].Arrivals()); updates != 122 || finals != 1 || calls != made {
			t.Errorf("they sum up %d updates, %d finals and %d calls; it were 122, 1 and %d", updates, finals, calls, made)
		}
		if strings.Contains(log.String(), "secret") {
			t.Error("the log has what a session printed")
		}
	})
}
