package discord

import (
	"strings"

	"github.com/panebridge/panebridge/internal/render"
)

// mark is markup on both sides of a text.
type mark struct {
	sign string
	on   func(render.Style) bool
}

// marks returns the marks, the outer ones first. The one for italics is "*", because
// "_" is none within a word.
func marks() []mark {
	return []mark{
		{"~~", func(s render.Style) bool { return s.Strike }},
		{"__", func(s render.Style) bool { return s.Underline }},
		{"**", func(s render.Style) bool { return s.Bold }},
		{"*", func(s render.Style) bool { return s.Italic }},
	}
}

// spans writes the spans of a line. Each mark is closed where the line ends.
func (w *lineWriter) spans(in []styledSpan) {
	in = unmarkedBlanks(in)
	ms := marks()
	var open []mark
	start := true
	for _, s := range in {
		may := ms
		if !s.style.Code && strings.TrimSpace(s.text) == "" {
			may = nil // nothing opens before a blank
		}
		open = w.turn(open, may, s.style)
		w.span(s, start)
		start = start && strings.TrimLeft(s.text, " ") == ""
	}
	w.turn(open, ms, render.Style{})
}

// unmarkedBlanks takes marks from blanks at their edges: "** a**" isn't bold. Those
// between two texts that have a mark keep it.
func unmarkedBlanks(in []styledSpan) []styledSpan {
	var out []styledSpan
	for _, s := range in {
		core := strings.TrimSpace(s.text)
		if s.style.Code || s.style.URL != "" || core == s.text {
			out = append(out, s)
			continue
		}
		i := strings.Index(s.text, core)
		if core == "" {
			i = len(s.text)
		}
		for _, part := range []styledSpan{{s.text[:i], s.style}, {core, s.style}, {s.text[i+len(core):], s.style}} {
			if part.text != "" {
				out = append(out, part)
			}
		}
	}
	for i := range out {
		if strings.TrimSpace(out[i].text) == "" && !out[i].style.Code {
			out[i].style = common(out[i].style, common(neighbour(out, i, -1), neighbour(out, i, 1)))
		}
	}
	return out
}

// neighbour is the style of the next span in a direction that isn't blank.
func neighbour(in []styledSpan, i, step int) render.Style {
	for i += step; i >= 0 && i < len(in); i += step {
		if strings.TrimSpace(in[i].text) != "" {
			return in[i].style
		}
	}
	return render.Style{}
}

// common is which marks two styles have in common.
func common(a, b render.Style) render.Style {
	return render.Style{
		Bold: a.Bold && b.Bold, Italic: a.Italic && b.Italic,
		Underline: a.Underline && b.Underline, Strike: a.Strike && b.Strike,
	}
}

// turn closes the marks that a style doesn't have, and opens those of it that may be.
func (w *lineWriter) turn(open, may []mark, style render.Style) []mark {
	keep := 0
	for keep < len(open) && open[keep].on(style) {
		keep++
	}
	for i := len(open) - 1; i >= keep; i-- {
		w.sign(open[i].sign)
	}
	open = open[:keep]
	for _, m := range may {
		if m.on(style) && !has(open, m) {
			w.sign(m.sign)
			open = append(open, m)
		}
	}
	return open
}

func has(open []mark, m mark) bool {
	for _, o := range open {
		if o.sign == m.sign {
			return true
		}
	}
	return false
}

// sign writes a sign. Next to another of the same character it would be read as a
// longer one.
func (w *lineWriter) sign(sign string) {
	if strings.HasSuffix(w.String(), sign[:1]) {
		w.WriteString(zeroWidth)
	}
	w.WriteString(sign)
}

// span writes a span between its marks.
func (w *lineWriter) span(s styledSpan, start bool) {
	text := func() string { return escaped(s.text, start) }
	if s.style.Code {
		text = func() string { return code(s.text) }
	}
	switch url := s.style.URL; {
	case url == "":
		w.WriteString(text())
	case strings.Contains(s.text, "://"): // Discord makes no link of a text that looks like one
		if w.WriteString(text()); !s.style.Told {
			w.WriteString(" (" + bareURL(url) + ")")
		}
	default:
		w.WriteString("[" + text() + "](" + bareURL(url) + ")")
	}
}

// code writes code within a line, between more backticks than it has in a row.
func code(s string) string {
	fence := "`"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") || strings.TrimSpace(s) == "" {
		s = " " + s + " "
	}
	return fence + s + fence
}
