package config

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

// TestEachKnobSaysWhenItCounts: a new one below qos: has to.
func TestEachKnobSaysWhenItCounts(t *testing.T) {
	mode, _ := reflect.TypeFor[QoS]().FieldByName("Mode")
	modes := strings.Fields(mode.Tag.Get("oneof"))
	for _, k := range qosKnobs() {
		if k.key == "" || len(k.counts) == 0 || slices.ContainsFunc(k.counts, func(m string) bool { return !slices.Contains(modes, m) }) {
			t.Errorf("%q counts in the modes %q, of %q", k.key, k.counts, modes)
		}
	}
}
