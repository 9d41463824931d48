package config_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/panebridge/panebridge/config"
)

// FuzzParse: whatever the input, Parse returns, and every problem stands
// within the file: at most on the line after the last, in its first column.
func FuzzParse(f *testing.F) {
	f.Add(form().Example())
	for _, test := range badInputs {
		f.Add(test.in)
	}
	f.Add("\r\xe3")
	// What YAML takes for the end of a line.
	breaks := strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n")
	f.Fuzz(func(t *testing.T, text string) {
		cfg, err := parse(text)
		var all *config.Errors
		switch {
		case err == nil && cfg != nil:
			return
		case cfg != nil || !errors.As(err, &all) || len(all.Problems) == 0:
			t.Fatalf("got %v and %v", cfg, err)
		}
		lines := strings.Split(breaks.Replace(text), "\n")
		for _, p := range all.Problems {
			inside := p.Line >= 1 && p.Line <= len(lines) && p.Column >= 1 && p.Column <= len([]rune(lines[p.Line-1]))+1
			after := p.Line == len(lines)+1 && p.Column == 1
			if !inside && !after {
				t.Errorf("outside of %q: %v", text, p)
			}
			if strings.ContainsAny(p.Message, "\r\n") {
				t.Errorf("more than a line: %q", p.Message)
			}
		}
	})
}
