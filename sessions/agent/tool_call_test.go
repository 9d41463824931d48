package agent

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/drawtest"
)

// However many parameters of whatever names and values a tool has, that's compared with what's drawn
// in little time: else a server of tools holds its agent's session up.
func TestParametersAreComparedInLittleTime(t *testing.T) {
	f := &paramForm{Most: 3, Cut: "..."}
	for _, name := range []string{"", ".", "a"} {
		params := make([]toolParam, 20_000)
		for i := range params {
			params[i] = toolParam{name, strings.Repeat(".:", 10_000), true}
		}
		if drawsParams(f, strings.Repeat(".:", 5_000)+"x", params, f.Most) {
			t.Errorf("%q: what isn't drawn is taken for it", name)
		}
	}
}

// The first parameters, each whole or cut, are what a dialog draws; nothing else is.
func TestParametersThatAreDrawn(t *testing.T) {
	f := &paramForm{Most: 3, Cut: "..."}
	drawtest.Check(t, func(t *rapid.T) {
		value := rapid.StringOfN(rapid.RuneFrom([]rune("a.:")), 1, 80, -1)
		var params []toolParam
		drawn, left := "", f.Most
		counts := rapid.Bool().Draw(t, "one without a name counts")
		for range rapid.IntRange(0, 6).Draw(t, "parameters") {
			p := toolParam{rapid.SampledFrom([]string{"", "a", "b:"}).Draw(t, "name"), value.Draw(t, "value"), false}
			p.long = len(p.value) > leastCut
			params = append(params, p)
			switch {
			case left == 0:
			case p.name != "":
				left--
				drawn += p.name + ":" + p.value
				if p.long {
					drawn = drawn[:len(drawn)-len(p.value)+leastCut] + f.Cut
				}
			case counts:
				left--
			}
		}
		if !drawsParams(f, drawn, params, f.Most) {
			t.Fatalf("%q isn't taken for %+v", drawn, params)
		}
		if other := drawn + "x"; drawsParams(f, other, params, f.Most) {
			t.Fatalf("%q is taken for %+v", other, params)
		}
	})
}
