package web

import (
	"fmt"
	"strings"

	"github.com/panebridge/panebridge/internal/render/sgr"
)

// paletteCSS returns the rules for the 256 palette colours of a screen: the
// classes f0 … f255 and b0 … b255 that the API's HTML has. They set variables,
// so that reverse video can swap them.
func paletteCSS() string {
	var b strings.Builder
	for i := range 256 {
		red, green, blue := sgr.Palette(uint8(i))
		fmt.Fprintf(&b, ".f%d{--fg:#%02x%02x%02x}.b%d{--bg:#%02x%02x%02x}\n", i, red, green, blue, i, red, green, blue)
	}
	return b.String()
}
