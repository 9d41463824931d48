package web_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/browsertest"
	"github.com/panebridge/panebridge/sessions"
)

const (
	found    = `[...document.querySelectorAll('#palette-list .palette-words')].map((e) => e.textContent).join('; ')`
	headSays = `document.querySelector('#name').textContent === %q`
)

// typed presses a key as a keyboard does, with its text: what the page makes of it decides whether that's written.
func typed(key string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		p := input.DispatchKeyEventParams{Type: "keyDown", Key: key, Text: key}
		if _, err := cdp.Call(ctx, target, input.DispatchKeyEvent, p); err != nil {
			return err
		}
		p.Type, p.Text = "keyUp", ""
		_, err := cdp.Call(ctx, target, input.DispatchKeyEvent, p)
		return err
	})
}

func ctrl(key string) chromedp.Action[chromedp.Void] {
	return chromedp.KeyEvent(key, chromedp.KeyModifiers(chromedp.ModifierCtrl))
}

// Sessions and commands are found by words, chosen and done, all of it by keyboard.
func TestThePaletteFindsSessionsAndCommands(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for n := range 30 {
		s.daemon.Add(fmt.Sprint("worker-", n), "")
	}
	s.daemon.Add("api-refactor", "claude")
	s.daemon.Ask(s.daemon.Add("asking", "claude"), permission())
	b := browse(t, 1280, 844)
	b.Do(s.enter(), chromedp.WaitVisible("#inbox"))
	press := func(keys ...string) {
		t.Helper()
		for _, key := range keys {
			if len(key) == 1 && key != kb.Escape {
				b.Do(typed(key))
			} else {
				b.Do(chromedp.KeyEvent(key))
			}
		}
	}
	b.Do(ctrl("k"), chromedp.WaitVisible("#palette"))
	b.Until("what needs somebody first", found+`.startsWith('asking; ') && `+found+`.includes('New session…')`)
	press("r", "e", "f", "a")
	b.Until("the one", found+` === 'api-refactor'`)
	b.Shot("palette")
	b.Do(browsertest.Scheme("dark"))
	b.Shot("palette-dark")
	b.Do(browsertest.Enter())
	b.Until("it's open", fmt.Sprintf(headSays, "api-refactor"))

	// A command of the session's.
	b.Do(ctrl("k"), chromedp.WaitVisible("#palette"))
	press("s", "c", "r", "e", "e", "n")
	b.Until("the command", found+` === 'Show its screen'`)
	b.Do(browsertest.Enter())
	b.Until("the screen", `document.querySelector('#screen').checkVisibility()`)
	press("g", "l")
	b.Until("the lines", `document.querySelector('#conversation').checkVisibility()`)

	// Arrows go round; Escape and the palette's own key leave.
	b.Do(ctrl("k"), chromedp.WaitVisible("#palette"))
	press(kb.ArrowUp)
	b.Until("the last is marked", `document.querySelector('#palette-list').lastChild.ariaSelected === 'true' && document.querySelector('#palette-field').getAttribute('aria-activedescendant') === document.querySelector('#palette-list').lastChild.id`)
	press(kb.ArrowDown)
	b.Until("the first is marked", `document.querySelector('#palette-list').firstChild.ariaSelected === 'true'`)
	b.Do(ctrl("k"))
	b.Until("it's gone", `!document.querySelector('#palette').open`)
	// Its field may have the focus for a moment still. What's pressed then chooses nothing, and Ctrl+K opens it.
	inField := func(key, more string) string {
		return fmt.Sprintf(`document.querySelector('#palette-field').dispatchEvent(new KeyboardEvent('keydown', { key: %q, bubbles: true, cancelable: true, %s }))`, key, more)
	}
	browsertest.Eval[bool](b, inField("Enter", ""))
	if name := browsertest.Eval[string](b, `document.querySelector('#name').textContent`); name != "api-refactor" {
		t.Errorf("an Enter behind the palette has led to %s", name)
	}
	again := inField("k", "ctrlKey: true")
	browsertest.Eval[bool](b, again)
	b.Until("it's open anew", `document.querySelector('#palette').open`)
	// Closed and opened at once, it's as open as ever: that it was closed is told later.
	browsertest.Eval[bool](b, `(document.querySelector('#palette').addEventListener('close', () => setTimeout(() => { window.toldClosed = true; })), true)`)
	browsertest.Eval[bool](b, again+"; "+again)
	b.Until("it was told", `window.toldClosed`)
	b.Until("all is found", `document.querySelector('#palette').open && `+found+`.startsWith('asking; ') && document.activeElement.id === 'palette-field'`)
	b.Do(ctrl("k"))
	b.Until("it's gone", `!document.querySelector('#palette').open`)
	press("g", "i")
	b.Until("the inbox", fmt.Sprintf(headSays, "Inbox"))

	// Through the inbox, and into a session, by keys.
	press("j", "j", "k")
	b.Until("the first is marked", `document.activeElement.closest('.card')?.querySelector('.card-name').textContent === 'asking'`)
	b.Do(browsertest.Enter())
	b.Until("it's open", fmt.Sprintf(headSays, "asking"))
	press(kb.Escape)
	b.Until("the inbox", fmt.Sprintf(headSays, "Inbox"))

	// In a field keys are text, and Escape leaves first the field, then the session.
	browsertest.Eval[bool](b, `(`+card("api-refactor")+`.querySelector('.card-link').click(), true)`)
	b.Until("it's open", fmt.Sprintf(headSays, "api-refactor"))
	press("i")
	b.Until("the field", `document.activeElement.id === 'text'`)
	press("g", "i", "?", "/", "1")
	if text := browsertest.Eval[string](b, `document.querySelector('#text').value`); text != "gi?/1" {
		t.Errorf("written is %q", text)
	}
	press(kb.Escape)
	b.Until("no field", `document.activeElement.id !== 'text'`)
	press("?")
	b.Do(chromedp.WaitVisible("#keys-dialog"))
	if text := browsertest.Eval[string](b, `document.querySelector('#keys-list').innerText`); !strings.Contains(text, "Ctrl+K") || !strings.Contains(text, "g then i") || !strings.Contains(text, "1 … 9") {
		t.Errorf("the keys are %s", text)
	}
	b.Shot("keys")
	press(kb.Escape)
	b.Until("no keys", `!document.querySelector('#keys-dialog').open`)
	press(kb.Escape)
	b.Until("the inbox", fmt.Sprintf(headSays, "Inbox"))
	b.Do(ctrl("k"), chromedp.WaitVisible("#palette"))
	press("n", "o", "n", "s", "e", "n", "s", "e")
	b.Do(chromedp.WaitVisible("#palette-none"), browsertest.Enter())
	press(kb.Escape)
	b.Do(chromedp.WaitNotVisible("#palette")) // what's pressed before is the palette's
	if keys := s.daemon.Pressed(); len(keys) > 0 {
		t.Errorf("keys were pressed in a pane: %v", keys)
	}

	// How it looks is kept by the device.
	press("+")
	b.Until("larger text", `getComputedStyle(document.body).fontSize === '17.25px'`)
	press("-")
	b.Do(ctrl("k"), chromedp.WaitVisible("#palette"))
	press("l", "i", "g", "h", "t")
	b.Until("the command", found+`.startsWith('Light; ')`)
	b.Do(browsertest.Enter())
	b.Until("light, though the system is dark", `getComputedStyle(document.body).backgroundColor === 'rgb(246, 247, 248)'`)
	b.Do(chromedp.Reload())
	b.Until("light after a reload", `getComputedStyle(document.body).backgroundColor === 'rgb(246, 247, 248)'`)
}

// What can be done with a session stands in the menu of its head: its program is started anew, and it's mirrored to
// a chat, which is changed and ended.
func TestTheMenuOfASession(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.adapters = []api.Adapter{{Name: "telegram", Mode: "strict", Chats: []api.Chat{{Chat: "-1001", Windows: []api.WindowUse{}, Waiting: map[string]api.Waiting{}}}}}
	id := s.daemon.Add("one", "claude")
	b := browse(t, 1280, 844)
	b.Ignore("status of 404") // the site's chats can't be bound
	b.Do(s.open(), chromedp.WaitVisible("#foot"), chromedp.Click("#more"), chromedp.WaitVisible("#more-menu"))
	b.Until("the first is marked", `document.activeElement.id === 'stop'`)
	b.Shot("menu")
	b.Do(chromedp.KeyEvent(kb.ArrowUp))
	b.Until("the last is marked", `document.activeElement.id === 'close'`)
	b.Do(chromedp.KeyEvent(kb.Escape))
	b.Until("it's gone, and the focus where it was", `document.querySelector('#more-menu').hidden && document.activeElement.id === 'more'`)
	b.Do(browsertest.Enter())
	b.Until("the first is marked", `document.activeElement.id === 'stop'`)
	b.Do(browsertest.Enter())
	b.Until("it's gone", `document.querySelector('#more-menu').hidden`)
	b.Do(chromedp.Click("#more"), chromedp.Click("#restart"), chromedp.WaitVisible("#close-dialog"), chromedp.Click("#close-confirm"))
	b.Until("it's started anew", `document.querySelector('#lines').textContent.includes('program started anew')`)
	if keys := strings.Join(s.daemon.Pressed(), " "); keys != "C-c" {
		t.Errorf("keys pressed: %s", keys)
	}

	s.bindings.Store(&[]api.Binding{{ID: "b1", To: "telegram:-1001", View: "stream", Input: true, Origin: "rule", Problem: "its topics can't be written to"}})
	b.Until("the chat", `document.querySelector('#unshown').textContent.includes('telegram:-1001')`)
	b.Do(chromedp.Click("#more"), chromedp.Click("#mirror"), chromedp.WaitVisible("#mirror-dialog"))
	text := `document.querySelector('#mirror-dialog').innerText`
	b.Until("what shows it", text+`.includes('lines as they come · what’s written there is typed · by a rule of the configuration') && `+text+`.includes('its topics can')`)
	b.Shot("mirror")
	b.Do(chromedp.SendKeys("#mirror-to", "telegram:-1002"), chromedp.Click("#mirror-begin"))
	b.Until("why not", `document.querySelector('#mirror-error').textContent !== ''`)
	b.Do(chromedp.Click("#unbind-b1"))
	b.Until("why not", `document.querySelector('#mirror-error').textContent !== '' && !document.querySelector('#unbind-b1').disabled`)
	s.bindings.Store(&[]api.Binding{{ID: "b1", To: "telegram:-1001", View: "stream", Tools: "brief", Thinking: "all", Prompts: "none"}})
	b.Do(chromedp.Click("#mirror-close"))
	b.Until("the chat as it's now", `document.querySelector('#unshown').hidden`)
	b.Do(chromedp.Click("#more"), chromedp.Click("#mirror"), chromedp.WaitVisible("#mirror-dialog"))
	b.Until("how much of the work it shows", text+`.includes('calls of tools are counted in one line · what the agent thinks · nothing of what’s written elsewhere · nothing that')`)
	b.Shot("mirror-work")
	b.Do(chromedp.Click("#mirror-close"))

	s.daemon.SetState(id, sessions.StateEnded, "closed")
	b.Until("it has ended", `document.querySelector('#ended').checkVisibility()`)
	b.Do(chromedp.Click("#more"), chromedp.WaitVisible("#more-menu"))
	if left := browsertest.Eval[string](b, `document.querySelector('#more-menu').innerText.trim()`); left != "Search its lines…\nHow much of the work to see…\nWhat it has changed…\nWhat it has shown…\nGet a file…\nBegin it again…" {
		t.Errorf("of one that has ended it offers %q", left)
	}
	b.Do(chromedp.Click("#restart"), chromedp.WaitVisible("#close-dialog"), chromedp.Click("#close-confirm"))
	b.Until("another is open", `document.querySelector('#composer').checkVisibility() && location.hash !== '#`+string(id)+`'`)
}
