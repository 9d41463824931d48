package adapters

import (
	"slices"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// fits says whether a page can be one message, whatever marks are still added.
func (s Shape) fits(p Page) bool {
	p.Double = true
	return s.Size(p) <= s.MaxLen
}

// fillUp adds as many pieces to an empty page as fit, and at least a part of the first.
// Blank ones are left out at both ends.
func (s Shape) fillUp(p Page, pieces []Piece) Page {
	pieces = withoutBlankStart(pieces)
	n := s.most(len(pieces), func(n int) bool { return s.fits(p.plus(pieces[:n])) })
	if n == 0 && len(pieces) > 0 {
		return p.plus([]Piece{s.part(p, pieces[0])})
	}
	p = p.plus(pieces[:n])
	p.Pieces = withoutBlankEnd(p.Pieces)
	return p
}

// most returns the largest n up to limit that's fine. What's larger than one that
// isn't fine isn't either. It tries small ones first: formatting much for nothing
// is what costs.
func (s Shape) most(limit int, fine func(n int) bool) int {
	step := 1
	for step < limit && fine(step) {
		step *= 2
	}
	low := step / 2 // fine, or 0
	return low + sort.Search(min(step, limit)-low, func(i int) bool { return !fine(low + i + 1) })
}

// plus is the page with further pieces.
func (p Page) plus(pieces []Piece) Page {
	if len(p.Pieces) == 0 && len(pieces) > 0 {
		p.Before = pieces[0].before()
	}
	p.Pieces = append(slices.Clip(p.Pieces), pieces...)
	return p
}

// part returns the beginning of a piece that's too long for a message. White space
// alone isn't one.
func (s Shape) part(p Page, piece Piece) Piece {
	c := s.cut(p, piece)
	if strings.TrimSpace(c.Text()) != "" {
		return c
	}
	piece.From = piece.To - len(strings.TrimLeftFunc(piece.Text(), unicode.IsSpace))
	return s.cut(p, piece)
}

// cut returns the longest beginning of a piece that fits, and never nothing. It
// ends between two characters as people see them, unless one alone is too long.
func (s Shape) cut(p Page, piece Piece) Piece {
	text := piece.Text()
	ends := graphemes(text, 4*s.MaxLen)
	try := func(n int) Piece {
		piece.To = piece.From + n
		return piece
	}
	fine := func(n int) bool { return s.fits(p.plus([]Piece{try(n)})) }
	if n := s.most(len(ends), func(n int) bool { return fine(ends[n-1]) }); n > 0 {
		return try(ends[n-1])
	}
	if len(ends) == 0 {
		return piece
	}
	runes := runeEnds(text[:ends[0]])
	n := s.most(len(runes), func(n int) bool { return fine(runes[n-1]) })
	return try(runes[max(1, n)-1])
}

// graphemes returns where the characters of a text end, in bytes, as far as the
// limit.
func graphemes(text string, limit int) []int {
	var ends []int
	for at := 0; at < len(text) && at < limit; {
		c, _ := ansi.FirstGraphemeCluster(text[at:], ansi.GraphemeWidth)
		at += max(1, len(c))
		ends = append(ends, at)
	}
	return ends
}

func runeEnds(text string) []int {
	var ends []int
	for at := 0; at < len(text); {
		_, n := utf8.DecodeRuneInString(text[at:])
		at += n
		ends = append(ends, at)
	}
	return ends
}

// fileOf adds as many pieces to a page as a file of a size in bytes can hold.
func fileOf(p Page, pieces []Piece, size int) Page {
	left := size - len(PlainText(p)) - 1
	n := 0
	for ; n < len(pieces); n++ {
		if left -= len(PlainText(Page{Pieces: pieces[n : n+1]})) + 1; left < 0 {
			break
		}
	}
	if n == 0 {
		bytes := Shape{Size: func(p Page) int { return len(PlainText(p)) }, MaxLen: size}
		return p.plus([]Piece{bytes.cut(p, pieces[0])})
	}
	return p.plus(pieces[:n])
}

// beside adds as many of the last pieces of a file as can stand beside it.
func (s Shape) beside(p Page, pieces []Piece) Page {
	s.MaxLen = s.MaxCaption
	n := s.most(len(pieces), func(n int) bool { return s.fits(p.plus(pieces[len(pieces)-n:])) })
	return p.plus(withoutBlankEnd(withoutBlankStart(pieces[len(pieces)-n:])))
}

// messages counts the messages that pieces take if each is filled up, up to a limit.
func (s Shape) messages(p Page, pieces []Piece, limit int) int {
	n := 0
	for ; n < limit && (p.Cut || !allBlank(pieces)); n++ {
		p = s.fillUp(p, pieces)
		pieces = rest(pieces, p)
		p = Page{}
	}
	return n
}

// rest is what of pieces isn't in a page.
func rest(pieces []Piece, p Page) []Piece {
	if len(p.Pieces) == 0 {
		return pieces
	}
	end := p.Pieces[len(p.Pieces)-1].end()
	i := sort.Search(len(pieces), func(i int) bool { return end.Before(pieces[i].end()) })
	if i < len(pieces) && pieces[i].start().Before(end) {
		cut := pieces[i]
		cut.From, cut.Gap = end.Byte, nil
		return append([]Piece{cut}, pieces[i+1:]...)
	}
	return pieces[i:]
}

// withWriting adds what a known program is doing, and the last rows of what it's writing
// that fit. Rows of less than a line of text aren't worth the room that's left.
func (s Shape) withWriting(p Page, r region) Page {
	p.Status = shortened(r.status, maxStatus)
	if !s.fits(p) {
		p.Status = ""
	}
	for n := len(r.writing); n > 0; n-- {
		p.Writing = r.writing[len(r.writing)-n:]
		if s.fits(p) {
			return p
		}
	}
	p.Writing = nil
	return p
}

// maxStatus keeps a status on a phone's few lines, in runes.
const maxStatus = 120

// withLive adds the last rows of a live region that fit.
func (s Shape) withLive(p Page, rows []string, most int) Page {
	n := min(len(rows), most)
	for ; n > 0; n-- {
		p.Live = rows[len(rows)-n:]
		if s.fits(p) {
			return p
		}
	}
	p.Live = nil
	return p
}
