package screenshot

import (
	"image"

	"github.com/hajimehoshi/bitmapfont/v3"
	"golang.org/x/image/math/fixed"
)

// The bitmap font's glyphs are 12 pixels wide, half of them 6, and 16 high. They're
// drawn a third larger, so that they're as tall as the other font's capitals.
const (
	bitmapHeight = 16
	scaleUp      = 4 // a bitmap's pixel is 4 of
	scaleDown    = 3 // the thirds of a pixel
)

// bitmap draws a rune from the bitmap font, in the middle of its cell. The font says
// of every rune that it has it, so one without a pixel counts as missing.
func bitmap(r rune, width int) (mask, bool) {
	if r > 0xFFFF {
		return mask{}, false
	}
	face := bitmapfont.FaceSC
	bounds, glyph, from, advance, ok := face.Glyph(fixed.Point26_6{Y: face.Metrics().Ascent}, r)
	if !ok {
		return mask{}, false
	}
	fine := newMask(width*scaleDown, cellHeight*scaleDown)
	left := (fine.w-advance.Round()*scaleUp)/2 + bounds.Min.X*scaleUp
	top := (fine.h-bitmapHeight*scaleUp)/2 + bounds.Min.Y*scaleUp
	for y := range bounds.Dy() {
		for x := range bounds.Dx() {
			if covered(glyph, from.X+x, from.Y+y) {
				fine.set(left+x*scaleUp, top+y*scaleUp, scaleUp, scaleUp, 1)
			}
		}
	}
	return fine.reduced(scaleDown), !fine.empty()
}

// reduced is a mask of n by n pixels each made one, by how many of them are covered.
func (m mask) reduced(n int) mask {
	out := newMask(m.w/n, m.h/n)
	for y := range out.h {
		for x := range out.w {
			sum := 0
			for i := range n * n {
				sum += int(m.at(x*n+i%n, y*n+i/n))
			}
			out.v[y*out.w+x] = uint8((sum*levels + n*n/2) / (n * n))
		}
	}
	return out
}

func covered(img image.Image, x, y int) bool {
	_, _, _, a := img.At(x, y).RGBA()
	return a > 0x7fff
}
