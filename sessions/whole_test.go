package sessions_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/sessions"
)

// Whoever refuses a question, or allows what was read whole, while its pane is made taller
// for a reading, is heard: the answer is given, once, and soon.
func TestAnswersAreGivenWhileAQuestionIsReadWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		refused, allowed, whileTall := 0, 0, 0
		drawtest.Check(struct{ testing.TB }{t}, func(rt *rapid.T) {
			ms := func(label string, most int) time.Duration {
				return time.Duration(rapid.IntRange(0, most).Draw(rt, label)) * time.Millisecond
			}
			pane := &asker{lag: 10 * time.Millisecond, tmux: ms("tmux", 60), alone: true, unwell: rapid.Bool().Draw(rt, "never whole"), redraws: ms("redraws", 800), tears: ms("tears", 500), blank: rapid.Bool().Draw(rt, "blank")}
			d := newDesk(t, pane, &memory{prompts: map[string]sessions.Prompt{}})
			defer d.stop()
			if pane.unwell {
				pane.afresh = ms("afresh", 6000)
			}
			q := permission(0)
			q.unseen, q.part, q.body = true, 1, "sort names.txt"
			pane.ask(q)
			d.pass(1200 * time.Millisecond)
			if rapid.Bool().Draw(rt, "it was read") { // drawn numbers are small mostly
				d.pass(10 * time.Second)
			}
			d.pass(ms("moment", 25_000))
			pane.with(func() {
				if pane.tall {
					whileTall++
				}
			})
			p, option := d.open(), 2
			if !p.Dialog.Unseen && rapid.Bool().Draw(rt, "allow") {
				option = 0
			}
			began := time.Now()
			got, err := d.answer(p.ID, "ann", option)
			took := time.Since(began)
			if err != nil || got.State != sessions.PromptAnswered || len(pane.took) != 1 || pane.took[0].option != option || len(pane.stray) > 0 {
				rt.Fatalf("%d: %v, %s (%s); took %+v, stray %q, keys %d", option, err, got.State, got.Reason, pane.took, pane.stray, pane.keys)
			}
			if option == 2 {
				refused++
			} else {
				allowed++
			}
			if most := 5 * time.Second; option == 2 && took > most {
				rt.Fatalf("it was refused after %s", took)
			}
			d.pass(20 * time.Second)
			if n := len(d.manager.Prompts()); n > 0 || pane.tall || pane.covered {
				rt.Fatalf("%d questions are open; the pane is taller: %t, %t", n, pane.tall, pane.covered)
			}
			if i := slices.IndexFunc(d.told, func(one sessions.Prompt) bool { return one.ID != p.ID }); i >= 0 {
				rt.Fatalf("it was asked twice: %+v and %+v", d.told[i], p)
			}
		})
		t.Logf("%d refused, %d allowed; %d while the pane was taller", refused, allowed, whileTall)
		if refused == 0 || allowed == 0 || whileTall == 0 {
			t.Error("not all of it was tried")
		}
	})
}

// A question that goes while its pane is taller for a reading is closed soon after, and one
// that comes meanwhile is told: nobody else looks as long as it's read.
func TestAQuestionThatGoesWhileItIsReadIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		whileTall := 0
		drawtest.Check(struct{ testing.TB }{t}, func(rt *rapid.T) {
			ms := func(label string, most int) time.Duration {
				return time.Duration(rapid.IntRange(0, most).Draw(rt, label)) * time.Millisecond
			}
			pane := &asker{lag: 10 * time.Millisecond, tmux: ms("tmux", 60), alone: true, unwell: rapid.Bool().Draw(rt, "never whole"), redraws: ms("redraws", 700), tears: ms("tears", 300), blank: rapid.Bool().Draw(rt, "blank")}
			d := newDesk(t, pane, &memory{prompts: map[string]sessions.Prompt{}})
			defer d.stop()
			q := permission(0)
			q.unseen, q.part, q.body = true, 1, "sort names.txt"
			pane.ask(q)
			d.pass(1200 * time.Millisecond)
			d.pass(ms("moment", 6000))
			old := d.open()
			pane.with(func() {
				if pane.tall {
					whileTall++
				}
			})
			pane.ask(nil)
			d.pass(ms("between", 1000))
			var next *question
			if rapid.Bool().Draw(rt, "another") {
				next = &question{title: "And this?", options: []string{"Yes", "No"}}
				if rapid.Bool().Draw(rt, "in the same words") {
					next = &question{title: q.title, options: q.options, unseen: true, part: 1, body: "sort numbers.txt"}
				}
			}
			pane.ask(next)
			d.pass(4 * time.Second) // until a reading ends, and its program may draw the question again
			if next != nil && next.title == q.title {
				d.pass(6 * time.Second) // a reading takes it for the one that it reads until its end
			}
			all := d.manager.Prompts()
			if next == nil && len(all) > 0 || next != nil && (len(all) != 1 || all[0].ID == old.ID || all[0].Dialog.Title != next.title) {
				rt.Fatalf("another %t; open: %+v; states %s", next != nil, all, d.states())
			}
		})
		if whileTall == 0 {
			t.Error("the pane was never taller")
		}
	})
}

// A program that asks something else whenever its pane has another size is made taller, and asks people, a few times
// and seldom from then on, so that somebody can answer.
func TestAProgramThatAsksSomethingElseInEachSizeIsLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		drawtest.Check(struct{ testing.TB }{t}, func(rt *rapid.T) {
			ms := func(label string, most int) time.Duration {
				return time.Duration(rapid.IntRange(0, most).Draw(rt, label)) * time.Millisecond
			}
			pane := &asker{lag: 10 * time.Millisecond, tmux: ms("tmux", 60), alone: true, swaps: true, unwell: rapid.Bool().Draw(rt, "never whole"), redraws: ms("redraws", 700), tears: ms("tears", 300), blank: rapid.Bool().Draw(rt, "blank")}
			d := newDesk(t, pane, &memory{prompts: map[string]sessions.Prompt{}})
			defer d.stop()
			q := permission(0)
			q.unseen, q.part, q.body = true, 1, "sort names.txt"
			pane.ask(q)
			const minutes = 10
			d.pass(minutes * time.Minute)
			if most := 3 + minutes; pane.grown > most {
				rt.Fatalf("in %d minutes the pane was made taller %d times", minutes, pane.grown)
			}
			asked := map[string]bool{}
			for _, p := range d.told {
				asked[p.ID] = true
			}
			if len(asked) > 2*pane.grown+1 {
				rt.Fatalf("%d questions were told of, in a pane that was made taller %d times", len(asked), pane.grown)
			}
			for tries := 1; ; tries++ { // it may be read just now
				p, err := d.answer(d.open().ID, "ann", 2)
				if err == nil && p.State == sessions.PromptAnswered {
					break
				}
				if tries == 3 {
					rt.Fatalf("it can't be refused: %v, %+v", err, p)
				}
				d.pass(10 * time.Second)
			}
		})
	})
}
