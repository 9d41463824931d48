package tmux

import (
	"fmt"
	"strings"
)

// quote writes s as one argument of a tmux command line: in double quotes, with what tmux
// expands in there escaped. The result holds no line end, so a whole command stays on one
// line. For tmux the byte 0xff ends the quotes (it's EOF in its parser), and it expands ~ at
// the beginning of quotes too. There's no way to write NUL; see checkText.
func quote(s string) string {
	var b strings.Builder
	b.Grow(len(s) + 2)
	b.WriteByte('"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\' || c == '$' || c == '~':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\t':
			b.WriteString(`\t`)
		case c < ' ' || c == 0x7f || c == 0xff:
			fmt.Fprintf(&b, `\%03o`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// quoteAll quotes arguments, each with a blank before it.
func quoteAll(args []string) string {
	var b strings.Builder
	for _, a := range args {
		b.WriteByte(' ')
		b.WriteString(quote(a))
	}
	return b.String()
}

// literalArgument writes s as one argument of a tmux process, which takes a semicolon at
// an argument's end for the end of a command. Before it belongs --, as s may begin with -.
func literalArgument(s string) string {
	if before, ok := strings.CutSuffix(s, ";"); ok {
		return before + `\;`
	}
	return s
}
