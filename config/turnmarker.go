package config

import (
	"errors"
	"regexp"
	"regexp/syntax"
	"strings"
)

// TurnMarker is text that ends a turn: a literal, or a regular expression
// between two slashes. The empty one never ends a turn.
type TurnMarker string

// Literal returns the marker as plain text, and whether it is that.
func (m TurnMarker) Literal() (string, bool) {
	if _, isRegexp := m.expression(); isRegexp || m == "" {
		return "", false
	}
	return string(m), true
}

// Regexp returns an expression that finds the marker in a line, for a literal
// too; nil for the empty marker. It fails only for a marker that [Parse] would
// have refused.
func (m TurnMarker) Regexp() (*regexp.Regexp, error) {
	if m == "" {
		return nil, nil //nolint:nilnil // no marker is no error, and a nil expression says so
	}
	if expression, isRegexp := m.expression(); isRegexp {
		return regexp.Compile(expression)
	}
	return regexp.Compile(regexp.QuoteMeta(string(m)))
}

func (m TurnMarker) expression() (string, bool) {
	if len(m) < 2 || m[0] != '/' || m[len(m)-1] != '/' {
		return "", false
	}
	return string(m[1 : len(m)-1]), true
}

// turnMarkerProblem says what is wrong with a marker, or nothing. It gives the
// kind of a syntax error but not the expression, which may come from ${ENV}.
func turnMarkerProblem(text string) string {
	re, err := TurnMarker(text).Regexp()
	bad, isSyntax := errors.AsType[*syntax.Error](err)
	switch {
	case isSyntax:
		return "must be a valid regular expression (RE2) between the slashes: " + string(bad.Code)
	case err != nil:
		return "must be a valid regular expression (RE2) between the slashes"
	case strings.ContainsAny(text, "\r\n"):
		return "must be text within one line, without a line break"
	case re != nil && re.MatchString(""):
		return "must not match empty text, or every line would end a turn"
	}
	return ""
}
