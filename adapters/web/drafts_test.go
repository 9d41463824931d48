package web_test

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/internal/api/apitest"
	"github.com/panebridge/panebridge/internal/browsertest"
	"github.com/panebridge/panebridge/sessions"
)

const keptDrafts = `Object.keys(localStorage).filter((k) => k.startsWith('panebridge.draft.')).map((k) => JSON.parse(localStorage.getItem(k)))`

const field = `document.querySelector('#text').value`

// What's written and not sent is there after a reload, for each session its own, until it's sent, the session is gone
// or the browser isn't let in any more.
func TestDraftsSurviveAReload(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	one, two := s.daemon.Add("one", ""), s.daemon.Add("two", "")
	b := browse(t, 1280, 800)
	b.Do(s.open())
	at := func(id sessions.ID, name string) {
		t.Helper()
		browsertest.Eval[string](b, fmt.Sprintf(`location.hash = %q`, id))
		b.Until(name, fmt.Sprintf(headSays, name))
	}
	kept := keptDrafts + `.filter(({ text }) => text).length`
	at(one, "one")
	b.Do(chromedp.SendKeys("#text", "first, not sent"))
	at(two, "two")
	b.Until("nothing of it at the other", field+` === ''`)
	b.Do(chromedp.SendKeys("#text", "second"), chromedp.Reload())
	b.Until("the second after a reload", field+` === 'second'`)
	at(one, "one")
	b.Until("the first", field+` === 'first, not sent'`)
	b.Do(chromedp.Focus("#text"), browsertest.Enter())
	b.Until("it's sent", field+` === '' && `+kept+` === 1`)
	b.Do(chromedp.Reload())
	b.Until("the page", fmt.Sprintf(headSays, "one"))
	if text := browsertest.Eval[string](b, field); text != "" {
		t.Errorf("what was sent is there again: %q", text)
	}
	s.daemon.SetState(two, sessions.StateEnded, "closed")
	b.Until("the session that has ended", `document.querySelector('.session[data-state=ended]')`)
	if n := browsertest.Eval[int](b, kept); n != 1 {
		t.Errorf("of the session that has ended %d drafts are kept", n)
	}
	if err := s.daemon.Forget(t.Context(), two); err != nil {
		t.Fatal(err)
	}
	b.Until("the draft to a session that's gone is gone", kept+` === 0`)

	b.Do(chromedp.SendKeys("#text", "third"))
	b.Until("it's kept", kept+` === 1`)
	b.Ignore("status of 401")
	if _, err := s.keeper.Rotate(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.Do(chromedp.WaitVisible("#gate"))
	if n := browsertest.Eval[int](b, `localStorage.length`); n != 0 {
		t.Errorf("the browser keeps %d things", n)
	}
}

// Where the browser keeps nothing, or something that isn't the page's, all works as long as the page is open.
func TestThePageNeedsNoStore(t *testing.T) {
	t.Parallel()
	slow(t)
	for name, stores := range map[string]string{
		"forbidden": `for (const name of ['localStorage', 'sessionStorage']) Object.defineProperty(window, name, { get() { throw new DOMException('no', 'SecurityError'); } })`,
		"full":      `Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError'); }`,
		"another's": `Storage.prototype.getItem = () => '7'`,
		"damaged":   `for (const name of ['draft.x', 'outgoing.x', 'looked', 'muted']) localStorage.setItem('panebridge.' + name, '[null, {}, 7, {"text": 1}]')`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			one, two := s.daemon.Add("one", ""), s.daemon.Add("two", "")
			b := browse(t, 1280, 800)
			b.Do(before(stores), s.open())
			at := func(id sessions.ID, name string) {
				t.Helper()
				browsertest.Eval[string](b, fmt.Sprintf(`location.hash = %q`, id))
				b.Until(name, fmt.Sprintf(headSays, name)+` && !document.querySelector('#text').disabled`)
			}
			at(one, "one")
			b.Do(chromedp.SendKeys("#text", "sent"), browsertest.Enter())
			b.Until("it's sent", field+` === ''`)
			browsertest.Eval[bool](b, `((e) => { e.value = 'x'.repeat(70000); e.dispatchEvent(new Event('input', { bubbles: true })); return true; })(document.querySelector('#text'))`)
			at(two, "two")
			at(one, "one")
			b.Until("all of the draft", field+`.length === 70000`)
			b.Ignore("status of 401")
			if _, err := s.keeper.Rotate(t.Context()); err != nil {
				t.Fatal(err)
			}
			b.Until("the gate", `document.querySelector('#gate').dataset.why === 'refused'`)
			b.Until("nothing left", field+` === '' && document.querySelectorAll('.session').length === 0`)
			if got := s.daemon.Receipts(); len(got) != 1 || got[0].Text != "sent" {
				t.Errorf("sent was %+v", got)
			}
		})
	}
}

// Many and long drafts stay within a bound.
func TestDraftsAreBounded(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	b := browse(t, 1280, 800)
	b.Do(s.enter(), chromedp.WaitVisible("#no-sessions"))
	browsertest.Eval[int](b, `(async () => {
		const { keepDraft, draftOf } = await import('/sources/drafts.js');
		for (let i = 0; i < 80; i++) keepDraft('s' + i, (i % 10 ? 'x' : 'x'.repeat(800000)));
		window.last = draftOf('s70').length;
		window.bytes = JSON.stringify(`+keptDrafts+`).length;
		window.count = `+keptDrafts+`.length;
	})(), 0`)
	b.Until("they're kept", `window.count`)
	n := browsertest.Eval[int](b, `window.count`)
	bytes, last := browsertest.Eval[int](b, `window.bytes`), browsertest.Eval[int](b, `window.last`)
	if n > 50 || n < 20 || bytes > 2200000 || last != 800000 {
		t.Errorf("%d drafts of %d characters are kept, of the last long one %d", n, bytes, last)
	}
}

// Texts that wait stand in the order in which they're typed, and each can be taken back. One that's to be sent while
// another is on its way is sent behind it.
func TestTextsThatWaitStandInTheirOrder(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.daemon.Type = func(*apitest.Daemon, *sessions.Receipt) {}
	id := s.daemon.Add("one", "claude")
	b := browse(t, 390, 844)
	b.Do(s.open(), chromedp.WaitVisible("#foot"))
	browsertest.Eval[bool](b, `(() => {
		const text = document.querySelector('#text');
		for (const one of ['first', 'second']) {
			text.value = one;
			text.dispatchEvent(new Event('input'));
			document.querySelector('#composer').requestSubmit();
		}
		return true;
	})()`)
	b.Until("both", `document.querySelectorAll('.receipt').length === 2`)
	if _, err := s.daemon.Input(t.Context(), id, sessions.InputRequest{Text: "third", Submit: true, Author: "telegram:1"}); err != nil {
		t.Fatal(err)
	}
	order := `[...document.querySelectorAll('.receipt')].map((e) => e.querySelector('.receipt-place').textContent + e.querySelector('.receipt-text').textContent).join(' ')`
	b.Until("all in order", order+` === '1.first 2.second 3.third' && /^3 texts wait/.test(document.querySelector('#queue').textContent)`)
	b.Shot("queue")
	s.daemon.SetReceipt(s.daemon.Receipts()[0].ID, sessions.ReceiptHeld, "a dialog is open")
	b.Until("the first is held", `document.querySelector('.receipt[data-state=held]')`)
	browsertest.Eval[bool](b, `([...document.querySelectorAll('.receipt')][1].querySelector('button').click(), true)`)
	b.Until("the second is taken back", order+`.includes('1.first') && `+order+`.includes('2.third') && `+field+` === 'second'`)
	s.daemon.SetReceipt(s.daemon.Receipts()[0].ID, sessions.ReceiptSubmitted, "")
	b.Until("one waits", `document.querySelector('#queue').hidden && `+order+`.includes(' third')`)
	if all := s.daemon.Receipts(); len(all) != 3 || all[0].Text != "first" || all[1].Text != "second" || all[1].State != sessions.ReceiptCancelled {
		t.Errorf("they are %+v", all)
	}
}

// Who wrote a text that waits is said by their name, but not to themselves; and what's taken back comes into the field
// of the device that wrote it alone.
func TestWhoWroteATextThatWaits(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.daemon.Type = func(*apitest.Daemon, *sessions.Receipt) {}
	id := s.daemon.Add("one", "claude")
	b := browse(t, 390, 844)
	s.letsIn(t, b, "a phone", access.Operator)
	browsertest.Eval[string](b, fmt.Sprintf(`location.hash = %q`, id))
	b.Do(chromedp.WaitVisible("#foot"))
	for _, by := range []struct{ author, name string }{{"web:another", "the tablet"}, {"web", ""}} {
		if _, err := s.daemon.Input(t.Context(), id, sessions.InputRequest{Text: "theirs", Submit: true, Author: by.author, Name: by.name}); err != nil {
			t.Fatal(err)
		}
	}
	b.Do(chromedp.SendKeys("#text", "mine"), browsertest.Enter())
	authors := `[...document.querySelectorAll('.receipt')].map((e) => e.querySelector('.receipt-author')?.textContent ?? '').join('|')`
	b.Until("who wrote them", authors+` === 'by the tablet|by the owner’s browser|'`)
	takeBack := func(n int) {
		browsertest.Eval[bool](b, fmt.Sprintf(`([...document.querySelectorAll('.receipt')][%d].querySelector('button').click(), true)`, n))
	}
	takeBack(0)
	b.Until("it's taken back", `document.querySelectorAll('.receipt')[0].dataset.state === 'cancelled'`)
	if text := browsertest.Eval[string](b, field); text != "" {
		t.Errorf("another's text came into the field: %q", text)
	}
	takeBack(2)
	b.Until("mine to be changed", field+` === 'mine'`)
	asked := s.daemon.Ask(id, permission())
	b.Do(chromedp.WaitVisible("#prompt"))
	s.daemon.SetPrompt(asked, sessions.PromptAnswered, "", &sessions.Answer{Options: []int{0}, Author: "web"})
	b.Until("who answered", `/The owner’s browser answered: Yes$/.test(`+promptText+`)`)
}

// What's taken back is as it was written: also on a device that sees secrets masked, and where another session is open by
// then. What's masked isn't written back.
func TestWhatIsTakenBackIsAsItWasWritten(t *testing.T) {
	t.Parallel()
	slow(t)
	s := newMaskedSite(t)
	s.daemon.Type = func(*apitest.Daemon, *sessions.Receipt) {}
	one, two := s.daemon.Add("one", "claude"), s.daemon.Add("two", "claude")
	b := browse(t, 390, 844)
	b.Ignore("status of 401")
	s.letsIn(t, b, "a phone", access.Operator)
	at := func(id sessions.ID, name string) {
		t.Helper()
		browsertest.Eval[string](b, fmt.Sprintf(`location.hash = %q`, id))
		b.Until(name, fmt.Sprintf(headSays, name)+` && !document.querySelector('#text').disabled`)
	}
	const takeBack = `[...document.querySelectorAll('.receipt:not([data-state=cancelled]) button')].find((e) => e.textContent === 'Take back')`
	const secret = "echo password=hunter2secret"
	write := func() {
		t.Helper()
		b.Do(chromedp.Focus("#text"), browsertest.InsertText(secret), browsertest.Enter())
		b.Until("it waits, masked", `document.querySelector('.receipt:not([data-state=cancelled]) .receipt-text')?.textContent.includes('[masked: ') && `+takeBack)
	}
	at(one, "one")
	write()
	browsertest.Eval[bool](b, `(`+takeBack+`.click(), location.hash = '`+string(two)+`', true)`)
	b.Until("the other", fmt.Sprintf(headSays, "two"))
	at(one, "one")
	b.Until("it as it was written", field+` === '`+secret+`'`)
	b.Do(chromedp.Focus("#text"), browsertest.Enter())
	b.Until("it waits again", takeBack)
	b.Do(chromedp.Reload())
	b.Until("it's there after a reload", takeBack)
	browsertest.Eval[bool](b, `(`+takeBack+`.click(), true)`)
	b.Until("it as it was written", field+` === '`+secret+`'`)
	b.Do(chromedp.Focus("#text"), browsertest.Enter())
	b.Until("it waits again, and the page knows it", takeBack+` && `+kept+`.every((t) => t.receipt)`)
	browsertest.Eval[bool](b, `(localStorage.clear(), true)`) // as another browser of this device would know it
	b.Do(chromedp.Reload())
	b.Until("it's there after a reload", takeBack)
	browsertest.Eval[bool](b, `(`+takeBack+`.click(), true)`)
	b.Until("word of it", `/taken back.*secret/.test(document.querySelector('#toast').textContent)`)
	if text := browsertest.Eval[string](b, field); text != "" {
		t.Errorf("the field has %q", text)
	}
	for _, r := range s.daemon.Receipts() {
		if r.Text != secret || r.State != sessions.ReceiptCancelled {
			t.Errorf("there's %+v", r)
		}
	}
}
