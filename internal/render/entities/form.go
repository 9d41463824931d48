package entities

import (
	"strings"

	"github.com/panebridge/panebridge/internal/render"
)

// Form is how Telegram takes a message of at most so many UTF-16 units. It's
// MaxUnits for messages; with less, there's room for something else.
func Form(units int) render.MessageForm {
	return render.MessageForm{Size: func(t render.MessageText) int { return From(t).Size() }, Max: units}
}

// Size is the length of the message's text in UTF-16 units. One with more entities
// than Telegram takes counts as longer than any that fits, and the more so the more
// there are.
func (m FormattedText) Size() int {
	size := len(m.Entities) * entityBytes
	for _, e := range m.Entities {
		size += len(e.URL) + len(e.Language)
	}
	over := max(len(m.Entities)-MaxEntities, size-MaxEntityBytes)
	if over <= 0 {
		return Units(m.Text)
	}
	return max(Units(m.Text), MaxUnits+over)
}

// Plain is the message's text for a message without entities, should Telegram refuse
// them. What they kept from being mentions is kept from it by an "@" of full width: so
// it's as long as the text.
func (m FormattedText) Plain() string {
	var b strings.Builder
	at := 0
	for _, s := range render.Mentions(m.Text) {
		b.WriteString(m.Text[at:s.Start] + strings.ReplaceAll(m.Text[s.Start:s.End], "@", "＠"))
		at = s.End
	}
	return b.String() + m.Text[at:]
}

// Units is the length of a text in UTF-16 units.
func Units(s string) int {
	n := 0
	for _, r := range s {
		n++
		if r > 0xFFFF {
			n++
		}
	}
	return n
}
