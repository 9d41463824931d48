package web_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/panebridge/panebridge/internal/browsertest"
	"github.com/panebridge/panebridge/sessions"
)

// The page opens what needs somebody; or else what was active last, of what has ended what
// ended last. What's open stays open when another begins to need somebody.
func TestPageOpensWhatNeedsSomebody(t *testing.T) {
	s := newSite(t)
	b := browse(t, 1280, 800)
	says := func(id sessions.ID, text string) {
		b.Do(chromedp.Sleep(2 * time.Millisecond)) // what the page compares is milliseconds
		s.daemon.Append(id, sessions.KindPane, text)
	}
	opens := func(name string) {
		t.Helper()
		b.Do(chromedp.Navigate("about:blank"), s.open())
		b.Until(name+" is open", fmt.Sprintf(`document.querySelector('#name').textContent === %q`, name))
	}
	for _, name := range []string{"first to end", "last to end"} {
		s.daemon.SetState(s.daemon.Add(name, ""), sessions.StateEnded, "closed")
	}
	opens("last to end")
	old := s.daemon.Add("oldest", "")
	active := s.daemon.Add("active", "")
	says(old, "long ago")
	says(active, "just now")
	opens("active")
	says(old, "now")
	opens("oldest")
	b.Do(chromedp.Sleep(2 * time.Millisecond))
	s.daemon.Add("new", "") // nothing came of it yet, but somebody has just begun it
	opens("new")
	asking := s.daemon.Add("asking", "claude")
	says(active, "and on")
	opens("active")
	s.daemon.Ask(asking, permission())
	says(active, "and on")
	b.Until("word that it asks", `document.title.startsWith('(!)')`)
	if name := browsertest.Eval[string](b, `document.querySelector('#name').textContent`); name != "active" {
		t.Errorf("%s was opened while somebody looked at active", name)
	}
	opens("asking")
}

// Without sessions the page says how one is begun, also where the list is hidden.
func TestPageWithoutSessionsSaysWhatToDo(t *testing.T) {
	s := newSite(t)
	for _, width := range []int{390, 1280} {
		b := browse(t, width, 800)
		b.Ignore("status of 404") // what's asked of the session while it's taken away
		b.Do(s.open(), chromedp.WaitVisible("#no-sessions"))
		b.Shot(fmt.Sprint("no-sessions-", width))
		if n := browsertest.Eval[int](b, `document.body.innerText.split('No sessions').length - 1`); n != 1 {
			t.Errorf("%d pixels: it's said %d times", width, n)
		}
		if browsertest.Eval[bool](b, `['close', 'tab-screen', 'foot', 'conversation'].some((id) => document.getElementById(id).checkVisibility())`) {
			t.Errorf("%d pixels: it offers what a session has", width)
		}
		b.Do(chromedp.Click("#begin"), chromedp.WaitVisible("#new-dialog"), chromedp.Click("#new-create"))
		b.Until("the session", `document.querySelector('#foot').checkVisibility() && document.querySelector('#conversation').checkVisibility() && !document.querySelector('#no-sessions').checkVisibility()`)
		list := s.daemon.List()
		if err := s.daemon.Close(t.Context(), list[0].ID); err != nil {
			t.Fatal(err)
		}
		if err := s.daemon.Forget(t.Context(), list[0].ID); err != nil {
			t.Fatal(err)
		}
		b.Until("nothing", `document.querySelector('#no-sessions').checkVisibility()`)
	}
}
