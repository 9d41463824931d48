package rendertest

import (
	"math/rand/v2"
	"strconv"
	"strings"
)

// Look is how a mark must look.
type Look struct {
	Bold, Italic, Strike, Code, Pre, Quote bool
	Language, URL                          string
}

// Document is a well-formed document, and what must be seen of it.
type Document struct {
	Source string
	Text   string        // all that's not markup, without blanks
	Looks  map[rune]Look // how each of its marks must look
}

// WellFormed returns a document such as agents write.
func WellFormed(seeds []uint64) Document {
	g := &generator{w: &Words{}, looks: map[rune]Look{}}
	for _, seed := range seeds {
		g.w.Rand = rand.New(rand.NewPCG(seed, 2))
		g.block("", Look{}, 0)
		g.line("", "")
	}
	return Document{g.source.String(), Bare(g.text.String()), g.looks}
}

type generator struct {
	w      *Words
	source strings.Builder
	text   strings.Builder
	looks  map[rune]Look
}

// word makes a word that must look so.
func (g *generator) word(l Look) string { return g.seen(g.w.Word(), l) }

// seen notes that a text comes next of what's seen, and how it looks.
func (g *generator) seen(s string, l Look) string {
	g.text.WriteString(s)
	for _, r := range s {
		if IsMark(r) {
			g.looks[r] = l
		}
	}
	return s
}

// line writes a line of a block whose lines begin with prefix.
func (g *generator) line(prefix, s string) {
	g.source.WriteString(strings.TrimRight(prefix+s, " ") + "\n")
}

// words makes a few words that must look so.
func (g *generator) words(l Look) string {
	var s []string
	for range 1 + g.w.Rand.IntN(4) {
		s = append(s, g.word(l))
	}
	return strings.Join(s, " ")
}

// span makes words with markup. Nothing but letters stands beside signs.
func (g *generator) span(l Look) string {
	was := l
	switch g.w.Rand.IntN(10) {
	case 0:
		l.Bold = true
		return "**" + g.words(l) + " *" + g.letters(Look{Bold: true, Italic: true, Strike: l.Strike, Quote: l.Quote}) + "* " + g.letters(l) + "**"
	case 1:
		l.Italic = true
		return "*" + g.letters(l) + "*"
	case 2:
		l.Strike = true
		return "~~" + g.letters(l) + "~~"
	case 3:
		return "`" + g.letters(Look{Code: true, Quote: was.Quote}) + "`"
	case 4:
		l.URL = "https://example.org/" + strconv.Itoa(g.w.Rand.IntN(1000))
		return "[" + g.words(l) + "](" + l.URL + ")"
	case 5:
		return "[" + g.letters(l) + "]" + g.seen("(./", l) + g.letters(l) + g.seen(")", l)
	default:
		return g.words(l)
	}
}

// letters makes a word of which nothing but letters is at the ends.
func (g *generator) letters(l Look) string {
	return g.seen("a"+g.w.Mark()+"b"+g.w.Mark(), l)
}

func (g *generator) paragraph(l Look) string {
	s := []string{g.letters(l)}
	for range g.w.Rand.IntN(6) {
		s = append(s, g.span(l))
	}
	return strings.Join(append(s, g.letters(l)), " ")
}

func (g *generator) block(prefix string, l Look, depth int) {
	choice := g.w.Rand.IntN(8)
	if depth > 3 {
		choice = 0
	}
	switch choice {
	case 1:
		l.Bold = true
		g.line(prefix, "## "+g.letters(l)+" "+g.letters(l))
	case 2, 3:
		g.list(prefix, l, depth)
	case 4:
		g.code(prefix, l)
	case 5:
		g.table(prefix, l)
	case 6:
		if depth == 0 {
			l.Quote = true
		}
		for range 1 + g.w.Rand.IntN(2) {
			g.block(prefix+"> ", l, depth+1)
			g.line(prefix+">", "")
		}
		g.line(prefix, "")
	default:
		for range 1 + g.w.Rand.IntN(3) {
			g.line(prefix, g.paragraph(l))
		}
	}
}

func (g *generator) list(prefix string, l Look, depth int) {
	for i := range 1 + g.w.Rand.IntN(4) {
		marker := g.w.pick("- ", "- [ ] ", "- [x] ")
		indent := "  "
		if depth%2 == 1 {
			marker = g.seen(strconv.Itoa(i+1)+". ", l)
			indent = strings.Repeat(" ", len(marker))
		}
		g.line(prefix+marker, g.paragraph(l))
		if g.w.Rand.IntN(3) == 0 {
			g.line(prefix, "")
			g.block(prefix+indent, l, depth+1)
			g.line(prefix, "")
		}
	}
	if depth%2 == 1 { // or the next list would go on counting
		g.line(prefix, "")
		g.line(prefix, g.letters(l))
	}
}

func (g *generator) code(prefix string, l Look) {
	l = Look{Pre: true, Language: g.w.pick("", "go", "c++", "sh"), Quote: l.Quote}
	g.line(prefix, "```"+l.Language)
	for range 1 + g.w.Rand.IntN(6) {
		g.line(prefix, strings.Repeat("  ", g.w.Rand.IntN(3))+g.word(l)+g.seen(g.w.pick("", " := *p", " // **no**", "`", " | x"), l))
	}
	g.line(prefix, "```")
}

func (g *generator) table(prefix string, l Look) {
	l = Look{Pre: true, Quote: l.Quote}
	columns := 1 + g.w.Rand.IntN(4)
	row := func(cell func() string) {
		var s []string
		for range columns {
			s = append(s, cell())
		}
		g.line(prefix, "| "+strings.Join(s, " | ")+" |")
	}
	g.line(prefix, "")
	row(func() string { return g.letters(l) })
	row(func() string { return g.w.pick("---", ":-:", "--:", ":--") })
	for range g.w.Rand.IntN(5) {
		row(func() string { return g.seen(g.w.pick("", "**", "`"), l) + g.letters(l) })
	}
	g.line(prefix, "")
}
