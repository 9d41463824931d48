package screenshot

import (
	"fmt"
	"strings"
)

// digits are the hexadecimal ones, three pixels wide and five high, a row in three
// bits from the top.
var digits = [16][5]uint8{ //nolint:gochecknoglobals // a constant table
	{7, 5, 5, 5, 7},
	{2, 6, 2, 2, 7},
	{7, 1, 7, 4, 7},
	{7, 1, 3, 1, 7},
	{5, 5, 7, 1, 1},
	{7, 4, 7, 1, 7},
	{7, 4, 7, 5, 7},
	{7, 1, 1, 1, 1},
	{7, 5, 7, 5, 7},
	{7, 5, 7, 1, 7},
	{2, 5, 7, 5, 5},
	{6, 5, 6, 5, 6},
	{7, 4, 4, 4, 7},
	{6, 5, 5, 5, 6},
	{7, 4, 6, 4, 7},
	{7, 4, 6, 4, 4},
}

// number draws a character's number, for what no font has; in a wide cell, with a
// frame.
func number(r rune, w int) mask {
	m := newMask(w, cellHeight)
	left, top, perRow := 1, 1, 2
	if w > cellWidth {
		frame(m)
		left, top, perRow = 3, 4, 3
	}
	for i, c := range fmt.Sprintf("%04X", r) {
		digit(m, left+i%perRow*4, top+i/perRow*6, strings.IndexRune("0123456789ABCDEF", c))
	}
	return m
}

func frame(m mask) {
	m.set(1, 1, m.w-2, m.h-2, levels/2)
	m.set(2, 2, m.w-4, m.h-4, 0)
}

func digit(m mask, x, y, n int) {
	for row, bits := range digits[n] {
		for column := range 3 {
			if bits>>(2-column)&1 == 1 {
				m.set(x+column, y+row, 1, 1, levels)
			}
		}
	}
}
