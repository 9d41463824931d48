package redact

import "strings"

// privateKey is what a private key is called, whatever its form.
const privateKey = "private key"

// Hides reports whether a mask of a text hides more than a secret needs: what ends a command or
// begins another, a blank, another row, or the front of what could be a path or a command of its own.
// Whoever reads the masked text to agree to it wouldn't know.
func (m *Masker) Hides(text string) bool {
	lines := strings.Split(text, "\n")
	for _, k := range m.Find([]byte(text)) {
		hidden := lines[k.Line][k.From:k.To]
		if k.Rest || strings.ContainsAny(hidden, "&;|<>()`$ \t\\") || strings.ContainsAny(hidden[:1], "/.~!@") {
			return true
		}
	}
	return false
}
