package render

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// markdown emits the source as a document, or as the end of one.
func (b *builder) markdown(at restart) {
	if at.plain || !parsable(b.source) {
		b.lines(Style{})
		return
	}
	source := []byte(b.source)
	w := &walker{builder: b, src: source}
	w.blocks(documents.Parse(text.NewReader(source), parser.WithContext(at.context())))
}

// The parsers, which keep no state between documents: documents is one of GitHub
// Flavored Markdown (github.github.com/gfm), CommonMark with tables, task lists,
// strikethrough and bare links; skeletons takes no notice of what's within blocks.
var (
	documents = newParser(inlineParsers()) //nolint:gochecknoglobals // made once, and then constant
	skeletons = newParser(nil)             //nolint:gochecknoglobals // made once, and then constant
)

func newParser(inline []util.PrioritizedValue) parser.Parser {
	return parser.NewParser(
		parser.WithBlockParsers(parser.DefaultBlockParsers()...),
		parser.WithInlineParsers(inline...),
		parser.WithParagraphTransformers(
			util.Prioritized(extension.NewTableParagraphTransformer(), 200),
			util.Prioritized(parser.LinkReferenceParagraphTransformer, 100),
			util.Prioritized(definitionOrder{}, 101),
		),
		parser.WithASTTransformers(util.Prioritized(extension.NewTableASTTransformer(), 0)),
	)
}

// inlineParsers are goldmark's own, with the priorities they have there, but for
// those of links and of strikethrough.
func inlineParsers() []util.PrioritizedValue {
	return []util.PrioritizedValue{
		util.Prioritized(extension.NewTaskCheckBoxParser(), 0),
		util.Prioritized(parser.NewCodeSpanParser(), 100),
		util.Prioritized(newLinkParser(), 200),
		util.Prioritized(parser.NewAutoLinkParser(), 300),
		util.Prioritized(parser.NewRawHTMLParser(), 400),
		util.Prioritized(parser.NewEmphasisParser(), 500),
		util.Prioritized(strikeParser{}, 500),
		util.Prioritized(extension.NewLinkifyParser(), 999),
	}
}

// walker emits a parsed document.
type walker struct {
	*builder
	src []byte
	// bare says that there's nothing but text: links can't be in code.
	bare bool
	// tree says that it's for Tree, whose readers find no addresses in a text by themselves, and
	// can have links in tables.
	tree bool
}

// value is the source of a segment.
func (w *walker) value(s text.Segment) string { return string(w.src[s.Start:s.Stop]) }

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

// The parser's time for the worst texts grows with the square of their length: for
// brackets that are never closed, and for quotes and lists in each other. Texts beyond
// these bounds are no answers, and are shown as they are. Within them the worst page
// takes tens of milliseconds.
const (
	maxMarkdown = 32 << 10 // bytes: eight full messages
	maxSigns    = 4000     // of markup, between two empty lines
	maxMarkers  = 64       // of quotes and lists, at the start of a line
)

// parsable says whether a text is within the bounds.
func parsable(s string) bool {
	if len(s) > maxMarkdown {
		return false
	}
	signs := 0
	for line := range strings.Lines(s) {
		text := strings.TrimLeft(line, " \t>+-*.)0123456789")
		if len(strings.TrimLeft(text, "\r\n")) == 0 && !strings.ContainsAny(line, "+-*.)0123456789") {
			signs = 0 // an empty line, maybe of a quote
		}
		if markers(line[:len(line)-len(text)]) > maxMarkers {
			return false
		}
		for i := range len(line) {
			switch line[i] {
			case '[', ']', '*', '_', '`', '~', '<', '|', '!', '&':
				signs++
			}
		}
		if signs > maxSigns {
			return false
		}
	}
	return true
}

// markers counts what may be markers of quotes and lists in the start of a line. A
// line of dashes or stars is none.
func markers(start string) int {
	n := strings.Count(start, ">")
	for _, marker := range []string{"- ", "+ ", "* ", ". ", ") "} {
		n += strings.Count(start, marker)
	}
	if strings.Trim(start, " -") == "" || strings.Trim(start, " *") == "" {
		return 0
	}
	return n
}
