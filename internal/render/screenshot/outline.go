package screenshot

import (
	"image"
	"unicode"

	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"
	"golang.org/x/text/unicode/norm"
)

// composed are a character's runes, with accents in one rune where there's one.
func composed(text string) []rune { return []rune(norm.NFC.String(text)) }

// isInvisible says whether a rune only changes how its neighbours look.
func isInvisible(r rune) bool {
	const keycap = 0x20E3
	return unicode.Is(unicode.Cf, r) || r >= 0xFE00 && r <= 0xFE0F || r == keycap
}

// outline draws a rune from the outline font.
func (d *drawing) outline(r rune, key glyphKey, width int) (mask, bool) {
	f := d.fonts.regular
	if key.bold {
		f = d.fonts.bold
	}
	index, err := f.GlyphIndex(&d.buffer, r)
	if err != nil || index == 0 {
		return mask{}, false
	}
	segments, err := f.LoadGlyph(&d.buffer, index, fixed.I(fontSize), nil)
	if err != nil {
		return mask{}, false
	}
	place := placement{left: float32(width-cellWidth) / 2}
	if key.italic {
		place.slant = 0.2
	}
	raster := vector.NewRasterizer(width, cellHeight)
	place.trace(raster, segments)
	img := image.NewAlpha(image.Rect(0, 0, width, cellHeight))
	raster.Draw(img, img.Bounds(), image.Opaque, image.Point{})
	m := newMask(width, cellHeight)
	m.add(img)
	return m, true
}

// placement says where an outline stands in its cell.
type placement struct{ left, slant float32 }

func (p placement) point(v fixed.Point26_6) (x, y float32) {
	x, y = float32(v.X)/64, float32(v.Y)/64
	return p.left + x - p.slant*(y+4), y + baseline // it's slanted around the middle of small letters
}

func (p placement) trace(raster *vector.Rasterizer, segments sfnt.Segments) {
	for _, s := range segments {
		x, y := p.point(s.Args[0])
		switch s.Op {
		case sfnt.SegmentOpMoveTo:
			raster.ClosePath()
			raster.MoveTo(x, y)
		case sfnt.SegmentOpLineTo:
			raster.LineTo(x, y)
		case sfnt.SegmentOpQuadTo:
			x1, y1 := p.point(s.Args[1])
			raster.QuadTo(x, y, x1, y1)
		case sfnt.SegmentOpCubeTo:
			x1, y1 := p.point(s.Args[1])
			x2, y2 := p.point(s.Args[2])
			raster.CubeTo(x, y, x1, y1, x2, y2)
		}
	}
	raster.ClosePath()
}
