package sessions

import (
	"strconv"
	"strings"
	"unicode"
)

// What joins letters and emoji, or keeps them apart.
const (
	zwnj = '\u200c'
	zwj  = '\u200d'
)

// Legible is a text in which nothing is hidden, or drawn elsewhere than it stands: of what
// people agree to, each character has to be seen in its place. Those that turn the direction
// of writing, are drawn as nothing, do something in a terminal, or that nobody knows are written as
// their numbers. Lines, tabs and marks above letters stay, and what joins letters or emoji between
// such.
func Legible(text string) string { return legible(text, illegible) }

// legible writes those characters as numbers of which illegible says so, by the character that stands
// before each, but for marks.
func legible(text string, illegible func(before, r rune) bool) string {
	var b strings.Builder
	before, from := ' ', 0
	for i, r := range text {
		if illegible(before, r) {
			b.WriteString(text[from:i])
			q := strconv.QuoteRuneToASCII(r)
			b.WriteString(q[1 : len(q)-1])
			from = i + len(string(r))
			before = ' '
		} else if !unicode.IsMark(r) && r != zwnj && r != zwj {
			before = r
		}
	}
	if from == 0 {
		return text
	}
	return b.String() + text[from:]
}

func illegible(before, r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r == zwnj || r == zwj || unicode.Is(unicode.Variation_Selector, r):
		return !joins(before)
	case unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) || r == '\u2800' || r == '\U0001d159': // no ink
		return true
	case unicode.IsSpace(r):
		return unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp)
	}
	return !unicode.IsPrint(r) && !unicode.Is(unicode.Zs, r)
}

// joins reports whether a character may be joined to the next, or be drawn in several ways: an emoji,
// or a letter of a script that's written so.
func joins(r rune) bool {
	return unicode.In(r, unicode.So, unicode.Sk, unicode.Lo, unicode.Lm) && r > unicode.MaxLatin1 &&
		!unicode.In(r, unicode.Latin, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
}
