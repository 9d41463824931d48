package sessions_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/sessions"
)

// given is an answer that was asked for.
type given struct {
	shown  string
	option int
	prompt sessions.Prompt
	err    error
}

// trial is one run of a program whose dialogs come, change and go while they're answered
// from here and at the keyboard.
type trial struct {
	*desk
	rt      *rapid.T
	answers sync.WaitGroup
	asked   map[string]*question // by what's to be read of them, the newest

	mu    sync.Mutex
	given []*given
}

func anyQuestion(rt *rapid.T) *question {
	all := [][]string{{"Yes", "No"}, {"Yes", "Yes, always", "No"}, {"Yes", "Yes, always", "No, never"}, {"a", "b", "c", "d", "e"}}
	q := &question{title: rapid.SampledFrom([]string{"May I?", "May I too?"}).Draw(rt, "title"), options: rapid.SampledFrom(all).Draw(rt, "options")}
	q.marked = rapid.IntRange(0, len(q.options)-1).Draw(rt, "marked")
	q.unseen = rapid.Bool().Draw(rt, "unseen")
	q.stuck = rapid.IntRange(0, 9).Draw(rt, "stuck") == 0
	return q
}

// step does one thing at random.
func (t *trial) step() {
	switch rapid.IntRange(0, 11).Draw(t.rt, "step") {
	case 0, 1, 2:
		q := anyQuestion(t.rt)
		if was := t.asked[q.sum()]; was != nil && t.pane.styled {
			q.marked = was.marked // colours aren't among what tmux checks
		}
		t.asked[q.sum()] = q
		t.pane.ask(q)
	case 3:
		t.pane.ask(nil)
	case 4:
		key := rapid.SampledFrom([]string{"Up", "Down", "Enter"}).Draw(t.rt, "key")
		if t.pane.styled {
			key = "Enter" // as above
		}
		t.pane.press(key)
	case 5:
		lag := time.Duration(rapid.IntRange(0, 700).Draw(t.rt, "lag")) * time.Millisecond
		t.pane.with(func() { t.pane.lag, t.pane.spinner = lag, t.pane.spinner+1 })
	case 6:
		styled := rapid.Bool().Draw(t.rt, "styled")
		t.pane.with(func() { t.pane.styled = styled })
	default:
		t.someAnswer()
	}
	t.pass(time.Duration(rapid.SampledFrom([]int{0, 1, 3, 10, 47, 52, 57, 62, 120, 700, 2500}).Draw(t.rt, "pause")) * time.Millisecond)
}

// someAnswer answers one of the prompts that were told, most often the newest.
func (t *trial) someAnswer() {
	t.desk.mu.Lock()
	told := slices.Clone(t.told)
	t.desk.mu.Unlock()
	if len(told) == 0 {
		return
	}
	back := rapid.SampledFrom([]int{0, 0, 0, 0, 1, 2}).Draw(t.rt, "back")
	p := told[max(0, len(told)-1-back)]
	g := &given{shown: p.Dialog.Print, option: rapid.IntRange(0, len(p.Dialog.Options)-1).Draw(t.rt, "option")}
	t.mu.Lock()
	t.given = append(t.given, g)
	t.mu.Unlock()
	t.answers.Go(func() { g.prompt, g.err = t.answer(p.ID, "ann", g.option) })
}

// check: no key went anywhere it wasn't meant for, each answer that's said to have been
// given was given once, and what's open is what's shown.
func (t *trial) check() {
	t.answers.Wait()
	t.pass(10 * time.Second)
	if len(t.pane.stray) > 0 {
		t.rt.Fatalf("stray keys %q", t.pane.stray)
	}
	counted := map[string]int{} // answers that were given, by dialog and option
	for _, g := range t.given {
		if g.err == nil && g.prompt.State == sessions.PromptAnswered {
			counted[fmt.Sprint(g.shown, g.option)]++
		}
	}
	asked := map[string]bool{}
	for _, g := range t.given {
		asked[fmt.Sprint(g.shown, g.option)] = true
	}
	ours := map[string]int{}
	for _, one := range t.pane.took {
		key := fmt.Sprint(one.q.sum(), one.option)
		if one.byHand {
			continue
		}
		if label := one.q.options[one.option]; one.q.unseen && !strings.HasPrefix(label, "No") {
			t.rt.Fatalf("%q was chosen of %q, of which not all could be seen", label, one.q.title)
		}
		if ours[key]++; !asked[key] {
			t.rt.Fatalf("the program took %q of %q, which nobody answered", one.q.options[one.option], one.q.title)
		}
	}
	for key, n := range counted {
		if ours[key] > n+t.unsure(key) {
			t.rt.Fatalf("%d answers were taken, %d given", ours[key], n)
		}
	}
	p, open := t.manager.PromptOf(t.id)
	shown := ""
	if t.pane.now != nil {
		shown = t.pane.now.sum()
	}
	if open != (shown != "") || open && (p.Dialog.Print != shown || p.State != sessions.PromptOpen) {
		t.rt.Fatalf("open is %+v, shown is %q", p, shown)
	}
}

// unsure is how many answers nobody can say were given: they were begun, and failed.
func (t *trial) unsure(key string) (n int) {
	for _, g := range t.given {
		if g.err != nil && fmt.Sprint(g.shown, g.option) == key {
			n++
		}
	}
	return n
}

func TestNoKeyGoesWhereItIsNotMeant(t *testing.T) {
	steps := 80
	if drawtest.Stressed() {
		steps = 1500
	}
	synctest.Test(t, func(t *testing.T) {
		answered, taken := 0, 0
		drawtest.Check(struct{ testing.TB }{t}, func(rt *rapid.T) {
			d := newDesk(t, &asker{lag: 10 * time.Millisecond, tmux: 5 * time.Millisecond}, &memory{prompts: map[string]sessions.Prompt{}})
			defer d.stop()
			one := &trial{desk: d, rt: rt, asked: map[string]*question{}}
			defer one.answers.Wait()
			for range steps {
				one.step()
			}
			one.check()
			for _, g := range one.given {
				if g.err == nil {
					answered++
				}
			}
			taken += len(d.pane.took)
		})
		t.Logf("%d answers given, %d taken", answered, taken)
		if answered == 0 {
			t.Error("no answer was given")
		}
	})
}
