package adapters

import (
	"strings"
	"unicode"
)

// Printable is a stranger's text as a terminal may show it: one line, and nothing that
// moves the cursor or turns the direction of writing.
func Printable(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r):
			return -1
		}
		return r
	}, s)
	return strings.Join(strings.Fields(s), " ")
}
