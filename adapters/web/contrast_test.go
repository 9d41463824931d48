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

// faint lists the texts in view that stand out less from what's behind them than WCAG 2.2 AA
// wants: 4.5 to 1, and 3 to 1 for text of 24 pixels, or of 18.66 if it's bold. Controls that
// can't be used are exempt there, and a screen's colours are its program's.
const faint = `(() => {
	const channels = (text) => text.match(/[\d.]+/g).map(Number);
	const light = ([r, g, b]) => [r, g, b].map((v) => (v /= 255) <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
		.reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
	const over = ([r, g, b, a = 1], below, opacity) => [r, g, b].map((v, i) => v * a * opacity + below[i] * (1 - a * opacity));
	const behind = (e) => {
		let colour = [255, 255, 255], opacity = 1;
		const path = [];
		for (let at = e; at; at = at.parentElement) path.unshift(at);
		for (const at of path) {
			const style = getComputedStyle(at);
			opacity *= Number(style.opacity);
			colour = over(channels(style.backgroundColor), colour, opacity);
		}
		return { colour, opacity };
	};
	const found = [];
	const look = (e, text, style) => {
		if (e.closest('#screen-rows, :disabled') || !e.checkVisibility({ visibilityProperty: true })) return;
		const { colour, opacity } = behind(e);
		const [a, b] = [light(over(channels(style.color), colour, opacity)), light(colour)];
		const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
		const size = parseFloat(style.fontSize);
		const least = size >= 24 || size >= 18.66 && style.fontWeight >= 700 ? 3 : 4.5;
		if (ratio < least) found.push(ratio.toFixed(2) + ' ' + text.trim().slice(0, 40) + ' (' + (e.id || e.className || e.nodeName) + ')');
	};
	const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	let seen = 0;
	while (walker.nextNode()) {
		const { data, parentElement: e } = walker.currentNode;
		if (data.trim() === '' || ['SCRIPT', 'NOSCRIPT', 'OPTION'].includes(e.nodeName)) continue;
		look(e, data, getComputedStyle(e));
		seen++;
	}
	for (const e of document.querySelectorAll('[placeholder]')) look(e, e.placeholder, getComputedStyle(e, '::placeholder'));
	return seen > 5 ? found : ['nothing was looked at'];
})()`

// All text of the page can be read, in both colour schemes.
func TestTextCanBeRead(t *testing.T) {
	t.Parallel()
	slow(t)
	s := newSite(t)
	s.daemon.Type = func(*apitest.Daemon, *sessions.Receipt) {}
	ended := s.daemon.Add("yesterday", "gemini")
	s.daemon.SetState(ended, sessions.StateEnded, "closed")
	s.daemon.SetState(s.daemon.Add("broken", "codex"), sessions.StateError, "its pane can't be read")
	s.daemon.SetState(s.daemon.Add("building", ""), sessions.StateWorking, "")
	id := s.daemon.Add("refactor", "claude")
	fill(s.daemon, id)
	s.daemon.SetScreen(id, picture())
	asked := s.daemon.Ask(id, permission())
	now := time.Now()
	s.adapters = []api.Adapter{{Name: "telegram", Mode: "strict", Multiplier: 1, PenaltyUntil: now.Add(time.Hour), Chats: []api.Chat{
		{Chat: "-1001234567890", Windows: []api.WindowUse{{Calls: 20, Seconds: 60, Used: 18}}, PenaltyUntil: now.Add(time.Hour), Multiplier: 1, Waiting: map[string]api.Waiting{}},
	}}}
	s.access.entries = []api.AccessEntry{{Person: "telegram:7", Role: "operator", By: "web", At: now}}

	b := browse(t, 1280, 900)
	readable := func(where string) {
		t.Helper()
		for _, scheme := range []string{"light", "dark"} {
			b.Do(browsertest.Scheme(scheme))
			for _, text := range browsertest.Eval[[]string](b, faint) {
				t.Errorf("%s, %s: %s", where, scheme, text)
			}
			b.Shot(fmt.Sprintf("contrast-%s-%s", where, scheme))
		}
	}
	b.Do(s.open(), chromedp.WaitVisible("#prompt"))
	b.Until("lines", lineCount+" > 20")
	b.Until("the question takes clicks", armed)
	readable("question")
	s.daemon.SetPrompt(asked, sessions.PromptAnswered, "", &sessions.Answer{Options: []int{0}, Author: "telegram:1", Name: "Ann"})
	b.Until("the answer", `/Ann answered/.test(`+promptText+`)`)
	for n, state := range []sessions.ReceiptState{sessions.ReceiptStored, sessions.ReceiptHeld, sessions.ReceiptSubmitted, sessions.ReceiptFailed} {
		b.Do(chromedp.SendKeys("#text", string(state)), browsertest.Enter())
		b.Until("its receipt", fmt.Sprintf(`document.querySelectorAll('.receipt').length === %d`, n+1))
		s.daemon.SetReceipt(s.daemon.Receipts()[n].ID, state, "for a reason")
		b.Until(string(state), fmt.Sprintf(`document.querySelector('.receipt[data-state=%s]')`, state))
	}
	readable("receipts")
	b.Do(chromedp.Click("#tab-screen"), chromedp.WaitVisible("#screen-rows span"))
	readable("screen")
	b.Do(chromedp.Click("#new"), chromedp.WaitVisible("#new-dialog"))
	readable("new")
	b.Do(chromedp.Click("#new-cancel"), chromedp.Click("#access"), chromedp.WaitVisible(".access-entry"))
	readable("access")
	b.Do(chromedp.Click("#access-close"), chromedp.Click("#more"), chromedp.Click("#close"), chromedp.WaitVisible("#close-dialog"))
	readable("close")
	b.Do(chromedp.Click("#close-cancel"))
	browsertest.Eval[string](b, fmt.Sprintf(`location.hash = %q`, ended))
	b.Do(chromedp.WaitVisible("#ended"))
	readable("ended")
	s.stop()
	b.Do(chromedp.WaitVisible("#connection"))
	readable("away")
	if _, err := s.keeper.Rotate(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.start(t)
	b.Do(chromedp.WaitVisible("#gate"))
	readable("gate")
}
