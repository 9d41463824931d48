package config

import (
	"reflect"
	"testing"
)

// TestTags holds every key to what doc.go promises of its tags.
func TestTags(t *testing.T) {
	walkFields(reflect.TypeFor[Config](), "", func(path string, kind reflect.Kind, f field) {
		if f.key == "" || f.doc == "" || f.doc[len(f.doc)-1] != '.' {
			t.Errorf("%s: wants a key and a sentence of doc", path)
		}
		isNumber := kind == reflect.Int || kind == reflect.Float64
		// An int without bounds could overflow.
		if r := f.rules; isNumber && (r.min == "" || r.max == "" || parseBound(r.min) > parseBound(r.max)) {
			t.Errorf("%s: wants min and max", path)
		}
		if kind == reflect.Map && f.rules.keys.pattern == "" {
			t.Errorf("%s: wants a format for its keys", path)
		}
	})
}

func walkFields(t reflect.Type, path string, each func(string, reflect.Kind, field)) {
	for _, f := range fieldsOf(t) {
		fieldType := t.Field(f.index).Type
		each(join(path, f.key), fieldType.Kind(), f)
		for fieldType.Kind() == reflect.Map || fieldType.Kind() == reflect.Slice {
			fieldType = fieldType.Elem()
		}
		if isSection(fieldType) {
			walkFields(fieldType, join(path, f.key), each)
		}
	}
}

func TestNearest(t *testing.T) {
	words := []string{"log", "polling", "output_cadence_s", "focus_cadence_s"}
	for typed, want := range map[string]string{
		"lgo": "", "logs": "log", "poling": "polling", "output_cadance": "", "output_cadence": "output_cadence_s",
		"focus-cadence-s": "focus_cadence_s", "x": "", "redis": "", "": "",
	} {
		if got := nearest(typed, words); got != want {
			t.Errorf("nearest(%q) = %q, want %q", typed, got, want)
		}
	}
}
