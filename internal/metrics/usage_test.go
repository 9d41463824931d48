package metrics

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// What's scraped is the sums by agent, forgotten sessions' included, and how living sessions stand.
func TestUsageIsScraped(t *testing.T) {
	now := time.Now()
	m := New("test")
	m.CollectUsage(func(context.Context) ([]sessions.UsageSum, error) {
		return []sessions.UsageSum{
			{Session: "pb_1", Agent: "codex", Day: "2026-11-29", Tokens: sessions.Tokens{Input: 10, CacheRead: 5, Output: 2}, Answers: 1},
			{Session: "", Agent: "codex", Day: "2026-11-30", Tokens: sessions.Tokens{Input: 100, CacheWrite: 7}, CostUSD: 0.5, Answers: 2},
		}, nil
	}, func() []sessions.Session {
		return []sessions.Session{
			{State: sessions.StateIdle, Usage: &sessions.Usage{Agent: "codex", Context: &sessions.ContextUse{Used: 90, Window: 100}, Windows: []sessions.AccountWindow{{Minutes: 300, UsedPercent: 42.5, ResetsAt: now.Add(time.Hour)}}}},
			{State: sessions.StateIdle, Usage: &sessions.Usage{Agent: "codex", Context: &sessions.ContextUse{Used: 10, Window: 100}, Limit: &sessions.UsageLimit{At: now, Until: now.Add(time.Hour)}, Windows: []sessions.AccountWindow{{Minutes: 300, UsedPercent: 99, ResetsAt: now.Add(-time.Hour)}}}},
			{State: sessions.StateEnded, Usage: &sessions.Usage{Agent: "claude", Context: &sessions.ContextUse{Used: 500}}},
			{State: sessions.StateIdle},
		}
	})
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", "/metrics", nil))
	for _, want := range []string{
		`panebridge_tokens_total{agent="codex",kind="input"} 110`, `panebridge_tokens_total{agent="codex",kind="cache_read"} 5`,
		`panebridge_tokens_total{agent="codex",kind="cache_write"} 7`, `panebridge_tokens_total{agent="codex",kind="output"} 2`,
		`panebridge_cost_usd_total{agent="codex"} 0.5`, `panebridge_answers_total{agent="codex"} 3`,
		`panebridge_context_used_tokens{agent="codex"} 90`, `panebridge_context_left_tokens{agent="codex"} 10`,
		`panebridge_limited_sessions{agent="codex"} 1`, `panebridge_account_used_ratio{agent="codex",minutes="300"} 0.425`,
	} {
		if !strings.Contains(w.Body.String(), want+"\n") {
			t.Errorf("there's no %s", want)
		}
	}
	if strings.Contains(w.Body.String(), `agent="claude"`) {
		t.Error("an ended session counts")
	}
}
