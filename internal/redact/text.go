package redact

import (
	"bytes"
	"encoding/binary"
	"sort"
	"unicode/utf8"
)

// text is what is searched: rows without the blanks and frames at their ends, each
// closed by a line feed, so that a secret which is wrapped over two rows stands
// together but for that one byte.
type text struct {
	buf  []byte
	rows []rowText
	gaps []gap
	open bool // more rows may come
}

// gap is where characters were left out that nobody sees: they could stand within a secret.
type gap struct {
	at int // in text.buf: they stood before it
	n  int // bytes
}

// rowText is where a row's text is.
type rowText struct {
	at     int // in text.buf
	from   int // in the raw row: so many bytes were left out at its beginning
	indent int // the same in characters
}

// lineText is the text of lines.
func lineText(lines []string, open bool) *text {
	size := 0
	for _, l := range lines {
		size += len(l) + 1
	}
	t := &text{buf: make([]byte, 0, size), rows: make([]rowText, 0, len(lines)+1), open: open}
	for _, l := range lines {
		from, to := core(l)
		t.add(from, utf8.RuneCountInString(l[:from]))
		addVisible(t, l[from:to])
		t.buf = append(t.buf, '\n')
	}
	t.add(0, 0)
	return t
}

// wholeText is the text of a whole file. One that doesn't end with a line feed may
// have been cut off.
func wholeText(data []byte) *text {
	t := &text{buf: make([]byte, 0, len(data)+1), rows: make([]rowText, 0, len(data)/32+2)}
	for more := true; more; {
		var l []byte
		l, data, more = bytes.Cut(data, []byte{'\n'})
		from, to := core(l)
		t.add(from, utf8.RuneCount(l[:from]))
		addVisible(t, l[from:to])
		t.buf = append(t.buf, '\n')
	}
	t.add(0, 0)
	t.open = t.len() > 0 && t.start(t.len()-1) < t.end(t.len()-1)
	return t
}

func (t *text) add(from, indent int) {
	t.rows = append(t.rows, rowText{at: len(t.buf), from: from, indent: indent})
}

// addVisible adds a row's text without what nobody sees in it. Most rows are ASCII, which has none of
// that: looked at byte by byte they took a third of the time that masking takes.
func addVisible[T string | []byte](t *text, l T) {
	begin := len(t.buf)
	if t.buf = append(t.buf, l...); isASCII(t.buf[begin:]) {
		return
	}
	t.buf = t.buf[:begin]
	kept := 0
	for i := 0; i < len(l); {
		n := 0
		if l[i] >= 0xC2 {
			n = invisible(l[i:])
		}
		if n == 0 {
			i++
			continue
		}
		t.buf = append(t.buf, l[kept:i]...)
		if last := len(t.gaps) - 1; last >= 0 && t.gaps[last].at == len(t.buf) {
			t.gaps[last].n += n
		} else {
			t.gaps = append(t.gaps, gap{len(t.buf), n})
		}
		i += n
		kept = i
	}
	t.buf = append(t.buf, l[kept:]...)
}

// isASCII says that a text has no byte above 0x7F. It looks at eight at once.
func isASCII(l []byte) bool {
	const high = 0x8080808080808080
	for ; len(l) >= 8; l = l[8:] {
		if binary.LittleEndian.Uint64(l)&high != 0 {
			return false
		}
	}
	for _, c := range l {
		if c >= 0x80 {
			return false
		}
	}
	return true
}

// invisible is the length of a character at the beginning that's drawn as nothing, or that turns
// the direction of writing; 0: it's none of those. They're Unicode's Default_Ignorable_Code_Point, and what else is
// of the category Cf but stands for something seen (Prepended_Concatenation_Mark).
func invisible[T string | []byte](l T) int {
	switch c := l[0]; {
	case c < 0xC2 || len(l) < 2:
		return 0
	case c == 0xC2 && l[1] == 0xAD, c == 0xCD && l[1] == 0x8F, c == 0xD8 && l[1] == 0x9C: // U+00AD, U+034F, U+061C
		return 2
	case len(l) < 3:
		return 0
	case c == 0xE1 && l[1] == 0x85 && (l[2] == 0x9F || l[2] == 0xA0), // U+115F, U+1160
		c == 0xE1 && l[1] == 0x9E && (l[2] == 0xB4 || l[2] == 0xB5),                                 // U+17B4, U+17B5
		c == 0xE1 && l[1] == 0xA0 && l[2] >= 0x8B && l[2] <= 0x8F,                                   // U+180B to U+180F
		c == 0xE2 && l[1] == 0x80 && (l[2] >= 0x8B && l[2] <= 0x8F || l[2] >= 0xAA && l[2] <= 0xAE), // U+200B to U+200F, U+202A to U+202E
		c == 0xE2 && l[1] == 0x81 && l[2] >= 0xA0 && l[2] <= 0xAF,                                   // U+2060 to U+206F
		c == 0xE3 && l[1] == 0x85 && l[2] == 0xA4,                                                   // U+3164
		c == 0xEF && l[1] == 0xB8 && l[2] <= 0x8F,                                                   // U+FE00 to U+FE0F
		c == 0xEF && l[1] == 0xBB && l[2] == 0xBF,                                                   // U+FEFF
		c == 0xEF && l[1] == 0xBE && l[2] == 0xA0,                                                   // U+FFA0
		c == 0xEF && l[1] == 0xBF && l[2] >= 0xB0 && l[2] <= 0xBB:                                   // U+FFF0 to U+FFFB
		return 3
	case len(l) < 4:
		return 0
	case c == 0xF0 && l[1] == 0x93 && l[2] == 0x90 && l[3] >= 0xB0, // U+13430 to U+1343F
		c == 0xF0 && l[1] == 0x9B && l[2] == 0xB2 && l[3] >= 0xA0 && l[3] <= 0xA3, // U+1BCA0 to U+1BCA3
		c == 0xF0 && l[1] == 0x9D && l[2] == 0x85 && l[3] >= 0xB3 && l[3] <= 0xBA, // U+1D173 to U+1D17A
		c == 0xF3 && l[1] == 0xA0: // U+E0000 to U+E0FFF
		return 4
	}
	return 0
}

// raw is where a place in buf is in its row as it was given. end says that it's the end of
// something: what's left out right behind it is no part of that.
func (t *text) raw(row, at int, end bool) int {
	r := t.rows[row]
	raw := r.from + at - r.at
	first := sort.Search(len(t.gaps), func(i int) bool { return t.gaps[i].at >= r.at })
	for _, g := range t.gaps[first:] {
		if g.at > at || end && g.at == at {
			break
		}
		raw += g.n
	}
	return raw
}

// len is the number of rows.
func (t *text) len() int { return len(t.rows) - 1 }

// start and end are where a row's text is in buf.
func (t *text) start(row int) int { return t.rows[row].at }
func (t *text) end(row int) int   { return t.rows[row+1].at - 1 }

// rowOf returns the row at a place in buf.
func (t *text) rowOf(at int) int {
	return sort.Search(t.len(), func(i int) bool { return t.rows[i+1].at > at })
}

// core returns where a row's text begins and ends without blanks and without the
// frame that programs draw around it: "│ text │".
func core[T string | []byte](l T) (from, to int) {
	to = len(l)
	for from < to {
		n := edge(l[from:to])
		if n == 0 {
			break
		}
		from += n
	}
	for to > from {
		n := edgeBack(l[from:to])
		if n == 0 {
			break
		}
		to -= n
	}
	return from, to
}

// edge is the length of a blank or piece of a frame at the beginning; 0: there's none.
func edge[T string | []byte](l T) int {
	switch c := l[0]; {
	case c == ' ', c == '\t', c == '\r', c == '|':
		return 1
	case c < utf8.RuneSelf || len(l) < 3:
		return 0
	default:
		return frame(l[0], l[1], l[2])
	}
}

func edgeBack[T string | []byte](l T) int {
	switch c := l[len(l)-1]; {
	case c == ' ', c == '\t', c == '\r', c == '|':
		return 1
	case c < utf8.RuneSelf || len(l) < 3:
		return 0
	default:
		return frame(l[len(l)-3], l[len(l)-2], l[len(l)-1])
	}
}

// frame is 3 for the UTF-8 of box drawings and blocks (U+2500 to U+259F) and of the
// bracket that Claude Code puts before a tool's output (U+23BF).
func frame(a, b, c byte) int {
	if a == 0xE2 && (b >= 0x94 && b <= 0x95 || b == 0x96 && c <= 0x9F || b == 0x8E && c == 0xBF) {
		return 3
	}
	return 0
}

// near is how many rows around one tell how wide rows are. narrow is less than a
// terminal's width.
const near, narrow = 8, 16

// full says whether a row is as wide as it can be, as far as the rows around tell: only
// such a row is wrapped by a terminal or a program. How wide a row was that has a mask in
// it isn't known.
func (t *text) full(row int) bool {
	width := t.width(row)
	if width < narrow {
		return false
	}
	for i := max(0, row-near); i < min(t.len(), row+2); i++ {
		if t.width(i) > width || bytes.Contains(t.buf[t.start(i):t.end(i)], []byte(maskBegin)) {
			return false
		}
	}
	return true
}

func (t *text) width(row int) int {
	return t.rows[row].indent + utf8.RuneCount(t.buf[t.start(row):t.end(row)])
}

// value appends what stands in buf, without the breaks between rows, up to limit bytes.
func (t *text) value(to []byte, from, end, limit int) []byte {
	for i := from; i < end && len(to) < limit; i++ {
		if c := t.buf[i]; c != '\n' {
			to = append(to, c)
		}
	}
	return to
}
