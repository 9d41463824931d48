package web_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/panebridge/panebridge/internal/browsertest"
	"github.com/panebridge/panebridge/sessions"
)

// Windows beside one another, more than a browser opens connections to one server: each shows what its session writes and
// draws, and each can be written in.
func TestManyWindowsBesideOneAnother(t *testing.T) {
	t.Parallel()
	slow(t)
	s := newSite(t)
	const windows = 7
	id := s.daemon.Add("one", "")
	s.daemon.SetScreen(id, tall(3))
	s.daemon.Append(id, sessions.KindPane, "the first line")
	first := browse(t, 1280, 800)
	first.Do(s.open(), chromedp.WaitVisible("#foot"))
	address := browsertest.Eval[string](first, `location.href`)
	all := []*browsertest.Browser{first}
	for range windows - 1 {
		other := first.OpenTab(1280, 800)
		other.AwayAtTimes()
		all = append(all, other)
	}
	for i, b := range all {
		if i > 0 {
			b.Do(chromedp.Navigate(address))
		}
		b.Until(fmt.Sprint("the conversation in window ", i), `document.querySelector('#lines').textContent.includes('the first line') && !document.querySelector('#text').disabled`)
		b.Do(chromedp.Click("#tab-screen"))
		b.Until(fmt.Sprint("the screen in window ", i), `document.querySelector('#screen-rows').textContent.includes('row 2')`)
	}
	s.daemon.Append(id, sessions.KindPane, "the second line")
	s.daemon.SetScreen(id, tall(9))
	s.daemon.Live(id, "drawn")
	for i, b := range all {
		b.Until(fmt.Sprint("what's drawn in window ", i), `document.querySelector('#screen-rows').textContent.includes('row 8') && document.querySelector('#lines').textContent.includes('the second line')`)
		if bar := browsertest.Eval[string](b, `document.querySelector('#screen-note:not([hidden])')?.textContent ?? ''`); bar != "" {
			t.Errorf("window %d says %q", i, bar)
		}
	}
	for i, b := range all {
		text := fmt.Sprint("from window ", i)
		b.Do(chromedp.Focus("#text"), browsertest.InsertText(text), browsertest.Enter())
		b.Until("it's sent", field+` === '' && `+atRest)
	}
	if typed := strings.Join(s.typed(), "\n"); strings.Count(typed, "from window ") != windows {
		t.Errorf("typed were %q", typed)
	}
}
