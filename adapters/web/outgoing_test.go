package web_test

import (
	"slices"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/panebridge/panebridge/internal/browsertest"
)

// inputs lets a test hold back what's sent to sessions, until release() is called, and lose what's answered.
const inputs = `(() => {
	const real = fetch;
	let held = null;
	window.hold = () => { held = new Promise((resolve) => { window.release = () => { held = null; resolve(); }; }); };
	window.lose = 0;
	window.fetch = async (url, options) => {
		if (!url.endsWith('/input')) return real(url, options);
		await held;
		const answer = await real(url, options);
		if (window.lose === 0) return answer;
		window.lose -= 1;
		throw new TypeError('the connection broke');
	};
})()`

// What's sent goes out of the field at once, so that the next text can be written: each is typed as it was when it was sent,
// in its order, also by somebody who looks at another session meanwhile.
func TestTextsAreSentAsTheyWere(t *testing.T) {
	slow(t)
	s := newSite(t)
	one, two := s.daemon.Add("one", ""), s.daemon.Add("two", "")
	b := browse(t, 1280, 800)
	b.Do(before(inputs), s.open(), chromedp.WaitVisible("#foot"))
	browsertest.Eval[bool](b, `(location.hash = '`+string(one)+`', true)`)
	b.Until("the first", `document.querySelector('#name').textContent === 'one' && !document.querySelector('#text').disabled`)
	browsertest.Eval[bool](b, `(hold(), true)`)
	for _, text := range []string{"hello", "next"} {
		b.Do(chromedp.SendKeys("#text", text), browsertest.Enter())
		b.Until("an empty field", `document.querySelector('#text').value === ''`)
	}
	b.Do(chromedp.SendKeys("#text", "thi"))
	b.Until("what's on its way", `[...document.querySelectorAll('.outgoing .receipt-text')].map((e) => e.textContent).join() === 'hello,next'`)
	b.Shot("outgoing")
	browsertest.Eval[bool](b, `(location.hash = '`+string(two)+`', true)`)
	b.Until("the second", `document.querySelector('#name').textContent === 'two' && document.querySelector('#text').value === '' && !document.querySelector('.outgoing')`)
	browsertest.Eval[bool](b, `(location.hash = '`+string(one)+`', true)`)
	b.Until("what was written", `document.querySelector('#name').textContent === 'one' && document.querySelector('#text').value === 'thi' && document.querySelectorAll('.outgoing').length === 2`)
	browsertest.Eval[bool](b, `(release(), true)`)
	b.Until("all to be sent", `!document.querySelector('.outgoing') && document.querySelector('#text').value === 'thi'`)
	b.Do(chromedp.Reload())
	b.Until("the draft", `document.querySelector('#text').value === 'thi'`)
	var texts []string
	for _, r := range s.daemon.Receipts() {
		texts = append(texts, r.Text)
	}
	if !slices.Equal(texts, []string{"hello", "next"}) {
		t.Errorf("sent were %q", texts)
	}
}

// A text whose sending wasn't answered stands in the field again. Sent once more, also after a reload, it's the same one.
func TestATextThatWasNotAnsweredIsTypedOnce(t *testing.T) {
	slow(t)
	s := newSite(t)
	s.daemon.Add("one", "")
	b := browse(t, 1280, 800)
	b.Do(before(inputs), s.open(), chromedp.WaitVisible("#foot"))
	for _, text := range []string{"first", "second"} {
		browsertest.Eval[bool](b, `(lose = 1, true)`)
		b.Do(chromedp.SendKeys("#text", text), browsertest.Enter())
		b.Until("it to stand there again", `document.querySelector('#text').value === '`+text+`' && document.querySelector('#toast').textContent.startsWith('Not sent')`)
		if text == "second" {
			b.Do(chromedp.Reload())
			b.Until("the draft", `document.querySelector('#text').value === 'second' && !document.querySelector('#text').disabled`)
		}
		b.Do(chromedp.Focus("#text"), browsertest.Enter())
		b.Until("it to be sent", `document.querySelector('#text').value === '' && !document.querySelector('.outgoing')`)
	}
	b.Do(chromedp.SendKeys("#text", "second"), browsertest.Enter()) // somebody wants it twice
	b.Until("it to be sent", `document.querySelector('#text').value === '' && !document.querySelector('.outgoing')`)
	var texts []string
	for _, r := range s.daemon.Receipts() {
		texts = append(texts, r.Text)
	}
	if !slices.Equal(texts, []string{"first", "second", "second"}) {
		t.Errorf("typed were %q", texts)
	}
}
