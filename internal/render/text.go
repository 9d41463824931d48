package render

import (
	"strings"
	"unicode"
)

// MessageText is what a message shows, whatever the platform.
type MessageText struct {
	runs []Run
}

// Run is text of one style. Lines end with "\n".
type Run struct {
	Text  string
	Style Style

	// at is where the text comes from. Of an exact run each byte stems from the
	// byte as far behind at; otherwise all of it stems from at.
	at    TextPosition
	exact bool
	// glue is what render puts between texts: line breaks, indentation. Its place
	// is that of what follows.
	glue bool
}

// Runs returns the text's runs, in order. They're not to be changed.
func (t MessageText) Runs() []Run { return t.runs }

// String returns the text without styles.
func (t MessageText) String() string {
	var b strings.Builder
	for _, r := range t.runs {
		b.WriteString(r.Text)
	}
	return b.String()
}

// Blank says that the text shows nothing. Platforms refuse such messages.
func (t MessageText) Blank() bool {
	for _, r := range t.runs {
		if strings.ContainsFunc(r.Text, visible) {
			return false
		}
	}
	return true
}

// visible says whether a rune can be seen.
func visible(r rune) bool {
	switch r {
	case 0x115F, 0x1160, 0x3164, 0xFFA0, 0x2800, 0xFFFC: // fillers, the empty braille pattern, and what stands for an object
		return false
	case 0x30A, 0x333, 0x33F: // a ring and lines above or below what isn't there
		return false
	}
	return unicode.IsGraphic(r) && !unicode.Is(unicode.Zs, r)
}

// until is the text's first n bytes.
func (t MessageText) until(n int) MessageText {
	for i, r := range t.runs {
		if n <= len(r.Text) {
			runs := append(t.runs[:i:i], r)
			runs[i].Text = r.Text[:n]
			return MessageText{runs}
		}
		n -= len(r.Text)
	}
	return t
}
