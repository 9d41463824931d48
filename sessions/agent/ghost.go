package agent

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/clipperhouse/displaywidth"
	"go.yaml.in/yaml/v4"

	"github.com/panebridge/panebridge/internal/render/sgr"
	"github.com/panebridge/panebridge/sessions"
)

// Programs write into their own empty input boxes: what could be asked ("Try …"), or a
// guess at what the person will ask next; and behind the cursor how what's typed may go
// on. None of that is typed. Two things tell, in every program that was looked at: the
// cursor stands before it, and its cells look otherwise than typed ones do. The cell under
// the cursor is reversed or underlined in any case, so the ones behind it are looked at.

// styledCell is a character in an input box.
type styledCell struct {
	row, column int // visible ones, from 0
	text        string
	style       sgr.Style
}

// boxField is what stands in an input box.
type boxField struct {
	rows  []fieldRow
	cells []styledCell // those that aren't blank; none: how it looks wasn't asked for
	// colourless says that the program writes without colours.
	colourless bool
}

// fieldRow is a row of an input box, without what's drawn at its left.
type fieldRow struct {
	y    int // visible row
	from int // its first column in the box
	text string
}

// readField takes what a box's pattern has found out of the screen: the group that begins
// at the byte from of the layout's text and ends before to.
func (in *boxSpec) readField(l *layout, s *sessions.Snapshot, from, to int) *boxField {
	f := &boxField{}
	y, _ := slices.BinarySearch(l.at, from+1)
	for y--; y < len(l.rows) && l.at[y] < to; y++ {
		row := l.rows[y]
		skip := max(0, from-l.at[y])
		if in.Edge != nil {
			if at := in.Edge.row.FindStringIndex(row[skip:]); at != nil {
				skip += at[1]
			}
		}
		f.rows = append(f.rows, fieldRow{y, displaywidth.String(row[:skip]), row[skip:]})
	}
	if len(s.Styled) != len(s.Rows) {
		return f
	}
	styled := s.Styled[max(0, len(s.Rows)-s.Height):]
	for _, row := range f.rows {
		f.cells = append(f.cells, row.cellsOf(styled[row.y])...)
	}
	f.colourless = !slices.ContainsFunc(styled, coloured)
	return f
}

// cellsOf are the characters of a row as they look.
func (r *fieldRow) cellsOf(styled string) []styledCell {
	var out []styledCell
	end, column := r.from+displaywidth.String(r.text), 0
	for _, run := range sgr.Parse(styled) {
		for _, c := range run.Text {
			w := displaywidth.Rune(c)
			if w > 0 && column >= r.from && column < end && c != ' ' && c != '\u00a0' {
				out = append(out, styledCell{r.y, column, string(c), run.Style})
			}
			column += w
		}
	}
	return out
}

func coloured(row string) bool {
	return strings.Contains(row, "\x1b[") && slices.ContainsFunc(sgr.Parse(row), func(r sgr.Run) bool { return r.Style.FG.Kind != sgr.Default })
}

// textLooks is whose a text is by its looks.
type textLooks int

const (
	looksUnknown textLooks = iota
	looksTyped
	looksGhost
)

// looksOf judges cells: all of a ghost's look so, of a typed text one is enough.
func (in *boxSpec) looksOf(cells []styledCell, colourless bool) textLooks {
	ghosts := 0
	for _, c := range cells {
		switch fg := c.style.FG; {
		case c.style.Has(sgr.Dim), slices.Contains(in.Ghost, colour(fg)):
			ghosts++
		case fg.Kind == sgr.Default && !colourless, slices.Contains(in.Typed, colour(fg)):
			return looksTyped
		}
	}
	if ghosts > 0 && ghosts == len(cells) {
		return looksGhost
	}
	return looksUnknown
}

// typedText is what somebody has typed into the box. unsure: it may be the program's own.
func (in *boxSpec) typedText(f *boxField, s *sessions.Snapshot) (text string, unsure bool) {
	whole := f.textBefore(len(f.rows), 0)
	own := slices.ContainsFunc(in.Empty, func(p pattern) bool { return p.row.MatchString(whole) })
	if f.cells == nil {
		if own {
			whole = ""
		}
		return whole, false
	}
	at := slices.IndexFunc(f.rows, func(r fieldRow) bool { return r.y == s.CursorY })
	if at < 0 {
		return in.typedUnseen(f, whole, own)
	}
	before := func(c styledCell) bool { return c.row < s.CursorY || c.row == s.CursorY && c.column < s.CursorX }
	behind := func(c styledCell) bool { return c.row > s.CursorY || c.row == s.CursorY && c.column > s.CursorX }
	begun := slices.ContainsFunc(f.cells, before)
	rest := keep(f.cells, behind)
	alone := len(rest) == 0 // then only the cell under the cursor is left to tell
	if alone {
		rest = f.cells
	}
	looks := in.looksOf(rest, f.colourless)
	switch {
	case looks == looksGhost && (!alone || !begun):
		return f.textBefore(at, s.CursorX), false
	case begun:
		return whole, false
	case own && looks != looksTyped:
		return "", false
	}
	return whole, alone || looks == looksUnknown
}

// typedUnseen is typed where the cursor isn't in the box: it isn't drawn in full, or the
// program has put its cursor away (Gemini CLI and Qwen Code do while another pane has the
// focus). Then the first character looks as the others do.
func (in *boxSpec) typedUnseen(f *boxField, whole string, own bool) (text string, unsure bool) {
	n := len(f.cells)
	for n > 0 && in.looksOf(f.cells[n-1:n], f.colourless) == looksGhost {
		n--
	}
	looks := in.looksOf(f.cells[:n], f.colourless)
	switch {
	case n == 0, own && looks != looksTyped:
		return "", false
	case n < len(f.cells):
		first := f.cells[n]
		return f.textBefore(slices.IndexFunc(f.rows, func(r fieldRow) bool { return r.y == first.row }), first.column), false
	}
	return whole, looks == looksUnknown
}

func keep(cells []styledCell, which func(styledCell) bool) (out []styledCell) {
	for _, c := range cells {
		if which(c) {
			out = append(out, c)
		}
	}
	return out
}

// textBefore is what stands in the rows before the n-th, and in that one before a column.
func (f *boxField) textBefore(n, column int) string {
	var out []string
	for i, r := range f.rows {
		switch {
		case i < n:
			out = append(out, strings.TrimSpace(r.text))
		case i == n:
			before, _ := cutAt(r.text, column-r.from)
			out = append(out, strings.TrimSpace(before))
		}
	}
	return strings.Trim(strings.Join(out, "\n"), "\n")
}

// colour is one in which a program writes: "#rrggbb", or a number of the terminal's
// palette.
type colour sgr.Colour

// UnmarshalYAML implements yaml.Unmarshaler.
func (c *colour) UnmarshalYAML(n *yaml.Node) error {
	wrong := errors.New("must be a colour, \"#rrggbb\" or a number of the palette from 0 to 255")
	if n.Kind != yaml.ScalarNode {
		return wrong
	}
	if hex, ok := strings.CutPrefix(n.Value, "#"); ok {
		v, err := strconv.ParseUint(hex, 16, 24)
		if err != nil || len(hex) != 6 {
			return wrong
		}
		rgb := sgr.Colour{Kind: sgr.True, R: uint8(v >> 16), G: uint8(v >> 8), B: uint8(v)}
		*c = colour(rgb)
		return nil
	}
	v, err := strconv.ParseUint(n.Value, 10, 8)
	if err != nil {
		return wrong
	}
	*c = colour{Kind: sgr.Indexed, Index: uint8(v)}
	return nil
}
