package render

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// builder makes runs of one part after the other. What stands between texts (line
// breaks, indentation, markers of lists) is owed, and paid when a text comes that
// is shown: so nothing stands at the edges of a message that begins or ends in the
// middle of a document.
type builder struct {
	runs []Run

	// The part at work.
	index    int
	base     int    // bytes before source; places count from there
	source   string // as far as it's known
	from, to int    // what's shown of it, in bytes of source, as all below
	last     int    // where the text ends that was emitted last

	style  Style
	levels []*level
	breaks int   // line breaks owed
	owed   Style // their style
	fresh  bool  // nothing of the line has been emitted: its prefix is owed
	begun  bool  // something of the part has been emitted
	parted bool  // the line breaks owed are those between two blocks
}

// level is a container whose lines begin with something.
type level struct {
	marker string // of its first line: "• "
	at     int    // where the marker comes from
	indent string // of the others
	done   bool   // the marker has been emitted
}

// begin begins a part. The places from and to count from its start, as base does.
func (b *builder) begin(index int, source string, base, from, to int) {
	b.index, b.base, b.source, b.from, b.to = index, base, source, from-base, to-base
	b.last, b.style, b.levels, b.fresh, b.begun, b.parted = -1, Style{}, nil, true, false, false
}

func (b *builder) place(at int) TextPosition { return TextPosition{b.index, b.base + at} }

// gap owes n line breaks, instead of those owed before; at the start of a part at
// least those owed before it.
func (b *builder) gap(n int, style Style) {
	if b.breaks > 0 {
		style = style.meet(b.owed)
	}
	if !b.begun {
		n = max(n, b.breaks)
	}
	b.breaks, b.owed, b.fresh = n, style, true
}

// newline owes one line break more.
func (b *builder) newline() { b.gap(b.breaks+1, b.style) }

// text emits s, which is the source from byte at on.
func (b *builder) text(s string, at int) {
	for {
		i := strings.IndexByte(s, '\n')
		if i < 0 {
			b.line(s, at)
			return
		}
		b.line(s[:i], at)
		b.newline()
		s, at = s[i+1:], at+i+1
	}
}

// tab is what a tab becomes: Telegram makes it one space, which takes the shape
// from code.
const tab = "    "

// line emits a part of a line.
func (b *builder) line(s string, at int) {
	for {
		i := strings.IndexByte(s, '\t')
		if i < 0 {
			b.exact(s, at)
			return
		}
		b.exact(s[:i], at)
		b.atom(tab, at+i)
		s, at = s[i+1:], at+i+1
	}
}

func (b *builder) exact(s string, at int) {
	if skip := min(b.from-at, len(s)); skip > 0 {
		s, at = s[skip:], at+skip
	}
	if over := at + len(s) - b.to; over > 0 {
		s = s[:max(0, len(s)-over)]
	}
	if s == "" {
		return
	}
	b.pay(at)
	b.add(Run{Text: s, Style: b.style, at: b.place(at), exact: true})
	b.last = at + len(s)
}

// atom emits text that stems from the source at byte at, and isn't the same as
// there. It's never divided, so it must be short.
func (b *builder) atom(s string, at int) {
	if at < b.from || at >= b.to || s == "" {
		return
	}
	b.pay(at)
	b.add(Run{Text: s, Style: b.style, at: b.place(at)})
	b.last = at
}

// pay emits what's owed before a text that comes from byte at.
func (b *builder) pay(at int) {
	b.begun, b.parted = true, false
	if !b.fresh {
		return
	}
	style := b.owed
	if b.breaks > 0 && len(b.runs) > 0 {
		b.add(Run{Text: strings.Repeat("\n", b.breaks), Style: style, at: b.breakPlace(at), glue: true})
	} else {
		style = Style{Quote: b.style.Quote}
	}
	b.breaks, b.owed, b.fresh = 0, Style{}, false
	if b.style.Pre {
		// Code stands in lines of its own, where nothing is put before it.
		if b.marker(at, Style{Quote: b.style.Quote}) {
			b.add(Run{Text: "\n", Style: Style{Quote: b.style.Quote}, at: b.place(at), glue: true})
		}
		return
	}
	b.prefix(at, style)
}

// breakPlace is where a message ends that ends before the line that's about to begin
// with text from byte at: at the start of the line in the source, so that none of its
// markup is taken for the message's text.
func (b *builder) breakPlace(at int) TextPosition {
	if start := strings.LastIndexByte(b.source[:at], '\n') + 1; start > b.last {
		return b.place(start)
	}
	for _, l := range b.levels {
		if b.marked(l) {
			return b.place(l.at) // the outermost comes first
		}
	}
	return b.place(at)
}

// marked says whether a level's marker belongs into the line that begins.
func (b *builder) marked(l *level) bool { return !l.done && l.at >= b.from }

// prefix emits what the line begins with.
func (b *builder) prefix(at int, style Style) {
	indent := ""
	for _, l := range b.levels {
		if !b.marked(l) {
			indent += l.indent
			continue
		}
		b.add(Run{Text: indent, Style: style, at: b.place(l.at), glue: true})
		b.add(Run{Text: l.marker, Style: Style{Quote: style.Quote}, at: b.place(l.at)})
		l.done, indent = true, ""
	}
	b.add(Run{Text: indent, Style: style, at: b.place(at), glue: true})
}

// marker emits the line's prefix if it has a marker that wasn't shown.
func (b *builder) marker(at int, style Style) bool {
	for _, l := range b.levels {
		if b.marked(l) && l.marker != l.indent {
			b.prefix(at, style)
			return true
		}
	}
	return false
}

// push enters a container.
func (b *builder) push(l level) *level {
	b.levels = append(b.levels, &l)
	return &l
}

// pop leaves a container. A marker without anything behind it is shown too.
func (b *builder) pop() {
	n := len(b.levels) - 1
	if l := b.levels[n]; b.marked(l) && l.at < b.to {
		b.pay(l.at)
	}
	b.levels = b.levels[:n]
}

func (b *builder) add(r Run) {
	if r.Text == "" {
		return
	}
	b.runs = append(b.runs, r)
}

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
		return tickedBox, true
	}
	return "☐ ", true
}

const tickedBox = "☑ "

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
		var rest bool
		if language, rest = fenceLanguage(info); rest {
			w.separate(n.Pos())
			w.line(info, n.Info.Segment.Start)
		}
	}
	w.code(n.Pos(), n.Lines(), language)
}

// fenceLanguage is the language that a fence names, and whether it says something else.
func fenceLanguage(info string) (language string, rest bool) {
	first, more, _ := strings.Cut(info, " ")
	if isLanguage(first) {
		language = first
	}
	return language, language == "" || more != ""
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

// inlines emits the text in a block, or in emphasis or a link.
func (w *walker) inlines(parent ast.Node) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		w.inline(n)
	}
}

func (w *walker) inline(n ast.Node) {
	was := w.style
	switch n := n.(type) {
	case *ast.Text:
		w.textNode(n)
	case *ast.CodeSpan:
		w.style.Code = true
		w.inlines(n)
	case *ast.Emphasis:
		w.style.Bold = was.Bold || n.Level == 2
		w.style.Italic = was.Italic || n.Level == 1
		w.inlines(n)
	case *east.Strikethrough:
		w.style.Strike = true
		w.inlines(n)
	case *ast.Link:
		w.link(n, target(n.Destination), len(n.Title) > 0)
	case *ast.Image:
		w.atom("🖼 ", n.Pos())
		w.link(n, target(n.Destination), len(n.Title) > 0)
	case *ast.AutoLink:
		w.autoLink(n)
	case *ast.RawHTML:
		w.segments(n.Segments)
	case *east.TaskCheckBox: // it's the item's marker
	default:
		w.inlines(n)
	}
	w.style = was
}

func (w *walker) textNode(n *ast.Text) {
	if n.IsRaw() {
		w.rawText(n.Segment)
	} else {
		w.unescaped(n.Segment)
	}
	if n.SoftLineBreak() || n.HardLineBreak() {
		w.newline()
	}
}

// rawText emits text of code within a line, where line ends are blanks.
func (w *walker) rawText(s text.Segment) {
	w.line(strings.ReplaceAll(w.value(s), "\n", " "), s.Start)
}

// target is the target of a link as a URL: without the escapes of Markdown, with
// those of URLs.
func target(destination []byte) string { return string(util.URLEscape(destination, true)) }

// link emits the text of a link or an image. What a chat can't open is shown behind
// it, as it was written, and so is a title, and the target of one whose text is another
// address.
func (w *walker) link(n ast.Node, url string, titled bool) {
	from, to := tail(n)
	blank := isBlank(n, w.src)
	titled = titled || deceives(n, w.src, url)
	open := !w.bare && isWeb(url) && !blank
	before := len(w.runs)
	if open && w.style.URL == "" {
		was := w.style
		w.style.URL, w.style.Told = url, titled
		w.inlines(n)
		w.style = was
	} else {
		open = false
		w.inlines(n)
	}
	if from+1 >= to {
		return
	}
	if open && !titled {
		if w.from > n.Pos() && (MessageText{runs: w.runs[before:]}).Blank() {
			w.hidden(from, to, seenEnd(n, w.src))
		}
		return
	}
	if !blank {
		w.atom(" ", from)
	}
	w.text(string(w.src[from+1:to]), from+1)
}

// hidden passes over the markup behind a text that was shown in messages before, up to
// seen. If the markup goes on behind the line that they could see, or one of them may have
// ended between the text and it, they have shown it as text: then the rest is text too.
func (w *walker) hidden(from, to, seen int) {
	if w.from >= to {
		return
	}
	end := bytes.IndexByte(w.src[w.from-1:], '\n') // of the line that they could see
	start := max(w.from, from)
	if end >= 0 && to > w.from-1+end || bytes.IndexByte(w.src[min(seen, start):start], '\n') >= 0 {
		w.text(string(w.src[start:to]), start)
	}
}

// seenEnd is where the last line of a node's text ends in which something can be seen, or a
// byte before that.
func seenEnd(n ast.Node, src []byte) int {
	end := n.Pos()
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		switch c := c.(type) {
		case *ast.Text:
			if strings.ContainsFunc(string(meant(c, src)), visible) {
				end = c.Segment.Stop
			}
		case *ast.AutoLink:
			end = max(end, c.Pos())
		case *ast.RawHTML:
			end = max(end, c.Segments.At(c.Segments.Len()-1).Stop)
		default:
			end = max(end, seenEnd(c, src))
		}
	}
	return end
}

// autoLink emits a link whose text is its target. Platforms find it by themselves;
// only one that has what could be taken for a mention needs to be said to be one.
func (w *walker) autoLink(n *ast.AutoLink) {
	label := n.Label(w.src)
	at := n.Pos() + max(0, bytes.Index(w.src[n.Pos():], label))
	url := string(n.URL(w.src))
	if n.AutoLinkType == ast.AutoLinkURL && w.style.URL == "" && !w.bare && (w.tree || strings.Contains(url, "@")) && isWeb(url) {
		w.style.URL = url
	}
	w.line(string(label), at)
}

// isBlank says that a node has no text that can be seen, however it's written.
func isBlank(n ast.Node, src []byte) bool {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		switch c := c.(type) {
		case *ast.Text:
			if strings.ContainsFunc(string(meant(c, src)), visible) {
				return false
			}
		case *ast.Image, *ast.AutoLink, *ast.RawHTML:
			return false
		default:
			if !isBlank(c, src) {
				return false
			}
		}
	}
	return true
}
