package adapters

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/charmbracelet/x/ansi"

	"github.com/panebridge/panebridge/sessions"
)

// Length is how much a target shows of what's printed in one go: LengthAll, or a number of rows of a phone. Of more
// it shows the head and the tail, and a button that brings all of it (docs/adr/0049). "": as usual.
type Length string

// LengthAll is all of it, and LengthUsual less than what a phone shows at once (ADR 49 has it measured).
const (
	LengthAll   Length = "all"
	LengthUsual Length = "30"
)

const (
	// leastRows and mostRows are the least and the most rows that a Length may say.
	leastRows, mostRows = 10, 500
	// rowColumns is how many columns a phone's row of code has.
	rowColumns = 40
	// answersTimes is how many times as much is shown of a pane in which an agent writes of which no record is
	// read: what it prints may be its answers.
	answersTimes = 4
	// leastFolded is how many rows are left out at least: fewer are shown.
	leastFolded = 10
	// leastPart is how many rows must be left for a part of a line to be shown, and besideRows how many rows stand
	// beside a file.
	leastPart, besideRows = 3, 15
	// mostOutput is how much a message stands for at most, in bytes: all of it is read for each of its calls.
	mostOutput = 128 << 10
)

// ParseLength reads a Length; "" is "".
func ParseLength(s string) (Length, error) {
	if s == "" || s == string(LengthAll) {
		return Length(s), nil
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < leastRows || n > mostRows || strconv.Itoa(n) != s {
		return "", fmt.Errorf("read length %q: there are all, and rows of a phone from %d to %d", s, leastRows, mostRows)
	}
	return Length(s), nil
}

// rows is the number of rows; 0: all.
func (l Length) rows() int {
	n, _ := strconv.Atoi(string(cmp.Or(l, LengthUsual))) // checked; of LengthAll it's 0
	return n
}

// folding is how many rows a page shows of what's printed in one go; 0: all.
type folding struct {
	rows int
	pane int // of what a pane prints
}

func (f folding) of(kind sessions.LineKind) int {
	switch kind {
	case sessions.KindPane:
		return f.pane
	case sessions.KindTool, sessions.KindThought, sessions.KindUser:
		return f.rows
	case sessions.KindAnswer, sessions.KindNotice:
	}
	return 0 // people want an agent's answers whole
}

// foldingOf is how much of each output a message shows that shows so much work.
func (s *situation) foldingOf(w WorkShown) folding {
	f := folding{rows: w.Output.rows(), pane: w.Output.rows()}
	if s.session.Agent != "" {
		f.pane *= answersTimes
	}
	return f
}

// pageOf is a page that begins as the message does.
func (s *situation) pageOf(m Message) Page {
	p := m.page()
	p.folding = s.foldingOf(m.Work)
	return p
}

// outputAt is how many of the pieces from the i-th on are printed in one go: of a pane until something else is shown,
// else one block.
func (p Page) outputAt(i int) int {
	first := p.Pieces[i]
	if p.folding.of(first.Line.Kind) == 0 || first.Counted {
		return 1
	}
	for n, next := range p.Pieces[i+1:] {
		hidden := next.Hidden && !next.Counted && next.Line.Kind != sessions.KindUser && next.Gap == nil
		if !hidden && (next.Counted || next.Gap != nil || next.Line.Kind != first.Line.Kind || next.Line.Begins) {
			return n + 1
		}
	}
	return len(p.Pieces) - i
}

// foldedOutput is what's shown of an output that's too long.
type foldedOutput struct {
	head, tail []Piece
	between    string // says how much is left out
}

// fold is what's shown of pieces that were printed in one go; ok is false if that's all of them.
func (p Page) fold(output []Piece) (f foldedOutput, ok bool) {
	most := p.folding.of(output[0].Line.Kind)
	if most == 0 || !longerThan(output, most+leastFolded) {
		return f, false
	}
	shown := output
	if slices.ContainsFunc(shown, func(piece Piece) bool { return piece.Hidden }) {
		shown = slices.DeleteFunc(slices.Clone(shown), func(piece Piece) bool { return piece.Hidden })
	}
	whole := len(shown)
	take := func(from func(i int) Piece, rows int, part func(Piece, int) Piece) (taken []Piece) {
		for i := 0; i < len(shown) && rows > 0; i++ {
			piece := from(i)
			n := rowsOf(piece.plain(), rows)
			if n <= rows {
				taken, rows, whole = append(taken, piece), rows-n, whole-1
				continue
			}
			if rows >= leastPart {
				taken = append(taken, part(piece, rows))
			}
			break
		}
		return taken
	}
	above := most / 3
	f.head = take(func(i int) Piece { return shown[i] }, above, Piece.beginning)
	f.tail = take(func(i int) Piece { return shown[len(shown)-1-i] }, most-above, Piece.endPart)
	slices.Reverse(f.tail)
	f.head[0].Gap = output[0].Gap // leastRows leave room for a part of a line
	f.between = leftOut(whole, shown, f)
	return f, true
}

// longerThan says whether what's shown of pieces takes more rows than that.
func longerThan(pieces []Piece, rows int) bool {
	for _, piece := range pieces {
		if piece.Hidden {
			continue
		}
		if rows -= rowsOf(piece.plain(), rows); rows < 0 {
			return true
		}
	}
	return false
}

// leftOut says how much is missing: lines of which nothing, or not all, is shown.
func leftOut(lines int, shown []Piece, f foldedOutput) string {
	switch {
	case lines > 1:
		return fmt.Sprintf("… %d lines …", lines)
	case len(shown) > 1:
		return "… 1 line …"
	default:
		size := 0
		for _, piece := range slices.Concat(f.head, f.tail) {
			size += len([]rune(piece.Text())) - 1 // without its "…"
		}
		return fmt.Sprintf("… %d characters …", len([]rune(shown[0].Text()))-size)
	}
}

// beginning is a piece's first part, which takes so many rows at most.
func (p Piece) beginning(rows int) Piece {
	text := p.Text()
	to, width := 0, 0
	for to < len(text) {
		c, w := ansi.FirstGraphemeCluster(text[to:], ansi.GraphemeWidth)
		if width += w; width > rows*rowColumns-1 || to+len(c) > rows*rowBytes {
			break
		}
		to += max(1, len(c))
	}
	return p.showing(text[:to]+"…", p.From == 0)
}

// endPart is a piece's last part, which takes so many rows at most.
func (p Piece) endPart(rows int) Piece {
	text := p.Text()
	from := max(0, len(text)-rows*rowBytes)
	ends := graphemes(text[from:], rows*rowBytes)
	width := 0
	for i := len(ends) - 1; i > 0; i-- {
		if width += ansi.StringWidth(text[from+ends[i-1] : from+ends[i]]); width > rows*rowColumns-1 {
			return p.showing("…"+text[from+ends[i]:], false)
		}
	}
	return p.showing("…"+text[from+ends[0]:], false)
}

// showing is the piece with another text.
func (p Piece) showing(text string, begins bool) Piece {
	p.Line.Text, p.From, p.To, p.Gap = text, 0, len(text), nil
	p.Line.Begins = p.Line.Begins && begins
	return p
}

// rowBytes is how many bytes count as a row, however few columns they take.
const rowBytes = 8 * rowColumns

// rowsOf is how many rows of a phone a text takes, counted as far as one more than a number.
func rowsOf(text string, most int) int {
	most++
	if len(text) > most*rowBytes {
		return most
	}
	width := ansi.StringWidth(text)
	return min(most, max(1, (width+rowColumns-1)/rowColumns, (len(text)+rowBytes-1)/rowBytes))
}

// folds says whether the page shows an output in part.
func (p Page) folds() bool {
	for at := 0; at < len(p.Pieces); {
		n := p.outputAt(at)
		if _, ok := p.fold(p.Pieces[at : at+n]); ok {
			return true
		}
		at += n
	}
	return false
}

// standsForTooMuch says that a page which shows outputs in part is of more than a message may be.
func (p Page) standsForTooMuch() bool {
	if p.folding == (folding{}) {
		return false
	}
	size := 0
	for _, piece := range p.Pieces {
		if !piece.Hidden {
			size += piece.To - piece.From + 1
		}
	}
	return size > mostOutput || len(p.Pieces) > mostFolded
}

// endsBeside is the head and the tail of a file's lines beside it, if that's what they are: one output that's too long.
func (s Shape) endsBeside(p Page, pieces []Piece) (Page, bool) {
	pieces = withoutBlankEnd(withoutBlankStart(pieces))
	p.folding = folding{rows: min(p.folding.rows, besideRows), pane: min(p.folding.pane, besideRows)}
	p = p.plus(pieces)
	if len(pieces) == 0 || p.outputAt(0) < len(pieces) || !p.folds() {
		return p, false
	}
	marked := p
	marked.Double = true // whatever marks are still added
	return p, s.Size(marked) <= s.MaxCaption
}
