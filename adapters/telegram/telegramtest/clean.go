package telegramtest

import (
	"slices"
	"strings"
	"unicode"
)

// cleanText does to a text what Telegram does before it stores it: control
// characters and tabs become spaces, carriage returns, line separators,
// directional overrides and three combining lines vanish, and entities move
// along.
func cleanText(text string, list []Entity) (string, []Entity) {
	var out strings.Builder
	moved := make([]int, 0, len(text)+1) // new offset by old one
	units := 0
	for _, r := range text {
		kept := cleanRune(r)
		for range unitsOf(r) {
			moved = append(moved, units)
		}
		if kept >= 0 {
			out.WriteRune(kept)
			units += unitsOf(kept)
		}
	}
	moved = append(moved, units)
	return out.String(), moveEntities(list, func(offset int) int { return moved[offset] })
}

// cleanRune returns what's stored for r, or -1 for nothing.
func cleanRune(r rune) rune {
	switch {
	case r == '\r', r >= 0x2028 && r <= 0x202e, r == 0x333, r == 0x33f, r == 0x30a:
		return -1
	case r != '\n' && r < ' ':
		return ' '
	}
	return r
}

// moveEntities gives every entity new ends, and drops those of which nothing is
// left.
func moveEntities(list []Entity, move func(offset int) int) []Entity {
	kept := make([]Entity, 0, len(list))
	for _, e := range list {
		from, to := move(e.Offset), move(e.end())
		if from < to {
			e.Offset, e.Length = from, to-from
			kept = append(kept, e)
		}
	}
	return kept
}

// trimText cuts spaces and newlines at both ends, as Telegram does: at the end
// always, at the beginning only as far as no entity covers them.
func trimText(text string, list []Entity) (string, []Entity) {
	text = strings.TrimRight(text, " \n")
	end := utf16Len(text)
	list = moveEntities(list, func(offset int) int { return min(offset, end) })
	lead := len(text) - len(strings.TrimLeft(text, " \n"))
	for _, e := range list {
		lead = min(lead, e.Offset) // spaces and newlines are one byte and one unit each
	}
	return text[lead:], moveEntities(list, func(offset int) int { return offset - lead })
}

// isBlank reports whether a person would see nothing of the text.
func isBlank(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return !isInvisible(r) })
}

func isInvisible(r rune) bool {
	return unicode.IsSpace(r) || unicode.Is(unicode.Cf, r) ||
		slices.Contains([]rune{0x115f, 0x1160, 0x2800, 0x3164, 0xfffc}, r)
}
