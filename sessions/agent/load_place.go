package agent

import (
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// fault is something wrong at a place in a profile: names of keys, and numbers in lists.
type fault struct {
	at      []any
	problem string
}

// unmerged is a fault at the place at which it was written: lists have what stood under
// `more:` before what stood there itself.
func (w *written) unmerged(f fault) fault {
	if len(f.at) < 2 {
		return f
	}
	n, ok := f.at[1].(int)
	before := map[any]int{"dialogs": len(w.More.Dialogs), "prompts": len(w.More.Prompts), "signs": len(w.More.Signs)}[f.at[0]]
	switch {
	case !ok:
	case n < before:
		f.at = append([]any{"more"}, f.at...)
	default:
		f.at = append([]any{f.at[0], n - before}, f.at[2:]...)
	}
	return f
}

// placed is a fault with its place in the file. What isn't given there is at the nearest
// value above it.
func placed(file, profile string, in *yaml.Node, f fault) *LoadError {
	e := &LoadError{File: file, Line: in.Line, Column: in.Column, Profile: profile, Problem: f.problem}
	var path strings.Builder
	for _, step := range f.at {
		if in = nodeBelow(in, step); in == nil {
			break
		}
		e.Line, e.Column = in.Line, in.Column
		switch step := step.(type) {
		case string:
			if path.Len() > 0 {
				path.WriteByte('.')
			}
			path.WriteString(step)
		case int:
			path.WriteString("[" + strconv.Itoa(step) + "]")
		}
	}
	e.Path = path.String()
	return e
}

// nodeBelow is the value at one step below a node, nil if it isn't there.
func nodeBelow(n *yaml.Node, step any) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	switch step := step.(type) {
	case int:
		if n.Kind == yaml.SequenceNode && step < len(n.Content) {
			return n.Content[step]
		}
	case string:
		for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == step {
				return n.Content[i+1]
			}
		}
	}
	return nil
}

// pathTo is the path of the key or value in a profile that stands at a place; "": none
// does, or the profile itself.
func pathTo(in *yaml.Node, line, column int) string {
	if in == nil {
		return ""
	}
	for i, n := range in.Content {
		step := "[" + strconv.Itoa(i) + "]"
		if in.Kind == yaml.MappingNode {
			step = "." + in.Content[i-i%2].Value
		}
		if n.Line == line && n.Column == column {
			return strings.TrimPrefix(step, ".")
		}
		if below := pathTo(n, line, column); below != "" {
			if !strings.HasPrefix(below, "[") {
				below = "." + below
			}
			return strings.TrimPrefix(step, ".") + below
		}
	}
	return ""
}
