package transcript

import (
	"fmt"
	"slices"
	"time"

	"github.com/tidwall/gjson"

	"github.com/panebridge/panebridge/sessions"
)

// AnswerUse is what an answer of a model took, as its program says, and how things stand behind it.
type AnswerUse struct {
	// Key names what it took: a copy of the conversation has the same.
	Key     string
	Tokens  sessions.Tokens
	CostUSD float64                  `json:",omitempty"`
	Context *sessions.ContextUse     `json:",omitempty"` // nil: it isn't told
	Windows []sessions.AccountWindow `json:",omitempty"` // none: they aren't told
}

// counted are the newest messages whose tokens were told, the oldest first. Programs write a message in
// several records, each with all of its tokens, or with those so far.
type counted []countedMessage

type countedMessage struct {
	ID     string          `json:"id"`
	Tokens sessions.Tokens `json:"tokens"`
}

// maxCounted is more than the messages whose records are written one among the other.
const maxCounted = 16

// addMessage returns what's new of a message's tokens.
func (c *counted) addMessage(id string, all sessions.Tokens) sessions.Tokens {
	i := slices.IndexFunc(*c, func(m countedMessage) bool { return m.ID == id })
	if i < 0 {
		if len(*c) == maxCounted {
			*c = slices.Delete(*c, 0, 1)
		}
		*c = append(*c, countedMessage{own(id), all})
		return all
	}
	was := (*c)[i].Tokens
	news := all.Minus(was)
	(*c)[i].Tokens = was.Plus(news)
	return news
}

// message returns a record of what a message took, if that's new. context is how many tokens the
// conversation has behind it; 0: that isn't told.
func (c *counted) message(of Format, id string, all sessions.Tokens, costUSD float64, context int64, out []Record) []Record {
	if id == "" || all.Total() == 0 && costUSD == 0 {
		return out
	}
	news := c.addMessage(id, all)
	if news.Total() == 0 && costUSD == 0 {
		return out
	}
	u := AnswerUse{Key: usageKey(of, id, all), Tokens: news, CostUSD: costUSD}
	if context > 0 {
		u.Context = &sessions.ContextUse{Used: context}
	}
	return append(out, Record{Kind: Used, ID: own(id), Usage: &u})
}

// usageKey names what a message took up to so many tokens.
func usageKey(of Format, id string, all sessions.Tokens) string {
	return fmt.Sprintf("%s %s %d %d %d %d", of, id, all.Input, all.CacheRead, all.CacheWrite, all.Output)
}

// count reads a number that's no less than 0.
func count(v gjson.Result) int64 {
	return min(max(v.Int(), 0), sessions.MaxTokens)
}

// dollars reads an amount that's no less than 0.
func dollars(v gjson.Result) float64 {
	if v.Type != gjson.Number || !(v.Num > 0) || v.Num > 1e9 {
		return 0
	}
	return v.Num
}

// claudeTokens are those of a message of Claude Code.
func claudeTokens(u gjson.Result) sessions.Tokens {
	return sessions.Tokens{
		Input: count(u.Get("input_tokens")), CacheRead: count(u.Get("cache_read_input_tokens")),
		CacheWrite: count(u.Get("cache_creation_input_tokens")), Output: count(u.Get("output_tokens")),
	}
}

// usedByClaude tells what a message took. Of a sub-agent, it says nothing of the conversation's context.
func (c *counted) usedByClaude(l *claudeLine, helper bool, out []Record) []Record {
	u := l.message.Get("usage")
	if l.apiError || l.message.Get("model").Str == "<synthetic>" || !u.IsObject() {
		return out
	}
	t, context := claudeTokens(u), int64(0)
	if !helper {
		context = t.Total()
	}
	first := len(out)
	if out = c.message(Claude, l.message.Get("id").Str, t, 0, context, out); helper && first < len(out) {
		out[first].By = "sub-agent"
	}
	return out
}

// claudeCost is what a conversation of Claude Code has cost so far. The program says so when it ends.
type claudeCost struct {
	Of   string  `json:"of,omitempty"` // its own id of the conversation
	USD  float64 `json:"usd,omitempty"`
	Last int64   `json:"last,omitempty"` // when the last record was written that has a time, milliseconds since 1970
}

// noteTime takes in when a record was written: that of the cost has no time.
func (c *claudeCost) noteTime(at gjson.Result) {
	if when := timeOf(at); !when.IsZero() {
		c.Last = when.UnixMilli()
	}
}

// used tells what a conversation has cost since that was said last.
func (c *claudeCost) used(line gjson.Result, out []Record) []Record {
	of, all := line.Get("sessionId").Str, dollars(line.Get("totalCostUSD"))
	news := all
	if of == c.Of {
		news = max(all-c.USD, 0)
	}
	if c.Of, c.USD = own(of), all; news == 0 {
		return out
	}
	r := Record{Kind: Used, Usage: &AnswerUse{Key: fmt.Sprintf("%s cost %s %g", Claude, of, all), CostUSD: news}}
	if c.Last > 0 {
		r.At = time.UnixMilli(c.Last).UTC()
	}
	return append(out, r)
}

// codexTokens are those that Codex counts: what it read from the cache is a part of its input, and its
// reasoning one of its output.
func codexTokens(u gjson.Result) sessions.Tokens {
	read, write := count(u.Get("cached_input_tokens")), count(u.Get("cache_write_input_tokens"))
	return sessions.Tokens{
		Input: max(count(u.Get("input_tokens"))-read-write, 0), CacheRead: read, CacheWrite: write, Output: count(u.Get("output_tokens")),
	}
}

// codexCount says what was counted of a transcript of Codex.
type codexCount struct {
	// ByRecord says that each answer has a record of its own, as since 0.169.0 at the latest; else
	// there are sums alone, which begin with those of the conversation that it goes on with.
	ByRecord bool            `json:"by_record,omitempty"`
	Sum      sessions.Tokens `json:"sum,omitzero"`
}

// record tells what one answer took.
func (c *codexCount) record(p gjson.Result, out []Record) []Record {
	c.ByRecord = true
	t, id := codexTokens(p.Get("usage")), p.Get("response_id").Str
	if id == "" || t.Total() == 0 {
		return out
	}
	return append(out, Record{Kind: Used, ID: own(id), Usage: &AnswerUse{Key: string(Codex) + " " + own(id), Tokens: t}})
}

// event tells how things stand: of the conversation's context, and of the account.
func (c *codexCount) event(e, at gjson.Result, out []Record) []Record {
	info, limits := e.Get("info"), e.Get("rate_limits")
	var u AnswerUse
	if last := info.Get("last_token_usage"); last.IsObject() {
		u.Context = &sessions.ContextUse{Used: count(last.Get("total_tokens")), Window: count(info.Get("model_context_window"))}
	}
	if total := info.Get("total_token_usage"); total.IsObject() {
		sum := codexTokens(total)
		if !c.ByRecord && sum != c.Sum {
			if u.Tokens = sum.Minus(c.Sum); sum.Total() < c.Sum.Total() { // another count has begun
				u.Tokens = codexTokens(info.Get("last_token_usage"))
			}
			u.Key = fmt.Sprintf("%s %s %d", Codex, at.Str, sum.Total())
		}
		c.Sum = sum
	}
	for _, name := range []string{"primary", "secondary"} {
		if w := limits.Get(name); w.IsObject() {
			u.Windows = append(u.Windows, codexWindow(w, at))
		}
	}
	if u.Context == nil && u.Windows == nil && u.Key == "" {
		return out
	}
	return append(out, Record{Kind: Used, Usage: &u})
}

// maxWindow is how long a window is believed to be at most, seconds.
const maxWindow = int64(MaxLimit / time.Second)

// codexWindow is a window of an account at Codex' makers.
func codexWindow(w, at gjson.Result) sessions.AccountWindow {
	out := sessions.AccountWindow{Minutes: count(w.Get("window_minutes")), UsedPercent: min(max(w.Get("used_percent").Num, 0), 100)}
	switch resets, in := w.Get("resets_at"), w.Get("resets_in_seconds"); {
	case resets.Type == gjson.Number && resets.Num > 0 && resets.Num < maxEpoch:
		out.ResetsAt = time.Unix(resets.Int(), 0).UTC()
	case in.Type == gjson.Number && in.Num <= float64(maxWindow) && !timeOf(at).IsZero(): // before 0.46
		out.ResetsAt = believable(timeOf(at).Add(time.Duration(count(in)) * time.Second).Truncate(time.Second))
	}
	return out
}

// geminiTokens are those of a message of Gemini CLI: what it read from the cache is a part of its input.
func geminiTokens(u gjson.Result) (t sessions.Tokens, context int64) {
	read := count(u.Get("cached"))
	t = sessions.Tokens{
		Input: max(count(u.Get("input"))-read, 0) + count(u.Get("tool")), CacheRead: read,
		Output: count(u.Get("output")) + count(u.Get("thoughts")),
	}
	return t, t.Total()
}

// qwenTokens are those of a message of Qwen Code. Its total says whether reasoning is a part of the output.
func qwenTokens(u gjson.Result) (t sessions.Tokens, context int64) {
	asked, read := count(u.Get("promptTokenCount")), count(u.Get("cachedContentTokenCount"))
	t = sessions.Tokens{
		Input: max(asked-read, 0), CacheRead: read,
		Output: max(count(u.Get("candidatesTokenCount")), count(u.Get("totalTokenCount"))-asked),
	}
	return t, t.Total()
}

// piTokens are those of a message of pi.
func piTokens(u gjson.Result) (t sessions.Tokens, costUSD float64, context int64) {
	t = sessions.Tokens{
		Input: count(u.Get("input")), CacheRead: count(u.Get("cacheRead")), CacheWrite: count(u.Get("cacheWrite")), Output: count(u.Get("output")),
	}
	return t, dollars(u.Get("cost.total")), t.Total()
}

// openCodeUsed tells what a message of opencode's model took. Its total says whether reasoning is a part
// of the output.
func openCodeUsed(m *openCodeMessage, out []Record) []Record {
	u := m.data.Get("tokens")
	t := sessions.Tokens{
		Input: count(u.Get("input")), CacheRead: count(u.Get("cache.read")), CacheWrite: count(u.Get("cache.write")),
		Output: count(u.Get("output")),
	}
	if total := u.Get("total"); total.Type == gjson.Number {
		t.Output = max(t.Output, count(total)-t.Input-t.CacheRead-t.CacheWrite)
	} else {
		t.Output += count(u.Get("reasoning"))
	}
	cost := dollars(m.data.Get("cost"))
	if t.Total() == 0 && cost == 0 {
		return out
	}
	used := AnswerUse{Key: string(OpenCode) + " " + m.id, Tokens: t, CostUSD: cost}
	if !m.data.Get("summary").Bool() {
		used.Context = &sessions.ContextUse{Used: t.Total()}
	}
	at := millis(m.data.Get("time.completed"))
	if at.IsZero() {
		at = millis(m.data.Get("time.created"))
	}
	return append(out, Record{Kind: Used, ID: m.id, At: at, Usage: &used})
}
