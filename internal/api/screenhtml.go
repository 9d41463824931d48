package api

import (
	"html"
	"strconv"
	"strings"

	"github.com/clipperhouse/displaywidth"
	"github.com/clipperhouse/uax29/v2/graphemes"

	"github.com/panebridge/panebridge/internal/render/sgr"
	"github.com/panebridge/panebridge/sessions"
)

// screenHTML writes a screen as text with <span> elements, rows ended by
// newlines; it belongs inside a <pre>. A span has only
//   - classes: f0 … f255 and b0 … b255 (palette colours), bold, dim, italic,
//     underline, reverse, hidden, strike, and cursor for the cell that the cursor
//     is on, if it's shown;
//   - data-fg and data-bg: true colours as #rrggbb.
//
// There's no inline style, because the page's content security policy forbids
// it.
func screenHTML(s sessions.Screen) string {
	var b strings.Builder
	for y, row := range s.Rows {
		runs := sgr.Parse(row)
		if s.CursorVisible && y == s.CursorY && s.CursorX < max(s.Width, 1) {
			writeRowWithCursor(&b, runs, s.CursorX)
		} else {
			for _, r := range runs {
				writeRun(&b, r)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// tabWidth is how far tabs go, in cells. tmux writes none in captures.
const tabWidth = 8

// writeRowWithCursor writes a row with the cursor on the character of the cell at, or on a
// blank behind the text.
func writeRowWithCursor(b *strings.Builder, runs []sgr.Run, at int) {
	x := 0
	for i, r := range runs {
		for it := graphemes.FromString(r.Text); it.Next(); {
			wide := displaywidth.String(it.Value())
			if it.Value() == "\t" {
				wide = tabWidth - x%tabWidth
			}
			if x += wide; x <= at {
				continue
			}
			writeRun(b, sgr.Run{Style: r.Style, Text: r.Text[:it.Start()]})
			writeSpan(b, sgr.Run{Style: r.Style, Text: it.Value()}, "cursor")
			writeRun(b, sgr.Run{Style: r.Style, Text: r.Text[it.End():]})
			for _, rest := range runs[i+1:] {
				writeRun(b, rest)
			}
			return
		}
		writeRun(b, r)
	}
	b.WriteString(strings.Repeat(" ", at-x))
	writeSpan(b, sgr.Run{Text: " "}, "cursor")
}

func writeRun(b *strings.Builder, r sgr.Run) {
	if r.Text != "" {
		writeSpan(b, r)
	}
}

// writeSpan writes text in an element of its style's classes and of those besides; without any,
// as text alone.
func writeSpan(b *strings.Builder, r sgr.Run, besides ...string) {
	tag := spanTag(r.Style, besides...)
	if tag == "" {
		b.WriteString(html.EscapeString(r.Text))
		return
	}
	b.WriteString(tag)
	b.WriteString(html.EscapeString(r.Text))
	b.WriteString("</span>")
}

// spanTag returns the opening tag of a style, and of classes besides; "" for the default style alone.
func spanTag(s sgr.Style, besides ...string) string {
	attributes := classAttr(s, besides) + dataAttr("fg", s.FG) + dataAttr("bg", s.BG)
	if attributes == "" {
		return ""
	}
	return "<span" + attributes + ">"
}

func classAttr(s sgr.Style, besides []string) string {
	var classes []string
	if s.FG.Kind == sgr.Indexed {
		classes = append(classes, "f"+strconv.Itoa(int(s.FG.Index)))
	}
	if s.BG.Kind == sgr.Indexed {
		classes = append(classes, "b"+strconv.Itoa(int(s.BG.Index)))
	}
	// Blinking is left out: nobody wants to read it.
	for _, c := range []struct {
		attr sgr.Attr
		name string
	}{
		{sgr.Bold, "bold"},
		{sgr.Dim, "dim"},
		{sgr.Italic, "italic"},
		{sgr.Underline, "underline"},
		{sgr.Reverse, "reverse"},
		{sgr.Hidden, "hidden"},
		{sgr.Strike, "strike"},
	} {
		if s.Has(c.attr) {
			classes = append(classes, c.name)
		}
	}
	classes = append(classes, besides...)
	if classes == nil {
		return ""
	}
	return ` class="` + strings.Join(classes, " ") + `"`
}

func dataAttr(name string, c sgr.Colour) string {
	if c.Kind != sgr.True {
		return ""
	}
	return " data-" + name + `="` + c.Hex() + `"`
}
