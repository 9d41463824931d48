package config

import (
	"reflect"
	"regexp"
	"strconv"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

func isNull(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null"
}

// describe names what stands in the file, without its value.
func describe(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	case yaml.AliasNode:
		return "an alias"
	default: // a scalar: its tag says what
	}
	switch n.ShortTag() {
	case "!!str":
		return "text"
	case "!!int", "!!float":
		return "a number"
	case "!!bool":
		return "true or false"
	case "!!null":
		return "nothing"
	case "!!timestamp":
		return "a date"
	}
	return "a value with a tag (!)"
}

// A key is a word of up to 32 characters; what is longer or has other
// characters may be a secret that has slipped to the key's place.
var plainKey = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]{0,31}$`)

// printable returns a key as it may stand in a message; empty if it may not.
func printable(key *yaml.Node) string {
	if !plainKey.MatchString(key.Value) {
		return ""
	}
	return key.Value
}

// named returns a key that isn't right as it may stand in a message. Beside secrets
// it may be one itself.
func named(key *yaml.Node, entry reflect.Type) string {
	switch {
	case entry == reflect.TypeFor[Secret]():
		return "***"
	case utf8.RuneCountInString(key.Value) > maxNamed:
		return strconv.Quote(string([]rune(key.Value)[:maxNamed]) + "…")
	default:
		return strconv.Quote(key.Value)
	}
}

// maxNamed is how much of a key a message shows, in characters.
const maxNamed = 40
