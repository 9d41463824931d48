package sessions

import (
	"slices"
	"time"
)

// Tokens are how many tokens models have read and written, as an agent program says itself. None
// of them is counted twice.
type Tokens struct {
	Input      int64 `json:"input"`       // read anew: neither from a cache nor into one
	CacheRead  int64 `json:"cache_read"`  // read from a cache
	CacheWrite int64 `json:"cache_write"` // read and put into a cache
	Output     int64 `json:"output"`      // written, reasoning included
}

// MaxTokens is how many tokens of a kind are counted at most, of an answer and in sums: programs may say any number, and a
// sum that doesn't fit 64 bits would be none.
const MaxTokens = 1 << 50

// Plus is the sum of both, of each kind MaxTokens at most.
func (t Tokens) Plus(o Tokens) Tokens {
	sum := func(a, b int64) int64 { return min(a, MaxTokens) + min(b, MaxTokens-min(a, MaxTokens)) }
	return Tokens{sum(t.Input, o.Input), sum(t.CacheRead, o.CacheRead), sum(t.CacheWrite, o.CacheWrite), sum(t.Output, o.Output)}
}

// Minus is what's more than in o, of each kind.
func (t Tokens) Minus(o Tokens) Tokens {
	return Tokens{max(t.Input-o.Input, 0), max(t.CacheRead-o.CacheRead, 0), max(t.CacheWrite-o.CacheWrite, 0), max(t.Output-o.Output, 0)}
}

// Total is how many there are.
func (t Tokens) Total() int64 { return t.Input + t.CacheRead + t.CacheWrite + t.Output }

// Spending is what one answer of a model took.
type Spending struct {
	// Key names it for good: what comes with the same key, in a copy of a conversation say, was
	// counted before.
	Key     string
	At      time.Time // when it was written
	Tokens  Tokens
	CostUSD float64 // US dollars, where the program says so
}

// ContextUse is how full a conversation's context is.
type ContextUse struct {
	Used   int64 `json:"used"`             // tokens, with the last answer; 0: it was emptied, and nothing was said since
	Window int64 `json:"window,omitempty"` // tokens that fit; 0: the program doesn't say
}

// Left is how many tokens still fit; false: the program doesn't say how many do.
func (c ContextUse) Left() (int64, bool) {
	return max(c.Window-c.Used, 0), c.Window > 0
}

// AccountWindow is a stretch of time in which an account may use so much.
type AccountWindow struct {
	Minutes     int64     `json:"minutes,omitempty"` // its length; 0: unknown
	UsedPercent float64   `json:"used_percent"`
	ResetsAt    time.Time `json:"resets_at,omitzero"` // when it begins anew; zero: unknown
}

// UsageLimit says that an agent's account has used all that it may, as the agent said itself.
type UsageLimit struct {
	At    time.Time `json:"at"`             // when the agent said so
	Until time.Time `json:"until,omitzero"` // when it may go on; zero: it didn't say
}

// Usage is what a session's agents have used, and how things stand with the one that runs or ran
// last. It's a value: whoever changes it makes another.
type Usage struct {
	Agent   string          `json:"agent,omitempty"` // profile of the program that all but Tokens and CostUSD are about
	Tokens  Tokens          `json:"tokens"`          // since the session began, sub-agents' included
	CostUSD float64         `json:"cost_usd,omitempty"`
	Context *ContextUse     `json:"context,omitempty"` // of the conversation, sub-agents' not included; nil: unknown
	Windows []AccountWindow `json:"windows,omitempty"` // of the account, the shortest first
	Limit   *UsageLimit     `json:"limit,omitempty"`   // nil: none is known
}

// LimitAt is the limit that holds at a time; nil: none is known to. One that's over without an
// answer since is none.
func (u *Usage) LimitAt(now time.Time) *UsageLimit {
	if u == nil || u.Limit == nil || !u.Limit.Until.IsZero() && !now.Before(u.Limit.Until) {
		return nil
	}
	return u.Limit
}

// WindowsAt are the account's windows at a time: those that haven't begun anew since they were told.
func (u *Usage) WindowsAt(now time.Time) (out []AccountWindow) {
	if u == nil {
		return nil
	}
	for _, w := range u.Windows {
		if w.ResetsAt.IsZero() || now.Before(w.ResetsAt) {
			out = append(out, w)
		}
	}
	return out
}

// Equal reports whether both say the same.
func (u *Usage) Equal(o *Usage) bool {
	if u == nil || o == nil {
		return u == o
	}
	return u.Agent == o.Agent && u.Tokens == o.Tokens && u.CostUSD == o.CostUSD && samePointed(u.Context, o.Context) &&
		slices.EqualFunc(u.Windows, o.Windows, AccountWindow.equal) &&
		(u.Limit == nil) == (o.Limit == nil) && (u.Limit == nil || u.Limit.At.Equal(o.Limit.At) && u.Limit.Until.Equal(o.Limit.Until))
}

func (w AccountWindow) equal(o AccountWindow) bool {
	return w.Minutes == o.Minutes && w.UsedPercent == o.UsedPercent && w.ResetsAt.Equal(o.ResetsAt)
}

func samePointed[T comparable](a, b *T) bool {
	return a == b || a != nil && b != nil && *a == *b
}

// UsageSum is what was used on one day in one session by one agent program.
type UsageSum struct {
	// Session is "" for what sessions used that are forgotten.
	Session ID      `json:"session,omitempty"`
	Agent   string  `json:"agent,omitempty"` // name of a profile
	Day     string  `json:"day,omitempty"`   // "2026-11-30", in the daemon's time zone
	Tokens  Tokens  `json:"tokens"`
	CostUSD float64 `json:"cost_usd,omitempty"`
	Answers int64   `json:"answers"` // of models
}
