package sgr

// Attr is a set of the attributes that SGR sequences switch.
type Attr uint16

// The attributes.
const (
	Bold Attr = 1 << iota
	Dim
	Italic
	Underline
	Blink
	Reverse
	Hidden
	Strike
)

// Style is how text looks. It's comparable; the zero value is the default.
type Style struct {
	Attrs  Attr
	FG, BG Colour
}

// Has says whether an attribute is switched on.
func (s Style) Has(a Attr) bool { return s.Attrs&a != 0 }

// Run is text of one style.
type Run struct {
	Style Style
	Text  string
}
