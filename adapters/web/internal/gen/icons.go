package main

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"math"
)

// The icon is that of static/badge.js, in units of its viewBox of 16 by 16: a rounded square with a prompt's
// sign and a cursor.
const (
	viewBox  = 16.0
	corner   = 4.0 // rx
	halfLine = 0.8 // half of stroke-width
)

var (
	ground = color.NRGBA{0x16, 0x7a, 0x6b, 0xff}                              //nolint:gochecknoglobals // a constant, but for its type
	sign   = [][4]float64{{4, 5, 7, 8}, {7, 8, 4, 11}, {8.5, 11.5, 12, 11.5}} //nolint:gochecknoglobals // a constant table
	icons  = []icon{                                                          //nolint:gochecknoglobals // a constant table
		{name: "icon-192.png", size: 192, scale: 1, tile: true, corner: corner},
		{name: "icon-512.png", size: 512, scale: 1, tile: true, corner: corner},
		// Systems cut a maskable one to their own shape, and leave at least the middle 80 % across.
		{name: "icon-maskable-512.png", size: 512, scale: 0.8, tile: true},
		// Of a badge only the alpha is used.
		{name: "badge-96.png", size: 96, scale: 1.4},
	}
)

// icon is one picture.
type icon struct {
	name   string
	size   int     // pixels
	scale  float64 // of the sign
	tile   bool    // there's a ground
	corner float64 // of it
}

// draw makes the picture as PNG.
func (i icon) draw() ([]byte, error) {
	img := image.NewNRGBA(image.Rect(0, 0, i.size, i.size))
	unit := viewBox / float64(i.size)
	for y := range i.size {
		for x := range i.size {
			img.SetNRGBA(x, y, i.at((float64(x)+0.5)*unit, (float64(y)+0.5)*unit, unit))
		}
	}
	var out bytes.Buffer
	err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&out, img)
	return out.Bytes(), err
}

// at is the colour at a point; unit is how wide a pixel is.
func (i icon) at(x, y, unit float64) color.NRGBA {
	middle := viewBox / 2
	sx, sy := (x-middle)/i.scale+middle, (y-middle)/i.scale+middle
	away := math.Inf(1)
	for _, s := range sign {
		away = min(away, distance(sx, sy, s))
	}
	white := cover((away-halfLine)*i.scale, unit)
	if !i.tile {
		return color.NRGBA{0xff, 0xff, 0xff, uint8(math.Round(255 * white))}
	}
	mix := func(c uint8) uint8 { return uint8(math.Round(float64(c) + (255-float64(c))*white)) }
	dx, dy := math.Abs(x-middle)-(middle-i.corner), math.Abs(y-middle)-(middle-i.corner)
	outside := math.Hypot(max(dx, 0), max(dy, 0)) + min(max(dx, dy), 0) - i.corner
	alpha := 1.0
	if i.corner > 0 {
		alpha = cover(outside, unit)
	}
	return color.NRGBA{mix(ground.R), mix(ground.G), mix(ground.B), uint8(math.Round(255 * alpha))}
}

// cover is how much of a pixel is within an edge that's so far away; less than 0: inside.
func cover(away, unit float64) float64 { return min(max(0.5-away/unit, 0), 1) }

// distance is how far a point is from a line between two.
func distance(x, y float64, s [4]float64) float64 {
	dx, dy := s[2]-s[0], s[3]-s[1]
	t := min(max(((x-s[0])*dx+(y-s[1])*dy)/(dx*dx+dy*dy), 0), 1)
	return math.Hypot(x-s[0]-t*dx, y-s[1]-t*dy)
}
