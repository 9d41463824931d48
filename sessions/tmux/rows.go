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
	return "#{==:#{C/r:^" + literalRow(text) + "$}," + strconv.Itoa(row+1) + "}"
}
