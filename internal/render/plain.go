package render

import "strings"

// longQuote is from how many lines on what a person wrote may be folded: they know
// it, and it's there to find one's way.
const longQuote = 8

// maxAuthor keeps a name shorter than any message, in runes.
const maxAuthor = 64

func shortened(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:n-1]) + "…"
}

// lines emits the source as it is.
func (b *builder) lines(style Style) {
	b.style = style
	b.text(b.source, 0)
}

// user emits what a person wrote, below their name.
func (b *builder) user(author string) {
	quote := Quoted
	if strings.Count(b.source, "\n") >= longQuote {
		quote = QuotedLong
	}
	b.style = Style{Quote: quote}
	if author != "" && b.from == 0 {
		b.style.Bold = true
		b.atom(shortened(clean(author), maxAuthor)+":", 0)
		b.style.Bold = false
		b.gap(1, b.style)
	}
	b.text(b.source, 0)
}
