package render

import (
	"strings"
	"unicode/utf8"
)

// firstLine is the first line of a text, with its end.
func firstLine(s string) string {
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		return s[:i+1]
	}
	return s
}

// inSource moves a place to the next that's shown: from one behind a part's source to
// the part after it.
func inSource(parts []Part, p TextPosition) TextPosition {
	for p.Part < len(parts) {
		if p.Byte = max(p.Byte, parts[p.Part].From); p.Byte < len(parts[p.Part].Source) {
			break
		}
		p = TextPosition{Part: p.Part + 1}
	}
	return p
}

// runeStart is the byte at or before i at which a rune starts.
func runeStart(s string, i int) int {
	i = min(max(i, 0), len(s))
	for i > 0 && i < len(s) && !utf8.RuneStart(s[i]) {
		i--
	}
	return i
}

// lineEnd is the end of the line in which a stretch up to byte at ends: that line
// counts as known.
func lineEnd(s string, at int) int {
	if at == 0 || s[at-1] == '\n' {
		return at
	}
	if i := strings.IndexByte(s[at:], '\n'); i >= 0 {
		return at + i
	}
	return len(s)
}
