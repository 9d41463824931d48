package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// decoder fills the structs from YAML nodes and collects what is wrong. It
// walks nodes itself, rather than let the library decode, so that every value
// has its position for the rules that come after its type.
type decoder struct {
	form     Form
	file     string
	env      Env
	problems []Problem
	nodes    map[string]*yaml.Node // the values that are given, by YAML path
}

// Checker is a section with rules that its tags can't express.
type Checker interface{ Check(p Part) }

func (d *decoder) report(at *yaml.Node, path, message string) {
	d.problems = append(d.problems, Problem{d.file, at.Line, at.Column, path, message})
}

func (d *decoder) document(data []byte, cfg *Config) {
	d.nodes = map[string]*yaml.Node{}
	if root := d.readYAML(data); root != nil {
		d.value(root, reflect.ValueOf(cfg).Elem(), rules{}, "")
	}
}

// value fills v. Recursion ends with v's type, whatever aliases n holds.
func (d *decoder) value(n *yaml.Node, v reflect.Value, r rules, path string) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	d.nodes[path] = n
	switch v.Type() {
	case reflect.TypeFor[Secret]():
		d.secret(n, v, path)
		return
	case reflect.TypeFor[Profile]():
		d.profile(n, v, path)
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		d.section(n, v, path)
	case reflect.Map:
		d.mapping(n, v, r, path)
	case reflect.Slice:
		d.list(n, v, r, path)
	case reflect.String:
		d.text(n, v, r, path)
	case reflect.Bool:
		d.boolean(n, v, path)
	case reflect.Int, reflect.Int64, reflect.Float64:
		d.number(n, v, r, path)
	default:
		panic(fmt.Sprintf("config: no reader for %s", v.Type()))
	}
}

func (d *decoder) section(n *yaml.Node, v reflect.Value, path string) {
	fields := fieldsOf(v)
	before := len(d.problems)
	d.entries(n, path, func(key, value *yaml.Node) {
		i := slices.IndexFunc(fields, func(f field) bool { return f.key == key.Value })
		if i < 0 {
			d.report(key, join(path, printable(key)), unknownKey(key.Value, fields))
			return
		}
		f := fields[i]
		d.value(value, f.value, f.rules, join(path, f.key))
	})
	// A section that isn't even a mapping breaks no finer rule.
	wrongKind := n.Kind != yaml.MappingNode && len(d.problems) > before
	if c, ok := reflect.TypeAssert[Checker](v.Addr()); ok && !wrongKind {
		c.Check(Part{d, path})
	}
}

func (d *decoder) mapping(n *yaml.Node, v reflect.Value, r rules, path string) {
	entryType := v.Type().Elem()
	v.SetZero()
	d.entries(n, path, func(key, value *yaml.Node) {
		if problem := r.keys.check(d.form, key.Value); problem != "" {
			d.report(key, path, "has the key "+named(key, entryType)+", which "+problem)
			return
		}
		if entryType == reflect.TypeFor[Secret]() && isNull(value) {
			// {ghp_…} without a value: the key may be the secret.
			d.report(key, path, "has a name without a value")
			return
		}
		entry := reflect.New(entryType).Elem()
		d.value(value, entry, r.entry(), join(path, key.Value))
		if v.IsNil() {
			v.Set(reflect.MakeMap(v.Type()))
		}
		v.SetMapIndex(reflect.ValueOf(key.Value), entry)
	})
}

// entries calls each for the entries of a mapping. Nothing after the colon is
// a mapping without entries: that's what is left when all are commented out.
func (d *decoder) entries(n *yaml.Node, path string, each func(key, value *yaml.Node)) {
	if isNull(n) {
		return
	}
	if n.Kind != yaml.MappingNode {
		d.report(n, path, "must be a mapping (key: value), not "+describe(n))
		return
	}
	firstLine := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Kind != yaml.ScalarNode {
			d.report(key, path, "has a key that must be text, not "+describe(key))
			continue
		}
		if key.ShortTag() == "!!merge" {
			d.report(key, path, "must not merge (<<) another mapping; write its keys out")
			continue
		}
		if line, seen := firstLine[key.Value]; seen {
			d.report(key, join(path, printable(key)), fmt.Sprintf("must be given once; it is on line %d already", line))
		} else {
			firstLine[key.Value] = key.Line
		}
		each(key, value)
	}
}

// profile keeps a profile as it's written.
func (d *decoder) profile(n *yaml.Node, v reflect.Value, path string) {
	if n.Kind != yaml.MappingNode {
		d.report(n, path, "must be a mapping (key: value), not "+describe(n))
		return
	}
	v.Set(reflect.ValueOf(Profile{n}))
}

func (d *decoder) list(n *yaml.Node, v reflect.Value, r rules, path string) {
	if n.Kind != yaml.SequenceNode {
		d.report(n, path, "must be a list, not "+describe(n))
		return
	}
	v.SetZero()
	if problem := r.tooFew(len(n.Content)); problem != "" {
		d.report(n, path, problem)
	}
	for i, entry := range n.Content {
		v.Set(reflect.Append(v, reflect.Zero(v.Type().Elem())))
		d.value(entry, v.Index(i), r.entry(), fmt.Sprintf("%s[%d]", path, i))
	}
}

// unknownKey says which key was probably meant, or which there are.
func unknownKey(key string, fields []field) string {
	known := make([]string, len(fields))
	for i, f := range fields {
		known[i] = f.key
	}
	if near := nearest(key, known); near != "" {
		return fmt.Sprintf("unknown key; did you mean %s?", near)
	}
	return "unknown key; known here: " + strings.Join(known, ", ")
}
