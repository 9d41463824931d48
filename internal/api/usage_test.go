package api_test

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/continuing"
	"github.com/panebridge/panebridge/internal/redact"
	"github.com/panebridge/panebridge/internal/store/storetest"
	"github.com/panebridge/panebridge/sessions"
)

// goesOn has sessions go on by themselves, and counts what's given.
func goesOn(t *testing.T, sums ...sessions.UsageSum) func(o *api.Options) {
	t.Helper()
	db, err := storetest.Open(t.Context(), filepath.Join(t.TempDir(), "db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	masker, err := redact.New(redact.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return func(o *api.Options) {
		o.Continuations = continuing.New(continuing.Options{
			Sessions: o.Sessions.(continuing.Sessions), Store: db, Text: func() string { return "continue with token=" + secret }, Changed: func(sessions.Session) {},
		})
		o.Usage = func(_ context.Context, since string) (out []sessions.UsageSum, _ error) {
			for _, u := range sums {
				if u.Day >= since {
					out = append(out, u)
				}
			}
			return out, nil
		}
		o.Masker = masker
	}
}

// Sums are made by one thing; who may see sessions may see them.
func TestUsageIsSummed(t *testing.T) {
	tokens := func(n int64) sessions.Tokens { return sessions.Tokens{Input: n} }
	sums := []sessions.UsageSum{
		{Session: "pb_0123456789ab", Agent: "claude", Day: "2026-11-29", Tokens: tokens(5), CostUSD: 0.25, Answers: 1},
		{Session: "", Agent: "codex", Day: "2026-11-29", Tokens: tokens(100), Answers: 2},
	}
	b := setup(t, goesOn(t, sums...), reaching(proxied))
	for by, want := range map[sessions.UsageBy][]string{
		sessions.BySession: {" 100", "pb_0123456789ab 5"}, sessions.ByAgent: {"codex 100", "claude 5"}, sessions.ByDay: {"2026-11-29 105"},
	} {
		got, err := b.client.Usage(t.Context(), by, "")
		var said []string
		for _, u := range got {
			said = append(said, fmt.Sprint(string(u.Session)+u.Agent+u.Day, " ", u.Tokens.Input))
		}
		if err != nil || strings.Join(said, ",") != strings.Join(want, ",") {
			t.Errorf("by %s: %q, %v; want %q", by, said, err, want)
		}
	}
	if got, err := b.client.Usage(t.Context(), sessions.ByDay, "2026-11-30"); err != nil || len(got) != 0 {
		t.Errorf("since the day after: %+v, %v", got, err)
	}
	viewer := b.device(t, publicHost, "Viewer", access.Viewer)
	for query, want := range map[string]int{"": 200, "?by=moon": 400, "?since=yesterday": 400, "?by=day&since=2026-11-29": 200} {
		if got, text := b.send(t, http.MethodGet, "/api/v1/usage"+query, "", at(viewer, publicHost, "100.64.0.7")); got.status != want {
			t.Errorf("%q: %d %s", query, got.status, text)
		}
	}
}

// An operator has a session go on, and not go on; a viewer sees it, without secrets.
func TestASessionGoesOnByACall(t *testing.T) {
	b := setup(t, goesOn(t), reaching(proxied))
	id := b.daemon.Add("one", "claude")
	viewer, operator := b.device(t, publicHost, "Viewer", access.Viewer), b.device(t, publicHost, "Operator", access.Operator)
	path := "/api/v1/sessions/" + string(id)
	if _, err := b.client.Schedule(t.Context(), "one"); err == nil || !strings.Contains(err.Error(), "no limit of one is known") {
		t.Errorf("without a limit: %v", err)
	}
	until := time.Now().Add(time.Hour).Truncate(time.Second)
	b.daemon.SetUsage(id, &sessions.Usage{Agent: "claude", Limit: &sessions.UsageLimit{At: time.Now(), Until: until}})
	if got, _ := b.send(t, http.MethodPost, path+"/continuation", "", at(viewer, publicHost, "100.64.0.7")); got.status != http.StatusForbidden {
		t.Errorf("a viewer: %d", got.status)
	}
	if got, text := b.send(t, http.MethodPost, path+"/continuation", "", at(operator, publicHost, "100.64.0.7")); got.status != http.StatusOK || strings.Contains(text, secret) || !strings.Contains(text, `"by":"Operator"`) {
		t.Errorf("an operator: %d %s", got.status, text)
	}
	if got, text := b.send(t, http.MethodGet, path, "", at(viewer, publicHost, "100.64.0.7")); got.status != http.StatusOK || strings.Contains(text, secret) || !strings.Contains(text, `"continuation":{"due":"`) || !strings.Contains(text, `"limit":{"at":`) {
		t.Errorf("it's shown as %d %s", got.status, text)
	}
	if err := b.client.Unschedule(t.Context(), "one"); err != nil {
		t.Error(err)
	}
	if got, _ := b.send(t, http.MethodDelete, path+"/continuation", "", at(operator, publicHost, "100.64.0.7")); got.status != http.StatusNotFound {
		t.Errorf("taken back twice: %d", got.status)
	}
}
