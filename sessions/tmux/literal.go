package tmux

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/panebridge/panebridge/sessions"
)

// A format is expanded by tmux: #{…} is replaced, #(…) is run. No folder, name or value is
// ever part of one. What has to be, because tmux is to look for it on a screen, is written
// by literalRow or literalPattern, and by nothing else.

// literalRow writes a row of a screen so that #{C/r:…} looks for that row: as a POSIX
// extended regular expression within a format. What has a meaning in either stands in a
// bracket of its own, with the format's escape where it needs one. Other characters are
// themselves, those beyond ASCII too.
func literalRow(text string) string {
	var b strings.Builder
	for i := range len(text) {
		switch c := text[i]; c {
		case '#', ',', '}', '%':
			b.WriteString("[" + escapeInFormat(c) + "]")
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

// literalPattern writes a POSIX extended regular expression so that #{C/r:…} looks for
// what it matches.
func literalPattern(pattern string) string {
	var b strings.Builder
	for i := 0; i < len(pattern); {
		if pattern[i] == '[' {
			end := i + bracketLength(pattern[i:])
			for ; i < end; i++ {
				b.WriteString(escapeInFormat(pattern[i]))
			}
			continue
		}
		switch c := pattern[i]; c {
		case '#', '%': // which may be more than one after the expansion
			b.WriteString("[" + escapeInFormat(c) + "]")
		default:
			b.WriteString(escapeInFormat(c))
		}
		i++
	}
	return b.String()
}

// escapeInFormat writes a character of a regular expression's bracket so that tmux's
// format leaves it there, once at least: tmux halves ##, but not before [.
//
// A per cent sign has to get past strftime, which tmux applies to some formats at each
// level of nesting and which halves them too.
func escapeInFormat(c byte) string {
	switch c {
	case '#', ',', '}':
		return "#" + string(c)
	case '%':
		return strings.Repeat("%", 16)
	}
	return string([]byte{c}) // a byte, and not a rune
}

// bracketLength is how long the bracket expression is with which a pattern begins.
func bracketLength(pattern string) int {
	i := 1
	if strings.HasPrefix(pattern[i:], "^") {
		i++
	}
	if strings.HasPrefix(pattern[i:], "]") {
		i++
	}
	for ; i < len(pattern); i++ {
		if pattern[i] == ']' {
			return i + 1
		}
		if pattern[i] == '[' && i+1 < len(pattern) && strings.IndexByte(":.=", pattern[i+1]) >= 0 {
			if n := strings.Index(pattern[i+2:], pattern[i+1:i+2]+"]"); n >= 0 {
				i += n + 3
			}
		}
	}
	return len(pattern)
}

// What tmux must be told as it is and has no way to quote, or to which it would give a
// meaning of its own.
var (
	paneIDs      = regexp.MustCompile(`^%[0-9]{1,10}$`)
	sessionNames = regexp.MustCompile(`^[A-Za-z0-9_-]{1,200}$`)
	envNames     = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

// maxTextBytes bounds an argument or a variable of a program: Linux starts none with a
// longer one (MAX_ARG_STRLEN, of which one byte is the end).
const maxTextBytes = 128<<10 - 1

// checkText refuses what no program can be given.
func checkText(what, text string) error {
	switch {
	case strings.Contains(text, "\x00"):
		return fmt.Errorf("%w %s: it has a NUL byte, which no program can be given", sessions.ErrInvalid, what)
	case len(text) > maxTextBytes:
		return fmt.Errorf("%w %s: it has %d bytes, and a program takes %d at most; put it in a file", sessions.ErrInvalid, what, len(text), maxTextBytes)
	}
	return nil
}

// checkPane refuses what isn't a pane's id, before tmux takes it for another target.
func checkPane(pane string) error {
	if !paneIDs.MatchString(pane) {
		return fmt.Errorf("%.40q: %w", pane, ErrNoPane)
	}
	return nil
}

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
