package sgr

import "fmt"

// ColourKind says where a colour comes from.
type ColourKind uint8

// The kinds of colour.
const (
	Default ColourKind = iota
	Indexed            // one of the palette's 256
	True               // given as red, green and blue
)

// Colour is a colour as a program asks for it. The zero value is the default one.
type Colour struct {
	Kind    ColourKind
	Index   uint8 // of Indexed
	R, G, B uint8 // of True
}

// Hex returns a true colour as #rrggbb.
func (c Colour) Hex() string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }

// RGB is a colour of the palette, or a true one, in red, green and blue.
func (c Colour) RGB() (r, g, b uint8) {
	if c.Kind == True {
		return c.R, c.G, c.B
	}
	return Palette(c.Index)
}

// base are the sixteen colours that terminals choose for themselves; these are
// readable on a dark background.
var base = [16][3]uint8{ //nolint:gochecknoglobals // a constant table
	{0x4a, 0x52, 0x60},
	{0xf0, 0x71, 0x6f},
	{0x7f, 0xc7, 0x7a},
	{0xe2, 0xb4, 0x5a},
	{0x6c, 0xa8, 0xf0},
	{0xc7, 0x92, 0xea},
	{0x56, 0xbf, 0xc4},
	{0xc8, 0xcc, 0xd4},
	{0x70, 0x78, 0x87},
	{0xff, 0x8f, 0x8c},
	{0x9b, 0xe4, 0x94},
	{0xf6, 0xcf, 0x7c},
	{0x8f, 0xc1, 0xff},
	{0xdc, 0xb0, 0xff},
	{0x79, 0xdd, 0xe2},
	{0xff, 0xff, 0xff},
}

// Palette returns a colour of the palette: the sixteen, then xterm's cube of 6×6×6,
// then 24 greys.
func Palette(i uint8) (r, g, b uint8) {
	switch {
	case i < 16:
		return base[i][0], base[i][1], base[i][2]
	case i < 232:
		i -= 16
		return cubeLevel(i / 36), cubeLevel(i / 6 % 6), cubeLevel(i % 6)
	default:
		grey := 8 + 10*(i-232)
		return grey, grey, grey
	}
}

func cubeLevel(n uint8) uint8 {
	if n == 0 {
		return 0
	}
	return 55 + 40*n
}
