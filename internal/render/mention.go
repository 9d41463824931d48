package render

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// ByteRange is a stretch of a text, in bytes.
type ByteRange struct{ Start, End int }

// Mentions returns what a platform could take for mentions of people: an "@" that
// isn't within a word, with the name behind it. More than a name is taken, so that
// "@types/node" stays together.
func Mentions(s string) []ByteRange {
	var out []ByteRange
	for at := 0; ; {
		i := strings.IndexByte(s[at:], '@')
		if i < 0 {
			return out
		}
		i += at
		at = i + 1
		if before, _ := utf8.DecodeLastRuneInString(s[:i]); isWord(before) {
			continue // an e-mail address
		}
		n := strings.IndexFunc(s[at:], func(r rune) bool { return !isWord(r) && !strings.ContainsRune("./-@", r) })
		if n < 0 {
			n = len(s) - at
		}
		name := strings.TrimRight(s[at:at+n], "./-@")
		if name == "" {
			continue
		}
		at += len(name)
		out = append(out, ByteRange{i, at})
	}
}

func isWord(r rune) bool {
	return r != utf8.RuneError && (r == '_' || unicode.IsLetter(r) || unicode.IsNumber(r))
}
