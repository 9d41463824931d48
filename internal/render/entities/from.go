package entities

import (
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/panebridge/panebridge/internal/render"
)

// From writes a text as a message. A text with nothing to see becomes an empty one,
// which Telegram refuses.
func From(t render.MessageText) FormattedText {
	if t.Blank() {
		return FormattedText{}
	}
	m := possible(t)
	m.harmless()
	m.trim()
	m.guard()
	return FormattedText{Text: m.text, Entities: entities(m)}
}

// styled is a text that's divided into pieces of equal style. No two neighbours have
// the same.
type styled struct {
	text   string
	pieces []textPiece
}

// textPiece is the text up to a byte, from where the piece before it ends.
type textPiece struct {
	end   int
	style render.Style
}

// add appends a piece up to a byte.
func add(pieces []textPiece, end int, style render.Style) []textPiece {
	n := len(pieces)
	switch {
	case n == 0 && end == 0, n > 0 && end == pieces[n-1].end:
		return pieces
	case n > 0 && pieces[n-1].style == style:
		pieces[n-1].end = end
		return pieces
	default:
		return append(pieces, textPiece{end, style})
	}
}

// possible leaves of a text's styles what entities can express together.
func possible(t render.MessageText) styled {
	var b strings.Builder
	var pieces []textPiece
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
		b.WriteString(kept(r.Text))
		pieces = add(pieces, b.Len(), s)
	}
	return styled{b.String(), pieces}
}

// kept does to a text what Telegram would (TDLib's clean_input_string), so that
// offsets stay right: it takes out lines and rings at letters and signs that turn the
// direction of text. What has another form is put in that first: letters with a ring,
// separators of lines and paragraphs.
func kept(s string) string {
	if !strings.ContainsFunc(s, taken) {
		return s
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\u2028' || r == '\u2029':
			return '\n'
		case taken(r):
			return -1
		default:
			return r
		}
	}, norm.NFC.String(s))
}

// taken says whether Telegram takes out a character.
func taken(r rune) bool {
	return r >= 0x2028 && r <= 0x202E || r == 0x30A || r == 0x333 || r == 0x33F
}

// harmless makes code of what Telegram would take for mentions.
func (m *styled) harmless() {
	mentions := render.Mentions(m.text)
	if len(mentions) == 0 {
		return
	}
	var out []textPiece
	at := 0
	for _, p := range m.pieces {
		for len(mentions) > 0 && mentions[0].Start < p.end {
			out = add(out, max(mentions[0].Start, at), p.style)
			at = min(mentions[0].End, p.end)
			out = add(out, at, literal(p.style))
			if at < mentions[0].End {
				break // it goes on in the next piece
			}
			mentions = mentions[1:]
		}
		at = p.end
		out = add(out, at, p.style)
	}
	m.pieces = out
}

// literal is a style in which there are no mentions.
func literal(s render.Style) render.Style {
	if s.Literal() || s.URL != "" {
		return s
	}
	return render.Style{Code: true, Quote: s.Quote}
}

// blanks is what Telegram cuts.
const blanks = " \n"

// trim leaves out what Telegram would cut: all blanks at the end, and empty lines at
// the start.
func (m *styled) trim() {
	text := strings.TrimRight(m.text, blanks)
	start := len(text) - len(strings.TrimLeft(text, blanks))
	start = strings.LastIndexByte(text[:start], '\n') + 1
	pieces := m.pieces[:0]
	for _, p := range m.pieces {
		pieces = add(pieces, max(min(p.end, len(text))-start, 0), p.style)
	}
	m.text, m.pieces = text[start:], pieces
}

// guardSign keeps Telegram from cutting the blanks behind it.
const guardSign = "\u200b"

// guard puts guards before indentation that Telegram would cut.
func (m *styled) guard() {
	from, added := 0, 0
	for i, p := range m.pieces {
		first := i == 0 || p.style.Pre && !m.pieces[i-1].style.Pre
		if first && m.text[from+added] == ' ' {
			m.text = m.text[:from+added] + guardSign + m.text[from+added:]
			added += len(guardSign)
		}
		from = p.end
		m.pieces[i].end += added
	}
}
