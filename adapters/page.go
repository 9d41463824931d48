package adapters

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"github.com/panebridge/panebridge/internal/render"
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
	folding  folding // how much of what was printed in one go it shows
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
	// Hidden says that the line isn't shown: it's Own, the Ending says what it does, or it's of work of
	// which not all is shown. See fold.
	Hidden bool
	// Own says that the line was written where it would be shown.
	Own bool
	// Counted says that the line is Hidden, and that the page says how many there are of its kind.
	Counted bool

	told   bool     // it's told otherwise than by its line
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

func (p Piece) start() Position { return Position{Line: p.Line.N, Byte: p.From} }

// end is the place behind the piece.
func (p Piece) end() Position {
	if p.To == len(p.Line.Text) {
		return Position{Line: p.Line.N + 1}
	}
	return Position{Line: p.Line.N, Byte: p.To}
}

// blank says that the piece shows nothing at the edge of a message: platforms cut
// white space there.
func (p Piece) blank() bool {
	return p.Gap == nil && !p.Counted && (p.Hidden || strings.TrimSpace(p.Text()) == "")
}

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
	add := func(text string) { lines = append(lines, text) }
	p.each(add, func(piece Piece) { add(piece.plain()) }, func(_ render.PartKind, rows []string) { lines = append(lines, rows...) })
	return strings.Join(lines, "\n")
}

// each hands on what a page shows, from its top: notices, lines, and rows of a live region.
func (p Page) each(notice func(string), line func(Piece), rows func(render.PartKind, []string)) {
	say := func(text string) {
		if text != "" {
			notice(text)
		}
	}
	say(p.Astray)
	if p.Double {
		notice(doubleMark)
	}
	if p.Cut {
		notice(gapNotice(sessions.Gap{AtLeast: p.Dropped, Reason: "dropped from the log before it could be sent"}))
	}
	if p.When != "" {
		notice(p.attachedText())
	}
	say(p.Withheld)
	var work sessions.WorkTally
	for at := 0; at < len(p.Pieces); {
		output := p.Pieces[at : at+p.outputAt(at)]
		at += len(output)
		folded, ok := p.fold(output)
		if ok {
			output = folded.head
		}
		for _, piece := range output {
			if piece.Gap != nil || !piece.Hidden {
				showTally(&work, rows)
			}
			if piece.Gap != nil {
				notice(gapNotice(*piece.Gap))
			}
			switch {
			case piece.Counted:
				work.Add(sessions.TallyOf(piece.Line))
			case !piece.Hidden:
				line(piece)
			}
		}
		if ok {
			notice(folded.between)
			for _, piece := range folded.tail {
				line(piece)
			}
		}
	}
	showTally(&work, rows)
	rows(render.Pane, p.Live)
	rows(render.Plain, p.Writing)
	say(p.Unfinished)
	say(p.Status)
	if p.Attached > 0 && p.When == "" {
		notice(p.attachedText())
	}
	if p.Ending != nil {
		for _, l := range p.Ending.lines() {
			notice(l)
		}
	}
}

// shownLines is how many lines of the log the page shows or counts, at least 1.
func (p Page) shownLines() (n int64) {
	for _, piece := range p.Pieces {
		if !piece.Hidden || piece.Counted {
			n++
		}
	}
	return max(n, 1)
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

// gapNotice is what stands where lines may be missing.
func gapNotice(g sessions.Gap) string {
	what := "output may be missing"
	switch {
	case g.AtLeast == 1:
		what = "at least 1 line is missing"
	case g.AtLeast > 1:
		what = fmt.Sprintf("at least %d lines are missing", g.AtLeast)
	}
	return "[" + what + ": " + Shorten(g.Reason, maxReason) + "]"
}

// maxReason keeps a gap notice shorter than any message, in runes.
const maxReason = 100

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

// fits says whether a page can be one message, whatever marks are still added.
func (s Shape) fits(p Page) bool {
	p.Double = true
	return !p.standsForTooMuch() && s.Size(p) <= s.MaxLen
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
	if ends, ok := s.endsBeside(p, pieces); ok {
		return ends
	}
	p.folding = folding{}
	n := s.most(len(pieces), func(n int) bool { return s.fits(p.plus(pieces[len(pieces)-n:])) })
	return p.plus(withoutBlankEnd(withoutBlankStart(pieces[len(pieces)-n:])))
}

// messages counts the messages that pieces take if each is filled up, up to a limit.
func (s Shape) messages(p Page, pieces []Piece, limit int) int {
	n := 0
	for ; n < limit && (p.Cut || !allBlank(pieces)); n++ {
		p = s.fillUp(p, pieces)
		pieces = remainingPieces(pieces, p)
		p = Page{folding: p.folding}
	}
	return n
}

// remainingPieces is what of pieces isn't in a page.
func remainingPieces(pieces []Piece, p Page) []Piece {
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
	p.Status = Shorten(r.status, maxStatus)
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

// maxWhole is how many lines of a block of code or a table are kept in one message: a longer
// one fills several screens of a phone, wherever a message ends.
const maxWhole = 40

// fill is fillUp, but a page ends before a block of code or a table that would be divided, if
// the next one has room for it.
func (s Shape) fill(p Page, pieces []Piece) Page {
	p = s.fillUp(p, pieces)
	p.Pieces = withoutBlankEnd(p.Pieces[:s.untilBlock(p.Pieces, remainingPieces(pieces, p))])
	return p
}

// untilBlock is how many of a page's pieces stand before a block that goes on with those left,
// and fits the next page; all if none does, or if it's the first that the page shows.
func (s Shape) untilBlock(shown, left []Piece) int {
	if len(left) == 0 || left[0].From > 0 || !left[0].goesOn() {
		return len(shown)
	}
	lines := left[0].before()
	source, end := strings.Join(lines, "\n"), 0
	for end < len(left) && end <= maxWhole && (end == 0 || left[end].goesOn()) {
		source += "\n" + left[end].Line.Text
		end++
	}
	at := len(lines) // the line at which the next page would begin
	for _, f := range render.Frames(source) {
		if at <= f.From || f.To <= at || f.To-f.From > maxWhole {
			continue
		}
		n := len(shown) - (at - f.From)
		if n > 0 && s.fits(Page{}.plus(slices.Concat(shown[n:], left[:f.To-at]))) {
			return n
		}
	}
	return len(shown)
}

// goesOn says whether the piece is of the answer that the line before it is of.
func (p Piece) goesOn() bool {
	return p.Line.Kind == sessions.KindAnswer && !p.Line.Begins && p.Gap == nil
}

// Rendered is what a page shows, for a platform's formatter: its notices, and its lines
// by their kinds. An Ending is its last lines, as notices.
func Rendered(p Page) render.Page {
	var b renderedLines
	p.each(func(text string) { b.add(render.Whole(render.Notice, text)) }, func(piece Piece) {
		l := piece.Line
		b.add(render.PageLine{
			Kind: render.KindOf(l.Kind), Text: l.Text, From: piece.From, To: piece.To, Author: piece.author(), Begins: l.Begins,
		})
	}, func(kind render.PartKind, rows []string) {
		for i, row := range rows {
			l := render.Whole(kind, row)
			l.Begins = i == 0 && kind != render.Pane // of what's being written, or how much work there was
			b.add(l)
		}
	})
	return render.Page{Before: p.Before, Lines: b.list}
}

// renderedLines are what a message shows, from its top.
type renderedLines struct {
	list   []render.PageLine
	empty  int  // lines owed before the next text: they belong to what stands below them
	begins bool // the first of them begins a block
}

func (b *renderedLines) add(l render.PageLine) {
	if l.Begins {
		b.empty = 0 // those are the end of another block
	}
	l.Begins, b.begins = l.Begins || b.begins, false
	if l.From == l.To {
		b.begins = l.Begins
		b.empty++
		return
	}
	if n := len(b.list); n > 0 {
		last := &b.list[n-1]
		last.Text = last.Text[:last.To] // only the last one may end in the middle
	}
	for ; b.empty > 0; b.empty-- {
		b.list = append(b.list, render.PageLine{Kind: l.Kind, Author: l.Author, Begins: l.Begins})
		l.Begins = false
	}
	b.list = append(b.list, l)
}
