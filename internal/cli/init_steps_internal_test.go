package cli

import (
	"slices"
	"testing"
)

// Names of tmux sessions may have blanks.
func TestNamesThatAPersonWrites(t *testing.T) {
	t.Parallel()
	known := []string{"api", "my work", "web"}
	for text, want := range map[string][]string{
		"":                    nil,
		"api":                 {"api"},
		"api web":             {"api", "web"},
		"api, web":            {"api", "web"},
		"my work":             {"my work"},
		"api,my work , web":   {"api", "my work", "web"},
		"all":                 {"all"},
		"web  other, my work": {"web", "other", "my work"},
	} {
		if got := namesIn(text, known); !slices.Equal(got, want) {
			t.Errorf("%q names %q, want %q", text, got, want)
		}
	}
}
