package config

import (
	"fmt"
	"regexp"
	"strings"
)

// reference is what expand replaces: an escaped ${, a reference, or the
// beginning of one that isn't well formed.
var reference = regexp.MustCompile(`\$?\$\{([A-Za-z_][A-Za-z0-9_]*\})?`)

// expand replaces each ${NAME} by the environment variable, and $${ by ${. A
// lone $ stays as it is. The problem is empty if all went well; it names
// variables, never values.
func expand(text string, env Env) (expanded, problem string) {
	var unset []string
	malformed := false
	expanded = reference.ReplaceAllStringFunc(text, func(match string) string {
		if escaped, ok := strings.CutPrefix(match, "$$"); ok {
			return "$" + escaped
		}
		name, ok := strings.CutSuffix(strings.TrimPrefix(match, "${"), "}")
		if !ok {
			malformed = true
			return ""
		}
		value, set := env(name)
		if !set {
			unset = append(unset, name)
		}
		return value
	})
	switch {
	case malformed:
		return "", "must have the name of a variable and } after ${; write $${ for ${ itself"
	case len(unset) > 0:
		return "", fmt.Sprintf("must be set in the environment: %s; write $${ for ${ itself", strings.Join(unset, ", "))
	}
	return expanded, ""
}
