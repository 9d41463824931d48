package sessions

import (
	"strings"
	"unicode"
)

// Letters are the letters and digits of a text: a box breaks rows and draws around them.
func Letters(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, text)
}
