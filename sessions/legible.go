package sessions

import (
	"strconv"
	"strings"
	"unicode"
)

// Legible is a text in which nothing is hidden, or drawn elsewhere than it stands: of what
// people agree to, each character has to be seen in its place. Those that turn the direction
// of writing, are drawn as nothing, or do something in a terminal are written as their
// numbers. Lines, tabs, marks above letters and what joins letters and emoji stay.
func Legible(text string) string { return legible(text, illegible) }

func legible(text string, illegible func(rune) bool) string {
	if !strings.ContainsFunc(text, illegible) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if !illegible(r) {
			b.WriteRune(r)
			continue
		}
		q := strconv.QuoteRuneToASCII(r)
		b.WriteString(q[1 : len(q)-1])
	}
	return b.String()
}

func illegible(r rune) bool {
	switch r {
	case '\n', '\t', '\u200c', '\u200d':
		return false
	case '\u115f', '\u1160', '\u2800', '\u3164', '\uffa0': // letters and signs without any ink
		return true
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
}
