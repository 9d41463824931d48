package cli

import (
	"fmt"
	"os"
	"regexp"
	"strings"

	"github.com/clipperhouse/displaywidth"

	"github.com/panebridge/panebridge/internal/host"
)

// Prose is broken at blanks where a person's terminal ends. What's to be taken over as it stands, such as a command, an
// address or the lines of a configuration, begins with blanks or has none, and stays whole.

// sayf writes prose that's a result.
func (p *invocation) sayf(format string, args ...any) error {
	return p.printf("%s", fill(fmt.Sprintf(format, args...), widthOf(p.stdio.Out)))
}

// widthOf is the width of the terminal to which a stream writes, in columns; 0: it's none, or doesn't say.
func widthOf(stream any) int {
	f, ok := stream.(*os.File)
	if !ok || !isTerminalFile(f) {
		return 0
	}
	width, err := host.TerminalWidth(int(f.Fd()))
	if err != nil {
		return 0
	}
	return width
}

// fill breaks the lines of a text that are wider than so many columns; 0 is no limit. A paragraph that was broken for a
// wider page is broken anew.
func fill(text string, width int) string {
	if width <= 0 {
		return text
	}
	lines := strings.Split(text, "\n")
	var out []string
	joins := false
	for len(lines) > 0 {
		parts := fillLine(lines[0], width)
		goesOn := len(lines) > 1 && isWithin(lines[0], lines[1])
		joins = goesOn && (joins || len(parts) > 1)
		if joins {
			last := len(parts) - 1
			out = append(out, parts[:last]...)
			lines[1] = parts[last] + " " + lines[1]
		} else {
			out = append(out, parts...)
		}
		lines = lines[1:]
	}
	return strings.Join(out, "\n")
}

// isWithin reports whether a line and the next are of one sentence.
func isWithin(line, next string) bool {
	return line != "" && next != "" && !strings.HasPrefix(line, " ") && !strings.HasPrefix(next, " ") && !strings.ContainsAny(line[len(line)-1:], ".:?!")
}

// column is a line that begins with blanks, and has a second column: what stands there is prose.
var column = regexp.MustCompile(`^( +\S+(?: \S+)* {2,})(\S.*)$`)

// leastColumn is how many columns a second column needs, so that it isn't put below the first.
const leastColumn = 24

// fillLine breaks one line.
func fillLine(line string, width int) []string {
	if displaywidth.String(line) <= width {
		return []string{line}
	}
	if !strings.HasPrefix(line, " ") {
		return fillWords(line, width, "", "")
	}
	found := column.FindStringSubmatch(line)
	if found == nil {
		return []string{line}
	}
	first := strings.TrimRight(found[1], " ")
	if at := displaywidth.String(found[1]); width-at >= leastColumn {
		return fillWords(found[2], width, found[1], strings.Repeat(" ", at))
	}
	indent := strings.Repeat(" ", len(first)-len(strings.TrimLeft(first, " "))+4)
	return append([]string{first}, fillWords(found[2], width, indent, indent)...)
}

// fillWords breaks a text at blanks. first stands before its first line, others before the others.
func fillWords(text string, width int, first, others string) (lines []string) {
	line, isEmpty := first, true
	for word := range strings.FieldsSeq(text) {
		if !isEmpty && displaywidth.String(line)+1+displaywidth.String(word) > width {
			lines = append(lines, line)
			line, isEmpty = others, true
		}
		if !isEmpty {
			line += " "
		}
		line, isEmpty = line+word, false
	}
	return append(lines, line)
}

// fillBeside breaks a text that stands beside a label, so that all its lines begin behind that.
func fillBeside(label, text string, width int) string {
	indent := strings.Repeat(" ", displaywidth.String(label))
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		if isWide := displaywidth.String(label+line) > width; width > 0 && isWide && !strings.HasPrefix(line, " ") {
			lines = append(lines, fillWords(line, width, label, indent)...)
		} else {
			lines = append(lines, label+line)
		}
		label = indent
	}
	return strings.Join(lines, "\n")
}
