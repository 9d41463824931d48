package render

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
)

// maxIndent is how many levels of nesting are indented: a phone shows about 40
// columns.
const maxIndent = 8

// blocks emits the children of a container, in the order of the source. The parser
// puts a heading that's underlined behind the table that stands in the same
// paragraph as its text.
func (w *walker) blocks(parent ast.Node) {
	var all []ast.Node
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		all = append(all, n)
	}
	slices.SortStableFunc(all, func(a, b ast.Node) int { return cmp.Compare(textStart(a), textStart(b)) })
	for _, n := range all {
		w.block(n)
	}
}

// textStart is where a block's own text begins: a table's position is that of the
// paragraph it was found in.
func textStart(n ast.Node) int {
	if t, ok := n.(*east.Table); ok {
		return t.FirstChild().Pos()
	}
	return n.Pos()
}

func (w *walker) block(n ast.Node) {
	switch n := n.(type) {
	case *ast.List:
		w.list(n)
	case *ast.Blockquote:
		w.quote(n)
	case *ast.FencedCodeBlock:
		w.fence(n)
	case *ast.CodeBlock:
		w.code(n.Pos(), n.Lines(), "")
	case *ast.HTMLBlock:
		w.html(n)
	case *ast.LinkReferenceDefinition:
		w.separate(n.Pos())
		w.segments(n.Lines())
	case *east.Table:
		w.table(n)
	case *ast.ThematicBreak:
		w.separate(n.Pos())
		w.atom("———", n.Pos())
	case *ast.Heading:
		w.separate(n.Pos())
		w.style.Bold = true
		w.inlines(n)
		w.style.Bold = false
	default:
		w.separate(n.Pos())
		w.inlines(n)
	}
}

// separate owes the line breaks between the block that begins at byte at and what
// was emitted before: as many as in the source, but at most one empty line, and none
// behind code, which has a frame.
func (w *walker) separate(at int) {
	n := 1
	if at > 0 && !w.behindCode() && isBehindGap(w.src[:at]) {
		n = 2
	}
	if w.parted {
		n = max(n, w.breaks) // the first block of one that begins behind an empty line
	}
	w.gap(n, w.style)
	w.parted = true
}

func (w *walker) behindCode() bool {
	return len(w.runs) > 0 && w.runs[len(w.runs)-1].Style.Pre
}

// isBehindGap says whether a source ends with an empty line, which may be one of a
// quote.
func isBehindGap(source []byte) bool {
	breaks := 0
	for i := len(source) - 1; i >= 0 && breaks < 2; i-- {
		switch source[i] {
		case '\n':
			breaks++
		case ' ', '\t', '>':
		default:
			return false
		}
	}
	return breaks == 2
}

func (w *walker) list(l *ast.List) {
	number := l.Start
	for n := l.FirstChild(); n != nil; n = n.NextSibling() {
		w.separate(n.Pos())
		w.push(w.item(l, n, number))
		w.blocks(n)
		w.pop()
		number++
	}
}

// item is the level of a list's item.
func (w *walker) item(l *ast.List, n ast.Node, number int) level {
	marker := "• "
	if l.IsOrdered() {
		marker = strconv.Itoa(number) + string(l.Marker) + " "
	}
	indent := strings.Repeat(" ", len([]rune(marker)))
	if box, ok := taskBox(n); ok {
		if !l.IsOrdered() {
			marker = ""
		}
		marker += box
	}
	if len(w.levels) >= maxIndent {
		indent = ""
	}
	return level{marker: marker, at: n.Pos(), indent: indent}
}

// taskBox is the box of an item of a task list.
func taskBox(item ast.Node) (box string, ok bool) {
	first := item.FirstChild()
	if first == nil {
		return "", false
	}
	c, ok := first.FirstChild().(*east.TaskCheckBox)
	if !ok {
		return "", false
	}
	if c.IsChecked {
		return "☑ ", true
	}
	return "☐ ", true
}

// quote emits a quote. Platforms can't nest quotes or put them into lists: there a
// bar stands before the lines.
func (w *walker) quote(n *ast.Blockquote) {
	w.separate(n.Pos())
	if len(w.levels) == 0 && w.style.Quote == NotQuoted {
		w.style.Quote = Quoted
		w.blocks(n)
		w.style.Quote = NotQuoted
		return
	}
	bar := "│ "
	if len(w.levels) >= maxIndent {
		bar = ""
	}
	w.push(level{marker: bar, indent: bar, at: n.Pos()})
	w.blocks(n)
	w.pop()
}

// fence emits a fenced code block, and below what it belongs to what its fence says
// besides the language.
func (w *walker) fence(n *ast.FencedCodeBlock) {
	language := ""
	if n.Info != nil {
		info := w.value(n.Info.Segment)
		first, rest, _ := strings.Cut(info, " ")
		if isLanguage(first) {
			language = first
		}
		if language == "" || rest != "" {
			w.separate(n.Pos())
			w.line(info, n.Info.Segment.Start)
		}
	}
	w.code(n.Pos(), n.Lines(), language)
}

// isLanguage says whether a word behind a fence is the name of a language. Others
// (paths, attributes) are shown.
func isLanguage(s string) bool {
	return s != "" && len(s) <= 32 && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("+-#._", r)
	})
}

func (w *walker) code(at int, lines *text.Segments, language string) {
	style := w.style
	w.gap(1, style)
	w.style = Style{Pre: true, Language: language, Quote: style.Quote}
	w.segments(lines)
	w.style = style
	w.gap(1, style)
}

func (w *walker) html(n *ast.HTMLBlock) {
	w.separate(n.Pos())
	w.segments(n.Lines())
	if n.HasClosure() {
		w.text(w.value(n.ClosureLine), n.ClosureLine.Start)
	}
}

// segments emits lines as they are.
func (w *walker) segments(lines *text.Segments) {
	for i := range lines.Len() {
		s := lines.At(i)
		w.atom(strings.Repeat(" ", s.Padding), s.Start)
		w.text(w.value(s), s.Start)
	}
}
