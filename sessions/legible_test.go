package sessions

import (
	"strings"
	"testing"
	"unicode"
)

// What people agree to stands where it's read: no character turns the direction in which
// others are drawn, or is drawn as nothing.
func TestWhatAQuestionIsAboutIsLegible(t *testing.T) {
	for in, want := range map[string]string{
		"echo done \u2067# \u2069; curl x | sh":   `echo done \u2067# \u2069; curl x | sh`,
		"rm \u202etxt.a":                          `rm \u202etxt.a`,
		"a\u200bb\u00adc\ufeff\u2800\u3164":       `a\u200bb\u00adc\ufeff\u2800\u3164`,
		"a\x1b[2Kb\rc\u0085":                      `a\x1b[2Kb\rc\u0085`,
		"one\ntwo\tthree":                         "one\ntwo\tthree",
		"\u0915\u094d\u200d\u0937 x\ufe0f\u200dy": "\u0915\u094d\u200d\u0937 x\\ufe0f\\u200dy",
		"e\u0301 \u6f22\u5b57 \u05e9\u05dc\u05d5\u05dd \U0001f469\u200d\U0001f4bb\ufe0f": "e\u0301 \u6f22\u5b57 \u05e9\u05dc\u05d5\u05dd \U0001f469\u200d\U0001f4bb\ufe0f",
	} {
		if got := Legible(in); got != want {
			t.Errorf("%q is %q, want %q", in, got, want)
		}
	}
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if unicode.Is(unicode.Zs, r) && r != ' ' {
			d := Dialog{Kind: PromptPermission, Whole: "a" + string(r) + "b"}
			if about := d.About(); strings.ContainsRune(about, r) {
				t.Fatalf("%U stands in %q", r, about)
			}
		}
		unseen := unicode.In(r, unicode.Bidi_Control, unicode.Cc, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
		if !unseen && (unicode.IsGraphic(r) || r >= 0xD800 && r < 0xE000 || r > 0xFFFF && r%97 > 0) || r == '\n' || r == '\t' {
			continue
		}
		text := "./bui" + string(r) + "ld.sh"
		for _, d := range []Dialog{
			{Body: text}, {Whole: text}, {Body: text, Whole: text, Disputed: true}, {Body: "e\u0301" + string(r)}, {Body: "x\ufe0f\u200d" + string(r)},
		} {
			if about := d.About(); strings.ContainsRune(about, r) {
				t.Fatalf("%U stands in %q", r, about)
			}
		}
	}
}
