package sessions_test

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/sessions"
)

// digital reads an asker's dialogs of which a digit takes an option.
type digital struct{ asked }

func (digital) Next(_ sessions.ID, _ *sessions.Dialog, a sessions.Answer) (sessions.DialogStep, error) {
	return sessions.DialogStep{Keys: []string{strconv.Itoa(a.Options[0] + 1)}, Last: true}, nil
}

// boxBelow reads an asker's input box.
func boxBelow(_ sessions.ID, s *sessions.Snapshot) sessions.InputBox {
	last := len(s.Rows) - 1
	text, open := strings.CutPrefix(s.Rows[last], "> ")
	if !open {
		return sessions.InputBox{Known: true}
	}
	return sessions.InputBox{Known: true, Open: true, Text: text, Rows: []int{last}}
}

// Somebody at the pane presses Enter while an answer is given: who came first has answered, the
// other is told so, and no key stays in the box.
func TestAKeyThatComesBehindAPersonsOwn(t *testing.T) {
	byHand, byAnswer := 0, 0
	drawtest.Check(t, func(rt *rapid.T) {
		lag := time.Duration(rapid.IntRange(1, 40).Draw(rt, "milliseconds until a key is read")) * time.Millisecond
		draws := time.Duration(rapid.IntRange(0, 60).Draw(rt, "milliseconds until it's drawn that it has gone")) * time.Millisecond
		first := time.Duration(rapid.IntRange(0, 700).Draw(rt, "milliseconds until Enter")) * time.Millisecond
		second := time.Duration(rapid.IntRange(0, 700).Draw(rt, "milliseconds until the answer")) * time.Millisecond
		inks := time.Duration(rapid.SampledFrom([]int{0, 0, 300, 700}).Draw(rt, "milliseconds until its box is drawn")) * time.Millisecond
		wrong := ""
		synctest.Test(t, func(t *testing.T) {
			d := newDesk(t, &asker{lag: lag, draws: draws, inks: inks, digits: true}, &memory{prompts: map[string]sessions.Prompt{}}, func(o *options) {
				o.Hands.Dialogs, o.Hands.Box = digital{}, boxBelow
			})
			defer d.stop()
			p := d.asks(permission(0))
			var both sync.WaitGroup
			var err error
			both.Go(func() {
				time.Sleep(second)
				p, err = d.answer(p.ID, "ann", 2)
			})
			time.Sleep(first)
			d.pane.press("Enter")
			both.Wait()
			d.pass(2 * time.Second)
			if len(d.pane.took) != 1 || d.pane.box != "" || len(d.pane.stray) > 0 {
				wrong = fmt.Sprintf("the program took %+v, its box has %q, stray %q", d.pane.took, d.pane.box, d.pane.stray)
				return
			}
			hand := d.pane.took[0].byHand
			if told := err == nil && p.State == sessions.PromptAnswered; inks == 0 && (told == hand || hand && !errors.Is(err, sessions.ErrConflict)) {
				wrong = fmt.Sprintf("answered by hand: %t; told %+v, %v", hand, p, err)
			}
			if hand {
				byHand++
			} else {
				byAnswer++
			}
		})
		if wrong != "" {
			rt.Fatal(wrong)
		}
	})
	if byHand == 0 || byAnswer == 0 {
		t.Errorf("%d times by hand, %d times by the answer", byHand, byAnswer)
	}
}

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
