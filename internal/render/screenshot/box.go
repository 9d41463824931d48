package screenshot

import (
	"image"
	"strings"

	"golang.org/x/image/vector"
)

// The first and the last of the characters that draw boxes.
const (
	firstBox = 0x2500
	lastBox  = 0x257F
)

// arms says, for each of them, how heavy its arms are: up, right, down, left. 0:
// none, 1: light, 2: heavy, 3: double. It follows from their names in the Unicode
// standard. Arcs and diagonals have none.
const arms = "" +
	"0101 0202 1010 2020 0101 0202 1010 2020 " +
	"0101 0202 1010 2020 0110 0210 0120 0220 " +
	"0011 0012 0021 0022 1100 1200 2100 2200 " +
	"1001 1002 2001 2002 1110 1210 2110 1120 " +
	"2120 2210 1220 2220 1011 1012 2011 1021 " +
	"2021 2012 1022 2022 0111 0112 0211 0212 " +
	"0121 0122 0221 0222 1101 1102 1201 1202 " +
	"2101 2102 2201 2202 1111 1112 1211 1212 " +
	"2111 1121 2121 2112 2211 1122 1221 2212 " +
	"1222 2122 2221 2222 0101 0202 1010 2020 " +
	"0303 3030 0310 0130 0330 0013 0031 0033 " +
	"1300 3100 3300 1003 3001 3003 1310 3130 " +
	"3330 1013 3031 3033 0313 0131 0333 1303 " +
	"3101 3303 1313 3131 3333 0000 0000 0000 " +
	"0000 0000 0000 0000 0001 1000 0100 0010 " +
	"0002 2000 0200 0020 0201 1020 0102 2010"

// The weights of arms.
const (
	none = iota
	light
	heavy
	double
)

// box draws a character of boxes, from edge to edge, so that it joins its
// neighbours.
func box(r rune, w, h int) (mask, bool) {
	if r < firstBox || r > lastBox {
		return mask{}, false
	}
	m := newMask(w, h)
	switch {
	case r >= '╭' && r <= '╰':
		arc(m, r)
	case r >= '╱' && r <= '╳':
		diagonals(m, r)
	default:
		at := 5 * int(r-firstBox)
		a := arms[at : at+4]
		drawArms(m, [4]int{int(a[0] - '0'), int(a[1] - '0'), int(a[2] - '0'), int(a[3] - '0')})
		dash(m, r)
	}
	return m, true
}

// thickness of an arm in pixels.
func thickness(weight int) int {
	switch weight {
	case light:
		return 1
	case heavy:
		return 3
	case double:
		return 5 // two lines and what's between them
	default:
		return 0
	}
}

// drawArms draws arms from the middle to the edges: first all of them as bars, then
// the room between the lines of double ones is taken out again, then light ones are
// drawn that end at it or cross it.
func drawArms(m mask, weights [4]int) {
	reach := func(a, b int) int { return max(thickness(a), thickness(b)) / 2 }
	vertical, horizontal := reach(weights[0], weights[2]), reach(weights[1], weights[3])
	for i, weight := range weights {
		back := horizontal
		if i%2 == 1 {
			back = vertical
		}
		bar(m, i, thickness(weight), back, levels)
	}
	for i, weight := range weights {
		if weight == double {
			bar(m, i, thickness(double)-2, carveBack(weights, i), 0)
		}
	}
	for i, weight := range weights {
		if weight == light && weights[(i+2)%4] == light {
			bar(m, i, 1, 0, levels)
		}
	}
}

// carveBack is how far behind the middle the room between the lines of a double arm
// goes: up to the other line of a double arm across, else to the line across.
func carveBack(weights [4]int, i int) int {
	across := max(weights[(i+1)%4], weights[(i+3)%4])
	switch {
	case weights[(i+2)%4] == double:
		return 0
	case across == double:
		return 1
	case across == none:
		return 0
	default:
		return -1 - thickness(across)/2
	}
}

// bar covers an arm: up, right, down or left, thick pixels wide, that begins back
// pixels behind the middle.
func bar(m mask, direction, thick, back int, level uint8) {
	if thick == 0 {
		return
	}
	x, y := m.w/2, m.h/2
	switch direction {
	case 0:
		m.set(x-thick/2, 0, thick, y+back+1, level)
	case 1:
		m.set(x-back, y-thick/2, m.w-x+back, thick, level)
	case 2:
		m.set(x-thick/2, y-back, thick, m.h-y+back, level)
	case 3:
		m.set(0, y-thick/2, x+back+1, thick, level)
	}
}

// dash takes gaps out of the dashed lines.
func dash(m mask, r rune) {
	n := 0
	switch {
	case strings.ContainsRune("╌╍╎╏", r):
		n = 2
	case strings.ContainsRune("┄┅┆┇", r):
		n = 3
	case strings.ContainsRune("┈┉┊┋", r):
		n = 4
	}
	upright := strings.ContainsRune("╎╏┆┇┊┋", r)
	for i := range n {
		if upright {
			end := (i + 1) * m.h / n
			m.set(0, end-m.h/(2*n), m.w, m.h/(2*n), 0)
		} else {
			end := (i + 1) * m.w / n
			m.set(end-max(1, m.w/(3*n)), 0, max(1, m.w/(3*n)), m.h, 0)
		}
	}
}

// arc draws a rounded corner: ╭ ╮ ╯ ╰.
func arc(m mask, r rune) {
	x, y := float32(m.w/2)+0.5, float32(m.h/2)+0.5
	// Its ends are at the edges where its arms are.
	endX, endY := float32(m.w), float32(m.h)
	if r == '╮' || r == '╯' {
		endX = 0
	}
	if r == '╯' || r == '╰' {
		endY = 0
	}
	radius := float32(4)
	cornerX, cornerY := x+sign(endX-x)*radius, y+sign(endY-y)*radius
	stroke(m, func(raster *vector.Rasterizer, d float32) {
		// The outline of a line one pixel wide, forth and back.
		sx, sy := sign(endX-x), sign(endY-y)
		raster.MoveTo(endX, y-sy*d)
		raster.LineTo(cornerX, y-sy*d)
		raster.QuadTo(x-sx*d, y-sy*d, x-sx*d, cornerY)
		raster.LineTo(x-sx*d, endY)
		raster.LineTo(x+sx*d, endY)
		raster.LineTo(x+sx*d, cornerY)
		raster.QuadTo(x+sx*d, y+sy*d, cornerX, y+sy*d)
		raster.LineTo(endX, y+sy*d)
		raster.ClosePath()
	})
}

func sign(v float32) float32 {
	if v < 0 {
		return -1
	}
	return 1
}

// diagonals draws ╱ ╲ ╳.
func diagonals(m mask, r rune) {
	w, h := float32(m.w), float32(m.h)
	line := func(x0, x1 float32) {
		stroke(m, func(raster *vector.Rasterizer, d float32) {
			raster.MoveTo(x0-d, 0)
			raster.LineTo(x0+d, 0)
			raster.LineTo(x1+d, h)
			raster.LineTo(x1-d, h)
			raster.ClosePath()
		})
	}
	if r != '╲' {
		line(w, 0)
	}
	if r != '╱' {
		line(0, w)
	}
}

// stroke draws what an outline encloses, given half of a line's width.
func stroke(m mask, outline func(raster *vector.Rasterizer, half float32)) {
	raster := vector.NewRasterizer(m.w, m.h)
	outline(raster, 0.5)
	img := image.NewAlpha(image.Rect(0, 0, m.w, m.h))
	raster.Draw(img, img.Bounds(), image.Opaque, image.Point{})
	m.add(img)
}
