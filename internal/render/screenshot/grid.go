package screenshot

import (
	"strings"

	"github.com/clipperhouse/displaywidth"
	"github.com/clipperhouse/uax29/v2/graphemes"

	"github.com/panebridge/panebridge/internal/render/sgr"
	"github.com/panebridge/panebridge/sessions"
)

// grid is a screen in cells.
type grid struct {
	columns, rows int
	cells         []pixelCell
	cursor        int // index of its cell; -1: it isn't shown
}

// pixelCell is a character and how it looks.
type pixelCell struct {
	text  string // "": nothing, or the right half of the cell before
	wide  bool   // it takes two cells
	style sgr.Style
}

func newGrid(s sessions.Screen) (g grid, cut bool) {
	rows := s.Rows
	above := 0
	if n := len(rows) - MaxRows; n > 0 {
		rows, above, cut = rows[n:], n, true
	}
	width := max(s.Width, 1)
	if width > MaxColumns {
		width, cut = MaxColumns, true
	}
	g = grid{columns: width, rows: max(len(rows), 1), cursor: -1}
	g.cells = make([]pixelCell, g.columns*g.rows)
	for y, row := range rows {
		g.fill(g.cells[y*g.columns:(y+1)*g.columns], row)
	}
	if y := s.CursorY - above; s.CursorVisible && y >= 0 && y < g.rows && s.CursorX >= 0 && s.CursorX < g.columns {
		g.cursor = y*g.columns + s.CursorX
	}
	return g, cut
}

// tabWidth is how far tabs go, in cells. tmux writes none in captures.
const tabWidth = 8

// fill puts a row into cells.
func (grid) fill(cells []pixelCell, row string) {
	x := 0
	for _, run := range sgr.Parse(row) {
		for it := graphemes.FromString(run.Text); it.Next() && x < len(cells); {
			text := it.Value()
			if text == "\t" {
				text = strings.Repeat(" ", tabWidth-x%tabWidth)
			}
			n := displaywidth.String(text)
			if n == 0 {
				if x > 0 {
					cells[x-1].text += text
				}
				continue
			}
			if n > 2 {
				for end := x + n; x < min(end, len(cells)); x++ {
					cells[x].style = run.Style
				}
				continue
			}
			cells[x] = pixelCell{text: text, wide: n == 2, style: run.Style}
			if n == 2 && x+1 < len(cells) {
				cells[x+1].style = run.Style
			}
			x += n
		}
	}
}
