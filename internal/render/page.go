package render

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// PageLine is a line of a session's output, or a part of one.
type PageLine struct {
	Kind PartKind
	Text string // all of the line
	// From and To are the part that's shown, in bytes of Text. Only a page's first line
	// of its kind may begin in the middle, and only its last one may end there.
	From, To int
	Author   string // who wrote it; of User, may be ""
	// Begins says that it's the first line of a block: with an earlier line of its kind
	// it has nothing to do.
	Begins bool
}

// goesOn says whether a line belongs together with the one before it.
func (l PageLine) goesOn(before PageLine) bool {
	return !l.Begins && l.Kind == before.Kind && l.Author == before.Author
}

// Whole is a line that's shown whole.
func Whole(kind PartKind, text string) PageLine {
	return PageLine{Kind: kind, Text: text, To: len(text)}
}

// Page is what one message shows: lines of any kinds, in order. Neighbours of one kind
// belong together, up to one that begins a block: rows of a pane are one block of code,
// lines of an answer are one document.
type Page struct {
	// Before is what the answer has before the page's first line of it, from where it
	// begins: so that a page goes on in the block of code, the table or the list in
	// which the one before ended. Nothing of it is shown. It counts for an answer that
	// the page begins with, and if nothing but notices stand before that.
	Before []string
	Lines  []PageLine
}

// Text renders a page.
func (p Page) Text() MessageText {
	parts, places := p.parts()
	to := End(parts)
	if n := len(p.Lines); n > 0 && p.Lines[n-1].To < len(p.Lines[n-1].Text) {
		to = places[n-1]
		to.Byte += p.Lines[n-1].To
	}
	return Render(parts, TextPosition{}, to)
}

// parts returns the page's lines as parts, and where each begins.
func (p Page) parts() ([]Part, []TextPosition) {
	var parts []Part
	places := make([]TextPosition, len(p.Lines))
	for from := 0; from < len(p.Lines); {
		to := from + 1
		for to < len(p.Lines) && p.Lines[to].goesOn(p.Lines[to-1]) {
			to++
		}
		var source strings.Builder
		for _, l := range p.before(from) {
			source.WriteString(l + "\n")
		}
		part := Part{Kind: p.Lines[from].Kind, Author: p.Lines[from].Author, From: source.Len() + p.Lines[from].From}
		for i, l := range p.Lines[from:to] {
			if i > 0 {
				source.WriteByte('\n')
			}
			places[from+i] = TextPosition{len(parts), source.Len()}
			source.WriteString(l.Text)
		}
		part.Source = source.String()
		parts, from = append(parts, part), to
	}
	return parts, places
}

// before is what stands before line i of its document and isn't shown.
func (p Page) before(i int) []string {
	if p.Lines[i].Kind != Answer || p.Lines[i].Begins {
		return nil
	}
	for _, l := range p.Lines[:i] {
		if l.Kind != Notice {
			return nil
		}
	}
	return p.Before
}

// Split divides a page: first fits a message, rest is what comes behind it, and has no
// lines if all fits. Neither has anything to see if the page hasn't.
func (f MessageForm) Split(p Page) (first, rest Page) {
	parts, places := p.parts()
	_, next, done := f.Next(parts, TextPosition{})
	if done {
		return p, Page{}
	}
	n := len(places)
	for n > 0 && !places[n-1].Before(next) {
		n--
	}
	// The message ends within line n-1, or behind it.
	first, rest = Page{p.Before, p.Lines[:n:n]}, Page{Lines: p.Lines[n:]}
	last := p.Lines[n-1]
	if at := next.Byte - places[n-1].Byte; next.Part == places[n-1].Part && at < len(last.Text) {
		first.Lines = append(first.Lines[:n-1:n-1], last.until(at))
		last.From = at
		rest.Lines = append([]PageLine{last}, rest.Lines...)
	}
	rest.Before = p.until(len(p.Lines) - len(rest.Lines))
	return first, rest
}

// until is what stands before line i of the document that it's in.
func (p Page) until(i int) []string {
	if i >= len(p.Lines) || p.Lines[i].Kind != Answer {
		return nil
	}
	from := i
	for from > 0 && p.Lines[from].goesOn(p.Lines[from-1]) {
		from--
	}
	before := append([]string(nil), p.before(from)...)
	for _, l := range p.Lines[from:i] {
		before = append(before, l.Text)
	}
	return before
}

// until is the line up to a byte of its text.
func (l PageLine) until(to int) PageLine {
	l.To = to
	return l
}

// view is what parts show from a place on.
type view struct {
	parts    []Part // their sources are clean
	from     TextPosition
	restarts []restart // of the parts
}

func newView(parts []Part, from TextPosition) *view {
	v := &view{parts: make([]Part, len(parts)), from: from, restarts: make([]restart, len(parts))}
	for i, p := range parts {
		if i >= from.Part {
			p.Source = clean(p.Source)
		}
		v.parts[i] = p
		switch lo := v.low(i); {
		case i < from.Part || p.Kind == User:
		case p.Kind == Answer:
			v.restarts[i] = newRestart(p.Source, lo)
		default:
			v.restarts[i].start = plainStart(p.Source, lo)
		}
	}
	return v
}

// low is from which byte on a part is shown.
func (v *view) low(i int) int {
	p := v.parts[i]
	if i == v.from.Part {
		return runeStart(p.Source, max(p.From, v.from.Byte))
	}
	return runeStart(p.Source, p.From)
}

// until returns what's shown up to a place.
func (v *view) until(to TextPosition) MessageText {
	b := &builder{}
	last := Plain
	for i := max(v.from.Part, 0); i < len(v.parts) && i <= to.Part; i++ {
		p := v.parts[i]
		lo, hi, known := v.low(i), len(p.Source), len(p.Source)
		if i == to.Part {
			hi = runeStart(p.Source, to.Byte)
			known = lineEnd(p.Source, hi)
		}
		if lo >= hi {
			continue
		}
		at := v.restarts[i]
		b.begin(i, p.Source[at.start:known], at.start, lo, hi)
		if len(b.runs) > 0 {
			b.gap(partGap(last, p.Kind), Style{})
		}
		last = p.Kind
		b.part(p, at)
	}
	return MessageText{b.runs}
}

// restart is where a document can be parsed from, for what it shows behind some
// later place: where a block begins that's in no other, behind an empty line. What's
// before it matters by the targets of links that are defined there, and by nothing
// else.
type restart struct {
	start   int // in bytes
	targets []parser.Reference
	plain   bool // the text is beyond what's parsed
}

// newRestart returns the last restart that's good for what stands behind byte at.
func newRestart(source string, at int) restart {
	source = source[:lineEnd(source, runeStart(source, at))]
	if at <= 0 {
		return restart{}
	}
	if !parsable(source) {
		return restart{start: plainStart(source, at), plain: true}
	}
	src := []byte(source)
	pc := parser.NewContext()
	doc := skeletons.Parse(text.NewReader(src), parser.WithContext(pc))
	for n := doc.LastChild(); n != nil; n = n.PreviousSibling() {
		start := lineStart(src, n.Pos())
		if start < at && isBehindEmptyLine(src[:start]) && isFirst(n) {
			return restart{start: start, targets: pc.References()}
		}
	}
	return restart{}
}

// plainStart is where a text without markup can begin, for what it shows behind byte at.
func plainStart(source string, at int) int { return strings.LastIndexByte(source[:at], '\n') + 1 }

// isFirst says whether no block before n in the document begins behind it.
func isFirst(n ast.Node) bool {
	for p := n.PreviousSibling(); p != nil; p = p.PreviousSibling() {
		if p.Pos() >= n.Pos() {
			return false
		}
	}
	return true
}

func lineStart(s []byte, at int) int {
	if at < 0 {
		return 0
	}
	return bytes.LastIndexByte(s[:at], '\n') + 1
}

func isBehindEmptyLine(s []byte) bool {
	line := string(s[lineStart(s, max(0, len(s)-1)):])
	return len(s) > 0 && strings.TrimLeft(line, " \t") == "\n"
}

// context is one in which the targets are known.
func (r restart) context() parser.Context {
	pc := parser.NewContext()
	for _, t := range r.targets {
		pc.AddReference(t)
	}
	return pc
}
