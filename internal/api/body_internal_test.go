package api

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/drawtest"
)

// Half of a character is found wherever the decoder would put U+FFFD in its place, and
// nowhere else.
func TestHalvesOfCharactersAreFound(t *testing.T) {
	drawtest.Check(t, func(rt *rapid.T) {
		part := rapid.SampledFrom([]string{`\ud83d`, `\uD83D`, `\ude00`, `\uDE00`, `\u0041`, `\u0000`, `\\`, `\n`, `\"`, "u", "d83d", "é", "😀", `\\ud83d`})
		text := `{"text":"` + strings.Join(rapid.SliceOfN(part, 0, 8).Draw(rt, "text"), "") + `"}`
		var v struct{ Text string }
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			rt.Fatal(err)
		}
		if got, want := hasLoneSurrogate([]byte(text)), strings.ContainsRune(v.Text, '\uFFFD'); got != want {
			rt.Fatalf("of %s, which is %q, it's said: %t", text, v.Text, got)
		}
	})
}
