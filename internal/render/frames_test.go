package render_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/panebridge/panebridge/internal/render"
)

func TestFramesAreBlocksOfCodeAndTables(t *testing.T) {
	type frames = []render.Frame
	for source, want := range map[string]frames{
		"":                                   nil,
		"text\n\nmore":                       nil,
		"text\n```go\na\n\nb\n```\nmore":     {{1, 6}},
		"~~~\na\n~~~~":                       {{0, 3}},
		"```\nit goes on":                    {{0, 2}},
		"```\na\n\n\n":                       {{0, 4}},
		"```\n```":                           nil,
		"a|b\n-|-\n1|2\n3|4\n\nmore":         {{0, 4}},
		"text\n\n| a |\n|---|\nmore":         {{2, 5}},
		"a|b\n-|-":                           {{0, 2}},
		"text\n\n    code\n    more\n\ntext": {{2, 4}},
		"- item\n  ```\n  a\n  ```\n- two":   {{1, 4}},
		"> ```\n> a\n> ```\n> b":             {{0, 3}},
		"```\na\n```\n```\nb\n```":           {{0, 3}, {3, 6}},
		"```\na\n```" + strings.Repeat("\n[", 5000): nil, // isn't read as Markdown
	} {
		if got := render.Frames(source); !slices.Equal(got, want) {
			t.Errorf("%.60q: got %v, want %v", source, got, want)
		}
	}
}
