package entities

import (
	"strings"

	"github.com/panebridge/panebridge/internal/render"
)

// types are in the order in which those that hold the same text are nested.
var types = [...]Type{Blockquote, Pre, Code, TextLink, Bold, Italic, Underline, Strikethrough} //nolint:gochecknoglobals // a constant table

// value is what a style says of a type: "" for nothing. Neighbours with different
// values are different entities.
func value(t Type, s render.Style) string {
	yes := false
	switch t {
	case Blockquote:
		switch s.Quote {
		case render.NotQuoted:
			return ""
		case render.QuotedLong:
			return string(ExpandableBlockquote)
		default:
			return string(Blockquote)
		}
	case Pre:
		if s.Pre {
			return string(Pre) + s.Language
		}
	case TextLink:
		return s.URL
	case Code:
		yes = s.Code
	case Bold:
		yes = s.Bold
	case Italic:
		yes = s.Italic
	case Underline:
		yes = s.Underline
	case Strikethrough:
		yes = s.Strike
	default:
	}
	if yes {
		return string(t)
	}
	return ""
}

// nester makes nested entities of pieces.
type nester struct {
	styled
	units []int // before each piece; and all
	out   []Entity
}

func entities(m styled) []Entity {
	n := nester{styled: m, units: make([]int, 1, len(m.pieces)+1)}
	for i := range m.pieces {
		n.units = append(n.units, n.units[i]+Units(n.piece(i)))
	}
	n.build(0, len(m.pieces), 0)
	return n.out
}

// piece is the text of a piece.
func (n *nester) piece(i int) string {
	from := 0
	if i > 0 {
		from = n.pieces[i-1].end
	}
	return n.text[from:n.pieces[i].end]
}

// build makes the entities of the pieces from lo to hi, which are within entities of
// the types in open, a set of bits. Where several begin, the one that goes on the
// longest holds the others: that makes the fewest.
func (n *nester) build(lo, hi int, open uint) {
	for lo < hi {
		longest, end := -1, lo
		for i, t := range types {
			if v := value(t, n.pieces[lo].style); v != "" && open>>i&1 == 0 {
				if e := n.extent(t, v, lo, hi); e > end {
					longest, end = i, e
				}
				if t == Blockquote {
					break // nothing holds a quote
				}
			}
		}
		if longest < 0 {
			lo++
			continue
		}
		n.add(types[longest], lo, end)
		n.build(lo, end, open|1<<longest)
		lo = end
	}
}

// extent is up to where pieces have the same value.
func (n *nester) extent(t Type, v string, lo, hi int) int {
	for lo < hi && value(t, n.pieces[lo].style) == v {
		lo++
	}
	return lo
}

// add appends an entity, without the blanks at its ends, if anything is left.
func (n *nester) add(t Type, lo, hi int) {
	start, end := n.units[lo], n.units[hi]
	for ; lo < hi; lo++ {
		text := n.piece(lo)
		rest := strings.TrimLeft(text, blanks)
		start += len(text) - len(rest) // blanks have one unit and one byte
		if rest != "" {
			break
		}
	}
	for ; lo < hi; hi-- {
		text := n.piece(hi - 1)
		rest := strings.TrimRight(text, blanks)
		end -= len(text) - len(rest)
		if rest != "" {
			break
		}
	}
	if lo == hi {
		return
	}
	e := Entity{Type: t, Offset: start, Length: end - start}
	switch style := n.pieces[lo].style; t {
	case Blockquote:
		e.Type = Type(value(t, style))
	case TextLink:
		e.URL = style.URL
	case Pre:
		e.Language = style.Language
	default:
	}
	n.out = append(n.out, e)
}
