package typing

import (
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// redrawWithin is how long a program that's at work may take to draw itself anew when its
// pane gets another size.
const redrawWithin = frozenWithin

// paneSize follows the size of a typist's pane. One that has just got another shows what
// tmux has made of the rows that stood there: a box that was broken in two may look empty.
type paneSize struct {
	width, height int
	changed       time.Time         // when it got this one, and the program hasn't drawn since; zero: it has
	first         sessions.Snapshot // the first look at it
	count         int               // of changes
}

// see takes in a look.
func (p *paneSize) see(s *sessions.Snapshot, at time.Time) {
	switch {
	case p.width == 0:
		p.width, p.height = s.Width, s.Height
	case p.width != s.Width || p.height != s.Height:
		p.width, p.height, p.changed, p.first = s.Width, s.Height, at, *s
		p.count++
	case p.changed.IsZero():
	case drawnAnew(&p.first, s), at.Sub(p.changed) > redrawWithin:
		p.changed, p.first = time.Time{}, sessions.Snapshot{}
	}
}

// drawnAnew reports whether a program has drawn more than a sign that it's at work, which
// has a row, and leaves the cursor where it was.
func drawnAnew(first, now *sessions.Snapshot) bool {
	if first.CursorX != now.CursorX || first.CursorY != now.CursorY || first.Alternate != now.Alternate || len(first.Rows) != len(now.Rows) {
		return true
	}
	rows := 0
	for i := range first.Rows {
		if first.Rows[i] != now.Rows[i] {
			rows++
		}
	}
	return rows > 1
}

// broken reports whether the screen is one that nobody has drawn.
func (p *paneSize) broken() bool { return !p.changed.IsZero() }
