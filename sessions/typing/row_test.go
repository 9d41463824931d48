package typing

import "testing"

// An empty prompt that somebody has looked at is known again, and isn't with something
// typed behind it.
func TestEmptyPromptsAreKnownAgain(t *testing.T) {
	for _, c := range []struct {
		seen, row string
		known     bool
	}{
		{"me in /a λ ", "me in /b/c λ ", true},
		{"me in /a λ ", "me in /b/c λ rm", false},
		{"me in /a: ", "me in /b: ", true},
		{"ctrl+c to exit, 12 s", "ctrl+c to exit, 13 s", true},
		{"ctrl+c to exit", "rm -r exit", false},
		{"写 ", "写 写", false},
		{"›", "a ›", true},
		{"", "x", false},
	} {
		part := barePartOf(c.seen)
		if got := part != (barePart{}) && part.of(c.row); got != c.known {
			t.Errorf("with %q seen, %q is empty: %v", c.seen, c.row, got)
		}
	}
}
