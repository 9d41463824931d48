package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/panebridge/panebridge/internal/api"
)

// printAdapter prints what a chat platform's scheduler does: per chat what's
// used of its budget, when the next call may go, and what waits.
func (p *program) printAdapter(a api.Adapter, now time.Time) error {
	line := fmt.Sprintf("\n%s: %s, %s, %d under way, %s coalesced away", a.Name, a.Mode,
		count(a.Documents, "document", "documents"), a.InFlight, percent(a.Totals.Coalesced, a.Totals.Updates))
	if a.Tick > 0 {
		line += fmt.Sprintf(", a tick of %gs", a.Tick)
	}
	if a.ActiveSessions > 0 {
		line += fmt.Sprintf(", %.1f sessions active", a.ActiveSessions)
	}
	if a.OldestAge > 0 {
		line += ", the oldest waits for " + waited(a.OldestAge)
	}
	if a.Errors > 0 {
		line += ", " + count(a.Errors, "error", "errors")
	}
	if a.Totals.Penalties > 0 {
		line += ", " + count(a.Totals.Penalties, "penalty", "penalties")
	}
	if a.PenaltyUntil.After(now) {
		line += ", silent for " + until(a.PenaltyUntil, now) + " by the platform's order"
	}
	if a.Error != "" {
		line += "; sends nothing: " + a.Error
	}
	if err := p.printf("%s\n", line); err != nil || len(a.Chats) == 0 {
		return err
	}
	rows := [][]string{{"CHAT", "USED", "NEXT SLOT", "WAITING", "OLDEST", "HELD BACK"}}
	for _, c := range a.Chats {
		rows = append(rows, chatRow(c, now))
	}
	return p.printTable(rows)
}

func chatRow(c api.Chat, now time.Time) []string {
	var used, waiting []string
	for _, w := range c.Windows {
		use := fmt.Sprintf("%d/%d per %gs", w.Used, w.Calls, w.Seconds)
		if w.Family != "" {
			use = w.Family + " " + use
		}
		if w.Used > 0 || w.Family == "" {
			used = append(used, use)
		}
	}
	oldest := 0.0
	for _, class := range []string{"interactive", "final", "stream"} {
		if w := c.Waiting[class]; w.Count > 0 {
			waiting = append(waiting, fmt.Sprintf("%d %s", w.Count, class))
			oldest = max(oldest, w.OldestAge)
		}
	}
	next, age, held := "free", "", ""
	if c.NextSlot.After(now) {
		next = "in " + until(c.NextSlot, now)
	}
	if len(waiting) > 0 {
		age = waited(oldest)
	}
	switch {
	case c.PenaltyUntil.After(now):
		held = "silent for " + until(c.PenaltyUntil, now) + " by the platform's order"
	case c.BackoffUntil.After(now):
		held = "tries again in " + until(c.BackoffUntil, now)
	case c.Multiplier < 1:
		held = fmt.Sprintf("at %.0f %% of its pace after a penalty", 100*c.Multiplier)
	}
	return []string{c.Chat, strings.Join(used, ", "), next, strings.Join(waiting, ", "), age, held}
}

// waited is a time in seconds, to a tenth.
func waited(seconds float64) string {
	return (time.Duration(seconds*1000) * time.Millisecond).Round(100 * time.Millisecond).String()
}

func count[N int | int64 | uint64](n N, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// until is how long it takes from now, in full seconds, rounded up.
func until(t, now time.Time) string {
	return (t.Sub(now) + time.Second - 1).Truncate(time.Second).String()
}

func percent(part, whole uint64) string {
	if whole == 0 {
		return "0 %"
	}
	return fmt.Sprintf("%.0f %%", 100*float64(part)/float64(whole))
}
