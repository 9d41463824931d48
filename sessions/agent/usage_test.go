package agent

import (
	"maps"
	"testing"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// used is an answer that took tokens, all of which fill the context.
func (f *file) used(id string, input, output int, more map[string]any) {
	f.Helper()
	line := map[string]any{"type": "assistant", "message": map[string]any{
		"id": id, "role": "assistant", "model": "m", "content": []any{map[string]any{"type": "text", "text": "said " + id}},
		"usage": map[string]any{"input_tokens": input, "output_tokens": output},
	}}
	maps.Copy(line, more)
	f.line(line)
}

// failed is a failure that Claude Code says itself.
func (f *file) failed(text string) {
	f.Helper()
	f.line(map[string]any{"type": "assistant", "isApiErrorMessage": true, "message": map[string]any{
		"id": "failed", "role": "assistant", "model": "<synthetic>", "content": []any{map[string]any{"type": "text", "text": text}},
		"usage": map[string]any{"input_tokens": 0, "output_tokens": 0},
	}})
}

func (p *pane) tokens() (all sessions.Tokens) {
	keys := map[string]bool{}
	for _, s := range p.spent {
		if keys[s.Key] {
			p.Errorf("told twice: %s", s.Key)
		}
		keys[s.Key] = true
		all = all.Plus(s.Tokens)
	}
	return all
}

// What a conversation uses is told once, over restarts; compacting empties its context, sub-agents don't fill it,
// and another conversation has one of its own. A limit holds until the account answers.
func TestUsageOfAProgram(t *testing.T) {
	h := newHost(t)
	h.run(1, 1, h.now.Add(-time.Minute))
	p, f := h.pane(1), h.file("one")
	p.hook(SessionStart, f)
	f.user("first")
	f.used("a", 1000, 10, nil)
	f.used("a", 1000, 10, nil)
	f.end()
	p.look(time.Second, atRest("first"))
	if got := p.tokens(); got != (sessions.Tokens{Input: 1000, Output: 10}) || p.used == nil || p.used.Context.Used != 1010 || p.used.Agent != "claude" {
		t.Fatalf("tokens %+v, usage %+v", got, p.used)
	}
	p.restart()
	p.used = nil
	p.look(time.Second, atRest("first"))
	if p.used != nil || p.tokens().Total() != 1010 {
		t.Errorf("told anew: %+v, %+v", p.used, p.spent)
	}

	f.used("sub", 5000, 1, map[string]any{"isSidechain": true})
	p.look(time.Second, atRest("first"))
	if p.tokens().Input != 6000 || p.used.Context.Used != 1010 {
		t.Errorf("with a sub-agent: %+v, context %+v", p.tokens(), p.used.Context)
	}
	f.line(map[string]any{"type": "system", "subtype": "compact_boundary"})
	p.look(time.Second, atRest("first"))
	if p.used.Context.Used != 0 {
		t.Errorf("compacted: context %+v", p.used.Context)
	}

	f.failed("5-hour limit reached ∙ resets in 2 hours")
	p.look(time.Second, atRest("first"))
	l := p.used.Limit
	if l == nil || l.Until.Sub(l.At) != 2*time.Hour || p.used.LimitAt(h.now) == nil || p.used.LimitAt(h.now.Add(3*time.Hour)) != nil {
		t.Fatalf("limit %+v", l)
	}
	f.user("5-hour limit reached ∙ resets in 9 hours")
	f.failed("API Error: 529 overloaded. 5-hour limit reached ∙ resets in 9 hours")
	f.used("sub", 5000, 50, map[string]any{"isSidechain": true})
	p.restart()
	p.look(time.Second, atRest("first"))
	if p.used.Limit == nil || *p.used.Limit != *l {
		t.Errorf("neither a person, nor another failure, nor a sub-agent changes the limit: %+v", p.used.Limit)
	}
	h.now = h.now.Add(time.Second)
	f.used("b", 200, 20, nil)
	f.end()
	p.look(time.Second, atRest("first"))
	if p.used.Limit != nil || p.used.Context.Used != 220 {
		t.Errorf("it has answered: limit %+v, context %+v", p.used.Limit, p.used.Context)
	}

	other := h.file("two") // as /clear begins one
	p.hook(SessionStart, other)
	other.user("second")
	p.look(time.Second, atWorkOn("second"))
	if p.used.Context != nil {
		t.Errorf("another conversation begins with the context %+v", p.used.Context)
	}
	other.used("c", 30, 3, nil)
	p.look(time.Second, atWorkOn("second"))
	if p.used.Context.Used != 33 || p.tokens().Input != 1000+5000+200+30 {
		t.Errorf("context %+v, tokens %+v", p.used.Context, p.tokens())
	}
}

// What a conversation used, and hit, before the program was started that goes on with it is another session's.
func TestUsageBeforeASessionIsntItsOwn(t *testing.T) {
	h := newHost(t)
	f := h.file("one")
	f.user("before")
	f.used("a", 1000, 10, nil)
	f.failed("5-hour limit reached ∙ resets in 8 hours")
	h.now = h.now.Add(time.Hour)
	h.run(1, 1, h.now)
	h.now = h.now.Add(10 * time.Second)
	p := h.pane(1)
	p.hook(SessionStart, f)
	f.user("again")
	f.used("b", 7, 1, nil)
	p.look(time.Second, atWorkOn("again"))
	if got := p.tokens(); got != (sessions.Tokens{Input: 7, Output: 1}) || p.used.Limit != nil {
		t.Errorf("%+v, limit %+v", got, p.used.Limit)
	}
}

// Codex' failure that says no time holds until the window is over that's used up.
func TestALimitLastsAsItsWindow(t *testing.T) {
	now := time.Date(2026, 11, 30, 10, 0, 0, 0, time.UTC)
	u := usageState{Usage: sessions.Usage{Windows: []sessions.AccountWindow{
		{Minutes: 300, UsedPercent: 100, ResetsAt: now.Add(time.Hour)}, {Minutes: 10080, UsedPercent: 40, ResetsAt: now.Add(48 * time.Hour)},
	}}}
	u.setLimit(sessions.UsageLimit{At: now}, now)
	if want := now.Add(time.Hour); !u.Limit.Until.Equal(want) {
		t.Errorf("until %s, want %s", u.Limit.Until, want)
	}
	u.Windows[0].ResetsAt = now.Add(time.Hour + 54*time.Second)
	u.setLimit(sessions.UsageLimit{At: now, Until: now.Add(time.Hour)}, now)
	if want := now.Add(time.Hour + 54*time.Second); !u.Limit.Until.Equal(want) {
		t.Errorf("with its seconds until %s, want %s", u.Limit.Until, want)
	}
	u.setLimit(sessions.UsageLimit{At: now, Until: now.Add(30 * time.Minute)}, now)
	if want := now.Add(30 * time.Minute); !u.Limit.Until.Equal(want) {
		t.Errorf("of another limit until %s, want %s", u.Limit.Until, want)
	}
	u.setLimit(sessions.UsageLimit{At: now.AddDate(100, 0, 0), Until: now.AddDate(100, 0, 1)}, now)
	if u.Limit.Until.After(now.AddDate(2, 0, 0)) || !u.Limit.At.Equal(now) {
		t.Errorf("of a record from a time to come: %+v", u.Limit)
	}
}
