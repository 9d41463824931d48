package web_test

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/panebridge/panebridge/internal/browsertest"
	"github.com/panebridge/panebridge/sessions"
)

// withheld holds the list of sessions back until the events of one are asked for and step was done,
// and counts the streams that are open.
func withheld(step string) chromedp.Action[chromedp.Void] {
	return before(fmt.Sprintf(`(() => {
		const real = fetch;
		let asked = null;
		const events = new Promise((resolve) => { asked = resolve; });
		window.streams = 0;
		window.fetch = async (url, options) => {
			if (url.includes('/sessions?')) await events;
			if (url.includes('/events?')) {
				window.streams += 1;
				options.signal.addEventListener('abort', () => { window.streams -= 1; });
				%s;
				asked();
			}
			return real(url, options);
		};
	})()`, step))
}

// The lines of the session in the address are asked for while the sessions are listed. If it's not
// there, or another is opened meanwhile, what was asked for is given up.
func TestLinesAreAskedForBeforeTheSessionsAreListed(t *testing.T) {
	t.Parallel()
	slow(t)
	s := newSite(t)
	one, two := s.daemon.Add("one", "claude"), s.daemon.Add("two", "claude")
	s.daemon.Append(one, sessions.KindPane, texts(1, 700)...)
	s.daemon.Append(two, sessions.KindPane, texts(1, 20)...)
	for name, tc := range map[string]struct {
		opens, meanwhile, shows string
		first, newest, streams  int
	}{
		"it's there":                {string(one), "", "one", 201, 700, 1},
		"another is opened":         {string(one), fmt.Sprintf("location.hash = %q", two), "two", 1, 20, 1},
		"it's gone":                 {"pb_000000000000", "", "Inbox", 0, -1, 0},
		"it's left for the inbox":   {string(two), "location.hash = ''", "Inbox", 0, -1, 0},
		"it has fewer lines":        {string(two), "", "two", 1, 20, 1},
		"it's there in another way": {"%6Fne", "", "Inbox", 0, -1, 0}, // an address has ids, and no names
	} {
		t.Run(name, func(t *testing.T) {
			b := browse(t, 1280, 800)
			b.Ignore("status of 404")
			b.Do(s.enter())
			b.Until("the sessions", `document.querySelectorAll(".session").length === 2`)
			b.Do(withheld(tc.meanwhile), chromedp.Navigate("about:blank"), chromedp.Navigate("http://"+s.addr+"/#"+tc.opens))
			b.Until("what it shows", fmt.Sprintf(`document.querySelector('#name').textContent === %q && %s === %d && document.querySelectorAll('.session').length === 2`, tc.shows, lineCount, tc.newest-tc.first+1))
			b.Until("the streams that are open", fmt.Sprintf(`window.streams === %d`, tc.streams))
			inOrder(t, numbers(b), tc.first, tc.newest)
			if hidden := browsertest.Eval[bool](b, `document.querySelector('#connection').hidden`); !hidden {
				t.Error("the connection is said to be broken")
			}
		})
	}
}
