package render

import (
	"bytes"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
)

// Frame is a block of code or a table of an answer: its lines From to To-1, counted from 0,
// with the fences of code.
type Frame struct{ From, To int }

// Frames returns an answer's blocks of code and its tables, in order. The source is all of the
// answer up to some line. There are none in a text that isn't read as Markdown.
func Frames(source string) []Frame {
	if !parsable(source) {
		return nil
	}
	src := []byte(source)
	line := func(at int) int { return bytes.Count(src[:at], []byte("\n")) }
	var all []Frame
	_ = ast.Walk(skeletons.Parse(text.NewReader(src)), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering || n.Type() != ast.TypeBlock {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.CodeBlock:
			if rows := n.Lines(); rows.Len() > 0 {
				all = append(all, Frame{line(rows.At(0).Start), line(rows.At(rows.Len()-1).Start) + 1})
			}
		case *ast.FencedCodeBlock:
			if rows := n.Lines(); rows.Len() > 0 {
				f := Frame{line(rows.At(0).Start) - 1, line(rows.At(rows.Len()-1).Start) + 1}
				all = append(all, f.fenced(src))
			}
		case *east.Table:
			head, last := line(max(n.FirstChild().Pos(), 0)), line(max(n.LastChild().Pos(), 0))
			all = append(all, Frame{head, max(head+2, last+1)}) // below the head stands a rule
		default:
			return ast.WalkContinue, nil
		}
		return ast.WalkSkipChildren, nil
	})
	return all
}

// fenced is the block of code with the fence that closes it, if there's one.
func (f Frame) fenced(src []byte) Frame {
	rows := bytes.Split(src, []byte("\n"))
	if f.To < len(rows) {
		row := bytes.TrimLeft(rows[f.To], " \t>")
		if bytes.HasPrefix(row, []byte("```")) || bytes.HasPrefix(row, []byte("~~~")) {
			f.To++
		}
	}
	return f
}
