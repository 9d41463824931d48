package screenshot

import "image"

// mask says how much of each pixel of an area a glyph covers, from 0 to levels.
type mask struct {
	w, h int
	v    []uint8
}

func newMask(w, h int) mask { return mask{w, h, make([]uint8, w*h)} }

func (m mask) at(x, y int) uint8 {
	if x >= m.w || y >= m.h {
		return 0
	}
	return m.v[y*m.w+x]
}

// set covers a rectangle to a level.
func (m mask) set(x, y, w, h int, level uint8) {
	for j := max(y, 0); j < min(y+h, m.h); j++ {
		for i := max(x, 0); i < min(x+w, m.w); i++ {
			m.v[j*m.w+i] = level
		}
	}
}

// over covers what another mask covers too.
func (m mask) over(o mask) {
	for i := range m.v {
		m.v[i] = max(m.v[i], o.v[i])
	}
}

// add takes in an image of coverage.
func (m mask) add(img *image.Alpha) {
	for y := range m.h {
		for x := range m.w {
			v := (int(img.AlphaAt(x, y).A)*levels + 127) / 255
			m.v[y*m.w+x] = max(m.v[y*m.w+x], uint8(v))
		}
	}
}

// empty says that a mask covers nothing.
func (m mask) empty() bool {
	for _, v := range m.v {
		if v != 0 {
			return false
		}
	}
	return true
}
