package typing

import (
	"strings"
	"testing"

	"github.com/panebridge/panebridge/sessions"
)

// TestPreviewStands: Enter is pressed only while nothing else stands in the box.
func TestPreviewStands(t *testing.T) {
	text := "[panebridge msg m_1 from lead 2026-01-02 15:04:05]\nplease run the tests of all packages now"
	for _, c := range []struct {
		name  string
		shown bool // before
		box   sessions.Box
		want  standing
	}{
		{"no box is known", false, sessions.Box{}, standsAlone},
		{"its box isn't on the screen", true, sessions.Box{Known: true}, standsAlone},
		{"all of it", false, sessions.Box{Open: true, Text: text}, standsAlone},
		{"broken into rows", false, sessions.Box{Open: true, Text: strings.ReplaceAll(text, " ", "\n")}, standsAlone},
		{"its end, of a box that scrolls", false, sessions.Box{Open: true, Text: "the tests of all packages now"}, standsAlone},
		{"by its size", false, sessions.Box{Open: true, Text: "[Pasted text #1 +2 lines]"}, standsAlone},
		{"nothing yet", false, sessions.Box{Open: true}, standsNotYet},
		{"nothing any more", true, sessions.Box{Open: true}, standsNowhere},
		{"another's instead", true, sessions.Box{Open: true, Text: "h"}, standsNowhere},
		{"something behind it", true, sessions.Box{Open: true, Text: text + "h"}, standsJoined},
		{"something behind its end", true, sessions.Box{Open: true, Text: "tests of all packages now and"}, standsJoined},
		{"something before it", true, sessions.Box{Open: true, Text: "h" + text}, standsJoined},
		{"something behind its size", false, sessions.Box{Open: true, Text: "[Pasted text #1 +2 lines] and"}, standsJoined},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := previewer{text: sessions.Preview{Text: text, Box: func(*sessions.Snapshot) sessions.Box { return c.box }}, shown: c.shown}
			if got := p.stands(&sessions.Snapshot{}); got != c.want {
				t.Errorf("%d, want %d", got, c.want)
			}
		})
	}
}
