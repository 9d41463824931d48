package web_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/api/apitest"
	"github.com/panebridge/panebridge/internal/browsertest"
	"github.com/panebridge/panebridge/sessions"
)

// No view keeps anybody from using it, as far as axe-core finds out, in either colour scheme, on a phone and on a wide
// screen; and on a phone, what's touched is at least 44 pixels high and wide.
func TestNoViewHasBarriers(t *testing.T) {
	t.Parallel()
	slow(t)
	for _, width := range []int{390, 1280} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			t.Parallel()
			lookForBarriers(t, width)
		})
	}
}

func lookForBarriers(t *testing.T, width int) {
	t.Helper()
	s := newSite(t)
	s.daemon.Type = func(*apitest.Daemon, *sessions.Receipt) {}
	b := browse(t, width, 844)
	look := func(view string) {
		t.Helper()
		for _, scheme := range []string{"light", "dark"} {
			b.Do(browsertest.Scheme(scheme))
			b.Shot(fmt.Sprintf("view-%s-%d-%s", view, width, scheme))
			for _, found := range b.Barriers("#screen-rows span") {
				t.Errorf("%s, %s: %s", view, scheme, found)
			}
		}
		if width >= 720 {
			return
		}
		for _, text := range browsertest.Eval[[]string](b, small) {
			t.Errorf("%s: %s", view, text)
		}
		if wide := browsertest.Eval[int](b, `document.documentElement.scrollWidth`); wide > width {
			t.Errorf("%s: the page is %d pixels wide", view, wide)
		}
	}
	click := func(selector string) {
		browsertest.Eval[bool](b, fmt.Sprintf(`(document.querySelector(%q).click(), true)`, selector))
	}
	open := func(id sessions.ID) {
		browsertest.Eval[string](b, fmt.Sprintf(`location.hash = %q`, id))
		b.Do(chromedp.WaitVisible("#foot"))
	}

	b.Do(chromedp.Navigate("http://"+s.addr+"/"), chromedp.WaitVisible("#gate"))
	look("gate")
	b.Do(s.enter(), chromedp.WaitVisible("#no-sessions"))
	look("empty")

	s.adapters = []api.Adapter{{Name: "telegram", Mode: "strict", Multiplier: 1, Chats: []api.Chat{
		{Chat: "-1001234567890", Windows: []api.WindowUse{{Calls: 20, Seconds: 60, Used: 18}}, PenaltyUntil: time.Now().Add(time.Hour), Multiplier: 1, Waiting: map[string]api.Waiting{}},
	}}}
	s.fillMail()
	s.stop()
	s.access.entries = []api.AccessEntry{{Person: "telegram:7", Role: "operator", By: "web", At: time.Now()}}
	s.bindings.Store(&[]api.Binding{{ID: "b1", To: "telegram:-1001", View: "stream", Input: true, Problem: "its topics can't be written to"}})
	ended := s.daemon.Add("yesterday", "gemini")
	s.daemon.SetState(ended, sessions.StateEnded, "closed")
	s.daemon.SetState(s.daemon.Add("building", ""), sessions.StateWorking, "")
	id := s.daemon.Add("refactor", "claude")
	fill(s.daemon, id)
	s.daemon.SetScreen(id, picture())
	multi := s.daemon.Add("choosing", "codex")
	s.daemon.Ask(multi, sessions.Dialog{Kind: sessions.PromptMulti, Title: "Which of them?", Print: "m", Options: []sessions.DialogOption{{Label: "SQLite", Detail: "one file"}, {Label: "Postgres"}}})
	asking := s.daemon.Add("asking", "claude")
	s.daemon.Ask(asking, permission())
	s.start(t)
	b.Until("the inbox", card("asking")+`?.querySelector('.prompt:not([hidden]) button:enabled') && `+card("choosing")+`?.querySelector('.prompt:not([hidden]) button:enabled') && document.querySelector('#connection').hidden`)
	b.Ignore("status of 404")
	browsertest.Eval[bool](b, `(localStorage.setItem('panebridge.outgoing.left', JSON.stringify([{ session: 'gone', text: 'make test', key: 'k', at: 0, unsent: 'nobody answered in time' }])), true)`)
	b.Until("a text to a session that's gone", `document.querySelector('.stranded:not([hidden]) .receipt')`)
	look("inbox")
	if width < 720 {
		click("#menu")
		look("list")
		click("#veil")
	}
	click("#find")
	look("palette")
	b.Do(chromedp.KeyEvent("\x1b"), typed("?"), chromedp.WaitVisible("#keys-dialog"))
	look("keys")
	click("#keys-close")
	click("#search-open")
	b.Until("the search", `document.activeElement.id === 'search-field'`)
	look("search")
	click("#back")
	click("#new")
	look("new")
	click("#new-cancel")
	click("#mail")
	b.Do(chromedp.WaitVisible("#mail-done-m_1"))
	look("mail")
	click("#mail-close")
	click("#access")
	b.Do(chromedp.WaitVisible(".access-entry"))
	look("access")
	click("#access-close")
	click("#devices")
	b.Do(chromedp.WaitVisible(".device"))
	look("devices")
	click("#devices-close")

	open(id)
	b.Until("lines", lineCount+" > 20")
	for _, text := range []string{"first", "second"} {
		b.Do(chromedp.SendKeys("#text", text), browsertest.Enter())
		b.Until("it's sent", field+` === '' && `+atRest)
	}
	s.daemon.SetReceipt(s.daemon.Receipts()[0].ID, sessions.ReceiptHeld, "a dialog is open")
	b.Do(chromedp.WaitVisible(".receipt[data-state=held]"))
	look("lines")
	click("#more")
	look("menu")
	click("#rename")
	look("rename")
	click("#rename-cancel")
	click("#get")
	look("get")
	click("#get-cancel")
	click("#close")
	look("close")
	click("#close-cancel")
	click("#mirror")
	look("mirror")
	click("#mirror-close")
	click("#tab-screen")
	b.Do(chromedp.WaitVisible("#screen-rows span"))
	look("screen")
	click("#tab-conversation")
	open(asking)
	b.Until("the question", armed)
	look("question")
	open(ended)
	b.Do(chromedp.WaitVisible("#ended"))
	look("ended")
}

// small lists what's touched and is lower or narrower than 44 pixels: not what stands within a line of text, nor a check
// mark whose label is touched.
const small = `[...document.querySelectorAll('button, a, input, select, textarea, [role=option]')].filter((e) => {
	if (!e.checkVisibility({ visibilityProperty: true }) || e.matches('.secret, .line *, .md *') || e.type === 'file') return false;
	const dialog = document.querySelector('dialog[open]');
	if (dialog && !dialog.contains(e)) return false;
	const touched = e.type === 'checkbox' ? e.closest('label') ?? e : e;
	const { width, height } = touched.getBoundingClientRect();
	return width > 0 && (width < 44 || height < 44);
}).map((e) => {
	const { width, height } = e.getBoundingClientRect();
	return (e.id || e.className || e.nodeName) + ' "' + e.textContent.trim().slice(0, 20) + '" is ' + Math.round(width) + ' × ' + Math.round(height);
})`
