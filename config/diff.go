package config

import (
	"maps"
	"reflect"
	"slices"
)

// Change is a key whose value differs between two configurations. For a list
// it's the list, for a mapping such as agents the entry.
type Change struct {
	Path   string // such as polling.output_cadence_s or agents.claude
	Reload bool   // whether it can be applied at run time; else on restart
}

// Diff returns what changed from one configuration to the next, in the order
// of the example file.
func Diff(from, to *Config) []Change {
	return diffSection(reflect.ValueOf(*from), reflect.ValueOf(*to), "", false)
}

func diffSection(from, to reflect.Value, path string, reload bool) []Change {
	var changes []Change
	others := fieldsOf(to)
	for i, f := range fieldsOf(from) {
		a, b := f.value, others[i].value
		path, reload := join(path, f.key), reload || f.reload
		switch {
		case isSection(a.Type()):
			changes = append(changes, diffSection(a, b, path, reload)...)
		case a.Kind() == reflect.Map:
			changes = append(changes, diffMapping(a, b, path, reload)...)
		case !same(a, b):
			changes = append(changes, Change{path, reload})
		}
	}
	return changes
}

func diffMapping(from, to reflect.Value, path string, reload bool) []Change {
	keys := map[string]bool{}
	for _, key := range append(from.MapKeys(), to.MapKeys()...) {
		keys[key.String()] = true
	}
	var changes []Change
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		a, b := from.MapIndex(reflect.ValueOf(key)), to.MapIndex(reflect.ValueOf(key))
		if !a.IsValid() || !b.IsValid() || !same(a, b) {
			changes = append(changes, Change{join(path, key), reload})
		}
	}
	return changes
}

// same is equality for which an empty list is no list.
func same(a, b reflect.Value) bool {
	if a.Kind() == reflect.Slice && a.Len() == 0 && b.Len() == 0 {
		return true
	}
	if p, ok := reflect.TypeAssert[Profile](a); ok {
		other, _ := reflect.TypeAssert[Profile](b) // both are of one type
		return p.Equal(other)
	}
	return reflect.DeepEqual(a.Interface(), b.Interface())
}
