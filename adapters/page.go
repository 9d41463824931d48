package adapters

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/panebridge/panebridge/sessions"
)

// Page is what one message shows, before it's formatted.
type Page struct {
	// Double says that a call for (some of) this was made before and wasn't
	// answered: the text must begin with a mark that it may be there already.
	Double bool
	// Cut says that lines before the first were dropped from the output log before
	// they could be shown: at least Dropped of them; 0: it's not known whether any
	// is missing.
	Cut     bool
	Dropped int64
	Pieces  []Piece
	Live    []string // rows of the live region, which stand below the lines
	// Attached is how many lines are in the file that the text stands beside.
	Attached int64
	// Ended says that a turn has ended, and that nothing else says so: there are no
	// pieces.
	Ended bool
}

// Piece is a line of the output log, or a part of one.
type Piece struct {
	// Gap stands before the line; nil: none does. Several of the log are one here.
	Gap  *sessions.Gap
	Line sessions.Line
	From int // bytes of Line.Text
	To   int
}

// Text is the line's text, or the part of it.
func (p Piece) Text() string { return p.Line.Text[p.From:p.To] }

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
func (p Piece) blank() bool { return p.Gap == nil && strings.TrimSpace(p.Text()) == "" }

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

// Texts of what panebridge itself says in a chat.
const (
	doubleMark = "[sent once more: this may be here already]"
	endedText  = "[the turn has ended]"
)

// PlainText formats a page without markup: one line of text per line. It's the
// default of Shape.Text.
func PlainText(p Page) string {
	var lines []string
	if p.Double {
		lines = append(lines, doubleMark)
	}
	if p.Cut {
		lines = append(lines, gapText(sessions.Gap{AtLeast: p.Dropped, Reason: "dropped from the log before it could be sent"}))
	}
	for _, piece := range p.Pieces {
		if piece.Gap != nil {
			lines = append(lines, gapText(*piece.Gap))
		}
		lines = append(lines, piece.Text())
	}
	lines = append(lines, p.Live...)
	switch {
	case p.Attached == 1:
		lines = append(lines, "[1 line is in the attached file]")
	case p.Attached > 1:
		lines = append(lines, fmt.Sprintf("[%d lines are in the attached file]", p.Attached))
	}
	if p.Ended {
		lines = append(lines, endedText)
	}
	return strings.Join(lines, "\n")
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
