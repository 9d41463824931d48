package render

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

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
	if n.AutoLinkType == ast.AutoLinkURL && w.style.URL == "" && !w.bare && strings.Contains(url, "@") && isWeb(url) {
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
