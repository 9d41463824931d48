package api

import (
	"html"
	"strconv"
	"strings"

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
		for _, r := range parseRow(row) {
			writeRun(&b, r)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func writeRun(b *strings.Builder, r run) {
	tag := r.style.tag()
	if tag == "" {
		b.WriteString(html.EscapeString(r.text))
		return
	}
	b.WriteString(tag)
	b.WriteString(html.EscapeString(r.text))
	b.WriteString("</span>")
}

// tag returns the style's opening tag; "" for the default style.
func (s style) tag() string {
	attributes := classAttr(s) + dataAttr("fg", s.fg) + dataAttr("bg", s.bg)
	if attributes == "" {
		return ""
	}
	return "<span" + attributes + ">"
}

func classAttr(s style) string {
	var classes []string
	if s.fg.kind == 'i' {
		classes = append(classes, "f"+strconv.Itoa(int(s.fg.index)))
	}
	if s.bg.kind == 'i' {
		classes = append(classes, "b"+strconv.Itoa(int(s.bg.index)))
	}
	// Blinking is left out: nobody wants to read it.
	for _, c := range []struct {
		attr attr
		name string
	}{
		{bold, "bold"},
		{dim, "dim"},
		{italic, "italic"},
		{underline, "underline"},
		{reverse, "reverse"},
		{hidden, "hidden"},
		{strike, "strike"},
	} {
		if s.attrs&c.attr != 0 {
			classes = append(classes, c.name)
		}
	}
	if classes == nil {
		return ""
	}
	return ` class="` + strings.Join(classes, " ") + `"`
}

func dataAttr(name string, c ink) string {
	if c.kind != 'c' {
		return ""
	}
	return " data-" + name + `="` + c.hex() + `"`
}
