package typing

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// still is a pane whose screen never changes.
type still struct{ sessions.Server }

func (still) Snapshot(context.Context, string, sessions.Window) (sessions.Snapshot, error) {
	return sessions.Snapshot{Rows: []string{"screen"}}, nil
}

func (still) Terminal(string) (sessions.Terminal, error) { return sessions.Terminal{}, nil }

func (still) Press(context.Context, sessions.Guard, ...string) (sessions.Outcome, error) {
	return sessions.Done, nil
}

// TestPreviewStands: Enter is pressed only while nothing else stands in the box.
func TestPreviewStands(t *testing.T) {
	const joined = "somebody goes on writing beside it"
	text := "[panebridge msg m_1 from lead 2026-01-02 15:04:05]\nplease run the tests of all packages now"
	for _, c := range []struct {
		name  string
		shown bool // before
		box   sessions.Box
		want  error
		waits string // for
	}{
		{"no box is known", false, sessions.Box{}, nil, ""},
		{"all of it", false, sessions.Box{Known: true, Open: true, Text: text}, nil, ""},
		{"broken into rows", false, sessions.Box{Known: true, Open: true, Text: strings.ReplaceAll(text, " ", "\n")}, nil, ""},
		{"its end, of a box that scrolls", false, sessions.Box{Known: true, Open: true, Text: "the tests of\nall packages now"}, nil, ""},
		{"its end alone, in a row", false, sessions.Box{Known: true, Open: true, Text: "the tests of all packages now"}, errTorn, ""},
		{"the end of what was seen whole", true, sessions.Box{Known: true, Open: true, Text: "the tests of all packages now"}, nil, ""},
		{"by its size", false, sessions.Box{Known: true, Open: true, Text: "[Pasted text #1 +2 lines]"}, nil, ""},
		{"nothing yet", false, sessions.Box{Known: true, Open: true}, errNotShown, ""},
		{"nothing any more", true, sessions.Box{Known: true, Open: true}, errTakenAway, ""},
		{"another's instead", true, sessions.Box{Known: true, Open: true, Text: "h"}, errTakenAway, ""},
		{"something behind it", true, sessions.Box{Known: true, Open: true, Text: text + "h"}, context.DeadlineExceeded, joined},
		{"something behind its end", true, sessions.Box{Known: true, Open: true, Text: "tests of all packages now and"}, context.DeadlineExceeded, joined},
		{"something before it", true, sessions.Box{Known: true, Open: true, Text: "h" + text}, context.DeadlineExceeded, joined},
		{"something behind its size", false, sessions.Box{Known: true, Open: true, Text: "[Pasted text #1 +2 lines] and"}, context.DeadlineExceeded, joined},
		{"its box isn't on the screen", true, sessions.Box{Known: true}, context.DeadlineExceeded, "its input box isn't on the screen"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				p := lonelyPreview(still{}, sessions.Pane{}, sessions.Preview{Text: text, Box: func(*sessions.Snapshot) sessions.Box { return c.box }}, nil, func([]string) string { return "" })
				p.boxed, p.alone, p.whole = c.box.Open, c.shown, c.shown
				err := p.shown(ctx)
				if c.shown {
					err = nil // it was
				}
				if err == nil {
					err = p.standsAlone(ctx)
				}
				if !errors.Is(err, c.want) || c.waits != "" && !strings.Contains(previewHeld[p.heldFor], c.waits) {
					t.Errorf("%v, %q; want %v", err, previewHeld[p.heldFor], c.want)
				}
			})
		})
	}
}
