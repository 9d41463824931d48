package discord

import "github.com/panebridge/panebridge/internal/render"

// MaxUnits is the longest content of a message
// (docs.discord.com/developers/resources/message). Discord says characters; UTF-16
// units are never fewer.
const MaxUnits = 2000

// Form is how Discord takes a message of at most so many UTF-16 units.
func Form(units int) render.MessageForm {
	return render.MessageForm{Size: func(t render.MessageText) int { return utf16Len(Markdown(t)) }, Max: units}
}

func utf16Len(s string) int {
	n := 0
	for _, r := range s {
		n++
		if r > 0xFFFF {
			n++
		}
	}
	return n
}
