package config

import (
	"encoding/json"
	"reflect"
)

// schema is the part of JSON Schema (draft 2020-12) that the structs need.
type schema struct {
	Dialect       string             `json:"$schema,omitempty"`
	Title         string             `json:"title,omitempty"`
	Description   string             `json:"description,omitempty"`
	Type          any                `json:"type"` // a name, or several
	Enum          []string           `json:"enum,omitempty"`
	Pattern       string             `json:"pattern,omitempty"`
	Minimum       json.Number        `json:"minimum,omitempty"`
	Maximum       json.Number        `json:"maximum,omitempty"`
	MinItems      json.Number        `json:"minItems,omitempty"`
	Items         *schema            `json:"items,omitempty"`
	PropertyNames *schema            `json:"propertyNames,omitempty"`
	Properties    map[string]*schema `json:"properties,omitempty"`
	Additional    any                `json:"additionalProperties,omitempty"` // a schema, or false
	Default       any                `json:"default,omitempty"`
}

// Schema returns the JSON schema of the configuration file, for editors.
func (f Form) Schema() ([]byte, error) {
	defaults := reflect.ValueOf(*f.Default())
	root := sectionSchema(defaults)
	root.Dialect = "https://json-schema.org/draft/2020-12/schema"
	root.Title = "panebridge configuration"
	addDefaults(root, defaults)
	return json.MarshalIndent(root, "", "  ")
}

func schemaOf(t reflect.Type, r rules) *schema {
	if t == reflect.TypeFor[Secret]() {
		return &schema{Type: []string{"string", "number", "boolean"}}
	}
	if t == reflect.TypeFor[Profile]() {
		return &schema{Type: "object"}
	}
	switch t.Kind() {
	case reflect.Struct:
		return sectionSchema(reflect.Zero(t))
	case reflect.Map:
		names := &schema{Type: "string", Pattern: r.keys.pattern}
		return &schema{Type: []string{"object", "null"}, PropertyNames: names, Additional: schemaOf(t.Elem(), r.entry())}
	case reflect.Slice:
		return &schema{Type: "array", MinItems: json.Number(r.min), Items: schemaOf(t.Elem(), r.entry())}
	case reflect.Bool:
		return &schema{Type: "boolean"}
	case reflect.Int, reflect.Int64:
		return &schema{Type: "integer", Minimum: json.Number(r.min), Maximum: json.Number(r.max)}
	case reflect.Float64:
		return &schema{Type: "number", Minimum: json.Number(r.min), Maximum: json.Number(r.max)}
	default:
		return &schema{Type: "string", Enum: r.oneOf}
	}
}

func sectionSchema(section reflect.Value) *schema {
	s := &schema{Type: []string{"object", "null"}, Properties: map[string]*schema{}, Additional: false}
	for _, f := range fieldsOf(section) {
		property := schemaOf(f.value.Type(), f.rules)
		if isSection(f.value.Type()) {
			property = sectionSchema(f.value)
		}
		property.Description = f.doc
		s.Properties[f.key] = property
	}
	return s
}

func addDefaults(s *schema, section reflect.Value) {
	for _, f := range fieldsOf(section) {
		property, value := s.Properties[f.key], f.value
		switch {
		case value.Type() == reflect.TypeFor[Secret]():
		case isSection(value.Type()):
			addDefaults(property, value)
		case isSections(value.Type()) && value.Len() > 0:
			// A list of sections: the example shows it, as YAML.
		case value.Kind() == reflect.Slice && value.IsNil():
			property.Default = []string{}
		case value.Kind() == reflect.Map:
			property.Default = map[string]string{}
		default:
			property.Default = value.Interface()
		}
	}
}
