package polling

import (
	"regexp"
	"strings"
)

// Marker is the text that ends a turn.
type Marker struct {
	literal string
	pattern *regexp.Regexp
}

// NewMarker returns a marker for a literal text or, if it's not nil, a regular
// expression; nil for neither.
func NewMarker(literal string, pattern *regexp.Regexp) *Marker {
	if literal == "" && pattern == nil {
		return nil
	}
	return &Marker{literal: literal, pattern: pattern}
}

// ends reports whether a line ends a turn. A line that shows what a person has
// just typed doesn't, though the marker be in it.
func (m *Marker) ends(line string, echoes []string) bool {
	if !m.in(line) {
		return false
	}
	for _, e := range echoes {
		if strings.Contains(line, e) {
			return false
		}
	}
	return true
}

// IsAlone reports whether a line has a literal marker and nothing else. What a regular expression
// finds may be what somebody wants to read.
func (m *Marker) IsAlone(line string) bool {
	return m != nil && m.pattern == nil && strings.TrimSpace(line) == strings.TrimSpace(m.literal)
}

func (m *Marker) in(text string) bool {
	switch {
	case m == nil:
		return false
	case m.pattern != nil:
		return m.pattern.MatchString(text)
	}
	return strings.Contains(text, m.literal)
}

// echoOf returns the lines of an input that hold the marker.
func (m *Marker) echoOf(input string) []string {
	var out []string
	for l := range strings.SplitSeq(input, "\n") {
		if l = strings.TrimSpace(l); m.in(l) {
			out = append(out, l)
		}
	}
	return out
}
