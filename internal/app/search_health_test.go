package app

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/internal/api"
)

// The health tells of lines that can't be found if that lasts, and calls it a fault if they don't become fewer.
func TestTheHealthTellsHowFarASearchIsBehind(t *testing.T) {
	var n int64
	w := &searchWatch{behind: func() int64 { return n }}
	now := time.Now()
	want := func(after time.Duration, lines int64, state api.HealthState, detail string) {
		t.Helper()
		now, n = now.Add(after), lines
		w.look(now)
		p := w.part(now)
		switch {
		case p == nil && state == "":
		case p == nil || p.Name != "search" || p.State != state || !strings.Contains(p.Detail, detail):
			t.Errorf("with %d lines: %+v, want %q with %q", lines, p, state, detail)
		}
	}
	want(0, 0, "", "")
	want(time.Hour, 80, "", "") // what sessions print at the moment
	want(time.Second, 50_000, "", "")
	want(5*time.Second, 40_000, "", "")
	want(5*time.Second, 30_000, api.HealthOK, "30000 lines can't be found by a search yet")
	want(50*time.Second, 31_000, api.HealthOK, "31000 lines")
	want(15*time.Second, 30_000, api.HealthDegraded, "30000 lines can't be found by a search, and they've not become fewer for 65 s")
	want(5*time.Second, 29_000, api.HealthOK, "29000 lines")
	want(5*time.Second, 10, "", "")
	want(5*time.Second, 10_000, "", "")

	none := &searchWatch{why: errors.New("no room")}
	none.look(now)
	if p := none.part(now); p == nil || p.State != api.HealthDegraded || p.Detail != "nothing can be searched until the next start: no room" {
		t.Errorf("without an index: %+v", p)
	}
}
