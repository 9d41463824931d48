package config

import (
	"reflect"
	"strings"
)

// DocumentedKey is a key of the configuration as a reference tells it.
type DocumentedKey struct {
	Path    string // agents.NAME.command, mirrors[].to
	Doc     string // with its limits
	Default string // as YAML in one line; "": it has none
	Reload  bool   // a change is applied at run time
}

// DocumentedKeys returns all keys that have a value of their own, in the order of the example file.
func (f Form) DocumentedKeys() []DocumentedKey {
	return documented(reflect.ValueOf(*f.Default()), "", false, true)
}

func documented(section reflect.Value, at string, reload, hasDefaults bool) (all []DocumentedKey) {
	for _, f := range fieldsOf(section) {
		path, below := join(at, f.key), reload || f.reload
		f.reload = false // it's told by a field of its own
		switch t := f.value.Type(); {
		case isSection(t):
			all = append(all, documented(f.value, path, below, hasDefaults)...)
		case isSections(t) && t.Kind() == reflect.Map:
			all = append(all, documented(reflect.Zero(t.Elem()), path+".NAME", below, false)...)
		case isSections(t):
			all = append(all, documented(reflect.Zero(t.Elem()), path+"[]", below, false)...)
		default:
			k := DocumentedKey{Path: path, Doc: f.doc + f.limits(), Reload: below}
			if hasDefaults && t != reflect.TypeFor[Secret]() {
				k.Default = strings.Join(strings.Fields(exampleValue(f.value, f)), " ")
			}
			all = append(all, k)
		}
	}
	return all
}
