package render

import (
	"strings"
	"unicode/utf8"

	"github.com/panebridge/panebridge/sessions"
)

// PartKind is what a part's text is.
type PartKind uint8

// The kinds of part.
const (
	Plain   PartKind = iota // text without markup
	Answer                  // Markdown
	Pane                    // rows of a terminal: shown as code, lines as wide as they are
	User                    // what a person wrote: quoted
	Tool                    // a tool call or result, in short; a question, if its lines are marked as one
	Notice                  // said by panebridge itself: a gap, a mark
	Thought                 // what an agent thinks, with a mark of its own
)

// KindOf is the kind of a line of the output log.
func KindOf(k sessions.LineKind) PartKind {
	switch k {
	case sessions.KindPane:
		return Pane
	case sessions.KindAnswer:
		return Answer
	case sessions.KindUser:
		return User
	case sessions.KindTool:
		return Tool
	case sessions.KindNotice:
		return Notice
	case sessions.KindThought:
		return Thought
	default:
		return Plain
	}
}

// Part is a stretch of a session's output of one kind.
type Part struct {
	Kind PartKind
	// Source is its text, with "\n" between lines. That of an answer begins where
	// the answer does, even if a message begins later: what a line means depends on
	// those before it.
	Source string
	// From is how much of Source isn't shown, in bytes: it only says what the rest is.
	From   int
	Author string // who wrote it; of User, may be ""
}

// TextPosition is a place between the characters of parts: before byte Byte of the source
// of part Part. Both count from 0.
type TextPosition struct{ Part, Byte int }

// Before says whether p stands before o.
func (p TextPosition) Before(o TextPosition) bool {
	return p.Part < o.Part || p.Part == o.Part && p.Byte < o.Byte
}

// End is the place behind all parts.
func End(parts []Part) TextPosition { return TextPosition{Part: len(parts)} }

// Render returns what parts show between two places.
func Render(parts []Part, from, to TextPosition) MessageText { return newView(parts, from).until(to) }

// partGap is how many line breaks stand between two parts. Code has a frame, which
// keeps it apart. Two answers are two paragraphs.
func partGap(a, b PartKind) int {
	if a == b && a != Answer || a == Pane || b == Pane {
		return 1
	}
	return 2
}

func (b *builder) part(p Part, at restart) {
	switch p.Kind {
	case Answer:
		b.markdown(at)
	case Pane:
		b.lines(Style{Pre: true})
	case Tool:
		b.tool()
	case Notice, Thought:
		b.lines(Style{Italic: true})
	case User:
		b.user(p.Author)
	default:
		b.lines(Style{})
	}
}

// longQuote is from how many lines on what a person wrote may be folded: they know
// it, and it's there to find one's way.
const longQuote = 8

// maxAuthor keeps a name shorter than any message, in runes.
const maxAuthor = 64

func shortened(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:n-1]) + "…"
}

// lines emits the source as it is.
func (b *builder) lines(style Style) {
	b.style = style
	b.text(b.source, 0)
}

// user emits what a person wrote, below their name.
func (b *builder) user(author string) {
	quote := Quoted
	if strings.Count(b.source, "\n") >= longQuote {
		quote = QuotedLong
	}
	b.style = Style{Quote: quote}
	if author != "" && b.from == 0 {
		b.style.Bold = true
		b.atom(shortened(clean(author), maxAuthor)+":", 0)
		b.style.Bold = false
		b.gap(1, b.style)
	}
	b.text(b.source, 0)
}

// firstLine is the first line of a text, with its end.
func firstLine(s string) string {
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		return s[:i+1]
	}
	return s
}

// inSource moves a place to the next that's shown: from one behind a part's source to
// the part after it.
func inSource(parts []Part, p TextPosition) TextPosition {
	for p.Part < len(parts) {
		if p.Byte = max(p.Byte, parts[p.Part].From); p.Byte < len(parts[p.Part].Source) {
			break
		}
		p = TextPosition{Part: p.Part + 1}
	}
	return p
}

// runeStart is the byte at or before i at which a rune starts.
func runeStart(s string, i int) int {
	i = min(max(i, 0), len(s))
	for i > 0 && i < len(s) && !utf8.RuneStart(s[i]) {
		i--
	}
	return i
}

// lineEnd is the end of the line in which a stretch up to byte at ends: that line
// counts as known.
func lineEnd(s string, at int) int {
	if at == 0 || s[at-1] == '\n' {
		return at
	}
	if i := strings.IndexByte(s[at:], '\n'); i >= 0 {
		return at + i
	}
	return len(s)
}

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
