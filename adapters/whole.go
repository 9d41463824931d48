package adapters

import (
	"slices"
	"strings"

	"github.com/panebridge/panebridge/internal/render"
	"github.com/panebridge/panebridge/sessions"
)

// maxWhole is how many lines of a block of code or a table are kept in one message: a longer
// one fills several screens of a phone, wherever a message ends.
const maxWhole = 40

// fill is fillUp, but a page ends before a block of code or a table that would be divided, if
// the next one has room for it.
func (s Shape) fill(p Page, pieces []Piece) Page {
	p = s.fillUp(p, pieces)
	p.Pieces = withoutBlankEnd(p.Pieces[:s.untilBlock(p.Pieces, rest(pieces, p))])
	return p
}

// untilBlock is how many of a page's pieces stand before a block that goes on with those left,
// and fits the next page; all if none does, or if it's the first that the page shows.
func (s Shape) untilBlock(shown, left []Piece) int {
	if len(left) == 0 || left[0].From > 0 || !left[0].goesOn() {
		return len(shown)
	}
	lines := left[0].before()
	source, end := strings.Join(lines, "\n"), 0
	for end < len(left) && end <= maxWhole && (end == 0 || left[end].goesOn()) {
		source += "\n" + left[end].Line.Text
		end++
	}
	at := len(lines) // the line at which the next page would begin
	for _, f := range render.Frames(source) {
		if at <= f.From || f.To <= at || f.To-f.From > maxWhole {
			continue
		}
		n := len(shown) - (at - f.From)
		if n > 0 && s.fits(Page{}.plus(slices.Concat(shown[n:], left[:f.To-at]))) {
			return n
		}
	}
	return len(shown)
}

// goesOn says whether the piece is of the answer that the line before it is of.
func (p Piece) goesOn() bool {
	return p.Line.Kind == sessions.KindAnswer && !p.Line.Begins && p.Gap == nil
}
