package app_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// scale is by how much faster time goes for the rules than for those who load them: minutes are seconds.
const scale = 60

// scaleRules has rules that speak of minutes speak of seconds.
func scaleRules(text string) string {
	text = regexp.MustCompile(`\b(\d+)m\b`).ReplaceAllString(text, "${1}s")
	return strings.ReplaceAll(text, "5 * 60", "5")
}

// scraper is a real Prometheus that scrapes a daemon, with the rules of contrib.
type scraper struct {
	*testing.T
	at string // http://127.0.0.1:1234
}

func startScraper(t *testing.T, target string) *scraper {
	t.Helper()
	dir := shortTemp(t)
	rules, err := os.ReadFile("../../contrib/prometheus/panebridge.rules.yml")
	if err != nil {
		t.Fatal(err)
	}
	conf, err := os.ReadFile("../../contrib/prometheus/prometheus.yml")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(string(conf), "127.0.0.1:7334", target)
	text = strings.ReplaceAll(text, "scrape_interval: 15s", "scrape_interval: 1500ms\n  scrape_timeout: 1500ms")
	text = strings.ReplaceAll(text, "evaluation_interval: 15s", "evaluation_interval: 500ms")
	for name, text := range map[string]string{"panebridge.rules.yml": scaleRules(string(rules)), "prometheus.yml": text} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	at := freeAddress(t)
	cmd := exec.Command("prometheus", "--config.file="+filepath.Join(dir, "prometheus.yml"), "--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address="+at, "--log.level=warn")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatalf("%v: scripts/install.sh test installs it", err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("Prometheus says:\n%s", &out)
		}
	})
	p := &scraper{t, "http://" + at}
	p.await("its rules", time.Minute, func() bool { all, err := p.query("up == 1"); return err == nil && len(all) > 0 })
	return p
}

// await waits until ok.
func (p *scraper) await(what string, within time.Duration, ok func() bool) (took time.Duration) {
	p.Helper()
	begun := time.Now()
	for !ok() {
		if time.Since(begun) > within {
			p.Fatalf("no %s within %s", what, within)
		}
		time.Sleep(100 * time.Millisecond)
	}
	return time.Since(begun)
}

// query returns the label sets of the series that an expression has now.
func (p *scraper) query(expr string) (all []map[string]string, err error) {
	resp, err := http.Get(p.at + "/api/v1/query?" + url.Values{"query": {expr}}.Encode())
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	var got struct {
		Status, Error string
		Data          struct {
			Result []struct{ Metric map[string]string }
		}
	}
	if err := json.NewDecoder(resp.Body).Decode(&got); err != nil {
		return nil, err
	}
	if got.Status != "success" {
		return nil, fmt.Errorf("query %s: %s", expr, got.Error)
	}
	for _, r := range got.Data.Result {
		all = append(all, r.Metric)
	}
	return all, nil
}

// firing are the names of the alerts that fire.
func (p *scraper) firing() []string {
	p.Helper()
	all, err := p.query(`ALERTS{alertstate="firing"}`)
	if err != nil {
		p.Fatal(err)
	}
	var names []string
	for _, m := range all {
		names = append(names, m["alertname"])
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// alarm is a failure that somebody has to hear of by one alert.
type alarm struct {
	alert string
	after time.Duration // the alert's own time, and what the daemon takes to see the failure
	begin func() (end func())
}

// play has a failure happen: its alert fires within its time and 15 s, and no other does until all is over.
func (p *scraper) play(s alarm) {
	p.Helper()
	end := s.begin()
	only := func() []string {
		now := p.firing()
		if others := slices.DeleteFunc(slices.Clone(now), func(name string) bool { return name == s.alert }); len(others) > 0 {
			p.Errorf("for what %s is about %q fire", s.alert, others)
		}
		return now
	}
	took := p.await(s.alert, s.after+15*time.Second, func() bool { return slices.Contains(only(), s.alert) })
	end()
	over := p.await("end of "+s.alert, 90*time.Second, func() bool { return len(only()) == 0 })
	p.Logf("%s fires %.1f s after its failure, and is over %.1f s after that", s.alert, took.Seconds(), over.Seconds())
}

// remainQuiet looks for a while that no alert fires.
func (p *scraper) remainQuiet(long time.Duration) {
	p.Helper()
	for end := time.Now().Add(long); time.Now().Before(end); time.Sleep(300 * time.Millisecond) {
		if now := p.firing(); len(now) > 0 {
			p.Fatalf("while all is well %q fire", now)
		}
	}
}

// dashboardQueries are the queries of the dashboard, with its variables replaced.
func dashboardQueries(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("../../contrib/grafana/panebridge.json")
	if err != nil {
		t.Fatal(err)
	}
	var board struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(text, &board); err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, panel := range board.Panels {
		for i, target := range panel.Targets {
			expr := strings.NewReplacer("$instance", ".*", "$__rate_interval", "10s").Replace(target.Expr)
			if strings.Contains(expr, "$") {
				t.Errorf("%s asks for %s", panel.Title, expr)
			}
			all[fmt.Sprintf("%s, %d", panel.Title, i+1)] = expr
		}
	}
	if len(all) < 15 {
		t.Errorf("the dashboard has %d queries", len(all))
	}
	return all
}
