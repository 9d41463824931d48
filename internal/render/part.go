package render

import "github.com/panebridge/panebridge/sessions"

// PartKind is what a part's text is.
type PartKind uint8

// The kinds of part.
const (
	Plain  PartKind = iota // text without markup
	Answer                 // Markdown
	Pane                   // rows of a terminal: shown as code, lines as wide as they are
	User                   // what a person wrote: quoted
	Tool                   // a tool call or result, in short; a question, if its lines are marked as one
	Notice                 // said by panebridge itself: a gap, a mark
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
	case Notice:
		b.lines(Style{Italic: true})
	case User:
		b.user(p.Author)
	default:
		b.lines(Style{})
	}
}
