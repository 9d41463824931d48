package web_test

import (
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/panebridge/panebridge/internal/browsertest"
	"github.com/panebridge/panebridge/sessions"
)

// A page that was hidden for long goes on with a new connection: who was at the end sees where what's new begins; who was
// elsewhere in the conversation, or at the screen, is still there.
func TestPageIsLookedAtAgain(t *testing.T) {
	t.Parallel()
	slow(t)
	s := newSite(t)
	id := s.daemon.Add("one", "")
	s.daemon.Append(id, sessions.KindPane, texts(1, 200)...)
	b := browse(t, 390, 844)
	b.Do(browsertest.OnNewDocument(`(() => { const { now } = Date; window.later = 0; Date.now = () => now() + later; })()`), s.open())
	b.Until("all of it", lineCount+` === 200 && document.querySelector('#newest').hidden`)
	last := 200
	away := func() {
		t.Helper()
		b.Hide(true)
		s.daemon.Append(id, sessions.KindPane, texts(last+1, last+50)...)
		last += 50
		browsertest.Eval[int](b, `later += 3600000`)
		b.Show()
	}

	browsertest.Eval[int](b, `document.querySelector('#scroller').scrollTop = 600`)
	b.Until("it isn't at the end", `!document.querySelector('#newest').hidden`)
	place := browsertest.Eval[int](b, `document.querySelector('#scroller').scrollTop`)
	away()
	b.Until("what came", lineCount+` === 250`)
	inOrder(t, numbers(b), 1, 250)
	if now := browsertest.Eval[int](b, `document.querySelector('#scroller').scrollTop`); now != place {
		t.Errorf("who read at %d is at %d", place, now)
	}

	b.Do(chromedp.Click("#newest"))
	b.Until("it's looked at", `JSON.parse(localStorage.getItem('panebridge.looked'))?.sessions['`+string(id)+`']?.line === 250`)
	browsertest.Eval[bool](b, `(document.querySelector('#text').value = 'half a sen', document.querySelector('#text').dispatchEvent(new Event('input', { bubbles: true })), true)`)
	away()
	b.Until("the mark before what's new", `document.querySelector('.unread')?.nextElementSibling.dataset.n === '251' && `+lineCount+` === 300`)
	inOrder(t, numbers(b), 1, 300)
	if text := browsertest.Eval[string](b, `document.querySelector('#text').value`); text != "half a sen" {
		t.Errorf("of what was written %q is left", text)
	}

	b.Do(chromedp.Click("#tab-screen"))
	away()
	b.Until("what came", lineCount+` === 350`)
	inOrder(t, numbers(b), 1, 350)
	if !browsertest.Eval[bool](b, `!document.querySelector('#screen').hidden`) {
		t.Error("who looked at the screen doesn't any more")
	}
}
