package render

import "strings"

// The parser's time for the worst texts grows with the square of their length: for
// brackets that are never closed, and for quotes and lists in each other. Texts beyond
// these bounds are no answers, and are shown as they are. Within them the worst page
// takes tens of milliseconds.
const (
	maxMarkdown = 32 << 10 // bytes: eight full messages
	maxSigns    = 4000     // of markup, between two empty lines
	maxMarkers  = 64       // of quotes and lists, at the start of a line
)

// parsable says whether a text is within the bounds.
func parsable(s string) bool {
	if len(s) > maxMarkdown {
		return false
	}
	signs := 0
	for line := range strings.Lines(s) {
		text := strings.TrimLeft(line, " \t>+-*.)0123456789")
		if len(strings.TrimLeft(text, "\r\n")) == 0 && !strings.ContainsAny(line, "+-*.)0123456789") {
			signs = 0 // an empty line, maybe of a quote
		}
		if markers(line[:len(line)-len(text)]) > maxMarkers {
			return false
		}
		for i := range len(line) {
			switch line[i] {
			case '[', ']', '*', '_', '`', '~', '<', '|', '!', '&':
				signs++
			}
		}
		if signs > maxSigns {
			return false
		}
	}
	return true
}

// markers counts what may be markers of quotes and lists in the start of a line. A
// line of dashes or stars is none.
func markers(start string) int {
	n := strings.Count(start, ">")
	for _, marker := range []string{"- ", "+ ", "* ", ". ", ") "} {
		n += strings.Count(start, marker)
	}
	if strings.Trim(start, " -") == "" || strings.Trim(start, " *") == "" {
		return 0
	}
	return n
}
