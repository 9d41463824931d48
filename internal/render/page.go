package render

import "strings"

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
