package service

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// Unit is a unit file of systemd.
type Unit struct {
	Name     string // such as panebridge.service
	Sections []Section
}

// Section is one of a unit's sections.
type Section struct {
	Name     string
	Settings []Setting
}

// Setting is a line of a section. The value is as systemd reads it: see literal, word, assignment.
type Setting struct{ Key, Value string }

// Text is the file. Its first line has a sum of the rest, by which an edit is told; see isEdited.
func (u Unit) Text() string {
	var b strings.Builder
	for i, s := range u.Sections {
		if i > 0 {
			b.WriteString("\n")
		}
		b.WriteString("[" + s.Name + "]\n")
		for _, set := range s.Settings {
			b.WriteString(set.Key + "=" + set.Value + "\n")
		}
	}
	return "# " + madeBy + sumOf(b.String()) + "\n" + b.String()
}

// madeBy begins what's said in the first line of each file.
const madeBy = "Made by `panebridge service install`, which tells by this sum whether it was edited: "

func sumOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// isEdited reports whether a file isn't as an installation, of this build or another, has written it.
func isEdited(text string) bool {
	var rest strings.Builder
	sum, found := "", false
	for line := range strings.Lines(text) {
		if _, said, ok := strings.Cut(line, madeBy); ok && !found {
			sum, found = strings.TrimSuffix(strings.TrimSpace(said), " -->"), true
			continue
		}
		rest.WriteString(line)
	}
	return !found || sumOf(rest.String()) != sum
}

// literal is a text in which systemd is to replace nothing.
func literal(text string) string { return strings.ReplaceAll(text, "%", "%%") }

// word is one argument of a command line, which systemd takes as it is.
func word(text string) string { return quoted(strings.ReplaceAll(literal(text), "$", "$$")) }

// assignment is one variable of Environment=, in which systemd replaces no variables.
func assignment(name, value string) string { return quoted(literal(name + "=" + value)) }

// quoted is a text in quotes where systemd would take it apart otherwise.
func quoted(text string) string {
	if text != "" && !strings.ContainsAny(text, " '\"\\;") {
		return text
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}
