package config

import (
	"strings"

	"go.yaml.in/yaml/v4"
)

// Part is a place in the file, for the Check methods. A key may be a path
// below the place (servers[0]); the empty one is the place itself.
type Part struct {
	d    *decoder
	path string
}

// Given reports whether the file has the key.
func (p Part) Given(key string) bool {
	_, ok := p.d.nodes[join(p.path, key)]
	return ok
}

// Sound reports whether nothing at or below the key has been found wrong.
func (p Part) Sound(key string) bool {
	path := join(p.path, key)
	for _, problem := range p.d.problems {
		rest, at := strings.CutPrefix(problem.Path, path)
		if at && (rest == "" || rest[0] == '.' || rest[0] == '[') {
			return false
		}
	}
	return true
}

// Problem reports a problem with the key's value, unless one is known: what
// follows from it isn't news.
func (p Part) Problem(key, message string) {
	if !p.Sound(key) {
		return
	}
	path := join(p.path, key)
	p.d.report(p.d.nearest(path), path, message)
}

// nearest returns the value at a path, or if that isn't given, the nearest one
// above it.
func (d *decoder) nearest(path string) *yaml.Node {
	for {
		if at, ok := d.nodes[path]; ok || path == "" {
			return at
		}
		path = path[:max(strings.LastIndexAny(path, ".["), 0)]
	}
}
