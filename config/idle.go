package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// IdleKnobs returns the keys below `qos:` that a file gives though they do nothing in the mode that
// it gives, each as a problem at its place. A file that's wrong or can't be read has none. It
// reads the file.
func (f Form) IdleKnobs(file string, env Env) []Problem {
	data, err := readFile(file)
	if err != nil {
		return nil
	}
	cfg := f.Default()
	d := decoder{form: f, file: file, env: env}
	d.document(data, cfg)
	if len(d.problems) > 0 {
		return nil
	}
	for _, p := range cfg.Adapters.Platforms {
		if !p.Section.IsEnabled() {
			continue
		}
		at := "adapters." + p.Name + ".qos"
		mode := p.Section.Pace().Mode
		for _, k := range qosKnobs() {
			path := join(at, k.key)
			if node, given := d.nodes[path]; given && !slices.Contains(k.counts, mode) {
				d.report(node, path, fmt.Sprintf("does nothing with mode: %s; it counts with %s", mode, strings.Join(k.counts, " and ")))
			}
		}
	}
	return newErrors(d.problems).Problems
}

// qosKnob is a key below `qos:`, and the modes in which it counts.
type qosKnob struct {
	key    string
	counts []string
}

func qosKnobs() []qosKnob {
	var knobs []qosKnob
	for field := range reflect.TypeFor[QoS]().Fields() {
		knobs = append(knobs, qosKnob{field.Tag.Get("yaml"), strings.Fields(field.Tag.Get("counts"))})
	}
	return knobs
}
