package redact

import (
	"strings"
	"testing"
	"unicode"
)

// No character that's drawn as nothing hides a secret in which it stands, wherever the text goes.
func TestWhatNobodySeesHidesNothing(t *testing.T) {
	m, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	const known = "planted-0123-secret"
	m.Add("token", known)
	ghost := unicode.Properties["Other_Default_Ignorable_Code_Point"]
	n := 0
	for r := rune(0x80); r <= unicode.MaxRune; r++ {
		format := unicode.Is(unicode.Cf, r) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r)
		if !format && !unicode.In(r, ghost, unicode.Variation_Selector) {
			continue
		}
		n++
		for secret, text := range map[string]string{
			known: known, "Kx7mQ2zR9w": "DB_PASSWORD=Kx7mQ2zR9w", "x7Kq2mVb9TzR4wLcE8sYpD1nHfJ6uA3gQ0iZ": "ghp_x7Kq2mVb9TzR4wLcE8sYpD1nHfJ6uA3gQ0iZ",
		} {
			half := len(secret) / 2
			row := "$ " + strings.Replace(text, secret, secret[:half]+string(r)+secret[half:], 1) + " # end"
			for way, got := range map[string]string{
				"line": m.Line(row), "screen": m.Rows(nil, []string{row})[0], "log": m.Lines(LineWindow{Lines: []string{row}}).Lines[0],
			} {
				if strings.Contains(got, secret[:half]) || strings.Contains(got, secret[half:]) {
					t.Fatalf("U+%04X hides %s in a %s: %q", r, text, way, got)
				}
			}
		}
	}
	if n < 4000 {
		t.Errorf("only %d characters are drawn as nothing", n)
	}
}
