package web_test

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/panebridge/panebridge/internal/browsertest"
	"github.com/panebridge/panebridge/sessions"
)

// What's open stays open when another session begins to need somebody, and when others come and go.
func TestWhatIsOpenStaysOpen(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	active := s.daemon.Add("active", "")
	asking := s.daemon.Add("asking", "claude")
	b := browse(t, 1280, 800)
	b.Do(s.enter(), chromedp.WaitVisible("#inbox"))
	browsertest.Eval[string](b, fmt.Sprintf(`location.hash = %q`, active))
	b.Do(chromedp.WaitVisible("#foot"))
	s.daemon.Ask(asking, permission())
	s.daemon.Append(asking, sessions.KindPane, "and on")
	b.Until("word that it asks", `document.title === '(1) active – panebridge'`)
	s.daemon.SetState(s.daemon.Add("brief", ""), sessions.StateEnded, "closed")
	b.Until("another", `document.querySelectorAll('.session').length === 3`)
	if name := browsertest.Eval[string](b, `document.querySelector('#name').textContent`); name != "active" {
		t.Errorf("%s was opened while somebody looked at active", name)
	}
	b.Do(chromedp.Reload())
	b.Until("the same after a reload", `document.querySelector('#name').textContent === 'active' && document.querySelector('#foot').checkVisibility()`)
	browsertest.Eval[string](b, `location.hash = '%'`) // no session has that id
	b.Until("the inbox", `document.querySelector('#inbox').checkVisibility()`)
}

// Without sessions the page says how one is begun, also where the list is hidden.
func TestPageWithoutSessionsSaysWhatToDo(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for _, width := range []int{390, 1280} {
		b := browse(t, width, 800)
		b.Ignore("status of 404") // what's asked of the session while it's taken away
		b.Do(s.open(), chromedp.WaitVisible("#no-sessions"))
		b.Shot(fmt.Sprint("no-sessions-", width))
		if n := browsertest.Eval[int](b, `document.body.innerText.split('No sessions').length - 1`); n != 1 {
			t.Errorf("%d pixels: it's said %d times", width, n)
		}
		if browsertest.Eval[bool](b, `['more', 'tab-screen', 'foot', 'conversation'].some((id) => document.getElementById(id).checkVisibility())`) {
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
