package config

import (
	"reflect"
	"strings"

	"go.yaml.in/yaml/v4"
)

const exampleHead = `# panebridge: every key, with its default. All of it can be left out.
#
# Keys marked (reload) follow a change at "panebridge config reload" or SIGHUP;
# the others at the next start. In text, ${NAME} is an environment variable, and
# $${ is ${ itself.
#
# Generated from the config package by "go generate ./config"; don't edit.
`

// Example returns the contents of config.example.yaml: every key with its
// default and a line of why. Read back, it is [Default].
func (f Form) Example() string {
	return exampleHead + exampleSection(reflect.ValueOf(*f.Default()), false)
}

// exampleSection writes the keys of a section, not indented. Keys without a
// default are commented out, unless all of the section is going to be.
func exampleSection(section reflect.Value, inactive bool) string {
	var out strings.Builder
	for _, f := range fieldsOf(section) {
		value := f.value
		if isSection(value.Type()) || value.Kind() == reflect.Map && !inactive || isSections(value.Type()) && value.IsZero() {
			out.WriteString("\n")
		}
		out.WriteString("# " + f.doc + f.limits() + "\n")
		entry := f.key + ":" + exampleValue(value, f)
		if f.example != "" && value.Kind() != reflect.Map && value.IsZero() && !inactive {
			entry = prefix("# ", entry)
		}
		out.WriteString(entry)
	}
	return out.String()
}

// exampleValue writes what follows a key's colon, to the end of the line or of
// the section.
func exampleValue(value reflect.Value, f field) string {
	switch {
	case isSection(value.Type()):
		return "\n" + prefix("  ", strings.TrimPrefix(exampleSection(value, false), "\n"))
	case isSections(value.Type()) && value.Kind() == reflect.Map:
		entry := f.example + ":\n" + prefix("  ", exampleSection(reflect.Zero(value.Type().Elem()), true))
		return " {}\n" + prefix("#   ", entry)
	case isSections(value.Type()) && value.Len() == 0:
		entry := prefix("  ", exampleSection(reflect.Zero(value.Type().Elem()), true))
		return " []\n" + prefix("#   ", "- "+strings.TrimPrefix(entry, "  "))
	case isSections(value.Type()):
		entries := make([]string, value.Len())
		for i := range entries {
			entry := prefix("    ", exampleSection(value.Index(i), false))
			entries[i] = "  - " + strings.TrimPrefix(entry, "    ")
		}
		return "\n" + strings.Join(entries, "")
	case value.Kind() == reflect.Map && !strings.HasPrefix(f.example, "{"):
		return " {}\n" + prefix("#   ", f.example+"\n")
	case value.IsZero() && f.example != "":
		return " " + f.example + "\n"
	case value.Kind() == reflect.Slice && value.Len() == 0:
		return " []\n"
	}
	return " " + exampleScalar(value)
}

func isSections(t reflect.Type) bool {
	return (t.Kind() == reflect.Map || t.Kind() == reflect.Slice) && isSection(t.Elem())
}

func exampleScalar(value reflect.Value) string {
	if value.CanFloat() {
		return formatNumber(value.Float()) + "\n"
	}
	text, err := yaml.Dump(value.Interface(), yaml.WithQuotePreference(yaml.QuoteDouble))
	if err != nil {
		panic("config: default can't be written as YAML: " + err.Error())
	}
	return string(text)
}

// limits says in words what the tags allow.
func (f field) limits() string {
	text := ""
	switch r := f.rules; {
	case r.max != "":
		text = " From " + r.min + " to " + r.max + "."
	case r.min != "":
		text = " At least " + r.min + "."
	case len(r.oneOf) > 0:
		text = " One of " + strings.Join(r.oneOf, ", ") + "."
	}
	if f.reload {
		text += " (reload)"
	}
	return text
}

// prefix puts text before each line that isn't empty.
func prefix(before, lines string) string {
	var out strings.Builder
	for line := range strings.Lines(lines) {
		if line != "\n" {
			out.WriteString(before)
		}
		out.WriteString(line)
	}
	return out.String()
}
