package inbound_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters/intake"
)

// A question and an answer that wait for a call longer than ten seconds are said, with why: the
// platform's order of silence and until when, whatever call met it. Once shown, all is well.
func TestWhatWaitsForACallIsSaid(t *testing.T) {
	for name, c := range map[string]struct {
		limit func(w *world, until time.Time)
		want  string
	}{
		"a chat's silence": {func(w *world, until time.Time) { w.hub.limits.Chat.PenaltyUntil = until }, "ordered silence until "},
		"the bot's":        {func(w *world, until time.Time) { w.hub.limits.Bot.PenaltyUntil = until }, "ordered silence until "},
		"failures":         {func(w *world, until time.Time) { w.hub.limits.Chat.BackoffUntil = until }, "calls failed there"},
		"the budget":       {func(w *world, _ time.Time) { w.hub.limits.Bot.BudgetErr = errors.New("Redis is away") }, "Redis is away"},
		"no slot":          {func(*world, time.Time) {}, "for a call"},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				until := time.Now().Add(10 * time.Minute)
				w.hub.hold()
				w.hub.mu.Lock()
				c.limit(w, until)
				w.hub.mu.Unlock()
				p := w.question("pr_1", permission())
				w.say(ann, "/nonsense")
				check := func(when string, want intake.Condition) {
					t.Helper()
					for what, h := range map[string]intake.Health{"question": w.in.QuestionsHealth(), "answer": w.in.RepliesHealth()} {
						if h.Condition != want || (want != intake.Well) != (strings.Contains(h.Detail, c.want) && strings.Contains(h.Detail, "1 ")) {
							t.Errorf("%s, of the %s: %+v", when, what, h)
						}
						if strings.Contains(c.want, "silence") && want != intake.Well && !strings.Contains(h.Detail, until.Format("15:04:05")) {
							t.Errorf("of the %s: it doesn't say until when: %s", what, h.Detail)
						}
					}
				}
				w.pass(8 * time.Second)
				check("at first", intake.Well)
				w.pass(4 * time.Second)
				check("after 12 s", intake.Degraded)
				w.hub.release(nil)
				w.pass(time.Second)
				check("when they're shown", intake.Well)
				w.close(p, "answered in the pane")
			})
		})
	}
}
