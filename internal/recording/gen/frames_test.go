package main

import "testing"

// What is sent to the terminal never ends within an escape sequence.
func TestWhole(t *testing.T) {
	for _, c := range []struct {
		in   string
		want int
	}{
		{"", 0},
		{"text", 4},
		{"a\x1b", 1},
		{"a\x1b[", 1},
		{"a\x1b[38;2;1", 1},
		{"a\x1b[38;2;1m", 10},
		{"\x1b[?25l\x1b[1", 6},
		{"\x1b]0;title", 0},
		{"\x1b]0;title\x07", 10},
		{"\x1b]0;title\x1b", 0},
		{"\x1b]0;title\x1b\\x", 12},
		{"\x1bPtmux;\x1b\x1b]11;?\x07", 0},
		{"\x1bPtmux;\x1b\x1b]11;?\x07\x1b\\", 17},
		{"\x1b(", 0},
		{"\x1b(B", 3},
		{"\x1b7\x1b[r\x1b8x", 8},
	} {
		if got := whole(c.in); got != c.want {
			t.Errorf("whole(%q) = %d, want %d", c.in, got, c.want)
		}
	}
}
