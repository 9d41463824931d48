package config_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/panebridge/panebridge/adapters/all"
)

func TestSchema(t *testing.T) {
	text, err := all.Form().Schema()
	if err != nil {
		t.Fatal(err)
	}
	type node struct {
		Type                 any
		Properties           map[string]json.RawMessage
		AdditionalProperties any
	}
	var root node
	var schema struct {
		Properties struct {
			Polling struct{ Properties map[string]any }
			Agents  struct{ PropertyNames, AdditionalProperties map[string]any }
		}
	}
	for _, into := range []any{&root, &schema} {
		if err := json.Unmarshal(text, into); err != nil {
			t.Fatal(err)
		}
	}
	if len(root.Properties) != 20 || root.AdditionalProperties != false {
		t.Errorf("%s", text)
	}
	want := map[string]any{
		"type": "number", "minimum": 0.1, "maximum": 60.0, "default": 1.0,
		"description": "Seconds between two reads of a pane that changes.",
	}
	if diff := cmp.Diff(want, schema.Properties.Polling.Properties["output_cadence_s"]); diff != "" {
		t.Error(diff)
	}
	if schema.Properties.Agents.PropertyNames["pattern"] == nil || schema.Properties.Agents.AdditionalProperties["properties"] == nil {
		t.Errorf("%s", text)
	}
}
