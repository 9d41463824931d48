package transcript

import (
	"encoding/json"
	"testing"

	"github.com/tidwall/gjson"
	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/drawtest"
)

// A call is raw where one of its texts, at any depth, has a control character that isn't an end of a
// row or a tab.
func TestCallsWithControlCharactersAreRaw(t *testing.T) {
	drawtest.Check(t, func(rt *rapid.T) {
		raw := rapid.Bool().Draw(rt, "raw")
		text := rapid.StringOf(rapid.SampledFrom([]rune("a \\\n\t\"é漢#r"))).Draw(rt, "text")
		if raw {
			at := rapid.IntRange(0, len([]rune(text))).Draw(rt, "at")
			runes := []rune(text)
			text = string(runes[:at]) + string(rapid.SampledFrom([]rune("\r\b\v\f\x00\x1b\u007f\u0085\u009b")).Draw(rt, "control")) + string(runes[at:])
		}
		var args any = text
		for range rapid.IntRange(0, 3).Draw(rt, "depth") {
			if rapid.Bool().Draw(rt, "list") {
				args = []any{1, args, true}
			} else {
				args = map[string]any{"x": "y", "z": args}
			}
		}
		line, err := json.Marshal(map[string]any{"id": "c1", "name": "run_shell_command", "args": map[string]any{"command": args}})
		if err != nil {
			rt.Fatal(err)
		}
		if got := qwenCall(gjson.ParseBytes(line)); got.Raw != raw || got.ID != "c1" {
			rt.Fatalf("%s is raw: %v, want %v", line, got.Raw, raw)
		}
	})
}
