package transcript

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// fields are a line's, as encoding/json reads them.
type fields map[string]any

func (f fields) in(path ...string) fields {
	for _, p := range path {
		f, _ = f[p].(map[string]any)
	}
	return f
}

func (f fields) text(key string) string { s, _ := f[key].(string); return s }

func (f fields) number(key string) int64 { n, _ := f[key].(float64); return int64(n) }

// reference counts what was used by another way than the decoders: all lines at once, by the messages' ids.
func reference(t *testing.T, rec recording) (tokens sessions.Tokens, cost float64, context sessions.ContextUse) {
	t.Helper()
	byID := map[string]sessions.Tokens{}
	for line := range bytes.SplitSeq(bytes.TrimSpace(rec.data), []byte("\n")) {
		var f fields
		if err := json.Unmarshal(line, &f); err != nil {
			t.Fatal(err)
		}
		u := f.in("message", "usage")
		switch rec.format {
		case Claude:
			if f.text("type") == "cost-state" {
				cost = f["totalCostUSD"].(float64)
			}
			if u == nil || f.in("message").text("model") == "<synthetic>" {
				continue
			}
			byID[f.in("message").text("id")] = sessions.Tokens{
				Input: u.number("input_tokens"), CacheRead: u.number("cache_read_input_tokens"),
				CacheWrite: u.number("cache_creation_input_tokens"), Output: u.number("output_tokens"),
			}
			context.Used = u.number("input_tokens") + u.number("cache_read_input_tokens") + u.number("cache_creation_input_tokens") + u.number("output_tokens")
		case Codex:
			info := f.in("payload", "info")
			if f.in("payload").text("type") != "token_count" || info == nil {
				continue
			}
			all := info.in("total_token_usage") // the last one has all
			byID[""] = sessions.Tokens{
				Input: all.number("input_tokens") - all.number("cached_input_tokens") - all.number("cache_write_input_tokens"), CacheRead: all.number("cached_input_tokens"),
				CacheWrite: all.number("cache_write_input_tokens"), Output: all.number("output_tokens"),
			}
			context = sessions.ContextUse{Used: info.in("last_token_usage").number("total_tokens"), Window: info.number("model_context_window")}
		case Gemini:
			if u = f.in("tokens"); u != nil {
				byID[f.text("id")] = sessions.Tokens{Input: u.number("input") - u.number("cached"), CacheRead: u.number("cached"), Output: u.number("output") + u.number("thoughts")}
				context.Used = u.number("total")
			}
		case Qwen:
			if u = f.in("usageMetadata"); u != nil {
				byID[f.text("uuid")] = sessions.Tokens{
					Input: u.number("promptTokenCount") - u.number("cachedContentTokenCount"), CacheRead: u.number("cachedContentTokenCount"), Output: u.number("candidatesTokenCount"),
				}
				context.Used = u.number("totalTokenCount")
			}
		case Pi:
			if u != nil && u.number("totalTokens") > 0 {
				byID[f.text("id")] = sessions.Tokens{Input: u.number("input"), CacheRead: u.number("cacheRead"), CacheWrite: u.number("cacheWrite"), Output: u.number("output")}
				context.Used = u.number("totalTokens")
			}
		default:
			t.Fatalf("no reference for %s", rec.format)
		}
	}
	for m := range maps.Values(byID) {
		tokens = tokens.Plus(m)
	}
	return tokens, cost, context
}

// usedBy adds up what records say was used.
func usedBy(t *testing.T, records []Record) (tokens sessions.Tokens, cost float64, context sessions.ContextUse) {
	t.Helper()
	keys := map[string]bool{}
	for _, r := range records {
		if r.Kind != Used {
			continue
		}
		if k := r.Usage.Key; k != "" && keys[k] {
			t.Errorf("told twice: %s", k)
		}
		keys[r.Usage.Key] = true
		tokens, cost = tokens.Plus(r.Usage.Tokens), cost+r.Usage.CostUSD
		if r.Usage.Context != nil {
			context = *r.Usage.Context
		}
	}
	return tokens, cost, context
}

// What real programs recorded adds up to what's counted of their files in another way.
func TestTokensAndContextOfRecordings(t *testing.T) {
	counted := 0
	for _, rec := range lines(t) {
		want, cost, context := reference(t, rec)
		got, gotCost, gotContext := usedBy(t, rest(t, open(t, rec.place(t), nil)))
		if got != want || gotCost != cost || gotContext != context {
			t.Errorf("%s: %+v, %g $, %+v; want %+v, %g $, %+v", rec.name, got, gotCost, gotContext, want, cost, context)
		}
		if want.Total() > 0 {
			counted++
		}
	}
	if counted < 20 {
		t.Errorf("%d recordings say what was used", counted)
	}
}

// opencode sums in its database what each conversation used; those of sub-agents are their own.
func TestTokensOfOpenCodeAreThoseOfItsSums(t *testing.T) {
	for _, rec := range recordings(t) {
		if rec.format != OpenCode {
			continue
		}
		ref := rec.place(t)
		want := map[string]sessions.Tokens{}
		rows, err := writable(t, ref.Path).Query(`SELECT id, coalesce(parent_id, ''), tokens_input, tokens_cache_read, tokens_cache_write, tokens_output + tokens_reasoning, cost FROM session`)
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		var cost, own float64
		for rows.Next() {
			var id, parent string
			var u sessions.Tokens
			if err := rows.Scan(&id, &parent, &u.Input, &u.CacheRead, &u.CacheWrite, &u.Output, &own); err != nil {
				t.Fatal(err)
			}
			if root := id; root == ref.Session || parent == ref.Session {
				want[ref.Session], cost = want[ref.Session].Plus(u), cost+own
			}
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		got, gotCost, _ := usedBy(t, rest(t, open(t, ref, nil)))
		if got != want[ref.Session] || got.Total() == 0 || gotCost != cost {
			t.Errorf("%s: %+v, %g $; its sums say %+v, %g $", rec.name, got, gotCost, want[ref.Session], cost)
		}
	}
}

// Claude Code writes the lines of a message one by one, and while it's written each may have more tokens than
// the one before. Sub-agents' don't fill the conversation's context.
func TestTokensOfAMessageInSeveralLines(t *testing.T) {
	line := func(id string, in, out int, more string) string {
		return fmt.Sprintf(`{"type":"assistant","timestamp":"2026-11-30T10:00:00Z","message":{"id":%q,"model":"m","content":[],"usage":{"input_tokens":%d,"cache_read_input_tokens":1000,"cache_creation_input_tokens":10,"output_tokens":%d}}%s}`, id, in, out, more)
	}
	path := filepath.Join(t.TempDir(), "s.jsonl")
	r := open(t, Ref{Format: Claude, Path: path}, nil)
	var all []Record
	for _, l := range []string{
		line("a", 5, 1, ""), line("b", 7, 2, ""), line("a", 5, 40, ""), line("a", 5, 40, ""), line("c", 100, 3, `,"isSidechain":true`), line("b", 7, 2, ""),
		line("x", 9, 9, `,"isApiErrorMessage":true`),
	} {
		add(t, path, []byte(l+"\n"))
		all = append(all, rest(t, r)...)
		r = open(t, r.Ref(), r.Cursor()) // the daemon is started anew
	}
	got, _, context := usedBy(t, all)
	if want := (sessions.Tokens{Input: 112, CacheRead: 3000, CacheWrite: 30, Output: 45}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if want := int64(1055); context.Used != want {
		t.Errorf("the context has %d tokens, want %d: those of message a with its last line", context.Used, want)
	}
}

// Older versions of Codex have sums alone. A file that goes on with another conversation begins with the sum of
// that one, which is older; windows are told as they are, and null tells nothing.
func TestSumsAndWindowsOfCodex(t *testing.T) {
	event := func(sum, last int, limits string) string {
		return fmt.Sprintf(`{"timestamp":"2026-11-30T10:00:%02dZ","type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":%d,"cached_input_tokens":100,"output_tokens":7,"total_tokens":%d},"last_token_usage":{"input_tokens":%d,"output_tokens":0,"total_tokens":%d},"model_context_window":258400},"rate_limits":%s}}`, sum%60, sum, sum+7, last, last, limits)
	}
	path := filepath.Join(t.TempDir(), "s.jsonl")
	const limits = `{"primary":{"used_percent":42.5,"window_minutes":300,"resets_at":1795419698},"secondary":{"used_percent":150,"window_minutes":10080,"resets_in_seconds":60}}`
	data := strings.Join([]string{
		event(1000, 1000, "null"), event(1000, 1000, limits), event(1500, 500, `{"primary":null,"secondary":null}`),
		`{"timestamp":"2026-11-30T10:00:59Z","type":"event_msg","payload":{"type":"token_count","info":null,"rate_limits":null}}`, "",
	}, "\n")
	if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
		t.Fatal(err)
	}
	records := rest(t, open(t, Ref{Format: Codex, Path: path}, nil))
	got, _, context := usedBy(t, records)
	if want := (sessions.Tokens{Input: 1400, CacheRead: 100, Output: 7}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if context != (sessions.ContextUse{Used: 500, Window: 258400}) {
		t.Errorf("context %+v", context)
	}
	var windows []string
	for _, r := range records {
		for _, w := range r.Usage.Windows {
			windows = append(windows, fmt.Sprintf("%d min %g %% %s", w.Minutes, w.UsedPercent, w.ResetsAt.Format("2006-01-02T15:04:05")))
		}
	}
	if want := []string{"300 min 42.5 % 2026-11-23T07:41:38", "10080 min 100 % 2026-11-30T10:01:40"}; !slices.Equal(windows, want) {
		t.Errorf("windows %q, want %q", windows, want)
	}
}

// Whatever times records have, each that's told can be stored as JSON, whose years have four digits, and none is of a year
// in which nobody wrote.
func TestTimesThatNobodyWroteAt(t *testing.T) {
	years := []string{"0000-01-01T00:00:00+14:00", "0001-01-01T00:00:00Z", "1900-01-01T00:00:00Z", "2026-11-30T10:00:00Z", "9999-12-31T23:59:59Z", "9999-12-31T23:59:59-12:00"}
	said := []string{"You've hit your usage limit. Try again in 30 days.", "Weekly limit reached ∙ resets Dec 9, 5pm", "Claude AI usage limit reached|9999999999", "You've hit your limit"}
	resets := []string{`"resets_in_seconds":9000000000`, `"resets_in_seconds":-5`, `"resets_in_seconds":1e300`, `"resets_at":9999999999`, `"resets_at":1e300`, `"resets_at":-1`}
	for _, at := range years {
		var lines []string
		for _, s := range said {
			lines = append(lines, fmt.Sprintf(`{"timestamp":%q,"type":"event_msg","payload":{"type":"error","message":%q}}`, at, s))
		}
		for _, r := range resets {
			lines = append(lines, fmt.Sprintf(`{"timestamp":%q,"type":"event_msg","payload":{"type":"token_count","rate_limits":{"primary":{"used_percent":1e300,"window_minutes":-1e300,%s}}}}`, at, r))
		}
		for _, line := range lines {
			records, _ := decoders[Codex]().decode([]byte(line), nil)
			if len(records) == 0 {
				t.Errorf("nothing is told of %s", line)
			}
			for _, r := range records {
				if _, err := json.Marshal(r); err != nil {
					t.Errorf("%s: %v", line, err)
				}
				for _, one := range []time.Time{r.At, untilOf(r)} {
					if !one.IsZero() && (one.Year() < 1970 || one.Year() > 2290) {
						t.Errorf("%s: a time is %s", line, one)
					}
				}
			}
		}
	}
}

// untilOf is when a record's limit is over, or its first window begins anew.
func untilOf(r Record) time.Time {
	switch {
	case r.Limit != nil:
		return r.Limit.Until
	case r.Usage != nil && len(r.Usage.Windows) > 0:
		return r.Usage.Windows[0].ResetsAt
	}
	return time.Time{}
}
