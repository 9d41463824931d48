package render

import (
	"html"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// unescaped emits text with its backslash escapes and entities resolved.
func (w *walker) unescaped(s text.Segment) {
	raw, at := w.value(s), s.Start
	for {
		i := strings.IndexAny(raw, `\&`)
		if i < 0 || i+1 == len(raw) {
			w.text(raw, at)
			return
		}
		if raw[i] == '\\' {
			skip := 0
			if util.IsPunct(raw[i+1]) {
				skip = 1
			}
			w.text(raw[:i], at)
			// The character behind a backslash is no markup.
			_, n := utf8.DecodeRuneInString(raw[i+1:])
			w.text(raw[i+skip:i+1+n], at+i+skip)
			raw, at = raw[i+1+n:], at+i+1+n
			continue
		}
		value, n := entity(raw[i:])
		w.text(raw[:i], at)
		if n == 1 {
			w.text("&", at+i)
		} else {
			w.atom(value, at+i)
		}
		raw, at = raw[i+n:], at+i+n
	}
}

// maxEntity is longer than any entity, in bytes: "&CounterClockwiseContourIntegral;"
// has 33.
const maxEntity = 40

// entity is what an entity at the start of s stands for, and its length. 1: there's
// none.
func entity(s string) (value string, n int) {
	end := strings.IndexByte(s[:min(len(s), maxEntity)], ';')
	if end < 2 {
		return "", 1
	}
	name := s[:end+1]
	value = html.UnescapeString(name)
	// UnescapeString also takes a name without ";" that this one begins with
	// ("&ampx;"), which Markdown doesn't.
	half := strings.HasSuffix(value, ";") && value != ";"
	if value == name || half || strings.ContainsFunc(name[1:end], notInEntity) || strings.ContainsFunc(value, unicode.IsControl) {
		return "", 1
	}
	return value, end + 1
}

func notInEntity(r rune) bool {
	return r != '#' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
}
