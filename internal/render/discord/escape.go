package discord

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// escaped writes text so that it's read as it is. start says that it begins a line.
func escaped(s string, start bool) string {
	var b strings.Builder
	for s != "" {
		from, to := findURL(s)
		b.WriteString(literal(s[:from], start && b.Len() == 0))
		if from < to {
			b.WriteString(bareURL(s[from:to]))
		}
		s = s[to:]
	}
	return b.String()
}

// findURL is where the first link in a text is; at its end if there's none. What
// stands behind a sentence isn't part of it.
func findURL(s string) (from, to int) {
	for at := 0; ; {
		i := strings.Index(s[at:], "://")
		if i < 0 {
			return len(s), len(s)
		}
		i += at
		at = i + len("://")
		from := schemeStart(s[:i])
		n := strings.IndexFunc(s[at:], func(r rune) bool {
			return r == utf8.RuneError || !unicode.IsGraphic(r) || unicode.IsSpace(r) || strings.ContainsRune("<>`\\", r)
		})
		if n < 0 {
			n = len(s) - at
		}
		to := at + len(strings.TrimRight(s[at:at+n], `.,:;!?"'()[]{}*_~|`))
		if from < i && to > at {
			return from, to
		}
	}
}

// schemeStart is where "http" or "https" at the end of a text begins.
func schemeStart(s string) int {
	for _, scheme := range []string{"https", "http"} {
		if n := len(s) - len(scheme); n >= 0 && strings.EqualFold(s[n:], scheme) {
			return n
		}
	}
	return len(s)
}

// bareURL writes a link that's read as one, and mentions nobody.
func bareURL(s string) string {
	return "<" + strings.NewReplacer("@everyone", "%40everyone", "@here", "%40here").Replace(s) + ">"
}

// literal escapes text without links.
func literal(s string, start bool) string {
	var b strings.Builder
	for i, r := range s {
		switch {
		case strings.ContainsRune("\\`*_~|<>[]", r), start && needsEscape(s[i:]):
			b.WriteByte('\\')
		}
		b.WriteRune(r)
		if r == '@' && mentions(s[:i], s[i+1:]) {
			b.WriteString(zeroWidth)
		}
		start = start && (r == ' ' || r >= '0' && r <= '9' && startsNumber(s[i:]))
	}
	return b.String()
}

// mentions says whether an "@" between two texts may call somebody. In an e-mail
// address it doesn't.
func mentions(before, after string) bool {
	r, _ := utf8.DecodeLastRuneInString(before)
	inWord := r == '_' || r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsNumber(r))
	return !inWord || strings.HasPrefix(after, "everyone") || strings.HasPrefix(after, "here")
}

// needsEscape says whether a text at the start of a line begins with what makes the
// line a heading, small, or an item of a list.
func needsEscape(s string) bool {
	return s[0] == '#' || s[0] == '-' || s[0] == '+' || s[0] == '.' || s[0] == ')'
}

// startsNumber says whether a text begins with a number as items of lists have.
func startsNumber(s string) bool {
	rest := strings.TrimLeft(s, "0123456789")
	return strings.HasPrefix(rest, ".") || strings.HasPrefix(rest, ")")
}
