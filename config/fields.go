package config

import (
	"reflect"
	"strings"
)

// field is one key of a section, as its struct tag describes it (see doc.go).
type field struct {
	value   reflect.Value
	key     string
	doc     string
	example string
	reload  bool
	format  string // by its name
	after   string
	rules   rules
}

// rules are the limits on a value that a tag sets.
type rules struct {
	min, max string // bounds of a number, or min of a list's length; "" is none
	oneOf    []string
	is       format
	keys     format
}

// entry returns the rules for the entries of a list that has rules r.
func (r rules) entry() rules { return rules{oneOf: r.oneOf, is: r.is} }

// fieldsOf returns the keys of a section, with their values. Each platform is one of Adapters.
func fieldsOf(section reflect.Value) []field {
	var fields []field
	for i := range section.NumField() {
		if platforms, ok := reflect.TypeAssert[[]Platform](section.Field(i)); ok {
			for _, p := range platforms {
				fields = append(fields, field{value: reflect.ValueOf(p.Section).Elem(), key: p.Name, doc: p.Doc})
			}
			continue
		}
		tag := section.Type().Field(i).Tag
		fields = append(fields, field{
			value:   section.Field(i),
			key:     tag.Get("yaml"),
			doc:     tag.Get("doc"),
			example: tag.Get("eg"),
			reload:  tag.Get("reload") == "yes",
			format:  tag.Get("is"),
			after:   tag.Get("secret_after"),
			rules: rules{
				min:   tag.Get("min"),
				max:   tag.Get("max"),
				oneOf: strings.Fields(tag.Get("oneof")),
				is:    formatOf(tag.Get("is")),
				keys:  formatOf(tag.Get("keys")),
			},
		})
	}
	return fields
}

// isSection says whether a type has keys of its own.
func isSection(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && t != reflect.TypeFor[Secret]() && t != reflect.TypeFor[Profile]()
}

// join returns the YAML path of a key below a path.
func join(path, key string) string {
	if path == "" || key == "" {
		return path + key
	}
	return path + "." + key
}
