package screenshot

import (
	"image"
	"strings"

	"golang.org/x/image/font/sfnt"

	"github.com/panebridge/panebridge/internal/render/sgr"
)

// Sizes in pixels. The font's characters are 9 wide at 15 pixels, which makes 80
// columns as wide as a phone shows without scaling them down much.
const (
	cellWidth  = 9
	cellHeight = 18
	fontSize   = 15
	baseline   = 14
	margin     = 9
)

// Colours of a screen that says nothing about them.
var (
	defaultFG = rgb{0xd4, 0xd8, 0xe0} //nolint:gochecknoglobals // a constant
	defaultBG = rgb{0x16, 0x18, 0x1d} //nolint:gochecknoglobals // a constant
)

// drawing is a screen that's being drawn.
type drawing struct {
	fonts  *Renderer
	grid   grid
	canvas *canvas
	masks  map[glyphKey]mask
	shades map[[2]rgb]shades
	buffer sfnt.Buffer
}

// glyphKey is what a glyph's mask depends on.
type glyphKey struct {
	text               string
	wide, bold, italic bool
}

func newDrawing(fonts *Renderer, g grid) *drawing {
	return &drawing{
		fonts: fonts, grid: g,
		canvas: newCanvas(g.columns*cellWidth+2*margin, g.rows*cellHeight+2*margin, defaultBG),
		masks:  map[glyphKey]mask{},
		shades: map[[2]rgb]shades{},
	}
}

func (d *drawing) draw() image.Image {
	for i, c := range d.grid.cells {
		fg, bg := colours(c.style)
		if i == d.grid.cursor {
			fg, bg = bg, fg
			if fg == bg {
				fg, bg = defaultBG, defaultFG
			}
		}
		if c.text == "" && i > 0 && d.grid.cells[i-1].wide && i%d.grid.columns > 0 {
			continue // the cell before has drawn it
		}
		d.cell(d.area(i, c.wide), c, fg, bg)
	}
	return d.canvas.image()
}

func (d *drawing) area(i int, wide bool) area {
	a := area{margin + i%d.grid.columns*cellWidth, margin + i/d.grid.columns*cellHeight, cellWidth, cellHeight}
	if wide {
		a.w *= 2
	}
	return a
}

// colours are those of a style.
func colours(s sgr.Style) (fg, bg rgb) {
	fg, bg = defaultFG, defaultBG
	if s.FG.Kind != sgr.Default {
		fg = rgbOf(s.FG)
	}
	if s.BG.Kind != sgr.Default {
		bg = rgbOf(s.BG)
	}
	if s.Has(sgr.Reverse) {
		fg, bg = bg, fg
	}
	if s.Has(sgr.Dim) {
		fg = mix(fg, bg, 2, 5)
	}
	if s.Has(sgr.Hidden) {
		fg = bg
	}
	return fg, bg
}

func rgbOf(c sgr.Colour) rgb {
	r, g, b := c.RGB()
	return rgb{r, g, b}
}

func (d *drawing) cell(a area, c pixelCell, fg, bg rgb) {
	if bg != defaultBG {
		d.canvas.fill(a, bg)
	}
	if text := strings.TrimSpace(c.text); text != "" && fg != bg && !d.emoji(a, c, bg) {
		d.canvas.draw(a, d.mask(glyphKey{text, c.wide, c.style.Has(sgr.Bold), c.style.Has(sgr.Italic)}), d.shade(bg, fg))
	}
	if c.style.Has(sgr.Underline) {
		d.canvas.fill(area{a.x, a.y + baseline + 2, a.w, 1}, fg)
	}
	if c.style.Has(sgr.Strike) {
		d.canvas.fill(area{a.x, a.y + baseline - 4, a.w, 1}, fg)
	}
}

func (d *drawing) shade(bg, fg rgb) shades {
	key := [2]rgb{bg, fg}
	s, ok := d.shades[key]
	if !ok {
		s = d.canvas.shades(bg, fg)
		d.shades[key] = s
	}
	return s
}

// mask is the mask of a glyph.
func (d *drawing) mask(key glyphKey) mask {
	m, ok := d.masks[key]
	if !ok {
		m = d.newMask(key)
		d.masks[key] = m
	}
	return m
}

func (d *drawing) newMask(key glyphKey) mask {
	w := cellWidth
	if key.wide {
		w *= 2
	}
	runes := composed(key.text)
	if m, ok := box(runes[0], w, cellHeight); ok {
		return m
	}
	if m, ok := block(runes[0], w, cellHeight); ok {
		return m
	}
	if m, ok := symbol(runes[0], w); ok {
		return m
	}
	m := newMask(w, cellHeight)
	found := false
	for _, r := range runes {
		if isInvisible(r) {
			continue
		}
		if g, ok := d.outline(r, key, w); ok {
			m.over(g)
			found = true
		} else if g, ok := bitmap(r, w); ok {
			m.over(g)
			found = true
		}
	}
	if !found {
		return number(runes[0], w)
	}
	return m
}
