package sessions_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/sessions"
)

// What was refused here and is done all the same, since a key at the pane was first, is told as that:
// not what was allowed, what was refused before, or another call.
func TestARefusalThatCameTooLateIsTakenBack(t *testing.T) {
	drawtest.Check(t, func(rt *rapid.T) {
		refused := rapid.Bool().Draw(rt, "refused")
		recorded := rapid.Bool().Draw(rt, "recorded")
		same := rapid.Bool().Draw(rt, "that call is made")
		after := rapid.Bool().Draw(rt, "another was answered since")
		wrong := ""
		synctest.Test(t, func(t *testing.T) {
			d := newDesk(t, &asker{lag: 5 * time.Millisecond}, &memory{prompts: map[string]sessions.Prompt{}})
			defer d.stop()
			q := permission(0)
			q.body = "rm x"
			if recorded {
				q.call = "c1"
			}
			p := d.asks(q)
			option := 0
			if refused {
				option = 2
			}
			if _, err := d.answer(p.ID, "ann", option); err != nil {
				t.Fatal(err)
			}
			if after {
				next := permission(0)
				next.body, next.call = "make", "c2"
				if _, err := d.answer(d.asks(next).ID, "ann", 0); err != nil {
					t.Fatal(err)
				}
			}
			call := "c1"
			if !same {
				call = "c3"
			}
			d.manager.CallMade(d.id, call)
			d.pass(time.Second)
			got, err := d.manager.Prompt(t.Context(), p.ID)
			if err != nil {
				t.Fatal(err)
			}
			back := got.State == sessions.PromptClosed && strings.Contains(got.Reason, "was first") && got.Answer == nil
			if want := refused && recorded && same && !after; back != want || !want && got.State != sessions.PromptAnswered {
				wrong = string(got.State) + " " + got.Reason
			}
			if noted := strings.Contains(strings.Join(d.notes, "\n"), `"No" came too late: somebody at the pane was first, and it was done: `); noted != back {
				wrong = strings.Join(d.notes, "\n")
			}
		})
		if wrong != "" {
			rt.Fatalf("it's told as %s", wrong)
		}
	})
}
