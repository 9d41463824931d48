package render

import (
	"github.com/yuin/goldmark/extension"
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
}

// value is the source of a segment.
func (w *walker) value(s text.Segment) string { return string(w.src[s.Start:s.Stop]) }
