package tmux

import (
	"strconv"
	"strings"
)

// stillThere is true in tmux while a row of the screen has the text it was seen with, to
// the letter. tmux's search #{C/r:…} gives the number of the first row that matches, from
// 1, or 0; so no row above it may have the same text. Like the search, it doesn't see
// blanks at a row's end.
func stillThere(rows []string, row int) string {
	text := strings.TrimRight(rows[row], " \t")
	return "#{==:#{C/r:^" + rowLiteral(text) + "$}," + strconv.Itoa(row+1) + "}"
}

// rowLiteral writes a row as a POSIX extended regular expression within a format. What
// has a meaning in either stands in a bracket of its own, with the format's escape where
// it needs one. Other characters are themselves, those beyond ASCII too.
//
// A per cent sign has to get past strftime, which tmux applies to a format at each level
// of nesting and which halves them; as many as are left over mean one in a bracket.
func rowLiteral(text string) string {
	var b strings.Builder
	for i := range len(text) {
		switch c := text[i]; c {
		case '#':
			b.WriteString("[##]")
		case ',':
			b.WriteString("[#,]")
		case '}':
			b.WriteString("[#}]")
		case '%':
			b.WriteString("[" + strings.Repeat("%", 16) + "]")
		case '^':
			b.WriteString("\\^")
		case '.', '*', '+', '?', '(', ')', '|', '{', '[', '$', '\\':
			b.WriteString("[" + string(c) + "]")
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}
