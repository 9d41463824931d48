package render

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// restart is where a document can be parsed from, for what it shows behind some
// later place: where a block begins that's in no other, behind an empty line. What's
// before it matters by the targets of links that are defined there, and by nothing
// else.
type restart struct {
	start   int // in bytes
	targets []parser.Reference
	plain   bool // the text is beyond what's parsed
}

// newRestart returns the last restart that's good for what stands behind byte at.
func newRestart(source string, at int) restart {
	source = source[:lineEnd(source, runeStart(source, at))]
	if at <= 0 {
		return restart{}
	}
	if !parsable(source) {
		return restart{start: plainStart(source, at), plain: true}
	}
	src := []byte(source)
	pc := parser.NewContext()
	doc := skeletons.Parse(text.NewReader(src), parser.WithContext(pc))
	for n := doc.LastChild(); n != nil; n = n.PreviousSibling() {
		start := lineStart(src, n.Pos())
		if start < at && isBehindEmptyLine(src[:start]) && isFirst(n) {
			return restart{start: start, targets: pc.References()}
		}
	}
	return restart{}
}

// plainStart is where a text without markup can begin, for what it shows behind byte at.
func plainStart(source string, at int) int { return strings.LastIndexByte(source[:at], '\n') + 1 }

// isFirst says whether no block before n in the document begins behind it.
func isFirst(n ast.Node) bool {
	for p := n.PreviousSibling(); p != nil; p = p.PreviousSibling() {
		if p.Pos() >= n.Pos() {
			return false
		}
	}
	return true
}

func lineStart(s []byte, at int) int {
	if at < 0 {
		return 0
	}
	return bytes.LastIndexByte(s[:at], '\n') + 1
}

func isBehindEmptyLine(s []byte) bool {
	line := string(s[lineStart(s, max(0, len(s)-1)):])
	return len(s) > 0 && strings.TrimLeft(line, " \t") == "\n"
}

// context is one in which the targets are known.
func (r restart) context() parser.Context {
	pc := parser.NewContext()
	for _, t := range r.targets {
		pc.AddReference(t)
	}
	return pc
}
