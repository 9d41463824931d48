package screenshot

// symbol draws the signs of players, which agents print and the fonts lack, and a
// small square.
func symbol(r rune, w int) (mask, bool) {
	m := newMask(w, cellHeight)
	switch r {
	case '⏴':
		m.over(polygon(w, 8, 3.5, 8, 14.5, 1, 9))
	case '⏵':
		m.over(polygon(w, 1, 3.5, 1, 14.5, 8, 9))
	case '⏶':
		m.over(polygon(w, 0.5, 12.5, 8.5, 12.5, 4.5, 5.5))
	case '⏷':
		m.over(polygon(w, 0.5, 5.5, 8.5, 5.5, 4.5, 12.5))
	case '⏸':
		m.set(1, 4, 2, 10, levels)
		m.set(6, 4, 2, 10, levels)
	case '⏹':
		m.set(1, 5, 7, 8, levels)
	case '⏺':
		m.over(polygon(w, 4.5, 9, 4))
	case '⬝':
		m.set(3, 8, 3, 3, levels)
	default:
		return mask{}, false
	}
	return m, true
}
