package web_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"github.com/panebridge/panebridge/internal/browsertest"
	"github.com/panebridge/panebridge/sessions"
)

// The rest of what somebody types is no command, and answers no question, when the field goes away by itself.
func TestKeysForAFieldThatIsGoneDoNothing(t *testing.T) {
	t.Parallel()
	slow(t)
	withText := sessions.Dialog{
		Kind: sessions.PromptChoice, Title: "Where to?", Print: "t", Text: "Type something", Options: []sessions.DialogOption{{Label: "Here"}},
	}
	const answerField = ".prompt-text input"
	for name, tc := range map[string]struct {
		field string
		goes  func(s *site, id sessions.ID, asked string) // has the field go away
		gone  string                                      // says that it has
	}{
		"the session ends": {
			"#text", func(s *site, id sessions.ID, _ string) { s.daemon.SetState(id, sessions.StateEnded, "closed") },
			`!document.querySelector('#ended').hidden`,
		},
		"the session is removed": {"#text", func(s *site, id sessions.ID, _ string) {
			s.daemon.SetState(id, sessions.StateEnded, "closed")
			_ = s.daemon.Forget(t.Context(), id)
		}, `document.querySelector('#inbox').checkVisibility() && ` + card("other") + `.querySelector('.prompt button:enabled')`},
		"another question comes": {answerField, func(s *site, id sessions.ID, asked string) {
			s.daemon.SetPrompt(asked, sessions.PromptClosed, "it was answered in the pane", nil)
			s.daemon.Ask(id, permission())
		}, `document.querySelector('#prompt .prompt-option:nth-child(3):enabled')`},
		"the question is answered": {answerField, func(s *site, _ sessions.ID, asked string) {
			s.daemon.SetPrompt(asked, sessions.PromptClosed, "it was answered in the pane", nil)
		}, `document.querySelector('#prompt .prompt-done')`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			other := s.daemon.Ask(s.daemon.Add("other", "claude"), permission())
			id := s.daemon.Add("mine", "claude")
			asked := ""
			if tc.field == answerField {
				asked = s.daemon.Ask(id, withText)
			}
			b := browse(t, 1280, 800)
			b.Ignore("status of 404") // of what's asked about a session that's removed just then
			// Somebody types without a pause, however slow the machine is.
			b.Do(before(`performance.now = () => 1000`), s.enter())
			b.Until("the inbox", inGroups+` !== ''`)
			browsertest.Eval[bool](b, fmt.Sprintf(`(location.hash = %q, true)`, id))
			b.Until("the field", fmt.Sprintf(`document.querySelector(%q)?.matches(':enabled')`, tc.field))
			b.Do(chromedp.SendKeys(tc.field, "delete "))
			tc.goes(s, id, asked)
			b.Until("it's gone", tc.gone)
			at := browsertest.Eval[string](b, `document.querySelector('#name').textContent`)
			keys := []string{"n", "1", "2", "3", "t", "?", "/", "g", "i", "g", "s", "j", "+", " ", "x"}
			rand.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
			for _, key := range keys {
				b.Do(chromedp.KeyEvent(key))
			}
			b.Do(browsertest.Enter())
			for what, bad := range map[string]string{
				"a dialog is open":          `Boolean(document.querySelector('dialog[open]'))`,
				"another view is open":      fmt.Sprintf(`document.querySelector('#name').textContent !== %q`, at),
				"the screen is shown":       `document.querySelector('#conversation').hidden`,
				"the text has another size": `document.documentElement.dataset.text !== ''`,
			} {
				if browsertest.Eval[bool](b, bad) {
					t.Errorf("%s after %q", what, keys)
				}
			}
			for _, p := range s.daemon.Prompts() {
				if p.State != sessions.PromptOpen {
					t.Errorf("%q answered %+v", keys, p)
				}
			}
			if p, err := s.daemon.Prompt(t.Context(), other); err != nil || p.State != sessions.PromptOpen {
				t.Errorf("%q answered another session's question: %+v, %v", keys, p, err)
			}
			if all := s.daemon.Requests(); len(all) > 0 {
				t.Errorf("%q began %+v", keys, all)
			}

			// After a pause keys are commands, and so they are after a click.
			b.Do(chromedp.KeyEvent("n"))
			if browsertest.Eval[bool](b, `(performance.now = () => 9000, Boolean(document.querySelector('dialog[open]')))`) {
				t.Error("a key did something before the pause")
			}
			b.Do(chromedp.KeyEvent("n"), chromedp.WaitVisible("#new-dialog"))
		})
	}
}

// A click for what stood where a question has just moved to answers nothing; one a moment later does, and so does a key.
func TestAClickOnAQuestionThatHasJustMovedAnswersNothing(t *testing.T) {
	t.Parallel()
	slow(t)
	click := chromedp.Click("#prompt .prompt-option:nth-child(2)")
	for name, tc := range map[string]struct {
		now    int // milliseconds; when it moved it was 1000
		answer chromedp.Action[chromedp.Void]
		want   sessions.PromptState
	}{
		"at once":          {1000, click, sessions.PromptOpen},
		"a moment later":   {1300, click, sessions.PromptAnswered},
		"by a digit's key": {1000, chromedp.KeyEvent("2"), sessions.PromptAnswered},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			asked := s.daemon.Ask(s.daemon.Add("mine", "claude"), permission())
			b := browse(t, 390, 844)
			b.Do(before(`performance.now = () => 1000`), s.open())
			b.Until("the question takes clicks", armed)
			browsertest.Eval[int](b, `(document.activeElement.blur(), document.querySelector('#receipts').append(document.createElement('hr')), requestAnimationFrame(() => setTimeout(() => { window.moved = true; })))`)
			b.Until("it has moved", `window.moved`)
			browsertest.Eval[int](b, fmt.Sprintf(`(performance.now = () => %d, 0)`, tc.now))
			b.Do(tc.answer)
			if tc.want == sessions.PromptAnswered {
				b.Until("the answer", `/answered: /.test(`+promptText+`)`)
			}
			if p, err := s.daemon.Prompt(t.Context(), asked); err != nil || p.State != tc.want {
				t.Errorf("it's %s, want %s: %v", p.State, tc.want, err)
			}
		})
	}
}

// Enter that's held down does once what it was pressed for.
func TestEnterThatIsHeldDownIsOne(t *testing.T) {
	t.Parallel()
	slow(t)
	s := newSite(t)
	b := browse(t, 1280, 800)
	b.Do(s.open(), chromedp.WaitVisible("#begin"), chromedp.Focus("#begin"))
	enter := func(repeat bool) chromedp.Action[chromedp.Void] {
		return chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
			_, err := cdp.Call(ctx, target, input.DispatchKeyEvent, input.DispatchKeyEventParams{
				Type: "keyDown", Key: "Enter", Code: "Enter", Text: "\r", WindowsVirtualKeyCode: 13, AutoRepeat: &repeat,
			})
			return err
		})
	}
	b.Do(enter(false), chromedp.WaitVisible("#new-dialog"), enter(true), enter(true))
	b.Until("the agents", `document.querySelectorAll('#new-agent option').length > 0`)
	b.Do(enter(true), chromedp.SendKeys("#new-name", "mine"), enter(false))
	for range 10 {
		b.Do(enter(true), chromedp.Sleep(20*time.Millisecond))
	}
	b.Until("the session", `document.querySelector('#name').textContent === 'mine'`)
	b.Do(enter(true), enter(true))
	if all := s.daemon.Requests(); len(all) != 1 || browsertest.Eval[bool](b, `Boolean(document.querySelector('dialog[open]'))`) {
		t.Errorf("begun were %+v", all)
	}
}
