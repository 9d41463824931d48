package web_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/panebridge/panebridge/internal/browsertest"
	"github.com/panebridge/panebridge/sessions"
)

// While the daemon is away the page says so, in words that say what to do, and keeps what it
// showed and what was written; when the daemon is back, it goes on by itself.
func TestDaemonThatIsAway(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id := s.daemon.Add("one", "")
	s.daemon.Append(id, sessions.KindPane, texts(1, 10)...)
	s.daemon.SetScreen(id, sessions.Screen{Width: 20, Height: 2, Rows: []string{"before", "$ "}})
	asked := s.daemon.Ask(id, permission())
	b := browse(t, 390, 844)
	b.Do(s.open(), chromedp.WaitVisible("#prompt"), chromedp.Click("#tab-screen"))
	b.Until("the screen", `document.querySelector('#screen-rows').textContent.startsWith('before')`)
	b.Until("the question takes clicks", armed)
	s.stop()

	b.Until("word that it's away", `!document.querySelector('#connection').hidden && /isn’t reachable/.test(document.querySelector('#connection').textContent)`)
	b.Do(chromedp.SendKeys("#text", "not lost"), browsertest.Enter())
	b.Until("word that nobody has answered to the text", unsure+` && `+armed)
	b.Do(chromedp.Click(".prompt-option:nth-child(1)"))
	b.Until("word that nothing is answered", `/reach/.test(document.querySelector('.prompt-status').textContent)`)
	browsertest.Eval[int](b, `(document.querySelector('#screen-secrets').click(), 0)`) // has the screen read anew
	browsertest.Eval[int](b, `(document.querySelector('#new').click(), 0)`)            // from the inbox, which would close the session
	b.Do(chromedp.WaitVisible("#new-dialog"), chromedp.Click("#new-create"))
	b.Until("word that no session is begun", `document.querySelector('#new-error').textContent !== ''`)
	b.Shot("away-dialog")
	b.Do(chromedp.Click("#new-cancel"))
	b.Shot("away")
	all := browsertest.Eval[string](b, `document.body.textContent`)
	if strings.Contains(all, "Failed to fetch") || !strings.Contains(all, "line 10") || !strings.Contains(all, "before") || strings.Contains(all, "can't be read") {
		t.Errorf("the page shows %q", all)
	}
	if typed := s.typed(); len(typed) != 0 {
		t.Errorf("typed was %q", typed)
	}

	s.daemon.SetScreen(id, sessions.Screen{Width: 20, Height: 2, Rows: []string{"after", "$ "}})
	s.start(t)
	b.Until("the screen of now", `document.querySelector('#screen-rows').textContent.startsWith('after')`)
	b.Until("the bar goes away", `document.querySelector('#connection').hidden`)
	b.Until("the text to be sent", atRest)
	if typed := s.typed(); !slices.Equal(typed, []string{"not lost"}) {
		t.Errorf("typed was %q", typed)
	}
	// It takes clicks again, but not as long as what has come moves it.
	b.Until("the answer", `(`+armed+`?.click(), /answered: Yes$/.test(`+promptText+`))`)
	if p, err := s.daemon.Prompt(t.Context(), asked); err != nil || p.Chosen() != "Yes" {
		t.Errorf("the answer is %+v, %v", p, err)
	}
}
