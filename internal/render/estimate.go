package render

import (
	"strings"
	"unicode/utf16"
)

// estimate bounds from above the room that lines of source take: it counts down from
// what there is.
//
// Empty lines are where it can be made better: what stands above one looks the same
// whatever comes below. So it's known how much room there is below it once the text
// up to it has been rendered.
type estimate struct {
	widest          int
	units, entities int // room left below the last line
	depth           int // of containers, at most so many so far
	table           bool

	empty                     Place // behind the last empty line
	unitsBelow, entitiesBelow int   // taken by the lines below it
	usable                    bool  // room hasn't been counted from it
}

func newEstimate(f Form, v *view) estimate {
	e := estimate{widest: f.Widest}
	e.units, e.entities = f.Room(Text{})
	if v.from.Part < len(v.parts) {
		before := v.parts[v.from.Part].Source[:v.from.Byte]
		if i := strings.LastIndex(before, "\n\n"); i >= 0 {
			before = before[i:]
		}
		e.table = mayBeTable(before)
	}
	return e
}

// mayBeTable says whether a text could have the line below a table's head.
func mayBeTable(s string) bool {
	return strings.Contains(s, "|") || strings.Contains(s, ":-") || strings.Contains(s, "-:")
}

// perPart is for what's put before parts and between them, in UTF-16 units.
const perPart = 2*maxAuthor + 64

// perGap is for the line breaks between blocks: what ends with an empty line is
// rendered without them.
const perGap = 4

func (e *estimate) part() { e.take(perPart, 2) }

func (e *estimate) take(units, entities int) {
	e.units -= units * e.widest
	e.unitsBelow += units * e.widest
	e.entities -= entities
	e.entitiesBelow += entities
}

// line takes in a line and where it ends.
func (e *estimate) line(line string, end Place) {
	units, marks, columns := e.count(line)
	isEmpty := strings.Trim(line, " \t>\n") == ""
	if e.table = !isEmpty && (e.table || mayBeTable(line)); e.table {
		units += (columns + 1) * (maxColumn + 3)
	}
	e.take(units+marks+3*e.depth, marks) // at most 3 are put before a line for each level
	if isEmpty {
		e.empty, e.unitsBelow, e.entitiesBelow, e.usable = end, 0, 0, true
		e.take(perGap, 0)
	}
}

// count counts a line's units, what may be markup in it, and columns of a table.
func (e *estimate) count(line string) (units, marks, columns int) {
	depth, start := 0, true
	marks = 1
	for _, r := range line {
		units += max(1, utf16.RuneLen(r))
		switch {
		case strings.ContainsRune("*_~`[]!@<&:|", r):
			marks++
			start = false
		case r == '\t':
			units += len(tab)
			depth += 2
		case start && strings.ContainsRune(" >-+.)0123456789", r):
			depth++
		default:
			start = false
		}
		if r == '|' {
			columns++
		}
	}
	e.depth = min(max(e.depth, depth), maxIndent)
	return units, marks, columns
}

func (e *estimate) fits() bool { return e.units >= 0 && e.entities >= 0 }

// base is where the room would have to be known for a better estimate.
func (e *estimate) base() (_ Place, ok bool) { return e.empty, e.usable }

// rebase takes in what room there is there.
func (e *estimate) rebase(units, entities int) {
	e.units, e.entities = units-e.unitsBelow, entities-e.entitiesBelow
	e.usable = false
}
