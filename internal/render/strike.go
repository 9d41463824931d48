package render

import (
	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// strikeParser takes "~~text~~" for strikethrough, and no single tildes: those
// mean "about" and "to" ("3~5 files, 10~20 lines"), and without them the text says
// something else.
type strikeParser struct{}

// Trigger implements parser.InlineParser.
func (strikeParser) Trigger() []byte { return []byte{'~'} }

// Parse implements parser.InlineParser.
func (strikeParser) Parse(_ ast.Node, block text.Reader, pc parser.Context) ast.Node {
	before := block.PrecendingCharacter()
	line, segment := block.PeekLine()
	d := parser.ScanDelimiter(line, before, 2, strikeDelimiter{})
	if d == nil || d.OriginalLength != 2 || before == '~' {
		return nil
	}
	d.Segment = segment.WithStop(segment.Start + d.OriginalLength)
	block.Advance(d.OriginalLength)
	pc.PushDelimiter(d)
	return d
}

type strikeDelimiter struct{}

// IsDelimiter implements parser.DelimiterProcessor.
func (strikeDelimiter) IsDelimiter(c byte) bool { return c == '~' }

// CanOpenCloser implements parser.DelimiterProcessor.
func (strikeDelimiter) CanOpenCloser(opener, closer *parser.Delimiter) bool {
	return opener.Char == closer.Char
}

// OnMatch implements parser.DelimiterProcessor.
func (strikeDelimiter) OnMatch(int) ast.Node { return east.NewStrikethrough() }
