package render

import (
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// definitionOrder puts link definitions where they stand. goldmark finds them in the
// middle of a paragraph too, if what seemed to be the title of one before wasn't any
// ("[a]: /x\n(…\n[b]: /y"), and leaves a paragraph behind them that has a hole.
type definitionOrder struct{}

// Transform implements parser.ParagraphTransformer, after that of definitions.
func (definitionOrder) Transform(node *ast.Paragraph, r text.Reader, _ parser.Context) {
	var late []*ast.LinkReferenceDefinition // those behind the paragraph's first line, the last first
	for n := node.PreviousSibling(); n != nil; n = n.PreviousSibling() {
		d, ok := n.(*ast.LinkReferenceDefinition)
		if !ok || d.Lines().At(0).Start < node.Lines().At(0).Start {
			break
		}
		late = append(late, d)
	}
	parent, last := node.Parent(), ast.Node(node)
	for _, d := range late {
		lines, n := last.Lines(), 0
		for n < lines.Len() && lines.At(n).Start < d.Lines().At(0).Start {
			n++
		}
		before, behind := ast.NewParagraph(), text.NewSegments()
		for i := range lines.Len() {
			if i < n {
				s := lines.At(i)
				before.Lines().Append(s.TrimLeftSpace(r.Source()))
			} else {
				behind.Append(lines.At(i))
			}
		}
		parent.RemoveChild(parent, d)
		parent.InsertBefore(parent, last, before)
		parent.InsertAfter(parent, before, d)
		if last.SetLines(behind); behind.Len() == 0 {
			parent.RemoveChild(parent, last)
		}
		last = before
	}
}
