package web_test

import (
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/panebridge/panebridge/internal/api/apitest"
	"github.com/panebridge/panebridge/internal/browsertest"
	"github.com/panebridge/panebridge/sessions"
)

// What waits for a session is shown wherever it was written, after a reload too; what
// only a dialog's words hold can be sent anyway, on the screen that was looked at.
func TestHeldTextsOfOthersAreShown(t *testing.T) {
	t.Parallel()
	slow(t)
	s := newSite(t)
	s.daemon.Type = func(*apitest.Daemon, *sessions.Receipt) {}
	id := s.daemon.Add("shell", "")
	add := func(text, author string) string {
		r, err := s.daemon.Input(t.Context(), id, sessions.InputRequest{Text: text, Submit: true, Author: author})
		if err != nil {
			t.Fatal(err)
		}
		return r.ID
	}
	first := add("first", "telegram:1")
	s.daemon.HoldQuoted(first, "0123456789abcdef", "a dialog's words are on the screen")
	b := browse(t, 1000, 700)
	b.Do(s.open())
	texts := `Array.from(document.querySelectorAll('.receipt'), (e) => e.textContent).join('\n')`
	b.Until("the first", texts+`.includes('by telegram:1')`)
	second := add("second", "cli")
	b.Until("the second", texts+`.includes('by the command line')`)
	b.Do(chromedp.Reload())
	b.Until("both again", `document.querySelectorAll('.receipt').length === 2`)
	b.Shot("held")

	s.daemon.HoldQuoted(first, "fedcba9876543210", "the screen has changed since")
	b.Until("the other screen", texts+`.includes('changed since')`)
	click := func(label string) string {
		return `Boolean([...document.querySelectorAll('.receipt button')].filter((b) => b.textContent === '` + label + `').at(-1)?.click() ?? true)`
	}
	browsertest.Eval[bool](b, click("Send anyway"))
	b.Until("the first sent", `document.querySelector('.receipt[data-state=submitted]')`)
	if r, err := s.daemon.Receipt(t.Context(), first); err != nil || r.Anyway != "web" {
		t.Errorf("%+v, %v", r, err)
	}
	s.daemon.SetReceipt(first, sessions.ReceiptAnswered, "")
	b.Until("the first answered", `document.querySelector('.receipt[data-state=answered]')?.textContent.includes('done')`)
	browsertest.Eval[bool](b, click("Take back"))
	b.Until("the second taken back", `document.querySelector('.receipt[data-state=cancelled]')`)
	if r, err := s.daemon.Receipt(t.Context(), second); err != nil || r.State != sessions.ReceiptCancelled {
		t.Errorf("%+v, %v", r, err)
	}
	if text := browsertest.Eval[string](b, `document.querySelector('#text').value`); text != "" {
		t.Errorf("what another wrote came into the text field: %q", text)
	}
}

// Each bubble says how far its text got, while that goes on, with words for people; the place above the composer has the
// same words. A bubble from a transcript, which panebridge hasn't typed, says nothing.
func TestBubblesSayHowFarTheirTextsGot(t *testing.T) {
	t.Parallel()
	slow(t)
	s := newSite(t)
	s.daemon.Type = func(*apitest.Daemon, *sessions.Receipt) {}
	id := s.daemon.Add("one", "claude")
	s.daemon.Block(id, sessions.KindUser, "written at the keyboard")
	add := func(text string) string {
		r, err := s.daemon.Input(t.Context(), id, sessions.InputRequest{Text: text, Submit: true, Author: "telegram:1"})
		if err != nil {
			t.Fatal(err)
		}
		return r.ID
	}
	earlier := add("fix\nboth of them")
	s.daemon.Write(id, earlier, "Ann")
	s.daemon.SetReceipt(earlier, sessions.ReceiptAnswered, "")
	b := browse(t, 390, 844)
	b.Do(s.open(), chromedp.WaitVisible("#foot"))
	const says = `[...document.querySelectorAll('.line.user .bubble-receipt')].map((e) => e.textContent).join('|')`
	const above = `[...document.querySelectorAll('.receipt .step')].map((e) => e.textContent).join('|')`
	b.Until("the one of before", says+` === ' · answered'`)

	now := add("and the tests")
	b.Until("the words above the composer", above+` === 'waiting|typed|the agent has it|answered'`)
	s.daemon.Write(id, now, "Ann")
	s.daemon.SetReceipt(now, sessions.ReceiptTyped, "")
	b.Until("it's typed", says+` === ' · answered| · typed'`)
	s.daemon.SetReceipt(now, sessions.ReceiptSubmitted, "")
	b.Until("it's taken", says+` === ' · answered| · the agent has it'`)
	b.Shot("bubbles-receipts")
	s.daemon.SetReceipt(now, sessions.ReceiptAnswered, "")
	b.Until("it's answered", says+` === ' · answered| · answered'`)
	lost := add("lost")
	b.Until("it waits", `document.querySelector('#receipts').textContent.includes('lost')`)
	s.daemon.Write(id, lost, "Ann")
	s.daemon.SetReceipt(lost, sessions.ReceiptFailed, "the connection to tmux was lost")
	b.Until("why it isn't sent", says+` === ' · answered| · answered| · failed: the connection to tmux was lost'`)
	b.Until("the same above", above+`.endsWith('failed')`)
	b.Shot("bubbles-receipts-failed")
}
