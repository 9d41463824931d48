package metrics

import (
	"errors"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// Each state of a session and of a part has a value, so that an alert sees a change and no row that comes and goes.
func TestStateIsScraped(t *testing.T) {
	m := New("test")
	var diskErr error
	m.CollectState(StateSources{
		Sessions: func() []sessions.Session {
			return []sessions.Session{{State: sessions.StateWaiting}, {State: sessions.StateWaiting}, {State: sessions.StateEnded}}
		},
		Parts:   func() []PartState { return []PartState{{"store", "ok"}, {"tmux:default", "down"}} },
		Disk:    func() (DiskUse, error) { return DiskUse{Database: 4096, Left: 1 << 40}, diskErr },
		Pollers: func() int { return 7 }, Connections: func() int { return 2 }, Healthy: func() bool { return true }, Ready: func() bool { return false },
	})
	m.ObserveCapture(20 * time.Millisecond)
	scrape := func() string {
		w := httptest.NewRecorder()
		m.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", "/metrics", nil))
		return w.Body.String()
	}
	text := scrape()
	for _, want := range []string{
		`panebridge_sessions{state="waiting"} 2`, `panebridge_sessions{state="ended"} 1`, `panebridge_sessions{state="working"} 0`,
		`panebridge_part_state{part="store",state="ok"} 1`, `panebridge_part_state{part="store",state="down"} 0`,
		`panebridge_part_state{part="tmux:default",state="down"} 1`, `panebridge_part_state{part="tmux:default",state="ok"} 0`,
		`panebridge_database_bytes 4096`, `panebridge_pollers 7`, `panebridge_tmux_connections 2`, `panebridge_healthy 1`, `panebridge_ready 0`, `panebridge_disk_left_bytes 1.099511627776e+12`,
		`panebridge_capture_seconds_bucket{le="0.01"} 0`, `panebridge_capture_seconds_bucket{le="0.03"} 1`,
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("there's no %s in\n%s", want, text)
		}
	}
	diskErr = errors.New("the folder is gone")
	if text := scrape(); strings.Contains(text, "panebridge_disk") || !strings.Contains(text, `panebridge_sessions{state="ended"} 1`) {
		t.Errorf("without a folder it's\n%s", text)
	}
}

// The reference lists what's served, with its labels.
func TestMetricsAreListed(t *testing.T) {
	all := map[string]Metric{}
	for _, m := range List() {
		all[m.Name] = m
	}
	for name, want := range map[string]string{
		"panebridge_lines_total": "counter []", "panebridge_ready": "gauge []", "panebridge_capture_seconds": "histogram []",
		"panebridge_calls_total": "counter [adapter class outcome]", "panebridge_call_wait_seconds": "histogram [adapter class]", "panebridge_part_state": "gauge [part state]",
		"panebridge_search_behind_lines": "gauge []", "panebridge_redis_state": "gauge [adapter state]", "panebridge_tokens_total": "counter [agent kind]", "panebridge_log_events_total": "counter [level]",
	} {
		if m := all[name]; fmt.Sprint(m.Kind, " ", m.Labels) != want || m.Help == "" {
			t.Errorf("%s is %+v, want %s", name, m, want)
		}
	}
	if len(all) < 40 {
		t.Errorf("%d are listed", len(all))
	}
}
