package entities

import "github.com/panebridge/panebridge/internal/render"

// Form is how Telegram takes a message of at most so many UTF-16 units. It's
// MaxUnits for messages; with less, there's room for something else.
func Form(units int) render.Form {
	return render.Form{
		Room: func(t render.Text) (int, int) {
			m := From(t)
			return units - Units(m.Text), MaxEntities - len(m.Entities)
		},
		Widest: 1,
	}
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
