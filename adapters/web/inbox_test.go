package web_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/panebridge/panebridge/internal/browsertest"
	"github.com/panebridge/panebridge/sessions"
)

// inGroups is what the inbox shows: each group's title with its sessions' names.
const inGroups = `[...document.querySelectorAll('#inbox .group:not([hidden])')].map((g) => g.querySelector('.group-title').firstChild.data.trim() + ': ' + [...g.querySelectorAll('.card-name')].map((e) => e.textContent).join(' ')).join('; ')`

// card is an expression for a session's card in the inbox.
func card(name string) string {
	return fmt.Sprintf(`[...document.querySelectorAll('#inbox .card')].find((c) => c.querySelector('.card-name').textContent === %q)`, name)
}

// The page opens with all sessions in groups, says of each what it does in people's words, and opens none by itself.
func TestThePageOpensWithTheInbox(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	failed := s.daemon.Add("failed", "claude")
	s.daemon.Turn(failed, true)
	s.daemon.Append(failed, sessions.KindAnswer, "I can’t reach <b>it</b>.")
	s.daemon.FailTurn(failed, "Overloaded")
	s.daemon.SetState(failed, sessions.StateError, "its last turn failed: Overloaded")
	s.daemon.SetState(s.daemon.Add("quiet", ""), sessions.StateIdle, "its pane is quiet")
	busy := s.daemon.Add("busy", "codex")
	s.daemon.Turn(busy, true)
	s.daemon.Known(busy, "Reading 3 files")
	s.daemon.SetState(busy, sessions.StateWorking, "hook Stop at 05:07:07")
	s.daemon.SetState(s.daemon.Add("gone", ""), sessions.StateEnded, "closed")
	s.daemon.Ask(s.daemon.Add("asking", "claude"), permission())

	for _, width := range []int{1280, 390} {
		b := browse(t, width, 844)
		b.Do(s.enter())
		want := "Waits for you: asking; Working: busy; Done, not looked at: failed; Idle: quiet; Ended: gone"
		b.Until("the groups", inGroups+fmt.Sprintf(` === %q`, want))
		b.Until("the question in its card", card("asking")+`.querySelector('.prompt:not([hidden]) button:enabled')`)
		b.Shot(fmt.Sprint("inbox-", width))
		b.Do(browsertest.Scheme("dark"))
		b.Shot(fmt.Sprint("inbox-dark-", width))
		for name, says := range map[string]string{
			"asking": "waits for you", "busy": "working for ", "failed": "failed just now", "quiet": "idle", "gone": "ended just now",
		} {
			if text := browsertest.Eval[string](b, card(name)+`.querySelector('.card-state').textContent`); !strings.HasPrefix(text, says) {
				t.Errorf("%s: %q", name, text)
			}
		}
		all := browsertest.Eval[string](b, `document.body.innerText`)
		if !strings.Contains(all, "Reading 3 files") || !strings.Contains(all, "Overloaded") || !strings.Contains(all, "I can’t reach <b>it</b>.") || strings.Contains(all, "hook Stop") {
			t.Errorf("it says %s", all)
		}
		if open := browsertest.Eval[bool](b, `location.hash !== '' || document.querySelector('#foot').checkVisibility() || document.querySelector('#views').checkVisibility()`); open {
			t.Error("a session is open")
		}
		if wide := browsertest.Eval[int](b, `document.documentElement.scrollWidth`); wide > width {
			t.Errorf("the page is %d pixels wide in a window of %d", wide, width)
		}
		b.Until("how many wait", `document.title === '(1) panebridge' && decodeURIComponent(document.querySelector('link[rel=icon]').href).includes('>1</text>')`)

		// Into a session and back, by the page's own ways and the browser's.
		click := func(expression string) { browsertest.Eval[bool](b, `(`+expression+`.click(), true)`) }
		click(card("busy") + `.querySelector('.card-link')`)
		b.Until("the session", `document.querySelector('#name').textContent === 'busy' && document.querySelector('#foot').checkVisibility() && !document.querySelector('#inbox').checkVisibility()`)
		if text := browsertest.Eval[string](b, `document.querySelector('#about').innerText`); !strings.HasPrefix(text, "working for ") || strings.Contains(text, "hook Stop") {
			t.Errorf("its head says %q", text)
		}
		b.Shot(fmt.Sprint("inbox-session-", width))
		b.Do(chromedp.Click("#back"))
		b.Until("the inbox", inGroups+` !== ''&& document.querySelector('#inbox').checkVisibility() && !document.querySelector('#foot').checkVisibility()`)
		browsertest.Eval[bool](b, `(history.back(), true)`)
		b.Until("the session again", `document.querySelector('#name').textContent === 'busy'`)
		browsertest.Eval[bool](b, `(document.querySelector('#to-inbox').click(), true)`)
		b.Until("the inbox again", `document.querySelector('#name').textContent === 'Inbox'`)
	}
}

// A question is answered in the inbox, by a click or, if it's the only one, by a digit; its card says who did. What was
// answered elsewhere goes away.
func TestQuestionsAreAnsweredInTheInbox(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	first := s.daemon.Add("first", "claude")
	second := s.daemon.Add("second", "claude")
	asked := s.daemon.Ask(first, permission())
	other := s.daemon.Ask(second, permission())
	b := browse(t, 1280, 844)
	b.Do(s.enter())
	armedIn := func(name string) string {
		return card(name) + `?.querySelector('.prompt:not([hidden]) button:enabled')`
	}
	b.Until("both", armedIn("first")+` && `+armedIn("second"))
	if n := browsertest.Eval[int](b, `document.querySelectorAll('#prompt:not([hidden])').length`); n != 0 {
		t.Error("the panel of an open session shows")
	}
	b.Do(chromedp.KeyEvent("1")) // for which of them?
	b.Do(chromedp.Sleep(100 * time.Millisecond))
	for _, id := range []string{asked, other} {
		if p, err := s.daemon.Prompt(t.Context(), id); err != nil || p.State != sessions.PromptOpen {
			t.Fatalf("a digit answered one of two: %+v, %v", p, err)
		}
	}
	browsertest.Eval[bool](b, `(`+card("first")+`.querySelector('.prompt-option:nth-child(3)').click(), true)`)
	b.Until("who answered", `/This page answered: No$/.test(`+card("first")+`.querySelector('.prompt').textContent)`)
	b.Until("it's working", inGroups+` === 'Waits for you: second; Working: first'`)
	if text := browsertest.Eval[string](b, card("first")+`.querySelector('.prompt').textContent`); !strings.HasSuffix(text, "answered: No") {
		t.Errorf("in the other group it says %q", text)
	}
	b.Do(chromedp.KeyEvent("1"))
	b.Until("the only one answered", `/This page answered: Yes$/.test(`+card("second")+`.querySelector('.prompt').textContent)`)
	b.Until("nobody waits", `document.title === 'panebridge'`)

	again := s.daemon.Ask(first, permission())
	b.Until("another", armedIn("first"))
	ann := sessions.Answer{Options: []int{0}, Author: "telegram:1", Name: "Ann"}
	s.daemon.SetPrompt(again, sessions.PromptAnswered, "", &ann)
	b.Until("who answered elsewhere", `/Ann answered: Yes$/.test(`+card("first")+`.querySelector('.prompt').textContent)`)

	// In the session it stands once, and in the inbox no more.
	s.daemon.Ask(first, permission())
	b.Until("another", armedIn("first"))
	browsertest.Eval[bool](b, `(`+card("first")+`.querySelector('.card-link').click(), true)`)
	b.Until("the panel", armed)
	if n := browsertest.Eval[int](b, `document.body.innerText.split('Do you want to proceed?').length - 1`); n != 1 {
		t.Errorf("the question stands there %d times", n)
	}
}

// A digit answers nothing but what's seen: no question of another card than the one with the focus, of none that's muted,
// and of none that isn't in view.
func TestADigitAnswersWhatIsSeenAlone(t *testing.T) {
	t.Parallel()
	slow(t)
	s := newSite(t)
	first, second := s.daemon.Add("first", "claude"), s.daemon.Add("second", "claude")
	for n := range 30 {
		s.daemon.SetState(s.daemon.Add(fmt.Sprint("quiet-", n), "claude"), sessions.StateIdle, "")
	}
	b := browse(t, 1280, 844)
	b.Do(s.enter())
	armedIn := func(name string) string {
		return card(name) + `?.querySelector('.prompt:not([hidden]) button:enabled') && !` + card(name) + `.querySelector('.prompt').matches('[data-moving]')`
	}
	presses := func(why, id string, want sessions.PromptState) {
		t.Helper()
		b.Do(chromedp.Sleep(400*time.Millisecond), chromedp.KeyEvent("1"), chromedp.Sleep(300*time.Millisecond))
		if p, err := s.daemon.Prompt(t.Context(), id); err != nil || p.State != want {
			t.Errorf("%s: it's %+v, %v", why, p, err)
		}
	}
	asked, other := s.daemon.Ask(first, permission()), s.daemon.Ask(second, permission())
	b.Until("both", armedIn("first")+` && `+armedIn("second"))
	browsertest.Eval[bool](b, `(`+card("first")+`.querySelector('.prompt-option').focus(), true)`)
	s.daemon.SetPrompt(asked, sessions.PromptAnswered, "", &sessions.Answer{Options: []int{0}, Author: "cli"})
	b.Until("the first is answered", `/answered: Yes$/.test(`+card("first")+`.querySelector('.prompt').textContent)`)
	presses("the focus is in another card", other, sessions.PromptOpen)

	browsertest.Eval[bool](b, `(document.activeElement.blur(), true)`)
	browsertest.Eval[bool](b, `(document.querySelector('#inbox').scrollTop = 3000, true)`)
	presses("it isn't in view", other, sessions.PromptOpen)
	browsertest.Eval[bool](b, `(document.querySelector('#inbox').scrollTop = 0, true)`)
	presses("it's the only one", other, sessions.PromptAnswered)

	browsertest.Eval[bool](b, `(localStorage.setItem('panebridge.muted', JSON.stringify(['`+string(second)+`'])), true)`)
	b.Do(chromedp.Reload())
	muted := s.daemon.Ask(second, permission())
	b.Until("a question of a muted one", armedIn("second"))
	browsertest.Eval[bool](b, `(`+card("second")+`.scrollIntoView({ block: 'center' }), true)`)
	presses("it's muted", muted, sessions.PromptOpen)
}

// What's done is news until somebody has looked at it to its end, on this device: also after a reload.
func TestWhatIsDoneIsNewsUntilItIsLookedAt(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id := s.daemon.Add("one", "claude")
	turn := func(text string) {
		s.daemon.SetState(id, sessions.StateWorking, "")
		s.daemon.Turn(id, true)
		s.daemon.Append(id, sessions.KindAnswer, text)
		s.daemon.Turn(id, false)
		s.daemon.SetState(id, sessions.StateIdle, "")
	}
	turn("the first")
	b := browse(t, 1280, 844)
	b.Do(s.enter())
	b.Until("news", inGroups+` === 'Done, not looked at: one'`)
	b.Until("its last line", card("one")+`.querySelector('.card-says').textContent === 'the first'`)
	browsertest.Eval[bool](b, `(`+card("one")+`.querySelector('.card-link').click(), true)`)
	b.Until("its lines", lineCount+` === 1`)
	b.Until("it was looked at", `localStorage.getItem('panebridge.looked')?.includes('"turn":1')`)
	b.Do(chromedp.Click("#back"))
	b.Until("no news", inGroups+` === 'Idle: one' && document.querySelector('#inbox-quiet').checkVisibility()`)
	turn("the second")
	b.Until("news", inGroups+` === 'Done, not looked at: one'`)
	b.Do(chromedp.Reload())
	b.Until("news after a reload", inGroups+` === 'Done, not looked at: one'`)
	b.Do(chromedp.Click("#looked-all"))
	b.Until("no news", inGroups+` === 'Idle: one'`)
	b.Do(chromedp.Reload())
	b.Until("none after a reload", inGroups+` === 'Idle: one'`)
	s.daemon.Exit(id, 3)
	s.daemon.SetState(id, sessions.StateEnded, "its program has ended")
	b.Until("news that it has ended", inGroups+` === 'Done, not looked at: one'`)
	browsertest.Eval[bool](b, `(`+card("one")+`.querySelector('.card-link').click(), true)`)
	b.Until("its lines", lineCount+` === 2`)
	b.Do(chromedp.Click("#back"))
	b.Until("no news", inGroups+` === 'Ended: one'`)

	// Of a device that isn't let in any more, nothing is kept.
	b.Ignore("status of 401")
	if _, err := s.keeper.Rotate(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.Do(chromedp.WaitVisible("#gate"))
	if n := browsertest.Eval[int](b, `localStorage.length`); n != 0 {
		t.Errorf("the browser keeps %d things", n)
	}
}
