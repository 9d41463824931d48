package platformtest

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/panebridge/panebridge/internal/drawtest"
)

// A changed answer isn't what it was, and what's spared in it is as it was or gone with all else.
func TestChangedAnswersDiffer(t *testing.T) {
	const body = `{"ok":true,"result":{"message_id":7,"message_thread_id":3,"chat":{"id":-100,"type":"supergroup"},"text":"hello"}}`
	var was map[string]any
	if err := json.Unmarshal([]byte(body), &was); err != nil {
		t.Fatal(err)
	}
	for seed := range drawtest.Seeds(t, 1000) {
		m := mutation{random: rand.New(rand.NewPCG(seed, 8)), sparing: []string{"message_thread_id"}, parts: seed%2 == 0}
		var is map[string]any
		if err := json.Unmarshal(m.change([]byte(body), "result"), &is); err != nil {
			t.Fatal(err)
		}
		if reflect.DeepEqual(is, was) {
			t.Errorf("seed %d changes nothing", seed)
		}
		if of, ok := is["result"].(map[string]any); ok && of["message_thread_id"] != 3.0 && of["message_thread_id"] != "3" {
			t.Errorf("seed %d changes what's spared: %v", seed, is)
		}
	}
}
