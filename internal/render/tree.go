package render

import (
	"cmp"
	"slices"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
)

// TreeKind is what a block of a tree is.
type TreeKind string

// The kinds of block. Those that have others in them have Blocks; TreeParagraph, TreeHeading
// and TreePlain have Runs.
const (
	TreeParagraph TreeKind = "paragraph"
	TreeHeading   TreeKind = "heading"
	TreePlain     TreeKind = "plain" // text that's shown as it stands, with its line breaks
	TreeList      TreeKind = "list"
	TreeItem      TreeKind = "item"
	TreeQuote     TreeKind = "quote"
	TreeCode      TreeKind = "code"
	TreeTable     TreeKind = "table"
	TreeRule      TreeKind = "rule"
)

// TreeBlock is a block of an answer, for a reader who can show lists, tables and code as such.
type TreeBlock struct {
	Kind   TreeKind
	Runs   []Run
	Blocks []TreeBlock
	Level  int // of a heading, from 1 to 6
	// Ordered and Start are of a list.
	Ordered bool
	Start   int
	// Task says that an item has a box, Done that it's ticked.
	Task, Done bool
	// Language and Code are of code.
	Language, Code string
	// Rows are a table's, the head first; Align has "left", "right", "center" or "" for each
	// column.
	Rows  [][]TreeCell
	Align []string
}

// TreeCell is a cell of a table.
type TreeCell struct{ Runs []Run }

// Tree returns the blocks of an answer's Markdown. What a chat shows of it is in the tree, and
// nothing else. A text that's too large to be parsed is one block, as it stands.
func Tree(source string) []TreeBlock {
	source = clean(source)
	if !parsable(source) {
		return []TreeBlock{{Kind: TreePlain, Runs: []Run{{Text: source}}}}
	}
	src := []byte(source)
	t := &treeMaker{source: source, src: src}
	return t.blocks(documents.Parse(text.NewReader(src)))
}

// treeMaker makes the blocks of one parsed document.
type treeMaker struct {
	source string
	src    []byte
}

// blocks are the children of a container, in the order of the source, as walker.blocks has them.
func (t *treeMaker) blocks(parent ast.Node) []TreeBlock {
	var all []ast.Node
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		all = append(all, n)
	}
	slices.SortStableFunc(all, func(a, b ast.Node) int { return cmp.Compare(textStart(a), textStart(b)) })
	var out []TreeBlock
	for _, n := range all {
		out = append(out, t.block(n)...)
	}
	return out
}

func (t *treeMaker) block(n ast.Node) []TreeBlock {
	switch n := n.(type) {
	case *ast.List:
		return []TreeBlock{t.list(n)}
	case *ast.Blockquote:
		return []TreeBlock{{Kind: TreeQuote, Blocks: t.blocks(n)}}
	case *ast.FencedCodeBlock:
		return t.fence(n)
	case *ast.CodeBlock:
		return []TreeBlock{{Kind: TreeCode, Code: t.code(n.Lines())}}
	case *ast.HTMLBlock:
		return t.plain(func(w *walker) { w.html(n) })
	case *ast.LinkReferenceDefinition:
		return t.plain(func(w *walker) { w.segments(n.Lines()) })
	case *east.Table:
		return []TreeBlock{t.table(n)}
	case *ast.ThematicBreak:
		return []TreeBlock{{Kind: TreeRule}}
	case *ast.Heading:
		return []TreeBlock{{Kind: TreeHeading, Level: n.Level, Runs: t.runs(func(w *walker) { w.inlines(n) })}}
	default:
		return []TreeBlock{{Kind: TreeParagraph, Runs: t.runs(func(w *walker) { w.inlines(n) })}}
	}
}

// runs are what emit emits, as in a chat.
func (t *treeMaker) runs(emit func(*walker)) []Run {
	w := &walker{builder: &builder{}, src: t.src, tree: true}
	w.begin(0, t.source, 0, 0, len(t.source))
	w.fresh = false
	emit(w)
	return w.runs
}

// plain is a block of text as it stands; none if there's none.
func (t *treeMaker) plain(emit func(*walker)) []TreeBlock {
	runs := t.runs(emit)
	if len(runs) == 0 {
		return nil
	}
	return []TreeBlock{{Kind: TreePlain, Runs: runs}}
}

func (t *treeMaker) list(l *ast.List) TreeBlock {
	out := TreeBlock{Kind: TreeList, Ordered: l.IsOrdered(), Start: l.Start}
	for n := l.FirstChild(); n != nil; n = n.NextSibling() {
		item := TreeBlock{Kind: TreeItem, Blocks: t.blocks(n)}
		var box string
		box, item.Task = taskBox(n)
		item.Done = box == tickedBox
		out.Blocks = append(out.Blocks, item)
	}
	return out
}

// fence is fenced code, and before it what its fence says besides the language.
func (t *treeMaker) fence(n *ast.FencedCodeBlock) []TreeBlock {
	code := TreeBlock{Kind: TreeCode, Code: t.code(n.Lines())}
	var rest bool
	if n.Info != nil {
		code.Language, rest = fenceLanguage(string(t.src[n.Info.Segment.Start:n.Info.Segment.Stop]))
	}
	if !rest {
		return []TreeBlock{code}
	}
	info := t.plain(func(w *walker) { w.line(w.value(n.Info.Segment), n.Info.Segment.Start) })
	return append(info, code)
}

// code are lines as they are, each with its end.
func (t *treeMaker) code(lines *text.Segments) string { return string(lines.Value(t.src)) }

func (t *treeMaker) table(n *east.Table) TreeBlock {
	out := TreeBlock{Kind: TreeTable}
	for _, a := range n.Alignments {
		align := ""
		if a != east.AlignNone {
			align = a.String()
		}
		out.Align = append(out.Align, align)
	}
	w := &walker{builder: &builder{source: t.source}, src: t.src, tree: true}
	for _, row := range w.rows(n) {
		cells := make([]TreeCell, 0, len(row.cells))
		for _, c := range row.cells {
			cells = append(cells, TreeCell{c.runs})
		}
		out.Rows = append(out.Rows, cells)
	}
	return out
}
