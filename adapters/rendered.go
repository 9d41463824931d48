package adapters

import (
	"strings"

	"github.com/panebridge/panebridge/internal/render"
)

// Rendered is what a page shows, for a platform's formatter: its notices, and its lines
// by their kinds. An Ending is its last line, as a notice.
func Rendered(p Page) render.Page {
	var b renderedLines
	b.notice(Page{Astray: p.Astray})
	b.notice(Page{Double: p.Double})
	b.notice(Page{Cut: p.Cut, Dropped: p.Dropped})
	b.notice(Page{Withheld: p.Withheld})
	attached := Page{Attached: p.Attached, When: p.When}
	if p.When != "" {
		b.notice(attached)
	}
	for _, piece := range p.Pieces {
		if piece.Gap != nil {
			// Above an empty line, as PlainText has it.
			b.notice(Page{Pieces: []Piece{{Gap: piece.Gap}}})
		}
		if l := piece.Line; !piece.Hidden {
			b.add(render.Line{
				Kind: render.KindOf(l.Kind), Text: l.Text, From: piece.From, To: piece.To, Author: piece.author(), Begins: l.Begins,
			})
		}
	}
	for _, row := range p.Live {
		b.add(render.Whole(render.Pane, row))
	}
	for i, row := range p.Writing {
		l := render.Whole(render.Plain, row)
		l.Begins = i == 0
		b.add(l)
	}
	b.notice(Page{Unfinished: p.Unfinished})
	b.notice(Page{Status: p.Status})
	if p.When == "" {
		b.notice(attached)
	}
	b.notice(Page{Ending: p.Ending})
	return render.Page{Before: p.Before, Lines: b.list}
}

// renderedLines are what a message shows, from its top.
type renderedLines struct {
	list   []render.Line
	empty  int  // lines owed before the next text: they belong to what stands below them
	begins bool // the first of them begins a block
}

func (b *renderedLines) add(l render.Line) {
	if l.Begins {
		b.empty = 0 // those are the end of another block
	}
	l.Begins, b.begins = l.Begins || b.begins, false
	if l.From == l.To {
		b.begins = l.Begins
		b.empty++
		return
	}
	if n := len(b.list); n > 0 {
		last := &b.list[n-1]
		last.Text = last.Text[:last.To] // only the last one may end in the middle
	}
	for ; b.empty > 0; b.empty-- {
		b.list = append(b.list, render.Line{Kind: l.Kind, Author: l.Author, Begins: l.Begins})
		l.Begins = false
	}
	b.list = append(b.list, l)
}

// notice adds what a page says that has nothing else.
func (b *renderedLines) notice(p Page) {
	if text := strings.TrimSuffix(PlainText(p), "\n"); text != "" {
		b.add(render.Whole(render.Notice, text))
	}
}
