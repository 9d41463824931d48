package discord

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/panebridge/panebridge/internal/render"
)

// Markdown writes a text as the content of a message. A text with nothing to see
// becomes an empty one, which Discord refuses.
func Markdown(t render.MessageText) string {
	if t.Blank() {
		return ""
	}
	var w lineWriter
	for _, l := range lines(t) {
		w.line(l)
	}
	w.leaveCode()
	out := strings.TrimRightFunc(w.String(), unicode.IsSpace)
	if first, _ := utf8.DecodeRuneInString(out); unicode.IsSpace(first) {
		out = zeroWidth + out // Discord would cut the indentation
	}
	return out
}

// zeroWidth divides what would be markup together. It can't be seen.
const zeroWidth = "\u200b"

// shownLine is a line of a text.
type shownLine struct {
	spans []styledSpan
	style render.Style // of the line as a whole: quote and code
}

// styledSpan is text of one style within a line.
type styledSpan struct {
	text  string
	style render.Style
}

// lines divides a text into lines, without empty ones at its ends.
func lines(t render.MessageText) []shownLine {
	out := []shownLine{{}}
	for _, r := range t.Runs() {
		for i, s := range strings.Split(r.Text, "\n") {
			if i > 0 {
				out = append(out, shownLine{style: r.Style})
			}
			last := &out[len(out)-1]
			if s == "" {
				continue
			}
			if len(last.spans) == 0 || r.Style.Pre {
				last.style = r.Style
			}
			last.add(styledSpan{s, r.Style})
		}
	}
	for len(out) > 1 && len(out[0].spans) == 0 {
		out = out[1:]
	}
	return out
}

// add appends a span, to the last one if it looks the same.
func (l *shownLine) add(s styledSpan) {
	if n := len(l.spans); n > 0 && l.spans[n-1].style == s.style {
		l.spans[n-1].text += s.text
		return
	}
	l.spans = append(l.spans, s)
}

// lineWriter writes lines.
type lineWriter struct {
	strings.Builder
	code  bool         // a fence is open
	style render.Style // its
}

func (w *lineWriter) line(l shownLine) {
	if w.code && (!l.style.Pre || l.style.Language != w.style.Language || l.style.Quote != w.style.Quote) {
		w.leaveCode()
	}
	if l.style.Pre && !w.code {
		w.enterCode(l.style)
	}
	w.begin(l.style)
	if !l.style.Pre {
		w.spans(l.spans)
		return
	}
	for strings.Contains(w.text(l), "```") {
		l = shownLine{spans: []styledSpan{{text: strings.ReplaceAll(w.text(l), "```", "``"+zeroWidth+"`")}}}
	}
	w.WriteString(w.text(l))
}

func (*lineWriter) text(l shownLine) string {
	var b strings.Builder
	for _, s := range l.spans {
		b.WriteString(s.text)
	}
	return b.String()
}

// begin begins a line.
func (w *lineWriter) begin(style render.Style) {
	if w.Len() > 0 {
		w.WriteByte('\n')
	}
	if style.Quote != render.NotQuoted {
		w.WriteString("> ")
	}
}

func (w *lineWriter) enterCode(style render.Style) {
	w.begin(style)
	w.WriteString("```" + style.Language)
	w.code, w.style = true, style
}

func (w *lineWriter) leaveCode() {
	if w.code {
		w.begin(w.style)
		w.WriteString("```")
		w.code = false
	}
}
