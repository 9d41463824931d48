package sessions_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/internal/store/storetest"
	"github.com/panebridge/panebridge/sessions"
)

func TestAPromptIsOpenWhileItsDialogStands(t *testing.T) {
	withDesk(t, func(d *desk) {
		p := d.asks(permission(0))
		if p.Dialog.Title != "May I?" || len(p.Dialog.Options) != 3 || p.Session != d.id {
			t.Errorf("prompt is %+v", p)
		}
		if again := d.asks(permission(1)); again.ID != p.ID { // the mark was moved at the keyboard
			t.Errorf("the same dialog is prompt %s, was %s", again.ID, p.ID)
		}
		if next := d.asks(&question{title: "And this?", options: []string{"Yes"}}); next.ID == p.ID {
			t.Error("another dialog is the same prompt")
		}
		d.pane.ask(nil)
		d.pass(2 * time.Second)
		if n := len(d.manager.Prompts()); n != 0 {
			t.Errorf("%d prompts are open", n)
		}
		d.wantStates("open, closed (another question took its place), open, closed (it was answered in the pane)")
	})
}

func TestAnAnswerIsGivenByKeys(t *testing.T) {
	for _, styled := range []bool{false, true} {
		withDesk(t, func(d *desk) {
			d.pane.styled = styled
			p := d.asks(permission(0))
			done, err := d.answer(p.ID, "ann", 2)
			if err != nil || done.State != sessions.PromptAnswered || done.Chosen() != "No" || done.Who() != "ann" {
				t.Errorf("answered: %+v, %v", done, err)
			}
			d.pass(5 * time.Second)
			d.wantStates("open, answering, answered")
			if len(d.pane.took) != 1 || d.pane.took[0].option != 2 || d.pane.keys != 3 || len(d.pane.stray) > 0 {
				t.Errorf("the program took %+v of %d keys, stray %q", d.pane.took, d.pane.keys, d.pane.stray)
			}
			if kept, err := d.manager.Prompt(t.Context(), p.ID); err != nil || kept.State != sessions.PromptAnswered || kept.Chosen() != "No" {
				t.Errorf("kept: %+v, %v", kept, err)
			}
		})
	}
}

// The next key waits until the program has read the last one and shows it.
func TestKeysWaitForASlowProgram(t *testing.T) {
	withDesk(t, func(d *desk) {
		d.pane.lag = 2 * time.Second
		p := d.asks(permission(0))
		go func() { // something moves all the time
			for range 100 {
				time.Sleep(70 * time.Millisecond)
				d.pane.with(func() { d.pane.spinner++ })
			}
		}()
		done, err := d.answer(p.ID, "ann", 2)
		if err != nil || len(d.pane.took) != 1 || d.pane.took[0].option != 2 || d.pane.keys != 3 {
			t.Errorf("%+v, %v; took %+v", done, err, d.pane.took)
		}
		d.pass(10 * time.Second)
	})
}

func TestAnswersThatDoNotFit(t *testing.T) {
	withDesk(t, func(d *desk) {
		p := d.asks(permission(0))
		for want, a := range map[string]sessions.Answer{
			"takes no text":     {Text: "x"},
			"not both":          {Text: "x", Options: []int{1}},
			"it takes one of":   {},
			"1 “Yes”":           {Options: []int{0, 1}},
			"no option 4":       {Options: []int{3}},
			"there is no optio": {Options: []int{-1}},
		} {
			got, err := d.manager.Answer(t.Context(), p.ID, a)
			if !errors.Is(err, sessions.ErrInvalid) || !strings.Contains(err.Error(), want) || got.State != sessions.PromptOpen {
				t.Errorf("%+v: %v, %s; want %s", a, err, got.State, want)
			}
		}
		if _, err := d.answer("pr_nothing", "ann", 0); !errors.Is(err, sessions.ErrUnknown) {
			t.Errorf("of no prompt: %v", err)
		}
		if d.pane.keys > 0 {
			t.Errorf("%d keys were pressed", d.pane.keys)
		}
		d.wantStates("open")
	})
}

// Of a question that can't be seen whole only what refuses is taken, whoever asks for it.
func TestWhatIsNotSeenIsNotAllowed(t *testing.T) {
	withDesk(t, func(d *desk) {
		q := &question{title: "May I?", options: []string{"Yes", "Yes, always", "No", "write"}, text: true, unseen: true}
		p := d.asks(q)
		for _, a := range []sessions.Answer{{Options: []int{0}}, {Options: []int{1}}, {Text: "yes"}, {Options: []int{}}, {Options: []int{2, 0}}} {
			got, err := d.manager.Answer(t.Context(), p.ID, a)
			if !errors.Is(err, sessions.ErrInvalid) || got.State != sessions.PromptOpen {
				t.Errorf("%+v: %v, %s", a, err, got.State)
			}
		}
		if d.pane.keys > 0 {
			t.Errorf("%d keys were pressed", d.pane.keys)
		}
		if done, err := d.answer(p.ID, "ann", 2); err != nil || done.Chosen() != "No" {
			t.Errorf("%+v, %v", done, err)
		}
	})
}

// A record that comes later makes no other question; the record of another call does, though
// the same is drawn, and an answer to the one isn't one to the other.
func TestAPromptIsOfOneCall(t *testing.T) {
	withDesk(t, func(d *desk) {
		asks := func(call string) sessions.Prompt {
			q := permission(0)
			q.call = call
			return d.asks(q)
		}
		first := asks("")
		if again := asks("c1"); again.ID != first.ID || again.Dialog.Call != "c1" {
			t.Errorf("with its record it's %+v, was %s", again, first.ID)
		}
		second := permission(0)
		second.call = "c2"
		d.pane.ask(second)
		if p, err := d.answer(first.ID, "ann", 0); !errors.Is(err, sessions.ErrConflict) || p.State != sessions.PromptClosed {
			t.Errorf("an answer to the first: %+v, %v", p, err)
		}
		d.pass(2 * time.Second)
		if next := d.open(); next.ID == first.ID || next.Dialog.Call != "c2" {
			t.Errorf("the second is %+v", next)
		}
		if d.pane.keys > 0 {
			t.Errorf("%d keys were pressed", d.pane.keys)
		}
	})
}

// Records of calls come, go, are disputed and come again while the same stands on the screen,
// and panebridge starts anew: what's told under one id is by the record of one call alone.
func TestAPromptIsToldByOneRecord(t *testing.T) {
	told := 0
	drawtest.Check(t, func(rt *rapid.T) {
		steps := rapid.SliceOfN(rapid.SampledFrom([]string{"", "", "c1", "c1", "c2", "c3", "?c1", "?c2", "start"}), 2, 8).Draw(rt, "records")
		wrong := ""
		synctest.Test(t, func(t *testing.T) {
			db := &memory{prompts: map[string]sessions.Prompt{}}
			pane := &asker{lag: 5 * time.Millisecond}
			d := newDesk(t, pane, db)
			defer func() { d.stop() }()
			shown := map[string]string{} // by a prompt's id
			for _, call := range steps {
				if call == "start" {
					d.pass(2 * time.Second)
					d.stop()
					d = newDesk(t, pane, db)
				} else {
					q := permission(0)
					q.call = call
					d.pane.ask(q)
				}
				d.pass(2 * time.Second)
				p, open := d.manager.PromptOf(d.id)
				if d.pane.now != nil && !open {
					wrong = "nothing is told"
				}
				if !open || p.Dialog.Call == "" || p.Dialog.Disputed {
					continue
				}
				told++
				if was := shown[p.ID]; was != "" && was != p.Dialog.Call {
					wrong = fmt.Sprintf("%s is told by the record of %s, and then of %s", p.ID, was, p.Dialog.Call)
				}
				shown[p.ID] = p.Dialog.Call
			}
		})
		if wrong != "" {
			rt.Fatal(wrong)
		}
	})
	if told == 0 {
		t.Error("nothing was told by a record")
	}
}

// Of what a secret hides with more than itself, only what refuses is taken, and that's told.
func TestWhatAMaskHidesIsNotAllowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hides := func(text string) bool { return strings.Contains(text, "secret&") }
		d := newDesk(t, &asker{lag: 5 * time.Millisecond}, &memory{prompts: map[string]sessions.Prompt{}}, func(o *options) { o.Hides = hides })
		defer d.stop()
		q := permission(0)
		q.body = "secret& rm"
		p := d.asks(q)
		if !p.Dialog.Masked {
			t.Fatalf("it's told as %+v", p.Dialog)
		}
		if _, err := d.answer(p.ID, "ann", 0); !errors.Is(err, sessions.ErrInvalid) || d.pane.keys > 0 {
			t.Errorf("%d keys were pressed, %v", d.pane.keys, err)
		}
		if done, err := d.answer(p.ID, "ann", 2); err != nil || done.Chosen() != "No" {
			t.Errorf("%+v, %v", done, err)
		}
	})
}

// A program draws what it asks permission for anew, and otherwise: where its record says that
// it's the same call, it's the same question, which takes the answer that was on its way. What
// nothing but the screen tells of is another one.
func TestACallThatIsDrawnOtherwise(t *testing.T) {
	drawtest.Check(t, func(rt *rapid.T) {
		call := rapid.SampledFrom([]string{"c1", ""}).Draw(rt, "call")
		drawn := time.Duration(rapid.IntRange(0, 900).Draw(rt, "milliseconds until it's drawn otherwise")) * time.Millisecond
		answered := time.Duration(rapid.IntRange(0, 900).Draw(rt, "milliseconds until the answer")) * time.Millisecond
		wrong := ""
		synctest.Test(t, func(t *testing.T) {
			d := newDesk(t, &asker{lag: 5 * time.Millisecond}, &memory{prompts: map[string]sessions.Prompt{}})
			defer d.stop()
			ask := func(body string) *question {
				q := permission(0)
				q.call, q.body = call, body
				return q
			}
			first := d.asks(ask("ls"))
			if first.Dialog.Kind != sessions.PromptPermission {
				wrong = "it's no permission"
				return
			}
			var both sync.WaitGroup
			var got sessions.Prompt
			var err error
			both.Go(func() {
				time.Sleep(answered)
				got, err = d.answer(first.ID, "ann", 2)
			})
			time.Sleep(drawn)
			other := ask("… ls")
			d.pane.with(func() {
				if d.pane.now != nil {
					other.marked = d.pane.now.marked
					d.pane.now = other
				}
			})
			both.Wait()
			d.pass(3 * time.Second)
			taken := len(d.pane.took) == 1 && d.pane.took[0].option == 2 && got.State == sessions.PromptAnswered && err == nil
			switch {
			case call != "" && !taken:
				wrong = fmt.Sprintf("the program took %+v; told %+v, %v", d.pane.took, got, err)
			case taken || err != nil && len(d.pane.took) == 0:
			default:
				wrong = fmt.Sprintf("without a call the program took %+v; told %+v, %v", d.pane.took, got, err)
			}
		})
		if wrong != "" {
			rt.Fatal(wrong)
		}
	})
}

// A program draws its question anew while it's answered, half of it first, which looks like one that
// nobody knows: the answer waits for it. If it stays so nothing is pressed.
func TestATornQuestionIsNoOther(t *testing.T) {
	drawtest.Check(t, func(rt *rapid.T) {
		begins := time.Duration(rapid.IntRange(0, 900).Draw(rt, "milliseconds until it's drawn anew")) * time.Millisecond
		answered := time.Duration(rapid.IntRange(0, 900).Draw(rt, "milliseconds until the answer")) * time.Millisecond
		lasts := time.Duration(rapid.IntRange(20, 900).Draw(rt, "milliseconds that it's torn")) * time.Millisecond
		ends := rapid.Bool().Draw(rt, "it's whole again")
		wrong := ""
		synctest.Test(t, func(t *testing.T) {
			d := newDesk(t, &asker{lag: 5 * time.Millisecond}, &memory{prompts: map[string]sessions.Prompt{}})
			defer d.stop()
			p := d.asks(permission(0))
			var both sync.WaitGroup
			var got sessions.Prompt
			var err error
			both.Go(func() {
				time.Sleep(answered)
				got, err = d.answer(p.ID, "ann", 2)
			})
			draw := func(torn bool) {
				d.pane.with(func() {
					if d.pane.now != nil {
						again := *d.pane.now
						again.torn = torn
						d.pane.now = &again
					}
				})
			}
			time.Sleep(begins)
			draw(true)
			if ends {
				time.Sleep(lasts)
				draw(false)
			}
			both.Wait()
			taken := len(d.pane.took) == 1 && d.pane.took[0].option == 2 && got.State == sessions.PromptAnswered && err == nil
			if !taken && (ends || len(d.pane.took) > 0 || !errors.Is(err, sessions.ErrConflict)) {
				wrong = fmt.Sprintf("the program took %+v; told %+v, %v", d.pane.took, got, err)
			}
		})
		if wrong != "" {
			rt.Fatal(wrong)
		}
	})
}

// Two answer at the same instant: one counts, the other is told whose.
func TestOneOfTwoAnswersCounts(t *testing.T) {
	withDesk(t, func(d *desk) {
		for i := range 1000 {
			q := permission(0)
			q.title = fmt.Sprint("May I, number ", i)
			p := d.asks(q)
			var both sync.WaitGroup
			var got [2]sessions.Prompt
			var errs [2]error
			for who := range 2 {
				both.Go(func() { got[who], errs[who] = d.answer(p.ID, fmt.Sprint("p", who), 2*who) })
			}
			both.Wait()
			first := 0
			if errs[0] != nil {
				first = 1
			}
			other := 1 - first
			if errs[first] != nil || !errors.Is(errs[other], sessions.ErrConflict) {
				t.Fatalf("%d: %v and %v", i, errs[0], errs[1])
			}
			if who := fmt.Sprint("p", first); got[first].Who() != who || got[other].Who() != who || !strings.Contains(errs[other].Error(), who) || got[other].Chosen() != got[first].Chosen() {
				t.Fatalf("%d: told %+v and %+v, %v", i, got[0], got[1], errs[other])
			}
			if n := len(d.pane.took); n != i+1 || d.pane.took[i].option != 2*first || len(d.pane.stray) > 0 {
				t.Fatalf("%d: took %d, %+v, stray %q", i, n, d.pane.took[n-1], d.pane.stray)
			}
		}
	})
}

// A question that has gone or changed, and the poller hasn't seen it yet.
func TestALateAnswerPressesNothing(t *testing.T) {
	for _, next := range []*question{nil, {title: "May I?", options: []string{"Yes", "Yes, always", "No, never"}}} {
		withDesk(t, func(d *desk) {
			p := d.asks(permission(0))
			d.pane.ask(next)
			got, err := d.answer(p.ID, "ann", 0)
			if !errors.Is(err, sessions.ErrConflict) || got.State != sessions.PromptClosed || got.Answer != nil {
				t.Errorf("%+v, %v", got, err)
			}
			if again, err := d.answer(p.ID, "ann", 0); !errors.Is(err, sessions.ErrConflict) || again.Reason != got.Reason {
				t.Errorf("once more: %+v, %v", again, err)
			}
			d.pass(5 * time.Second)
			if d.pane.keys > 0 {
				t.Errorf("%d keys were pressed", d.pane.keys)
			}
			if n := len(d.manager.Prompts()); (n == 1) != (next != nil) {
				t.Errorf("%d prompts are open", n)
			}
		})
	}
}

// Programs pass over what's pressed in a dialog's first moment.
func TestAnAnswerAtOnceWaitsUntilTheDialogTakesKeys(t *testing.T) {
	withDesk(t, func(d *desk) {
		q := permission(0)
		d.pane.ask(q)
		for deadline := time.Now().Add(5 * time.Second); time.Now().Before(deadline); d.pass(10 * time.Millisecond) {
			if _, ok := d.manager.PromptOf(d.id); ok {
				break
			}
		}
		p := d.open()
		q.deaf = time.Now().Add(200 * time.Millisecond)
		done, err := d.answer(p.ID, "ann", 1)
		if err != nil || done.State != sessions.PromptAnswered || d.pane.keys != 2 {
			t.Errorf("%+v, %v; %d keys", done, err, d.pane.keys)
		}
	})
}

func TestAnAnswerThatChangesNothing(t *testing.T) {
	withDesk(t, func(d *desk) {
		q := permission(0)
		q.stuck = true
		p := d.asks(q)
		for option := range 2 {
			got, err := d.answer(p.ID, "ann", option)
			if !errors.Is(err, sessions.ErrUnavailable) || got.State != sessions.PromptOpen || got.Answer != nil {
				t.Errorf("%+v, %v", got, err)
			}
			if d.pane.keys != option+1 {
				t.Errorf("%d keys were pressed", d.pane.keys)
			}
		}
		d.pane.ask(nil)
		d.pass(2 * time.Second)
		d.wantStates("open, answering, open, answering, open, closed (it went while an answer was being given; look at the session)")
	})
}

func TestTheSameQuestionAskedAgainIsAnotherPrompt(t *testing.T) {
	withDesk(t, func(d *desk) {
		p := d.asks(permission(0))
		again := permission(0)
		go func() { // before the poller has looked
			for took := 0; took == 0; {
				time.Sleep(time.Millisecond)
				d.pane.with(func() { took = len(d.pane.took) })
			}
			time.Sleep(60 * time.Millisecond)
			d.pane.ask(again)
		}()
		if _, err := d.answer(p.ID, "ann", 0); err != nil {
			t.Fatal(err)
		}
		d.pass(3 * time.Second)
		if next := d.open(); next.ID == p.ID {
			t.Error("it's the same prompt")
		}
	})
}

func TestAnAnswerThatEndsTheProgram(t *testing.T) {
	withDesk(t, func(d *desk) {
		d.pane.ended = true
		p := d.asks(permission(0))
		got, err := d.answer(p.ID, "ann", 2)
		if err != nil || got.State != sessions.PromptAnswered {
			t.Errorf("%+v, %v", got, err)
		}
	})
	withDesk(t, func(d *desk) {
		d.asks(permission(0))
		d.pane.with(func() { d.pane.dead = true })
		d.pass(2 * time.Second)
		d.wantStates("open, closed (the session has ended: the pane is gone)")
	})
}

func TestALostConnectionIsSaid(t *testing.T) {
	withDesk(t, func(d *desk) {
		p := d.asks(permission(0))
		d.pane.with(func() { d.pane.refuse = sessions.ErrUncertain })
		got, err := d.answer(p.ID, "ann", 0)
		if !errors.Is(err, sessions.ErrUnavailable) || got.State != sessions.PromptOpen {
			t.Errorf("%+v, %v", got, err)
		}
		d.pass(2 * time.Second)
		d.wantStates("open, answering, open, closed (it went while an answer was being given; look at the session)")
	})
}

// What can't be stored isn't told, and no key is pressed for it.
func TestNothingIsAnsweredUnlessItIsStored(t *testing.T) {
	db := &memory{prompts: map[string]sessions.Prompt{}}
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, &asker{}, db)
		defer d.stop()
		full := func(state sessions.PromptState) {
			db.mu.Lock()
			defer db.mu.Unlock()
			db.refuse = func(p sessions.Prompt) bool { return p.State == state }
		}
		full(sessions.PromptOpen)
		d.pane.ask(permission(0))
		d.pass(5 * time.Second)
		d.wantStates("")
		full("")
		d.pass(2 * time.Second)
		p := d.open()
		full(sessions.PromptAnswering)
		if got, err := d.answer(p.ID, "ann", 0); !errors.Is(err, sessions.ErrUnavailable) || got.State != sessions.PromptOpen || d.pane.keys > 0 {
			t.Errorf("%+v, %v, %d keys", got, err, d.pane.keys)
		}
		full("")
		if _, err := d.answer(p.ID, "ann", 0); err != nil {
			t.Error(err)
		}
		d.wantStates("open, answering, answered")
	})
}

// Either a text is typed or an answer given: never a key of one within the other.
func TestTypistAndAnswerTakeTurns(t *testing.T) {
	withDesk(t, func(d *desk) {
		p := d.asks(permission(0))
		d.pane.with(func() { d.pane.lag = 300 * time.Millisecond })
		for range 3 {
			if _, err := d.manager.Input(t.Context(), d.id, sessions.InputRequest{Text: "hello", Submit: true}); err != nil {
				t.Fatal(err)
			}
		}
		d.pass(time.Second)
		_, err := d.answer(p.ID, "ann", 2)
		d.pane.with(func() {
			if err != nil || d.pane.took[0].option != 2 || len(d.pane.stray) > 0 {
				t.Errorf("%v, took %+v, stray %q", err, d.pane.took, d.pane.stray)
			}
		})
		d.pass(time.Minute)
		if got := strings.Join(d.pane.stray, " "); got != "hello Enter hello Enter hello Enter" {
			t.Errorf("typed %q", got)
		}
	})
}

// An answer that waits for a text to be typed doesn't wait for a question that has gone.
func TestAnAnswerDoesNotWaitForAQuestionThatHasGone(t *testing.T) {
	for _, next := range []*question{nil, {title: "And this?", options: []string{"Yes"}}} {
		withDesk(t, func(d *desk) {
			d.pane.with(func() { d.pane.lag = 8 * time.Second })
			if _, err := d.manager.Input(t.Context(), d.id, sessions.InputRequest{Text: "hello", Submit: true}); err != nil {
				t.Fatal(err)
			}
			d.pass(time.Second) // it's typed, and not read yet
			d.pane.with(func() { d.pane.now = permission(0) })
			d.pass(1500 * time.Millisecond)
			p := d.open()
			gone := time.Now().Add(300 * time.Millisecond)
			time.AfterFunc(time.Until(gone), func() { d.pane.with(func() { d.pane.now = next }) })
			got, err := d.answer(p.ID, "ann", 0)
			if late := time.Since(gone); !errors.Is(err, sessions.ErrConflict) || got.State != sessions.PromptClosed || late > 1200*time.Millisecond {
				t.Errorf("%s after it had gone: %+v, %v", late, got, err)
			}
			if n := len(d.manager.Prompts()); (n == 1) != (next != nil) {
				t.Errorf("%d prompts are open", n)
			}
		})
	}
}

// A daemon that's started anew goes on with the prompt that it had.
func TestPromptsOutliveTheDaemon(t *testing.T) {
	for name, then := range map[string]struct {
		claimed bool
		shows   *question
		want    string
	}{
		"the same dialog":                 {false, permission(1), ""},
		"none":                            {false, nil, "closed (it was answered in the pane)"},
		"another":                         {false, &question{title: "x"}, "closed (another question took its place), open"},
		"answering, the same dialog":      {true, permission(1), "open"},
		"answering, and it's gone":        {true, nil, "closed (panebridge stopped while it was answered; look at the session)"},
		"answering, and another is there": {true, &question{title: "x"}, "closed (panebridge stopped while it was answered; look at the session), open"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				db, err := storetest.Open(t.Context(), filepath.Join(t.TempDir(), "db"))
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = db.Close() }()
				pane := &asker{lag: time.Second}
				d := newDesk(t, pane, db)
				p := d.asks(permission(0))
				ended := make(chan struct{})
				go func() {
					defer close(ended)
					if then.claimed {
						if _, err := d.answer(p.ID, "ann", 2); !errors.Is(err, sessions.ErrUnavailable) {
							t.Errorf("an answer that the daemon's end cut off: %v", err)
						}
					}
				}()
				d.pass(500 * time.Millisecond)
				d.stop()
				<-ended
				pane.ask(then.shows)
				next := newDesk(t, pane, db)
				defer next.stop()
				next.mu.Lock()
				next.shown = "?" // what its poller tells first is news
				next.mu.Unlock()
				next.pass(3 * time.Second)
				next.wantStates(then.want)
				kept, err := next.manager.Prompt(t.Context(), p.ID)
				if err != nil || kept.Dialog.Title != "May I?" || len(kept.Dialog.Options) != 3 {
					t.Errorf("%+v, %v", kept, err)
				}
				if then.shows != nil && then.shows.title == "May I?" {
					if open := next.open(); open.ID != p.ID || open.State != sessions.PromptOpen || open.Answer != nil {
						t.Errorf("open is %+v, want %s", open, p.ID)
					}
					if done, err := next.answer(p.ID, "bob", 0); err != nil || done.Who() != "bob" {
						t.Errorf("answered after the restart: %+v, %v", done, err)
					}
				}
			})
		})
	}
}

func TestAPromptOfASessionThatEndedIsClosedAtTheStart(t *testing.T) {
	db := &memory{prompts: map[string]sessions.Prompt{"pr_1": {ID: "pr_1", Session: "pb_gone", State: sessions.PromptOpen}}}
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, &asker{}, db)
		defer d.stop()
		d.wantStates("closed (the session has ended)")
		if p, err := db.Prompt(context.Background(), "pr_1"); err != nil || !p.Final() {
			t.Errorf("%+v, %v", p, err)
		}
	})
}
