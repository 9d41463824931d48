package screenshot

import (
	"image"
	"image/color"
)

// rgb is an opaque colour.
type rgb struct{ r, g, b uint8 }

// canvas is an image of pixels that are numbers of colours. Screens have few: so the
// file has a palette, and is made several times as fast as one without.
type canvas struct {
	width, height int
	pixels        []uint16
	colours       []rgb
	numbers       map[rgb]uint16
}

func newCanvas(width, height int, background rgb) *canvas {
	c := &canvas{width: width, height: height, pixels: make([]uint16, width*height), numbers: map[rgb]uint16{}}
	c.number(background)
	return c
}

// exactColours is how many colours a canvas has as they are. Pictures made of
// characters may have more: those are rounded to 5 bits for each of red, green and blue,
// of which there are as many again.
const exactColours = 1 << 15

func (c *canvas) number(v rgb) uint16 {
	n, ok := c.numbers[v]
	if ok {
		return n
	}
	if len(c.colours) >= exactColours {
		if v = (rgb{v.r &^ 7, v.g &^ 7, v.b &^ 7}); c.has(v) {
			return c.numbers[v]
		}
	}
	n = uint16(len(c.colours))
	c.colours = append(c.colours, v)
	c.numbers[v] = n
	return n
}

func (c *canvas) has(v rgb) bool {
	_, ok := c.numbers[v]
	return ok
}

// area is a rectangle of a canvas: a cell, or two.
type area struct{ x, y, w, h int }

func (c *canvas) fill(a area, v rgb) {
	n := c.number(v)
	for y := max(a.y, 0); y < min(a.y+a.h, c.height); y++ {
		for x := max(a.x, 0); x < min(a.x+a.w, c.width); x++ {
			c.pixels[y*c.width+x] = n
		}
	}
}

// levels is how many steps there are between background and foreground at the edge
// of a glyph.
const levels = 8

// shades are the colours from background to foreground.
type shades [levels + 1]uint16

func (c *canvas) shades(bg, fg rgb) shades {
	var s shades
	for i := range s {
		s[i] = c.number(mix(bg, fg, i, levels))
	}
	return s
}

// mix is the colour i steps of n on the way from a to b.
func mix(a, b rgb, i, n int) rgb {
	part := func(a, b uint8) uint8 { return uint8((int(a)*(n-i) + int(b)*i + n/2) / n) }
	return rgb{part(a.r, b.r), part(a.g, b.g), part(a.b, b.b)}
}

// draw draws a mask of an area's size.
func (c *canvas) draw(a area, m mask, s shades) {
	for y := range a.h {
		if a.y+y < 0 || a.y+y >= c.height {
			continue
		}
		for x := range a.w {
			if v := m.at(x, y); v > 0 && a.x+x < c.width {
				c.pixels[(a.y+y)*c.width+a.x+x] = s[v]
			}
		}
	}
}

// image is the canvas as an image: with a palette, if there are few enough colours.
func (c *canvas) image() image.Image {
	bounds := image.Rect(0, 0, c.width, c.height)
	if len(c.colours) <= 256 {
		p := make(color.Palette, len(c.colours))
		for i, v := range c.colours {
			p[i] = color.RGBA{v.r, v.g, v.b, 0xff}
		}
		img := image.NewPaletted(bounds, p)
		for i, n := range c.pixels {
			img.Pix[i] = uint8(n)
		}
		return img
	}
	img := image.NewRGBA(bounds)
	for i, n := range c.pixels {
		v := c.colours[n]
		copy(img.Pix[4*i:], []uint8{v.r, v.g, v.b, 0xff})
	}
	return img
}
