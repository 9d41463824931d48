package sessions

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// ShortCount is a number in few letters: "950", "1.4k", "258k", "12M".
func ShortCount(n int64) string {
	switch {
	case n < 1000:
		return strconv.FormatInt(n, 10)
	case n < 9950:
		return fmt.Sprintf("%.1fk", float64(n)/1e3)
	case n < 999_500:
		return fmt.Sprintf("%.0fk", float64(n)/1e3)
	case n < 9_950_000:
		return fmt.Sprintf("%.1fM", float64(n)/1e6)
	}
	return fmt.Sprintf("%.0fM", float64(n)/1e6)
}

// Dollars is an amount as people read it.
func Dollars(usd float64) string {
	if usd > 0 && usd < 0.005 {
		return "less than $0.01"
	}
	return fmt.Sprintf("$%.2f", usd)
}

// ClockUntil is when something ends, in local time: "14:00", or with its day if that's later than half a day
// from now.
func ClockUntil(t, now time.Time) string {
	t, now = t.Local(), now.Local()
	if t.Sub(now) < 12*time.Hour {
		return t.Format("15:04")
	}
	return t.Format("2 January 15:04")
}

// LimitWords say that an account may do nothing more: "limited until 14:00"; "": nothing says so.
func (u *Usage) LimitWords(now time.Time) string {
	switch l := u.LimitAt(now); {
	case l == nil:
		return ""
	case l.Until.IsZero():
		return "limited"
	default:
		return "limited until " + ClockUntil(l.Until, now)
	}
}

// Words return what u of some session says, in short: how full the conversation's context is, what was used, and
// how the account stands, but for its limit; none if nothing is known.
func (u *Usage) Words(now time.Time) (parts []string) {
	if u == nil {
		return nil
	}
	if c := u.Context; c != nil {
		left, known := c.Left()
		switch {
		case known && c.Used > 0:
			parts = append(parts, fmt.Sprintf("context %.0f %% full, %s left", min(100*float64(c.Used)/float64(c.Window), 100), ShortCount(left)))
		case c.Used > 0:
			parts = append(parts, "context "+ShortCount(c.Used))
		default:
			parts = append(parts, "context emptied")
		}
	}
	if n := u.Tokens.Total(); n > 0 {
		parts = append(parts, ShortCount(n)+" tokens")
	}
	if u.CostUSD > 0 {
		parts = append(parts, Dollars(u.CostUSD))
	}
	for _, w := range u.WindowsAt(now) {
		parts = append(parts, w.words(now))
	}
	return parts
}

func (w AccountWindow) words(now time.Time) string {
	text := fmt.Sprintf("%.0f %% of the account's %s", w.UsedPercent, w.span())
	if !w.ResetsAt.IsZero() {
		text += " until " + ClockUntil(w.ResetsAt, now)
	}
	return text
}

// span is its length in words.
func (w AccountWindow) span() string {
	switch {
	case w.Minutes <= 0:
		return "window"
	case w.Minutes%(24*60) == 0:
		return fmt.Sprintf("%d days", w.Minutes/(24*60))
	case w.Minutes%60 == 0:
		return fmt.Sprintf("%d h", w.Minutes/60)
	}
	return fmt.Sprintf("%d min", w.Minutes)
}

// UsageBy says by what sums are made.
type UsageBy string

// The ways.
const (
	BySession UsageBy = "session"
	ByAgent   UsageBy = "agent"
	ByDay     UsageBy = "day"
)

// SumUsage adds up by one thing. Days are in their order; else what used most comes first.
func SumUsage(all []UsageSum, by UsageBy) []UsageSum {
	sums := map[UsageSum]*UsageSum{}
	out := []*UsageSum{}
	for _, u := range all {
		var of UsageSum
		switch by {
		case BySession:
			of.Session = u.Session
		case ByAgent:
			of.Agent = u.Agent
		case ByDay:
			of.Day = u.Day
		}
		sum := sums[of]
		if sum == nil {
			one := of
			sum = &one
			sums[of], out = sum, append(out, sum)
		}
		sum.Tokens, sum.CostUSD, sum.Answers = sum.Tokens.Plus(u.Tokens), sum.CostUSD+u.CostUSD, sum.Answers+u.Answers
	}
	list := make([]UsageSum, 0, len(out))
	for _, sum := range out {
		list = append(list, *sum)
	}
	slices.SortFunc(list, func(a, b UsageSum) int {
		if by == ByDay {
			return cmp.Compare(a.Day, b.Day)
		}
		return cmp.Or(cmp.Compare(b.Tokens.Total(), a.Tokens.Total()), cmp.Compare(a.Session, b.Session), cmp.Compare(a.Agent, b.Agent))
	})
	return list
}
