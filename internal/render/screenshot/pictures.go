package screenshot

import (
	"strings"
	"unicode/utf8"
)

// Colours of pictures.
var (
	red    = rgb{0xe5, 0x4b, 0x4b} //nolint:gochecknoglobals // a constant
	orange = rgb{0xf0, 0x92, 0x2e} //nolint:gochecknoglobals // a constant
	yellow = rgb{0xf5, 0xc8, 0x42} //nolint:gochecknoglobals // a constant
	green  = rgb{0x4c, 0xaf, 0x50} //nolint:gochecknoglobals // a constant
	blue   = rgb{0x42, 0x8c, 0xe5} //nolint:gochecknoglobals // a constant
	purple = rgb{0x9c, 0x5f, 0xc8} //nolint:gochecknoglobals // a constant
	brown  = rgb{0x9a, 0x66, 0x42} //nolint:gochecknoglobals // a constant
	black  = rgb{0x38, 0x3c, 0x44} //nolint:gochecknoglobals // a constant
	white  = rgb{0xe8, 0xea, 0xee} //nolint:gochecknoglobals // a constant
	grey   = rgb{0x9a, 0xa2, 0xb0} //nolint:gochecknoglobals // a constant
	cut    = rgb{1, 2, 3}          //nolint:gochecknoglobals // a constant that stands for the background
)

// coloured are discs and squares, each in the order of nine colours.
const coloured = "🔴🟠🟡🟢🔵🟣🟤⚫⚪🟥🟧🟨🟩🟦🟪🟫⬛⬜"

func colouredShape(r rune) []shape {
	colours := [...]rgb{red, orange, yellow, green, blue, purple, brown, black, white}
	i := utf8.RuneCountInString(coloured[:strings.IndexRune(coloured, r)])
	colour := colours[i%len(colours)]
	if i < len(colours) {
		return []shape{{colour, []float32{9, 9, 7}}}
	}
	return []shape{{colour, rectangle(2, 2, 16, 16)}}
}

func rectangle(x0, y0, x1, y1 float32) []float32 {
	return []float32{x0, y0, x1, y0, x1, y1, x0, y1}
}

// face stands for all faces: their differences don't show at this size.
func face() []shape {
	return []shape{
		{yellow, []float32{9, 9, 7.5}},
		{black, []float32{6.2, 7, 1.2}},
		{black, []float32{11.8, 7, 1.2}},
		{black, []float32{4.5, 10, 6, 13, 9, 14.2, 12, 13, 13.5, 10, 11.5, 11.6, 9, 12.3, 6.5, 11.6}},
	}
}

// object returns the picture of what agents like to print.
func object(r rune) []shape {
	switch r {
	case '✅':
		return []shape{{green, rectangle(2, 2, 16, 16)}, {white, []float32{4, 9, 6, 7.5, 8, 10, 12.5, 4.5, 14.5, 6, 8.2, 13.5}}}
	case '❌', '❎':
		return []shape{
			{red, []float32{2, 4, 4, 2, 16, 14, 14, 16}},
			{red, []float32{14, 2, 16, 4, 4, 16, 2, 14}},
		}
	case '⚠':
		return []shape{
			{yellow, []float32{9, 1.5, 17, 16, 1, 16}},
			{black, rectangle(8, 6, 10, 11)},
			{black, []float32{9, 13.2, 1.2}},
		}
	case '⛔', '🚫':
		return []shape{{red, []float32{9, 9, 7.5}}, {white, rectangle(4, 7.5, 14, 10.5)}}
	case '❤', '🧡', '💛', '💚', '💙', '💜':
		return heart(r)
	case '🚀':
		return []shape{
			{orange, []float32{7, 12, 11, 12, 9, 17}},
			{red, []float32{6, 8, 2.5, 14, 6, 13}},
			{red, []float32{12, 8, 15.5, 14, 12, 13}},
			{white, []float32{9, 0.5, 12, 5, 12, 13, 6, 13, 6, 5}},
			{blue, []float32{9, 6.5, 1.8}},
		}
	case '📁', '📂', '🗂':
		return []shape{{orange, []float32{1.5, 4, 7.5, 4, 9, 6, 16.5, 6, 16.5, 8, 1.5, 8}}, {yellow, rectangle(1.5, 7, 16.5, 15)}}
	case '📄', '📃', '📝', '📋', '📜':
		return page(r == '📝')
	case '🔍', '🔎':
		return []shape{
			{grey, []float32{10, 11.5, 11.5, 10, 17, 15.5, 15.5, 17}},
			{blue, []float32{7, 7, 5.5}},
			{cut, []float32{7, 7, 3.8}},
		}
	case '💡':
		return []shape{{yellow, []float32{9, 7, 5.5}}, {yellow, rectangle(6.5, 10, 11.5, 13)}, {grey, rectangle(7, 13.5, 11, 16.5)}}
	case '🔥':
		return []shape{
			{orange, []float32{9.5, 1, 13, 6, 14.5, 11, 12.5, 16, 9, 17, 5.5, 16, 3.5, 11.5, 6, 7, 7.5, 9}},
			{yellow, []float32{9, 13, 2.8}},
		}
	case '🔒', '🔐', '🔓':
		return []shape{{grey, []float32{9, 7, 4.5}}, {cut, []float32{9, 7, 2.8}}, {yellow, rectangle(3.5, 8, 14.5, 16)}}
	case '🔧', '🔨', '🛠':
		return []shape{{brown, []float32{8, 7, 10, 5.5, 16.5, 14.5, 14.5, 16}}, {grey, []float32{2, 6, 8, 1.5, 12, 5, 6, 10}}}
	case '🐛', '🐞':
		return []shape{{green, []float32{5, 12, 3.4}}, {green, []float32{9, 9.5, 3.6}}, {green, []float32{13, 7, 3.6}}, {black, []float32{14, 6.2, 0.9}}}
	case '📦':
		return []shape{{brown, rectangle(2, 4, 16, 16)}, {yellow, rectangle(7.5, 4, 10.5, 16)}}
	case '🤖':
		return []shape{
			{grey, rectangle(8.4, 1, 9.6, 5)},
			{grey, rectangle(2.5, 4.5, 15.5, 15.5)},
			{blue, []float32{6.2, 8.5, 1.6}},
			{blue, []float32{11.8, 8.5, 1.6}},
			{black, rectangle(5.5, 12, 12.5, 13.3)},
		}
	case '⭐', '🌟':
		return []shape{{yellow, []float32{9, 1, 11.2, 6.6, 17, 7, 12.5, 10.8, 14, 16.6, 9, 13.4, 4, 16.6, 5.5, 10.8, 1, 7, 6.8, 6.6}}}
	case '✨':
		return []shape{
			{yellow, []float32{7, 3, 8.6, 8.4, 14, 10, 8.6, 11.6, 7, 17, 5.4, 11.6, 0.5, 10, 5.4, 8.4}},
			{yellow, []float32{14, 1, 14.8, 3.2, 17, 4, 14.8, 4.8, 14, 7, 13.2, 4.8, 11, 4, 13.2, 3.2}},
		}
	case '⚡':
		return []shape{{yellow, []float32{10.5, 1, 4, 10, 8.2, 10, 6.5, 17, 14, 7.5, 9.6, 7.5}}}
	}
	return nil
}

func heart(r rune) []shape {
	colour := map[rune]rgb{'🧡': orange, '💛': yellow, '💚': green, '💙': blue, '💜': purple}[r]
	if colour == (rgb{}) {
		colour = red
	}
	return []shape{
		{colour, []float32{5.6, 6.5, 3.9}},
		{colour, []float32{12.4, 6.5, 3.9}},
		{colour, []float32{2.3, 8.6, 15.7, 8.6, 9, 16.5}},
	}
}

func page(pencil bool) []shape {
	out := []shape{{white, []float32{3.5, 1, 11, 1, 14.5, 4.5, 14.5, 17, 3.5, 17}}}
	for y := float32(6); y < 15; y += 3 {
		out = append(out, shape{grey, rectangle(5.5, y, 12.5, y+1)})
	}
	if pencil {
		out = append(out, shape{orange, []float32{14.5, 6, 17, 8.5, 10.5, 15, 7.5, 15.6, 8, 12.5}})
	}
	return out
}
