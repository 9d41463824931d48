package render

import (
	"strings"
	"unicode/utf8"
)

// clean replaces what can't be in a message: control characters and what isn't
// UTF-8. The length in bytes stays, so that places do. Lines of the output log
// need none of this.
func clean(s string) string {
	if !strings.ContainsFunc(s, dirty) {
		return s
	}
	b := []byte(s)
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			b[i] = '?'
		case dirty(r) && r != utf8.RuneError:
			for j := range n {
				b[i+j] = ' '
			}
		}
		i += n
	}
	return string(b)
}

// dirty finds controls but "\n" and "\t". U+FFFD is what the decoder returns for
// what isn't UTF-8; it may also be a real one, which clean leaves alone.
func dirty(r rune) bool {
	return r < 0x20 && r != '\n' && r != '\t' || r >= 0x7F && r <= 0x9F || r == utf8.RuneError
}
