package screenshot

import (
	"image"
	"math"
	"strings"
	"unicode/utf8"

	"golang.org/x/image/vector"
)

// emoji draws a picture in colours; false: there's none for the character. Flags are
// drawn as the letters of their country.
func (d *drawing) emoji(a area, c pixelCell, bg rgb) bool {
	if !c.wide {
		return false
	}
	r, _ := utf8.DecodeRuneInString(c.text)
	if isLetterOfFlag(r) {
		d.canvas.draw(a, d.flag(c.text, a.w), d.shade(bg, white))
		return true
	}
	shapes := picture(r)
	for _, s := range shapes {
		colour := s.colour
		if colour == cut {
			colour = bg
		}
		d.canvas.blend(a, s.mask(a.w), colour)
	}
	return shapes != nil
}

// Letters of flags (regional indicators).
const (
	firstFlagLetter = 0x1F1E6
	lastFlagLetter  = 0x1F1FF
)

func isLetterOfFlag(r rune) bool { return r >= firstFlagLetter && r <= lastFlagLetter }

// flag draws the letters of a flag in a frame.
func (d *drawing) flag(text string, w int) mask {
	m := newMask(w, cellHeight)
	frame(m)
	x := 0
	for _, r := range text {
		letter, ok := d.outline('A'+r-firstFlagLetter, glyphKey{}, cellWidth)
		if !isLetterOfFlag(r) || !ok {
			continue
		}
		for i, v := range letter.v {
			if at := x + i%cellWidth; v > 0 && at < w {
				m.v[i/cellWidth*w+at] = v
			}
		}
		x += cellWidth
	}
	return m
}

// blend draws a mask over what's there.
func (c *canvas) blend(a area, m mask, colour rgb) {
	for y := range a.h {
		for x := range a.w {
			px, py := a.x+x, a.y+y
			if v := m.at(x, y); v > 0 && px >= 0 && px < c.width && py >= 0 && py < c.height {
				at := py*c.width + px
				c.pixels[at] = c.number(mix(c.colours[c.pixels[at]], colour, int(v), levels))
			}
		}
	}
}

// shape is a part of a picture, in a square of 18 by 18.
type shape struct {
	colour  rgb
	outline []float32 // x and y of the corners; of a disc, its middle and its radius
}

func (s shape) mask(w int) mask { return polygon(w, s.outline...) }

// polygon covers what's within an outline, as that of a shape.
func polygon(w int, corners ...float32) mask {
	raster := vector.NewRasterizer(w, cellHeight)
	if len(corners) == 3 {
		corners = disc(corners[0], corners[1], corners[2])
	}
	for i := 0; i+1 < len(corners); i += 2 {
		if i == 0 {
			raster.MoveTo(corners[0], corners[1])
		} else {
			raster.LineTo(corners[i], corners[i+1])
		}
	}
	raster.ClosePath()
	img := image.NewAlpha(image.Rect(0, 0, w, cellHeight))
	raster.Draw(img, img.Bounds(), image.Opaque, image.Point{})
	m := newMask(w, cellHeight)
	m.add(img)
	return m
}

// disc is a polygon as round as pixels are.
func disc(x, y, r float32) []float32 {
	var out []float32
	for i := range 24 {
		sin, cos := math.Sincos(float64(i) * math.Pi / 12)
		out = append(out, x+r*float32(cos), y+r*float32(sin))
	}
	return out
}

// picture returns the shapes of an emoji's picture, the lower ones first; nil: it has
// none.
func picture(r rune) []shape {
	if strings.ContainsRune(coloured, r) {
		return colouredShape(r)
	}
	if r >= 0x1F600 && r <= 0x1F64F {
		return face()
	}
	return object(r)
}
