package redact

import "strings"

// privateKey is what a private key is called, whatever its form.
const privateKey = "private key"

// Hides reports whether a mask of a text hides more than a secret needs: what ends a command or
// begins another, a blank, or rows. Whoever reads the masked text to agree to it wouldn't know.
func (m *Masker) Hides(text string) bool {
	lines := strings.Split(text, "\n")
	for _, k := range m.Find([]byte(text)) {
		if hidden := lines[k.Line][k.From:k.To]; strings.ContainsAny(hidden, "&;|<>()`$ \t\\") || k.Rest && k.Name == privateKey {
			return true
		}
	}
	return false
}
