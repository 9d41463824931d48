package entities

import (
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/panebridge/panebridge/internal/render"
)

// From writes a text as a message. A text with nothing to see becomes an empty one,
// which Telegram refuses.
func From(t render.Text) Message {
	if t.Blank() {
		return Message{}
	}
	pieces := guarded(trimmed(harmless(possible(t))))
	return Message{Text: text(pieces), Entities: entities(pieces)}
}

// piece is text of one style, as Telegram can show it.
type piece struct {
	text  string
	style render.Style
}

func text(in []piece) string {
	var b strings.Builder
	for _, p := range in {
		b.WriteString(p.text)
	}
	return b.String()
}

// join appends a piece, to the last one if it looks the same.
func join(out []piece, p piece) []piece {
	if p.text == "" {
		return out
	}
	if n := len(out); n > 0 && out[n-1].style == p.style {
		out[n-1].text += p.text
		return out
	}
	return append(out, p)
}

// possible leaves of a text's styles what entities can express together.
func possible(t render.Text) []piece {
	var out []piece
	for _, r := range t.Runs() {
		s := r.Style
		switch {
		case s.Pre:
			s = render.Style{Pre: true, Language: s.Language, Quote: s.Quote}
		case s.URL != "":
			s.Code = false // a link that looks like code is a link
		case s.Code:
			s = render.Style{Code: true, Quote: s.Quote}
		}
		out = join(out, piece{kept(r.Text), s})
	}
	return out
}

// kept puts something in place of what Telegram takes out of texts (TDLib's
// clean_input_string): the ring above a letter, if there's one character for both,
// and the separators of lines and paragraphs.
func kept(s string) string {
	if strings.Contains(s, "\u030a") {
		s = norm.NFC.String(s)
	}
	return strings.NewReplacer("\u2028", "\n", "\u2029", "\n").Replace(s)
}

// harmless makes code of what Telegram would take for mentions.
func harmless(in []piece) []piece {
	var out []piece
	at := 0
	for _, m := range render.Mentions(text(in)) {
		var before, name []piece
		before, in = divided(in, m.Start-at)
		name, in = divided(in, m.End-m.Start)
		at = m.End
		for _, p := range before {
			out = join(out, p)
		}
		for _, p := range name {
			if !p.style.Literal() && p.style.URL == "" {
				p.style = render.Style{Code: true, Quote: p.style.Quote}
			}
			out = join(out, p)
		}
	}
	for _, p := range in {
		out = join(out, p)
	}
	return out
}

// divided divides pieces behind the first n bytes.
func divided(in []piece, n int) (before, after []piece) {
	for i, p := range in {
		if n < len(p.text) {
			before = append(in[:i:i], piece{p.text[:n], p.style})
			after = append([]piece{{p.text[n:], p.style}}, in[i+1:]...)
			return before, after
		}
		n -= len(p.text)
	}
	return in, nil
}

// blanks is what Telegram cuts.
const blanks = " \n"

// trimmed leaves out what Telegram would cut: all blanks at the end, and empty lines
// at the start.
func trimmed(in []piece) []piece {
	s := text(in)
	in, _ = divided(in, len(strings.TrimRight(s, blanks)))
	start := len(s) - len(strings.TrimLeft(s, blanks))
	_, in = divided(in, strings.LastIndexByte(s[:start], '\n')+1)
	return in
}

// guard keeps Telegram from cutting the blanks behind it.
const guard = "\u200b"

// guarded puts guards before indentation that Telegram would cut.
func guarded(in []piece) []piece {
	out := make([]piece, 0, len(in))
	for i, p := range in {
		first := i == 0 || p.style.Pre && !in[i-1].style.Pre
		if first && strings.HasPrefix(p.text, " ") {
			p.text = guard + p.text
		}
		out = append(out, p)
	}
	return out
}
