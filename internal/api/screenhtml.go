package api

import (
	"html"
	"strconv"
	"strings"

	"github.com/panebridge/panebridge/internal/render/sgr"
	"github.com/panebridge/panebridge/sessions"
)

// screenHTML writes a screen as text with <span> elements, rows ended by
// newlines; it belongs inside a <pre>. A span has only
//   - classes: f0 … f255 and b0 … b255 (palette colours), bold, dim, italic,
//     underline, reverse, hidden, strike;
//   - data-fg and data-bg: true colours as #rrggbb.
//
// There's no inline style, because the page's content security policy forbids
// it.
func screenHTML(s sessions.Screen) string {
	var b strings.Builder
	for _, row := range s.Rows {
		for _, r := range sgr.Parse(row) {
			writeRun(&b, r)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func writeRun(b *strings.Builder, r sgr.Run) {
	tag := spanTag(r.Style)
	if tag == "" {
		b.WriteString(html.EscapeString(r.Text))
		return
	}
	b.WriteString(tag)
	b.WriteString(html.EscapeString(r.Text))
	b.WriteString("</span>")
}

// spanTag returns a style's opening tag; "" for the default style.
func spanTag(s sgr.Style) string {
	attributes := classAttr(s) + dataAttr("fg", s.FG) + dataAttr("bg", s.BG)
	if attributes == "" {
		return ""
	}
	return "<span" + attributes + ">"
}

func classAttr(s sgr.Style) string {
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
