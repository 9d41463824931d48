package web_test

import (
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/panebridge/panebridge/internal/browsertest"
)

// A session that's muted on a device is in a group of its own there, though it asks, and counts neither in the title nor
// at the inbox; so it is after a reload, until it's muted no longer.
func TestAMutedSessionCountsNowhere(t *testing.T) {
	t.Parallel()
	slow(t)
	s := newSite(t)
	id := s.daemon.Add("loud", "claude")
	s.daemon.Ask(id, permission())
	s.daemon.Ask(s.daemon.Add("asking", "claude"), permission())
	b := browse(t, 390, 844)
	b.Do(s.enter())
	const counts = `document.title + '|' + document.querySelector('#inbox-count').textContent`
	b.Until("both", inGroups+` === 'Waits for you: loud asking' && `+counts+` === '(2) panebridge|2'`)
	press := func() {
		browsertest.Eval[string](b, `location.hash = '`+string(id)+`'`)
		b.Do(chromedp.WaitVisible("#foot"), chromedp.Click("#more"), chromedp.WaitVisible("#more-menu"))
		b.Shot("mute-menu")
		b.Do(chromedp.Click("#mute"))
	}
	press()
	b.Until("its head says so", `document.querySelector('#about').textContent.startsWith('muted')`)
	b.Do(chromedp.Click("#back"))
	const muted = inGroups + ` === 'Waits for you: asking; Muted on this device: loud' && ` + counts + ` === '(1) panebridge|1'`
	b.Until("one", muted)
	b.Do(chromedp.Reload())
	b.Until("one after a reload", muted)
	b.Until("its question is there all the same", card("loud")+`.querySelector('.prompt:not([hidden]) button:enabled')`)
	b.Shot("muted")
	press()
	b.Do(chromedp.Click("#back"))
	b.Until("both again", inGroups+` === 'Waits for you: loud asking' && `+counts+` === '(2) panebridge|2'`)
}

// A session gets another name by its menu; one that's taken is refused with its reason.
func TestASessionIsRenamed(t *testing.T) {
	t.Parallel()
	slow(t)
	s := newSite(t)
	s.daemon.Add("other", "")
	id := s.daemon.Add("claude-1", "claude")
	b := browse(t, 390, 844)
	b.Ignore("status of 409")
	b.Do(s.enter(), chromedp.WaitVisible("#inbox"))
	browsertest.Eval[string](b, `location.hash = '`+string(id)+`'`)
	b.Do(chromedp.WaitVisible("#foot"), chromedp.Click("#more"), chromedp.Click("#rename"), chromedp.WaitVisible("#rename-dialog"))
	write := func(name string) {
		b.Do(chromedp.SetValue("#rename-name", name), chromedp.Click("#rename-do"))
	}
	write("other")
	b.Until("why not", `/named "other" already/.test(document.querySelector('#rename-error').textContent)`)
	b.Shot("rename")
	write("the API")
	b.Until("its name", `!document.querySelector('#rename-dialog').open && document.querySelector('#name').textContent === 'the API'`)
}
