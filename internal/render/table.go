package render

import (
	"bytes"
	"strings"

	"github.com/clipperhouse/displaywidth"
	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
)

// maxColumn is the widest that a column is made, in cells: a longer text sticks out
// instead of padding all others.
const maxColumn = 40

// table emits a table as aligned text.
func (w *walker) table(t *east.Table) {
	style := w.style
	w.gap(1, style)
	rows := w.rows(t)
	widths := columnWidths(rows)
	w.style = Style{Pre: true, Quote: style.Quote}
	for i, r := range rows {
		w.tableRow(r, widths, t.Alignments)
		if i == 0 {
			w.rule(r.last(t.FirstChild().Pos()), widths)
		}
	}
	w.style = style
	w.gap(1, style)
}

// tableRow is a row of a table.
type tableRow struct {
	cells []tableCell
	end   int // of its line, in bytes of the source
}

// last is where the last cell comes from.
func (r tableRow) last(none int) int {
	if len(r.cells) == 0 {
		return none
	}
	return r.cells[len(r.cells)-1].at
}

// tableCell is a cell's text, as it comes out of the builder.
type tableCell struct {
	runs  []Run
	at    int // where it comes from
	width int // in cells of a terminal
}

func (w *walker) rows(t *east.Table) []tableRow {
	var rows []tableRow
	for n := t.FirstChild(); n != nil; n = n.NextSibling() {
		rows = append(rows, w.row(n))
	}
	return rows
}

func (w *walker) row(n ast.Node) tableRow {
	r := tableRow{end: len(w.src)}
	if i := bytes.IndexByte(w.src[n.Pos():], '\n'); i >= 0 {
		r.end = n.Pos() + i
	}
	at := n.Pos()
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		lines := c.Lines()
		if lines == nil || lines.Len() == 0 {
			break // from here on the row has no cells
		}
		s := lines.At(0)
		r.cells = append(r.cells, w.cell(s.Start, func(in *walker) { in.inlines(c) }))
		at = s.Stop
	}
	if from, to := w.excess(at, r.end); from < to {
		r.cells = append(r.cells, w.cell(from, func(in *walker) { in.line(string(in.src[from:to]), from) }))
	}
	return r
}

// excess is what stands in a row behind the last cell that the table has a column
// for. GitHub ignores it; here nothing is lost.
func (w *walker) excess(from, to int) (int, int) {
	s := w.src[from:max(from, to)]
	left := len(s) - len(bytes.TrimLeft(s, " \t|"))
	return from + left, from + len(bytes.TrimRight(s, " \t|\r"))
}

// cell makes a cell of what emit emits.
func (w *walker) cell(at int, emit func(*walker)) tableCell {
	in := &walker{builder: &builder{}, src: w.src, bare: !w.tree, tree: w.tree}
	in.begin(w.index, w.source, 0, 0, len(w.source))
	in.fresh = false
	emit(in)
	c := tableCell{runs: in.runs, at: at}
	c.width = displaywidth.String(MessageText{in.runs}.String())
	return c
}

func columnWidths(rows []tableRow) []int {
	var widths []int
	for _, r := range rows {
		for i, c := range r.cells {
			if i == len(widths) {
				widths = append(widths, 1)
			}
			widths[i] = max(widths[i], min(c.width, maxColumn))
		}
	}
	return widths
}

func (w *walker) tableRow(r tableRow, widths []int, alignments []east.Alignment) {
	between := ""
	for i, c := range r.cells {
		left, right := 0, max(0, widths[i]-c.width)
		if i < len(alignments) {
			left, right = aligned(alignments[i], right)
		}
		w.atom(between+strings.Repeat(" ", left), c.at)
		w.cellRuns(c)
		between = strings.Repeat(" ", right) + " │ "
	}
	w.newline()
}

// aligned shares the room beside a text between its sides.
func aligned(a east.Alignment, room int) (left, right int) {
	switch a {
	case east.AlignRight:
		return room, 0
	case east.AlignCenter:
		return room / 2, room - room/2
	default:
		return 0, room
	}
}

func (w *walker) cellRuns(c tableCell) {
	for _, r := range c.runs {
		switch {
		case r.glue: // a line break can't be in a cell
		case r.exact:
			w.exact(r.Text, r.at.Byte)
		default:
			w.atom(r.Text, r.at.Byte)
		}
	}
}

// rule emits the line below a table's head. It comes from the same place as the
// head's last cell: so it's never divided from it.
func (w *walker) rule(at int, widths []int) {
	for i, n := range widths {
		if i > 0 {
			w.atom("─┼─", at)
		}
		w.atom(strings.Repeat("─", n), at)
	}
	w.newline()
}
