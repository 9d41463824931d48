package redact

import (
	"cmp"
	"slices"
)

// Mask is a part of a line that is secret. A secret that's wrapped over two lines is
// two masks.
type Mask struct {
	Line int // index in the lines that were given
	From int // in bytes of the line as it was
	To   int
	Name string // of the rule
	// Rest says that the secret begins in a line before.
	Rest bool
}

// maskBegin and maskEnd close in what stands in the place of a secret.
const maskBegin, maskEnd = "[masked", "]"

// Text is what stands in the place of the secret.
func (m Mask) Text() string {
	if m.Rest {
		return "…" + maskBegin + maskEnd
	}
	return "…" + maskBegin + ": " + m.Name + maskEnd
}

// masks returns the masks of the rows from one on up to another, numbered from there.
// Which masks a row has depends on nothing but the pieces in it.
func (s *scan) masks(from, to int) []Mask {
	pieces := slices.DeleteFunc(s.pieces, func(p matchPiece) bool { return p.row < from || p.row >= to })
	slices.SortStableFunc(pieces, func(a, b matchPiece) int {
		return cmp.Or(a.row-b.row, a.from-b.from, b.rank-a.rank, b.end-a.end, cmp.Compare(a.label, b.label))
	})
	var out []Mask
	for i := 0; i < len(pieces); {
		j, end := i+1, pieces[i].end
		for j < len(pieces) && pieces[j].row == pieces[i].row && pieces[j].from < end {
			end = max(end, pieces[j].end)
			j++
		}
		out = append(out, s.merged(pieces[i:j], end, from))
		i = j
	}
	return out
}

// merged is the mask of pieces that overlap. The surest one says what it is, and what
// of it is shown if that isn't secret by another.
func (s *scan) merged(pieces []matchPiece, end, first int) Mask {
	best := pieces[0]
	secret := best.secret
	for _, p := range pieces[1:] {
		if p.rank > best.rank || p.rank == best.rank && p.from == best.from && p.secret > best.secret {
			best = p
		}
		secret = min(secret, p.secret)
	}
	if best.from <= secret {
		secret = best.secret
	}
	return Mask{Line: best.row - first, From: s.raw(best.row, secret, false), To: s.raw(best.row, end, true), Name: best.label, Rest: !best.first}
}

// apply returns the lines with their masks. Those without one are the same strings.
func apply(lines []string, masks []Mask) []string {
	if len(masks) == 0 {
		return lines
	}
	out := slices.Clone(lines)
	for _, m := range slices.Backward(masks) { // so that places stay true
		l := out[m.Line]
		out[m.Line] = l[:m.From] + m.Text() + l[m.To:]
	}
	return out
}
