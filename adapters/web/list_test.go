package web_test

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/panebridge/panebridge/internal/browsertest"
	"github.com/panebridge/panebridge/sessions"
)

// Of sessions that have ended the list has the newest fifty, the one that's open, and fifty more
// whenever somebody asks; what lives stands above them.
func TestTheListHasTheNewestThatHaveEnded(t *testing.T) {
	t.Parallel()
	slow(t)
	s := newSite(t)
	const ended = 120
	for n := range ended {
		id := s.daemon.Add(fmt.Sprint("old-", n), "")
		s.daemon.SetState(id, sessions.StateEnded, "closed")
	}
	s.daemon.Add("living", "")
	for _, width := range []int{390, 1280} {
		b := browse(t, width, 800)
		b.Do(s.enter())
		b.Until("the list", `document.querySelectorAll('#sessions li').length === 51`)
		if first := browsertest.Eval[string](b, `[...document.querySelectorAll('#sessions .session-name')].slice(0, 3).map((e) => e.textContent).join()`); first != "living,old-119,old-118" {
			t.Errorf("%d pixels: %s are the first", width, first)
		}
		if width < 600 {
			b.Do(chromedp.Click("#menu"))
		}
		for _, step := range []struct {
			offers string
			then   int
		}{{"70 more have ended…", 101}, {"20 more have ended…", 121}} {
			b.Until(step.offers, fmt.Sprintf(`document.querySelector('#older').textContent === %q && !document.querySelector('#older').hidden`, step.offers))
			b.Do(chromedp.ScrollIntoView("#older"))
			b.Shot(fmt.Sprint("ended-", step.then, "-", width))
			b.Do(chromedp.Click("#older"))
			b.Until("more", fmt.Sprintf(`document.querySelectorAll('#sessions li').length === %d`, step.then))
		}
		b.Until("nothing to offer", `document.querySelector('#older').hidden`)
	}
}
