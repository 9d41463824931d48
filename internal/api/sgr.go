package api

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/ansi/parser"
)

// attr is one of the attributes that SGR sequences switch.
type attr uint16

const (
	bold attr = 1 << iota
	dim
	italic
	underline
	blink
	reverse
	hidden
	strike
)

// ink is a colour: the default one (zero), one of 256, or a true one.
type ink struct {
	kind    byte // 0: default, 'i': index, 'c': true colour
	index   uint8
	r, g, b uint8
}

// style is how text looks.
type style struct {
	attrs  attr
	fg, bg ink
}

// run is text of one style.
type run struct {
	style style
	text  string
}

// parseRow splits a row with SGR sequences into runs of equal style. All other
// sequences and all control characters but tab are dropped.
func parseRow(row string) []run {
	var (
		runs []run
		now  style
		text strings.Builder
	)
	flush := func() {
		if text.Len() > 0 {
			runs = append(runs, run{now, text.String()})
			text.Reset()
		}
	}
	p := new(ansi.Parser)
	p.SetParamsSize(parser.MaxParamsSize)
	p.SetDataSize(16) // of strings (OSC and the like), which are dropped; the default is 64 KB per row
	p.SetHandler(ansi.Handler{
		Print: func(r rune) {
			if r >= 0x20 && (r < 0x7f || r > 0x9f) {
				text.WriteRune(r)
			}
		},
		Execute: func(b byte) {
			if b == '\t' {
				text.WriteByte(b)
			}
		},
		HandleCsi: func(cmd ansi.Cmd, params ansi.Params) {
			if cmd.Final() != 'm' || cmd.Prefix() != 0 || cmd.Intermediate() != 0 {
				return
			}
			if next := now.apply(params); next != now {
				flush()
				now = next
			}
		},
	})
	p.Parse([]byte(row))
	flush()
	return runs
}

// plainText returns a row without its escape sequences.
func plainText(row string) string {
	if !strings.ContainsFunc(row, func(r rune) bool { return r < 0x20 || r >= 0x7f && r <= 0x9f || r == utf8.RuneError }) {
		return row
	}
	var b strings.Builder
	for _, r := range parseRow(row) {
		b.WriteString(r.text)
	}
	return b.String()
}

// apply returns the style after an SGR sequence.
func (s style) apply(params ansi.Params) style {
	groups := group(params)
	if len(groups) == 0 {
		return style{}
	}
	for len(groups) > 0 {
		used := 1
		switch g := groups[0]; g[0] {
		case 38:
			s.fg, used = readInk(groups, s.fg)
		case 48:
			s.bg, used = readInk(groups, s.bg)
		case 58: // the underline's colour isn't shown, but its numbers mustn't be taken for others
			_, used = readInk(groups, ink{})
		default:
			s = s.set(g)
		}
		groups = groups[used:]
	}
	return s
}

// group splits parameters at semicolons; the numbers of a group were separated
// by colons. A missing number is -1, but 0 at the start of a group.
func group(params ansi.Params) [][]int {
	var (
		groups [][]int
		now    []int
	)
	for _, p := range params {
		def := -1
		if len(now) == 0 {
			def = 0
		}
		now = append(now, p.Param(def))
		if !p.HasMore() {
			groups, now = append(groups, now), nil
		}
	}
	if now != nil {
		groups = append(groups, now)
	}
	return groups
}

// readInk reads the colour of a 38, 48 or 58 in either of its forms: numbers
// joined by colons (38:5:n, 38:2:r:g:b, 38:2::r:g:b), or by semicolons
// (38;5;n, 38;2;r;g;b). It returns was if there's none, and how many groups it
// took.
func readInk(groups [][]int, was ink) (ink, int) {
	if first := groups[0]; len(first) > 1 {
		return colour(first[1], first[2:], was), 1
	}
	if len(groups) < 2 {
		return was, 1
	}
	n := 0
	switch groups[1][0] {
	case 5:
		n = 1
	case 2:
		n = 3
	}
	end := min(2+n, len(groups))
	var numbers []int
	for _, g := range groups[2:end] {
		numbers = append(numbers, g[0])
	}
	return colour(groups[1][0], numbers, was), end
}

func colour(kind int, n []int, was ink) ink {
	switch {
	case kind == 5 && len(n) >= 1 && inByte(n[0]):
		return indexed(n[0])
	case kind == 2 && len(n) >= 4: // with a colour space in front
		return colour(2, n[1:4], was)
	case kind == 2 && len(n) == 3:
		r, g, b := max(n[0], 0), max(n[1], 0), max(n[2], 0)
		if inByte(r) && inByte(g) && inByte(b) {
			return ink{kind: 'c', r: uint8(r), g: uint8(g), b: uint8(b)}
		}
	}
	return was
}

func inByte(n int) bool { return n >= 0 && n <= 255 }

// indexed returns a palette colour; n is in 0 … 255.
func indexed(n int) ink { return ink{kind: 'i', index: uint8(n)} }

// set applies one parameter that isn't an extended colour.
func (s style) set(g []int) style {
	switch n := g[0]; {
	case n == 0:
		return style{}
	case n == 4 && len(g) > 1 && g[1] == 0: // 4:0 is "no underline", 4:3 a curly one
		s.attrs &^= underline
	case n >= 1 && n <= 9:
		s.attrs |= attrOn(n)
	case n >= 21 && n <= 29:
		s.attrs = attrOff(s.attrs, n)
	case n >= 30 && n <= 37:
		s.fg = indexed(n - 30)
	case n == 39:
		s.fg = ink{}
	case n >= 40 && n <= 47:
		s.bg = indexed(n - 40)
	case n == 49:
		s.bg = ink{}
	case n >= 90 && n <= 97:
		s.fg = indexed(n - 90 + 8)
	case n >= 100 && n <= 107:
		s.bg = indexed(n - 100 + 8)
	}
	return s
}

func attrOn(n int) attr {
	return [...]attr{0, bold, dim, italic, underline, blink, blink, reverse, hidden, strike}[n]
}

func attrOff(a attr, n int) attr {
	if n == 21 { // a double underline in ECMA-48, and so in tmux
		return a | underline
	}
	return a &^ [...]attr{bold | dim, italic, underline, blink, 0, reverse, hidden, strike}[n-22]
}

// hex returns a true colour as #rrggbb.
func (c ink) hex() string { return fmt.Sprintf("#%02x%02x%02x", c.r, c.g, c.b) }
