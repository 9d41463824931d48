package config

import "reflect"

// WrongTags says which keys of a configuration lack what doc.go promises of their tags.
func WrongTags(cfg *Config) (wrong []string) {
	walkFields(reflect.ValueOf(*cfg), "", func(path string, kind reflect.Kind, f field) {
		if f.key == "" || f.doc == "" || f.doc[len(f.doc)-1] != '.' {
			wrong = append(wrong, path+": wants a key and a sentence of doc")
		}
		isNumber := kind == reflect.Int || kind == reflect.Int64 || kind == reflect.Float64
		// An int without bounds could overflow.
		if r := f.rules; isNumber && (r.min == "" || r.max == "" || parseBound(r.min) > parseBound(r.max)) {
			wrong = append(wrong, path+": wants min and max")
		}
		if kind == reflect.Map && f.rules.keys.pattern == "" {
			wrong = append(wrong, path+": wants a format for its keys")
		}
	})
	return wrong
}

func walkFields(section reflect.Value, path string, each func(string, reflect.Kind, field)) {
	for _, f := range fieldsOf(section) {
		fieldType := f.value.Type()
		each(join(path, f.key), fieldType.Kind(), f)
		if isSection(fieldType) {
			walkFields(f.value, join(path, f.key), each)
			continue
		}
		for fieldType.Kind() == reflect.Map || fieldType.Kind() == reflect.Slice {
			fieldType = fieldType.Elem()
		}
		if isSection(fieldType) {
			walkFields(reflect.Zero(fieldType), join(path, f.key), each)
		}
	}
}
