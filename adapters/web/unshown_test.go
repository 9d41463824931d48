package web_test

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/browsertest"
	"github.com/panebridge/panebridge/sessions"
)

// A chat that doesn't show a session as it should is said at the top of the session, whole, also
// on a phone, as long as it lasts.
func TestAChatThatDoesNotShowASessionIsSaid(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id := s.daemon.Add("a session with a rather long name", "claude")
	s.daemon.Append(id, sessions.KindPane, texts(1, 10)...)
	const forum = "telegram:-1001800000001"
	well := api.Binding{To: "discord:100000000000000001", View: "stream"}
	// Why is what adapters/telegram says of a bot in that state.
	cases := []struct{ name, disabled, problem, says string }{
		{"kicked", "The bot was removed from the chat: add it again.", "", "Not shown in " + forum + ": The bot was removed from the chat: add it again."},
		{"muted", "The bot may not write in the chat: allow it to send messages there.", "", "Not shown in " + forum + ": The bot may not write in the chat: allow it to send messages there."},
		{"no right", "Telegram refused to make the topic: the bot may not manage topics: make it an administrator who may (400)", "", "Not shown in " + forum + ": Telegram refused to make the topic: the bot may not manage topics: make it an administrator who may (400)"},
		{"elsewhere", "", "its topics can't be written to (message thread not found), so it's shown in the chat itself; another is tried at 12:00:00", "Not shown as it should be in " + forum + ": its topics can't be written to (message thread not found), so it's shown in the chat itself; another is tried at 12:00:00"},
	}
	for _, width := range []int{390, 1280} {
		b := browse(t, width, 800)
		s.bindings.Store(&[]api.Binding{well})
		b.Do(s.open(), chromedp.WaitVisible("#foot"))
		for _, tt := range cases {
			s.bindings.Store(&[]api.Binding{well, {To: forum, View: "stream", Disabled: tt.disabled, Problem: tt.problem}})
			b.Until(tt.name, fmt.Sprintf(`!document.querySelector('#unshown').hidden && document.querySelector('#unshown').textContent === %q`, tt.says))
			if seen := browsertest.Eval[bool](b, wholeInView); !seen {
				t.Errorf("%s: not all of it is in view on a page of %d pixels", tt.name, width)
			}
			s.bindings.Store(&[]api.Binding{well, {To: forum, View: "stream"}})
			b.Until(tt.name+": it's well again", `document.querySelector('#unshown').hidden && !document.body.textContent.includes('Not shown')`)
		}
	}
	s.bindings.Store(&[]api.Binding{{To: forum, View: "stream", Disabled: cases[0].disabled}})
	s.daemon.SetState(id, sessions.StateEnded, "closed")
	b := browse(t, 390, 800)
	b.Do(s.open())
	b.Until("nothing is said of a session that has ended", `document.querySelector('#main').dataset.state === 'ended' && document.querySelector('#unshown').hidden`)
}

// wholeInView reports whether the note can be seen to its last letter.
const wholeInView = `(() => {
	const note = document.querySelector('#unshown');
	const at = note.getBoundingClientRect();
	return note.checkVisibility() && note.scrollWidth <= note.clientWidth && note.scrollHeight <= note.clientHeight
		&& at.top >= 0 && at.left >= 0 && at.bottom <= innerHeight && at.right <= innerWidth;
})()`
