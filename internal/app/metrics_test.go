package app_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/adaptertest"
	"github.com/panebridge/panebridge/config"
	"github.com/panebridge/panebridge/internal/api"
)

// scrape reads /metrics.
func (d *daemon) scrape() string {
	d.Helper()
	var dialer net.Dialer
	web := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return dialer.DialContext(ctx, "unix", filepath.Join(d.dir, "state", "panebridge.sock"))
	}}}
	defer web.CloseIdleConnections()
	req, err := http.NewRequestWithContext(d.ctx(), http.MethodGet, "http://panebridge/metrics", nil)
	if err != nil {
		d.Fatal(err)
	}
	resp, err := web.Do(req)
	if err != nil {
		d.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		d.Fatal(err)
	}
	return string(text)
}

// Metrics say what went to a platform, what it refused, and for how long things
// wait; never to which chat.
func TestMetricsOfAPlatform(t *testing.T) {
	slow(t)
	platform := adaptertest.NewPlatform(adaptertest.Options{})
	platform.AddGroup("-100777", false)
	var refused atomic.Bool
	platform.SetFault(func(adaptertest.Call) adaptertest.Fault {
		if refused.CompareAndSwap(false, true) {
			return adaptertest.Fault{Kind: adaptertest.Throttled, RetryAfter: 2 * time.Second}
		}
		return adaptertest.Fault{}
	})
	d := newDaemon(t)
	d.stop()
	d.cfg.Mirrors = []config.Mirror{{Session: "agent-*", To: "telegram:-100777", View: "stream"}}
	telegramConfig(d.cfg).QoS.MinSessionTick = 0.1
	d.adapters = func() []adapters.Adapter {
		return []adapters.Adapter{&adaptertest.Adapter{Conn: platform.Connect(), Named: "telegram"}}
	}
	d.start()
	for _, class := range []string{"interactive", "final", "stream"} {
		if want := `panebridge_queue_age_seconds{adapter="telegram",class="` + class + `"} 0`; !strings.Contains(d.scrape(), want+"\n") {
			t.Errorf("with nothing waiting, there's no %s", want)
		}
	}
	if _, err := d.api.NewSession(d.ctx(), api.Create{Name: "agent-1", Command: []string{"sh", "-c", `seq 1 9; exec cat`}}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`qos_mode{adapter="telegram",mode="strict"} 1`, `tick_seconds{adapter="telegram"} `, `active_sessions{adapter="telegram"} `, `pace_ratio{adapter="telegram"} `, `reserved_slots{adapter="telegram"} `, `queue_length{adapter="telegram",class="final"} `} {
		if !strings.Contains(d.scrape(), "\npanebridge_"+want) {
			t.Errorf("there's no %s", want)
		}
	}
	waits := regexp.MustCompile(`(?m)^panebridge_queue_age_seconds\{adapter="telegram",class="stream"\} (0\.[0-9]*[1-9]|[1-9])`)
	d.await("an age while the platform wants silence", func() bool { return waits.MatchString(d.scrape()) })
	d.await("the lines", func() bool { return len(platform.Seen("-100777", "")) > 0 })
	text := ""
	d.await("the delivered call", func() bool {
		text = d.scrape()
		return strings.Contains(text, `panebridge_calls_total{adapter="telegram",class="stream",outcome="delivered"} `)
	})
	for _, want := range []string{
		`panebridge_calls_total{adapter="telegram",class="stream",outcome="throttled"} 1`,
		`panebridge_too_many_requests_total{adapter="telegram",family="message"} 1`,
		`panebridge_penalty_seconds_total{adapter="telegram"} 2`,
		`panebridge_call_wait_seconds_count{adapter="telegram",class="stream"} `,
		`panebridge_call_duration_seconds_count{adapter="telegram",class="stream"} `,
		`panebridge_call_wait_seconds_bucket{adapter="telegram",class="stream",le="600"} `,
		`panebridge_sessions{state="ended"} 0`, `panebridge_part_state{part="store",state="ok"} 1`, `panebridge_part_state{part="tmux:`,
		`panebridge_database_bytes `, `panebridge_disk_left_bytes `, `panebridge_capture_seconds_count `,
	} {
		if !strings.Contains(text, "\n"+want) {
			t.Errorf("no %s", want)
		}
	}
	if strings.Contains(text, "100777") || strings.Contains(text, "agent-1") {
		t.Error("a chat or a session is in the metrics, of which there's no end")
	}
}
