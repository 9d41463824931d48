package config

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
)

// Key is a key of a configuration that has a value of its own: no section, no list and no mapping.
type Key struct {
	Path   string // such as adapters.telegram.proxy or agents.claude.env.API_KEY
	Format string // what the "is" tag says of it, or of the list that it's in
	After  string // behind the first of these, the text is a secret by itself; "": it has no such part
	Value  any    // a Secret, string, bool, number
}

// SecretFile is the format of keys that name a file with a secret and nothing else.
const SecretFile = "secret_file"

// Keys returns all of them, in the order of the example file. Whoever looks for secrets finds those of
// all sections here: they're of the type Secret, files that hold one have the format secret_file, and
// addresses that may have a password in them proxy_url.
func (cfg *Config) Keys() []Key { return keysOf(reflect.ValueOf(*cfg), Key{}) }

func keysOf(v reflect.Value, at Key) (all []Key) {
	switch {
	case isSection(v.Type()):
		for _, f := range fieldsOf(v) {
			all = append(all, keysOf(f.value, Key{Path: join(at.Path, f.key), Format: f.format, After: f.after})...)
		}
	case v.Kind() == reflect.Slice:
		for i := range v.Len() {
			all = append(all, keysOf(v.Index(i), Key{Path: fmt.Sprintf("%s[%d]", at.Path, i), Format: at.Format, After: at.After})...)
		}
	case v.Kind() == reflect.Map:
		entries := map[string]reflect.Value{}
		for i := v.MapRange(); i.Next(); {
			entries[i.Key().String()] = i.Value()
		}
		for _, name := range slices.Sorted(maps.Keys(entries)) {
			all = append(all, keysOf(entries[name], Key{Path: join(at.Path, name), Format: at.Format, After: at.After})...)
		}
	default:
		at.Value = v.Interface()
		return []Key{at}
	}
	return all
}
