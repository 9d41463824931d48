package render_test

import (
	"testing"

	"github.com/panebridge/panebridge/internal/render"
)

func TestWordsAreWithoutMarks(t *testing.T) {
	for source, want := range map[string]string{
		"":                                      "",
		"plain":                                 "plain",
		"**All** of _it_ is `done`.":            "All of it is done.",
		"## What changed":                       "What changed",
		"- [x] one **thing**\n- another":        "one thing another",
		"```go":                                 "",
		"```\nx := *p\n```":                     "x := *p",
		"---":                                   "",
		"> quoted [here](https://example.org/)": "quoted here",
		"| a | b |\n|---|---|\n| c | **d** |":   "a b c d",
		"2 * 3 * 4 snake_case_name":             "2 * 3 * 4 snake_case_name",
	} {
		if got := render.Words(source); got != want {
			t.Errorf("%q: %q, want %q", source, got, want)
		}
	}
}
