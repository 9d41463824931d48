package redact

import "strings"

// privateKey is what a private key is called, whatever its form.
const privateKey = "private key"

// Hides reports whether a mask of a text hides more than a secret needs: what ends a command or
// begins another, a blank, another row, what a row begins with, or the front of what could be a path
// or a command of its own. Whoever reads the masked text to agree to it wouldn't know.
func (m *Masker) Hides(text string) bool {
	lines := strings.Split(text, "\n")
	for _, k := range m.Find([]byte(text)) {
		line := lines[k.Line]
		hidden := line[k.From:k.To]
		begin, _ := core(line)
		if k.Rest || k.From <= begin || strings.ContainsAny(hidden, "&;|<>()`$ \t\\") || strings.ContainsAny(hidden[:1], "/.~!@") {
			return true
		}
	}
	return false
}
