package entities_test

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/panebridge/panebridge/internal/render/entities"
)

// tagged writes a message with tags around what its entities hold.
func tagged(m entities.FormattedText) string {
	names := map[entities.Type]string{
		entities.Bold: "b", entities.Italic: "i", entities.Underline: "u", entities.Strikethrough: "s", entities.Code: "code",
		entities.Pre: "pre", entities.TextLink: "a", entities.Blockquote: "quote", entities.ExpandableBlockquote: "long-quote",
	}
	var b strings.Builder
	units := utf16.Encode([]rune(m.Text))
	for i := range len(units) + 1 {
		for _, e := range slices.Backward(m.Entities) {
			if e.Offset+e.Length == i {
				fmt.Fprintf(&b, "</%s>", names[e.Type])
			}
		}
		for _, e := range m.Entities {
			if e.Offset == i {
				fmt.Fprintf(&b, "<%s%s>", names[e.Type], attribute(e))
			}
		}
		if i < len(units) {
			if r := rune(units[i]); !utf16.IsSurrogate(r) {
				b.WriteRune(r)
			} else if i+1 < len(units) {
				if r := utf16.DecodeRune(r, rune(units[i+1])); r != '\uFFFD' {
					b.WriteRune(r)
				}
			}
		}
	}
	return strings.ReplaceAll(b.String(), "\u200b", "<zwsp>")
}

func attribute(e entities.Entity) string {
	switch {
	case e.URL != "":
		return " " + e.URL
	case e.Language != "":
		return " " + e.Language
	default:
		return ""
	}
}
