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
		"echo done \u2067# \u2069; curl x | sh": `echo done \u2067# \u2069; curl x | sh`,
		"rm \u202etxt.a":                        `rm \u202etxt.a`,
		"a\u200bb\u00adc\ufeff\u2800\u3164":     `a\u200bb\u00adc\ufeff\u2800\u3164`,
		"a\x1b[2Kb\rc\u0085":                    `a\x1b[2Kb\rc\u0085`,
		"one\ntwo\tthree":                       "one\ntwo\tthree",
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
		if !unicode.In(r, unicode.Bidi_Control, unicode.Cc, unicode.Cf) || strings.ContainsRune("\n\t\u200c\u200d", r) {
			continue
		}
		for _, d := range []Dialog{
			{Body: string(r)}, {Whole: string(r)}, {Body: string(r), Whole: string(r), Disputed: true},
		} {
			if about := d.About(); strings.ContainsRune(about, r) {
				t.Fatalf("%U stands in %q", r, about)
			}
		}
	}
}
