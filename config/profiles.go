package config

import (
	"bytes"

	"go.yaml.in/yaml/v4"
)

// Profile is what's written about an agent program: its YAML, as it stands in the file.
// What may be in it is known, and checked, by sessions/agent.
type Profile struct{ node *yaml.Node }

// Node is the profile's mapping. Its lines and columns are those of the file.
func (p Profile) Node() *yaml.Node { return p.node }

// Equal reports whether two profiles say the same, wherever they stand.
func (p Profile) Equal(other Profile) bool { return bytes.Equal(p.text(), other.text()) }

func (p Profile) text() []byte {
	if p.node == nil {
		return nil
	}
	text, err := yaml.Dump(p.node)
	if err != nil {
		panic("config: what was read as YAML can't be written as YAML: " + err.Error())
	}
	return text
}

// MarshalYAML implements [yaml.Marshaler].
func (p Profile) MarshalYAML() (any, error) { return p.node, nil }
