package screenshot

// block draws block elements and braille, from edge to edge.
func block(r rune, w, h int) (mask, bool) {
	m := newMask(w, h)
	switch {
	case r == '▀':
		m.set(0, 0, w, h/2, levels)
	case r >= '▁' && r <= '█': // eighths from below
		n := h * int(r-'▀') / 8
		m.set(0, h-n, w, n, levels)
	case r >= '▉' && r <= '▏': // eighths from the left
		m.set(0, 0, (w*int('▐'-r)+4)/8, h, levels)
	case r == '▐':
		m.set(w/2, 0, w-w/2, h, levels)
	case r >= '░' && r <= '▓':
		m.set(0, 0, w, h, uint8(int(r-'░'+1)*levels/4))
	case r == '▔':
		m.set(0, 0, w, max(1, h/8), levels)
	case r == '▕':
		m.set(w-max(1, w/8), 0, max(1, w/8), h, levels)
	case r >= '▖' && r <= '▟':
		quadrants(m, r)
	case r >= 0x2800 && r <= 0x28FF:
		braille(m, int(r-0x2800))
	default:
		return mask{}, false
	}
	return m, true
}

// filled says which quadrants the characters from ▖ to ▟ fill: bits of upper left,
// upper right, lower left, lower right.
const filled = "\x04\x08\x01\x0d\x09\x07\x0b\x02\x06\x0e"

func quadrants(m mask, r rune) {
	x, y := m.w/2, m.h/2
	for i := range 4 {
		if filled[r-'▖']>>i&1 == 0 {
			continue
		}
		left, top, w, h := 0, 0, x, y
		if i%2 == 1 {
			left, w = x, m.w-x
		}
		if i/2 == 1 {
			top, h = y, m.h-y
		}
		m.set(left, top, w, h, levels)
	}
}

// braille draws dots. Bits count down the left column, then the right one; the last
// two are the fourth row.
func braille(m mask, dots int) {
	for i := range 8 {
		if dots>>i&1 == 0 {
			continue
		}
		column, row := i/3, i%3
		if i >= 6 {
			column, row = i-6, 3
		}
		m.set(m.w/4-1+column*m.w/2, 2+row*4, 2, 2, levels)
	}
}
