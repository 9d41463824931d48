package web

import (
	"fmt"
	"strings"
)

// paletteCSS returns the rules for the 256 palette colours of a screen: the
// classes f0 … f255 and b0 … b255 that the API's HTML has. They set variables,
// so that reverse video can swap them.
func paletteCSS() string {
	var b strings.Builder
	for i := range 256 {
		c := paletteColour(i)
		fmt.Fprintf(&b, ".f%d{--fg:%s}.b%d{--bg:%s}\n", i, c, i, c)
	}
	return b.String()
}

// baseColours are the sixteen that terminals choose for themselves; these are
// readable on the page's dark terminal.
func baseColours() [16]string {
	return [16]string{
		"#4a5260", "#f0716f", "#7fc77a", "#e2b45a", "#6ca8f0", "#c792ea", "#56bfc4", "#c8ccd4",
		"#707887", "#ff8f8c", "#9be494", "#f6cf7c", "#8fc1ff", "#dcb0ff", "#79dde2", "#ffffff",
	}
}

// paletteColour returns a colour as #rrggbb: the sixteen, then xterm's cube of
// 6×6×6, then 24 greys.
func paletteColour(i int) string {
	switch {
	case i < 16:
		return baseColours()[i]
	case i < 232:
		i -= 16
		return fmt.Sprintf("#%02x%02x%02x", cubeLevel(i/36), cubeLevel(i/6%6), cubeLevel(i%6))
	default:
		grey := 8 + 10*(i-232)
		return fmt.Sprintf("#%02x%02x%02x", grey, grey, grey)
	}
}

func cubeLevel(n int) int {
	if n == 0 {
		return 0
	}
	return 55 + 40*n
}
