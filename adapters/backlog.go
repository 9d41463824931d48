package adapters

import (
	"context"
	"slices"
	"strings"

	"github.com/panebridge/panebridge/sessions"
)

// readAtOnce is how many lines are read from the log in one transaction.
const readAtOnce = 500

// backlog is a stretch of an output log, loaded for one call.
type backlog struct {
	pieces []Piece  // whole lines, numbered without holes
	head   int64    // the last line to load
	all    bool     // the pieces go up to head
	size   int      // bytes of text behind a line, line ends included
	here   string   // the place that it's for, as lines say where they were written
	answer []string // of the answer that the last piece is of, the lines up to it
	// endsTurn is HubOptions.EndsTurn; nil: no line does.
	endsTurn func(line string) bool
}

// load reads lines from line `from` on, up to b.head, and until those behind line
// `counted` have at least `size` bytes. It goes on where it stopped before.
func (b *backlog) load(ctx context.Context, log Log, id sessions.ID, from, counted int64, size int) error {
	if n := len(b.pieces); n > 0 {
		from = b.pieces[n-1].Line.N + 1
	}
	for from <= b.head && b.size < size {
		out, err := log.Read(ctx, id, from, int(min(readAtOnce, b.head-from+1)))
		if err != nil {
			return err
		}
		if len(out.Lines) == 0 {
			break // dropped or not there: no more can be had
		}
		if first := out.Lines[0]; len(b.pieces) == 0 && first.Kind == sessions.KindAnswer && !first.Begins {
			if b.answer, err = answerBefore(ctx, log, id, out.Lines[0].N); err != nil {
				return err
			}
		}
		b.add(out, counted)
		from = out.Lines[len(out.Lines)-1].N + 1
	}
	b.all = from > b.head || b.size < size
	return nil
}

// backAtOnce is how many lines are read in one transaction to find where an answer
// begins.
const backAtOnce = 100

// answerBefore reads back the lines before line n that belong to the same answer: up to
// the one that begins it, another kind of line, a gap, or maxBefore.
func answerBefore(ctx context.Context, log Log, id sessions.ID, n int64) ([]string, error) {
	var back []string
	size := 0
	for to := n; to > 1; {
		from := max(1, to-backAtOnce)
		out, err := log.Read(ctx, id, from, int(to-from)+1) // line `to` too, for the gap before it
		if err != nil {
			return nil, err
		}
		lines := out.Lines
		for len(lines) > 0 && lines[len(lines)-1].N >= to {
			lines = lines[:len(lines)-1]
		}
		for _, l := range slices.Backward(lines) {
			gap := slices.ContainsFunc(out.Gaps, func(g sessions.Gap) bool { return g.After == l.N })
			if gap || l.Kind != sessions.KindAnswer || size > maxBefore {
				slices.Reverse(back)
				return back, nil
			}
			back = append(back, l.Text)
			size += len(l.Text) + 1
			if l.Begins {
				slices.Reverse(back)
				return back, nil
			}
		}
		if len(lines) == 0 || lines[0].N > from {
			break // the log has dropped the rest
		}
		to = from
	}
	slices.Reverse(back)
	return back, nil
}

// add appends what was read. A gap that stands for dropped lines isn't taken:
// numbers say that too, and stay the same when more is dropped.
func (b *backlog) add(out sessions.Output, counted int64) {
	gaps := out.Gaps
	for _, l := range out.Lines {
		if l.N > b.head {
			return
		}
		p := Piece{Line: l, To: len(l.Text), Hidden: l.Origin != "" && l.Origin == b.here || b.isAboutHere(l) || b.isEnd(l)}
		for len(gaps) > 0 && gaps[0].After < l.N {
			if gaps[0].After == l.N-1 {
				p.Gap = joinGaps(p.Gap, gaps[0])
			}
			gaps = gaps[1:]
		}
		if l.Kind != sessions.KindAnswer || l.Begins || p.Gap != nil {
			b.answer = nil
		}
		if l.Kind == sessions.KindAnswer {
			p.answer, b.answer = b.answer, append(b.answer, l.Text)
		}
		b.pieces = append(b.pieces, p)
		if l.N > counted {
			b.size += len(l.Text) + 1
		}
	}
}

// isAboutHere says whether a line is a notice about the place where the log is shown, or the
// chat that's in: why it wasn't shown there.
func (b *backlog) isAboutHere(l sessions.Line) bool {
	return l.Kind == sessions.KindNotice && l.Origin != "" && (l.Origin == b.here || strings.HasPrefix(b.here, l.Origin+"/"))
}

// isEnd says whether a line says nothing but that a turn has ended.
func (b *backlog) isEnd(l sessions.Line) bool {
	return l.Kind == sessions.KindPane && b.endsTurn != nil && b.endsTurn(l.Text)
}

// first is the number of the first line that's kept.
func (b *backlog) first() int64 {
	if len(b.pieces) == 0 {
		return b.head + 1
	}
	return b.pieces[0].Line.N
}

// has says whether all from a place on is kept.
func (b *backlog) has(from Place) bool { return b.first() <= from.Line }

// between returns what stands between two places, as far as it's loaded.
func (b *backlog) between(from, to Place) []Piece {
	if !from.Before(to) {
		return nil
	}
	var out []Piece
	for _, p := range b.pieces[b.index(from.Line):min(len(b.pieces), b.index(to.Line)+1)] {
		if n := p.Line.N; n == from.Line && from.Byte > 0 {
			p.From, p.Gap = min(from.Byte, p.To), nil
		} else if n == to.Line && to.Byte == 0 || n > to.Line {
			break
		}
		if p.Line.N == to.Line {
			p.To = max(p.From, min(to.Byte, p.To))
		}
		out = append(out, p)
	}
	return out
}

// index is that of the first piece with at least a line number.
func (b *backlog) index(line int64) int {
	return int(min(max(line-b.first(), 0), int64(len(b.pieces))))
}
