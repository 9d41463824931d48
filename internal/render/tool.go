package render

import "strings"

// Lines of tools that begin with one of these ask a person something: the question, and
// what can be answered. Others are calls and results.
const (
	QuestionMark = "❓ "
	OptionMark   = "› "
)

// tool emits calls and results as code, which is quiet, and questions as text. How a
// line looks is a matter of that line alone.
func (b *builder) tool() {
	for s, at := b.source, 0; ; {
		line, rest, more := strings.Cut(s, "\n")
		b.style = toolStyle(line)
		b.line(line, at)
		if !more {
			return
		}
		next := toolStyle(strings.SplitN(rest, "\n", 2)[0])
		b.gap(b.breaks+1, b.style.meet(next))
		at += len(line) + 1
		s = rest
	}
}

func toolStyle(line string) Style {
	switch {
	case strings.HasPrefix(line, QuestionMark):
		return Style{Bold: true}
	case strings.HasPrefix(line, OptionMark):
		return Style{}
	default:
		return Style{Code: true}
	}
}
