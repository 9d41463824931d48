package config

import (
	"reflect"

	"go.yaml.in/yaml/v4"
)

// Holds reports whether a configuration says all that a part of one does: each key with the same value, and each element of
// a list in whichever place. A text that isn't YAML holds nothing.
func Holds(text, part []byte) bool {
	var whole, piece any
	if yaml.Unmarshal(text, &whole) != nil || yaml.Unmarshal(part, &piece) != nil {
		return false
	}
	return holds(whole, piece)
}

func holds(whole, part any) bool {
	switch p := part.(type) {
	case map[string]any:
		w, ok := whole.(map[string]any)
		if !ok {
			return false
		}
		for key, value := range p {
			if there, ok := w[key]; !ok || !holds(there, value) {
				return false
			}
		}
		return true
	case []any:
		w, ok := whole.([]any)
		if !ok {
			return false
		}
		for _, value := range p {
			found := false
			for _, there := range w {
				found = found || holds(there, value)
			}
			if !found {
				return false
			}
		}
		return true
	default:
		return reflect.DeepEqual(whole, part)
	}
}
