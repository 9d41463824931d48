package render

import (
	"bytes"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// tailAttribute is the attribute of links and images that holds where the markup
// behind their text is: from its "]" to its end, as [2]int of bytes.
const tailAttribute = "tail"

// linkParser is goldmark's parser of links, which also notes where they end: what
// isn't shown of a link must be known, so that nothing is lost.
type linkParser struct {
	parser.InlineParser
	parser.CloseBlocker
}

func newLinkParser() linkParser {
	p := parser.NewLinkParser()
	return linkParser{p, p.(parser.CloseBlocker)} //nolint:forcetypeassert // goldmark's is one
}

// Parse implements parser.InlineParser.
func (p linkParser) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	_, before := block.Position()
	n := p.InlineParser.Parse(parent, block, pc)
	switch n.(type) {
	case *ast.Link, *ast.Image:
		_, after := block.Position()
		n.SetAttributeString(tailAttribute, [2]int{before.Start, tailEnd(block.Source(), before.Start, after.Start)})
	}
	return n
}

// tailEnd is the end of a link's markup. The reader may be on the next line
// already.
func tailEnd(source []byte, from, to int) int {
	if to <= from || to > len(source) {
		to = len(source)
	}
	return from + bytes.LastIndexAny(source[from:to], ")]") + 1
}

// tail is the markup behind the text of a link: from its "]" on.
func tail(n ast.Node) (from, to int) {
	if v, ok := n.AttributeString(tailAttribute); ok {
		t := v.([2]int) //nolint:forcetypeassert // Parse has set it
		return t[0], t[1]
	}
	return 0, 0
}
