package web_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/api/apitest"
	"github.com/panebridge/panebridge/internal/browsertest"
	"github.com/panebridge/panebridge/sessions"
)

// windows are those of phones: as they're held, a small one, on its side, and with the keyboard open; and of a desktop.
var windows = [][2]int64{{390, 844}, {320, 568}, {844, 390}, {390, 450}, {1280, 800}} // nothing changes them

// hidden lists which of these elements aren't what lies at their middle, once scrolled into view.
func hidden(selectors ...string) string {
	return fmt.Sprintf(`%q.split('|').filter((selector) => {
		const e = document.querySelector(selector);
		if (!e?.checkVisibility({ visibilityProperty: true })) return true;
		e.scrollIntoView({ block: 'nearest' });
		const { left, top, width, height } = e.getBoundingClientRect();
		const at = document.elementFromPoint(left + width / 2, top + height / 2);
		return !at || !e.contains(at);
	})`, strings.Join(selectors, "|"))
}

// inEach looks at the page in each of the windows.
func inEach(b *browsertest.Browser, look func(size string)) {
	for _, w := range windows {
		b.Do(chromedp.EmulateViewport(w[0], w[1]))
		b.Until("the window's size", fmt.Sprintf(`innerWidth === %d && innerHeight === %d`, w[0], w[1]))
		look(fmt.Sprintf("%d × %d", w[0], w[1]))
		b.Shot(fmt.Sprintf("fits-%s-%d-%d", b.Name(), w[0], w[1]))
	}
}

// However much a session has to say, what's written into stays in view without scrolling, the head is whole, and nothing lies on it.
func TestACrowdedSessionFits(t *testing.T) {
	t.Parallel()
	slow(t)
	s := goesOnSite(t)
	s.stop()
	s.daemon.Type = func(*apitest.Daemon, *sessions.Receipt) {}
	id := s.daemon.Add("api-refactor", "claude")
	s.exhibits = &shelf{all: []sessions.Exhibit{{ID: "ex_1", Session: id, Name: "report.txt", Path: "report.txt", Size: 1234, Type: "text/plain", At: time.Now()}}}
	s.bindings.Store(&[]api.Binding{{ID: "b1", To: "telegram:-1001234567890/42", View: "stream", Input: true, Problem: "its topics can't be written to: the bot is no administrator"}})
	fill(s.daemon, id)
	now := time.Now()
	s.daemon.SetState(id, sessions.StateError, "its last turn failed: You've hit your limit")
	s.daemon.SetUsage(id, &sessions.Usage{
		Agent: "claude", Tokens: sessions.Tokens{Input: 41_200}, Context: &sessions.ContextUse{Used: 50_000, Window: 200_000},
		Windows: []sessions.AccountWindow{{Minutes: 300, UsedPercent: 42.5, ResetsAt: now.Add(time.Hour)}}, Limit: &sessions.UsageLimit{At: now, Until: now.Add(30 * time.Minute)},
	})
	s.start(t)
	b := browse(t, 390, 844)
	b.Do(s.open(), chromedp.WaitVisible("#exhibit"))
	for n, text := range []string{"a rather long text that says what is to be done next, in many words", "second", "third"} {
		b.Do(chromedp.SendKeys("#text", text), browsertest.Enter())
		b.Until("it's sent", fmt.Sprintf(`%s === '' && document.querySelectorAll('.receipt').length === %d`, field, n+1))
	}
	s.daemon.SetReceipt(s.daemon.Receipts()[0].ID, sessions.ReceiptHeld, "a dialog is open: it's typed when the dialog has closed")
	b.Do(chromedp.WaitVisible(".receipt[data-state=held]"))
	inEach(b, func(size string) {
		for _, lies := range browsertest.Eval[[]string](b, hidden("#back", "#name", "#tab-conversation", "#tab-screen", "#more", "#text", "#send", "#attach")) {
			t.Errorf("%s: %s isn't to be seen", size, lies)
		}
		if scrolled := browsertest.Eval[bool](b, `[...document.querySelectorAll('#foot, #main, #layout, html, body')].some((e) => e.scrollTop > 0)`); scrolled {
			t.Errorf("%s: the field was out of view", size)
		}
		for _, lies := range browsertest.Eval[[]string](b, hidden("#limit-words", "#go-on", "#exhibit-look", ".receipt:last-child .receipt-text", ".keys button", "#usage")) {
			t.Errorf("%s: %s can't be reached", size, lies)
		}
		browsertest.Eval[bool](b, `(document.querySelector('#foot').scrollTop = 0, true)`)
	})
}

// A question's title, and each of its options, can be seen in a low window, and lie below no line of the conversation.
func TestAQuestionFits(t *testing.T) {
	t.Parallel()
	slow(t)
	s := newSite(t)
	id := s.daemon.Add("edit", "claude")
	fill(s.daemon, id)
	s.daemon.Ask(id, sessions.Dialog{
		Kind: sessions.PromptPermission, Title: "Do you want to make this edit to handlers.go?", Whole: "file: x.go", Call: "c", Diff: someDiff, Print: "p1",
		Options: []sessions.DialogOption{{Label: "Yes"}, {Label: "Yes, allow all edits during this session (shift+tab)"}, {Label: "No", Detail: "and tell Claude what to do differently (esc)", Refuses: true}},
	})
	b := browse(t, 390, 844)
	b.Do(s.open(), chromedp.WaitVisible("#prompt .diff"))
	inEach(b, func(size string) {
		for _, lies := range browsertest.Eval[[]string](b, hidden("#back", "#name", "#more", "#prompt .prompt-title", "#prompt .diff", ".prompt-option:nth-child(1)", ".prompt-option:nth-child(2)", ".prompt-option:nth-child(3)", "#text", "#send")) {
			t.Errorf("%s: %s isn't to be seen", size, lies)
		}
		if covers := browsertest.Eval[bool](b, `document.querySelector('.views').getBoundingClientRect().bottom > document.querySelector('#prompt').getBoundingClientRect().top + 1 || getComputedStyle(document.querySelector('.views')).overflowY === 'visible'`); covers {
			t.Errorf("%s: the conversation is drawn over the question", size)
		}
	})
}

// In a low window the list, what stands below it, and each entry of a menu can be reached; why a session has a problem is
// told whole in the inbox, and nothing of it is cut.
func TestLowWindowsHideNothing(t *testing.T) {
	t.Parallel()
	slow(t)
	s := newSite(t)
	s.stop()
	s.adapters = []api.Adapter{{Name: "telegram", Mode: "strict", Multiplier: 1, Chats: []api.Chat{
		{Chat: "-1001234567890", Windows: []api.WindowUse{{Calls: 20, Seconds: 60, Used: 18}}, Multiplier: 1, Waiting: map[string]api.Waiting{"stream": {Count: 3, OldestAge: 12}}},
		{Chat: "-1009876543210", Windows: []api.WindowUse{{Calls: 20, Seconds: 60, Used: 3}}, Multiplier: 1, Waiting: map[string]api.Waiting{}},
	}}}
	broken := s.daemon.Add("broken", "codex")
	s.daemon.SetState(broken, sessions.StateError, "its pane can't be read: the connection to the tmux server has ended (server exited unexpectedly)")
	for n := range 6 {
		s.daemon.Add(fmt.Sprint("session-", n), "claude")
	}
	s.start(t)
	b := browse(t, 390, 844)
	b.Do(s.enter(), chromedp.WaitVisible("#inbox"))
	b.Until("the chats", `document.querySelectorAll('.chat').length === 2 && document.querySelectorAll('.card').length === 7`)
	inEach(b, func(size string) {
		if cut := browsertest.Eval[bool](b, `[...document.querySelectorAll('.card-state')].some((e) => e.scrollWidth > e.clientWidth + 1 || e.getBoundingClientRect().right > e.closest('.card').getBoundingClientRect().right)`); cut {
			t.Errorf("%s: why a session has a problem is cut", size)
		}
		if small := browsertest.Eval[[]string](b, `innerWidth > 720 ? [] : [...document.querySelectorAll('input:not([type=checkbox]), select, textarea')].filter((e) => parseFloat(getComputedStyle(e).fontSize) < 16).map((e) => e.id)`); len(small) > 0 {
			t.Errorf("%s: phones zoom in on %q", size, small)
		}
		isDrawer := browsertest.Eval[bool](b, `document.querySelector('#menu').checkVisibility()`)
		if isDrawer {
			browsertest.Eval[bool](b, `(document.querySelector('#menu').click(), true)`)
			b.Until("the list", `document.querySelector('#drawer').getBoundingClientRect().left === 0`)
		}
		// The list isn't a slit.
		if n := browsertest.Eval[int](b, `(() => {
			const box = document.querySelector('#drawer');
			box.scrollTop = 0;
			return [...document.querySelectorAll('.session')].filter((e) => { const { left, top, width, height } = e.getBoundingClientRect(); return e.contains(document.elementFromPoint(left + width / 2, top + height / 2)); }).length;
		})()`); n < 3 {
			t.Errorf("%s: %d sessions of the list are seen", size, n)
		}
		for _, lies := range browsertest.Eval[[]string](b, hidden(".session", "#notify", "#devices", "#to-inbox")) {
			t.Errorf("%s: %s can't be reached", size, lies)
		}
		if isDrawer {
			browsertest.Eval[bool](b, `(document.querySelector('#veil').click(), true)`)
		}
	})
	browsertest.Eval[string](b, fmt.Sprintf(`location.hash = %q`, broken))
	b.Do(chromedp.WaitVisible("#foot"))
	inEach(b, func(size string) {
		browsertest.Eval[bool](b, `(document.querySelector('#more').click(), true)`)
		for _, lies := range browsertest.Eval[[]string](b, hidden("#stop", "#work", "#diff", "#mirror", "#close")) {
			t.Errorf("%s: %s of the menu can't be reached", size, lies)
		}
		browsertest.Eval[bool](b, `(document.querySelector('#more').click(), true)`)
	})
}

// Larger text is larger everywhere, in views as in dialogs.
func TestLargerTextIsOfAll(t *testing.T) {
	t.Parallel()
	slow(t)
	s := newSite(t)
	id := s.daemon.Add("one", "claude")
	fill(s.daemon, id)
	s.daemon.Ask(id, permission())
	b := browse(t, 1280, 800)
	b.Do(s.enter(), chromedp.WaitVisible("#inbox"))
	sizes := func() {
		browsertest.Eval[bool](b, `(window.sizes = [...document.querySelectorAll('body *')].map((e) => [e, parseFloat(getComputedStyle(e).fontSize)]), document.documentElement.dataset.text = 'largest', true)`)
		for _, text := range browsertest.Eval[[]string](b, `sizes.filter(([e, size]) => e.isConnected && e.textContent.trim() !== '' && !e.closest('noscript, script, svg') && parseFloat(getComputedStyle(e).fontSize) < 1.3 * size).map(([e]) => e.id || e.className || e.nodeName)`) {
			t.Errorf("the text of %s isn't larger", text)
		}
		browsertest.Eval[bool](b, `(document.documentElement.dataset.text = '', true)`)
	}
	b.Until("the question", card("one")+`?.querySelector('.prompt:not([hidden]) button:enabled')`)
	sizes()
	browsertest.Eval[string](b, fmt.Sprintf(`location.hash = %q`, id))
	b.Until("lines", lineCount+" > 20")
	sizes()
}

// A dialog that's opened to be read has its title in focus: no key that's pressed then ends anything, and no keyboard hides it.
func TestDialogsThatAreReadBeginAtTheirTitle(t *testing.T) {
	t.Parallel()
	slow(t)
	s := newSite(t)
	s.stop()
	s.adapters = []api.Adapter{{Name: "telegram", Mode: "strict", Multiplier: 1, Chats: []api.Chat{}}}
	s.bindings.Store(&[]api.Binding{{ID: "b1", To: "telegram:-1001", View: "stream", Input: true}})
	s.diff = func(context.Context, sessions.Session, string, string, bool) (api.Changes, error) {
		return api.Changes{Root: "/srv/p", Files: 1, Diff: someDiff, Notes: []string{}}, nil
	}
	id := s.daemon.Add("one", "claude")
	s.start(t)
	b := browse(t, 390, 844)
	b.Do(s.enter(), chromedp.WaitVisible("#inbox"))
	browsertest.Eval[string](b, fmt.Sprintf(`location.hash = %q`, id))
	b.Do(chromedp.WaitVisible("#foot"))
	for _, name := range []string{"mirror", "diff"} {
		b.Do(chromedp.Click("#more"), chromedp.Click("#"+name), chromedp.WaitVisible("#"+name+"-dialog"))
		if focus := browsertest.Eval[string](b, `document.activeElement.id`); focus != name+"-title" {
			t.Errorf("%s: the focus is on %q", name, focus)
		}
		b.Shot("begins-" + name)
		b.Do(chromedp.Click("#" + name + "-close"))
	}
}
