package adapters

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/panebridge/panebridge/sessions"
)

// Page is what one message shows, before it's formatted.
type Page struct {
	// Astray is a notice at the top that says why this isn't where it belongs; "": it is.
	Astray string
	// Double says that a call for (some of) this was made before and wasn't
	// answered: the text must begin with a mark that it may be there already.
	Double bool
	// Cut says that lines before the first were dropped from the output log before
	// they could be shown: at least Dropped of them; 0: it's not known whether any
	// is missing.
	Cut     bool
	Dropped int64
	// Withheld is a notice in place of lines that the platform has refused; "": there are none.
	Withheld string
	Pieces   []Piece
	// Before are the lines that stand before the first piece in the answer it's of, as
	// far back as 32 KiB and a line, or a gap: what its markup goes on from. Nothing of them is
	// shown. None if it's of no answer.
	Before []string
	Live   []string // rows of the live region, which stand below the lines
	// Writing are rows of text that's being written, and Status says what the program is
	// doing: the live region of a program that's known. They stand below the lines.
	Writing []string
	Status  string
	// Unfinished is a notice of what became of the text that was being written here; "": there is
	// none, or its lines are here.
	Unfinished string
	// Attached is how many lines are in the file that the text stands beside. When, if
	// not "", says when they were printed, as "from 10:02 to 10:31": then it's a digest,
	// and this stands at its top.
	Attached int64
	When     string
	// Ending stands at the end of a message that rings; nil: nothing does.
	Ending *Ending
}

// Piece is a line of the output log, or a part of one.
type Piece struct {
	// Gap stands before the line; nil: none does. Several of the log are one here.
	Gap  *sessions.Gap
	Line sessions.Line
	From int // bytes of Line.Text
	To   int
	// Hidden says that the line isn't shown: it was written where it would be, or the Ending
	// says what it does.
	Hidden bool

	answer []string // the lines before it in the answer it's of, or more, as far as they're loaded
}

// maxBefore is how much counts of what stands before a page, in bytes, up to the line
// that passes it. Then the page isn't read as Markdown any more (internal/render): what
// its markup goes on from would be a guess.
const maxBefore = 32 << 10

// showsLine reports whether a line begins on the page.
func (p Page) showsLine(n int64) bool {
	return slices.ContainsFunc(p.Pieces, func(piece Piece) bool { return piece.Line.N == n && piece.From == 0 && !piece.Hidden })
}

// before is Page.Before of a page that begins with the piece.
func (p Piece) before() []string {
	size := 0
	for i, text := range slices.Backward(p.answer) {
		if size += len(text) + 1; size > maxBefore {
			return p.answer[i:]
		}
	}
	return p.answer
}

// Text is the line's text, or the part of it.
func (p Piece) Text() string { return p.Line.Text[p.From:p.To] }

// plain is the text without markup, behind the name of who wrote it.
func (p Piece) plain() string {
	switch name := p.author(); {
	case name == "" || p.From > 0 || !p.Line.Begins:
		return p.Text()
	default:
		return name + ": " + p.Text()
	}
}

// author is who wrote the line, as people are shown it; "": it's no person's.
func (p Piece) author() string {
	if p.Line.Kind == sessions.KindUser && p.Line.Author == "" {
		return keyboard
	}
	return p.Line.Author
}

// keyboard is what the person is called who writes at the session's own keyboard.
const keyboard = "you"

func (p Piece) start() Place { return Place{Line: p.Line.N, Byte: p.From} }

// end is the place behind the piece.
func (p Piece) end() Place {
	if p.To == len(p.Line.Text) {
		return Place{Line: p.Line.N + 1}
	}
	return Place{Line: p.Line.N, Byte: p.To}
}

// blank says that the piece shows nothing at the edge of a message: platforms cut
// white space there.
func (p Piece) blank() bool { return p.Gap == nil && (p.Hidden || strings.TrimSpace(p.Text()) == "") }

func allBlank(pieces []Piece) bool { return len(withoutBlankStart(pieces)) == 0 }

func withoutBlankStart(pieces []Piece) []Piece {
	for len(pieces) > 0 && pieces[0].blank() {
		pieces = pieces[1:]
	}
	return pieces
}

func withoutBlankEnd(pieces []Piece) []Piece {
	for len(pieces) > 0 && pieces[len(pieces)-1].blank() {
		pieces = pieces[:len(pieces)-1]
	}
	return pieces
}

// doubleMark stands above what may be in the chat already.
const doubleMark = "[sent once more: this may be here already]"

// What stands where a text was being written that never came, and where it goes on below what
// somebody wrote or was asked meanwhile.
const (
	neverCame = "[what was being written here never came]"
	goesOn    = "[what was being written here goes on below]"
)

// live says whether the page shows anything of a live region.
func (p Page) live() bool { return len(p.Live) > 0 || len(p.Writing) > 0 || p.Status != "" }

// PlainText formats a page without markup: one line of text per line. It's the
// default of Shape.Text.
func PlainText(p Page) string {
	var lines []string
	if p.Astray != "" {
		lines = append(lines, p.Astray)
	}
	if p.Double {
		lines = append(lines, doubleMark)
	}
	if p.Cut {
		lines = append(lines, gapText(sessions.Gap{AtLeast: p.Dropped, Reason: "dropped from the log before it could be sent"}))
	}
	if p.When != "" {
		lines = append(lines, p.attachedText())
	}
	if p.Withheld != "" {
		lines = append(lines, p.Withheld)
	}
	for _, piece := range p.Pieces {
		if piece.Gap != nil {
			lines = append(lines, gapText(*piece.Gap))
		}
		if !piece.Hidden {
			lines = append(lines, piece.plain())
		}
	}
	lines = append(lines, p.Live...)
	lines = append(lines, p.Writing...)
	if p.Unfinished != "" {
		lines = append(lines, p.Unfinished)
	}
	if p.Status != "" {
		lines = append(lines, p.Status)
	}
	if p.Attached > 0 && p.When == "" {
		lines = append(lines, p.attachedText())
	}
	if p.Ending != nil {
		lines = append(lines, p.Ending.String())
	}
	return strings.Join(lines, "\n")
}

// attachedText says what's in the file that the page stands beside.
func (p Page) attachedText() string {
	what, are := "1 line", " is "
	if p.Attached > 1 {
		what, are = fmt.Sprintf("%d lines", p.Attached), " are "
	}
	if p.When != "" {
		what += ", " + p.When + ","
	}
	return "[" + what + are + "in the attached file]"
}

// gapText is a gap notice.
func gapText(g sessions.Gap) string {
	what := "output may be missing"
	switch {
	case g.AtLeast == 1:
		what = "at least 1 line is missing"
	case g.AtLeast > 1:
		what = fmt.Sprintf("at least %d lines are missing", g.AtLeast)
	}
	return "[" + what + ": " + shortened(g.Reason, maxReason) + "]"
}

// maxReason keeps a gap notice shorter than any message, in runes.
const maxReason = 100

// shortened cuts a text to at most n runes.
func shortened(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}

// joinGaps makes one gap of two that stand at the same place.
func joinGaps(a *sessions.Gap, b sessions.Gap) *sessions.Gap {
	if a == nil {
		return &b
	}
	b.AtLeast += a.AtLeast
	if b.Reason != a.Reason {
		b.Reason = a.Reason + "; " + b.Reason
	}
	return &b
}

// UTF16Len is the length of a text in UTF-16 units, which is how Telegram counts
// (core.telegram.org/api/entities).
func UTF16Len(s string) int {
	n := 0
	for _, r := range s {
		n++
		if r > 0xFFFF {
			n++
		}
	}
	return n
}
