package sgr

import "github.com/charmbracelet/x/ansi"

// apply returns the style after an SGR sequence.
func (s Style) apply(params ansi.Params) Style {
	groups := group(params)
	if len(groups) == 0 {
		return Style{}
	}
	for len(groups) > 0 {
		used := 1
		switch g := groups[0]; g[0] {
		case 38:
			s.FG, used = readColour(groups, s.FG)
		case 48:
			s.BG, used = readColour(groups, s.BG)
		case 58: // the underline's colour isn't shown, but its numbers mustn't be taken for others
			_, used = readColour(groups, Colour{})
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

// readColour reads the colour of a 38, 48 or 58 in either of its forms: numbers
// joined by colons (38:5:n, 38:2:r:g:b, 38:2::r:g:b), or by semicolons
// (38;5;n, 38;2;r;g;b). It returns was if there's none, and how many groups it
// took.
func readColour(groups [][]int, was Colour) (Colour, int) {
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

func colour(kind int, n []int, was Colour) Colour {
	switch {
	case kind == 5 && len(n) >= 1 && inByte(n[0]):
		return indexed(n[0])
	case kind == 2 && len(n) >= 4: // with a colour space in front
		return colour(2, n[1:4], was)
	case kind == 2 && len(n) == 3:
		r, g, b := max(n[0], 0), max(n[1], 0), max(n[2], 0)
		if inByte(r) && inByte(g) && inByte(b) {
			return Colour{Kind: True, R: uint8(r), G: uint8(g), B: uint8(b)}
		}
	}
	return was
}

func inByte(n int) bool { return n >= 0 && n <= 255 }

// indexed returns a palette colour; n is in 0 … 255.
func indexed(n int) Colour { return Colour{Kind: Indexed, Index: uint8(n)} }

// set applies one parameter that isn't an extended colour.
func (s Style) set(g []int) Style {
	switch n := g[0]; {
	case n == 0:
		return Style{}
	case n == 4 && len(g) > 1 && g[1] == 0: // 4:0 is "no underline", 4:3 a curly one
		s.Attrs &^= Underline
	case n >= 1 && n <= 9:
		s.Attrs |= attrOn(n)
	case n >= 21 && n <= 29:
		s.Attrs = attrOff(s.Attrs, n)
	case n >= 30 && n <= 37:
		s.FG = indexed(n - 30)
	case n == 39:
		s.FG = Colour{}
	case n >= 40 && n <= 47:
		s.BG = indexed(n - 40)
	case n == 49:
		s.BG = Colour{}
	case n >= 90 && n <= 97:
		s.FG = indexed(n - 90 + 8)
	case n >= 100 && n <= 107:
		s.BG = indexed(n - 100 + 8)
	}
	return s
}

func attrOn(n int) Attr {
	return [...]Attr{0, Bold, Dim, Italic, Underline, Blink, Blink, Reverse, Hidden, Strike}[n]
}

func attrOff(a Attr, n int) Attr {
	if n == 21 { // a double underline in ECMA-48, and so in tmux
		return a | Underline
	}
	return a &^ [...]Attr{Bold | Dim, Italic, Underline, Blink, 0, Reverse, Hidden, Strike}[n-22]
}
