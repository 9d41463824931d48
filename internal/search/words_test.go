package search

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/drawtest"
)

func TestWordsOfALine(t *testing.T) {
	for line, want := range map[string]string{
		"":                                  "",
		"-> --- %":                          "",
		"go test ./...":                     "go test",
		"OutputPoller_v2.go:17":             "outputpoller poller v2 2 go 17",
		"HTTPServerError sha256sum":         "httpservererror servererror error sha256sum 256sum sum",
		"URLs of ABCd":                      "urls of abcd",
		"ÜBER Straße":                       "uber straße",
		"café":                              "cafe",
		"서버가 हिन्दी":                        "서버가 हिन्दी",
		"数据库 open":                          "数据 据库 库 open",
		"v数据1":                              "v 数据 据 1",
		strings.Repeat("a", 100):            strings.Repeat("a", 64),
		"error: cannot find module 'x/y-z'": "error cannot find module x y z",
	} {
		if got := strings.Join(appendWords(nil, line), " "); got != want {
			t.Errorf("words of %q: %q, want %q", line, got, want)
		}
	}
}

func TestWhatAQueryFinds(t *testing.T) {
	for _, c := range []struct {
		query, line string
		finds       bool
	}{
		{"poller", "type OutputPoller struct", true},
		{"POLL", "type OutputPoller struct", true},
		{"oller", "type OutputPoller struct", false},
		{"struct type", "type OutputPoller struct", true},
		{`"type OutputPoller"`, "type OutputPoller struct", true},
		{`"struct type"`, "type OutputPoller struct", false},
		{"poller.go:170", "polling/poller.go:1709: x", true},
		{"poller.go:17", "polling/poller.go:170: x", false},
		{"poller.go:17", "polling/poller.go:17: x", true},
		{"go", "gofmt", false},
		{"go", "go数据", true},
		{"go", "./go", true},
		{"poller.go:7", "polling/poller.go:170: x", false},
		{"(err)", "return wrap(err)", true},
		{"(err)", "return wrap(error)", false},
		{"据库", "数据库", true},
		{"库", "数据库", true},
		{"数库", "数据库", false},
		{"cafe\u0301", "the caf\u00e9", true},
		{"cafe", "the caf\u00e9", true},
		{"café", "the cafe", true},
		{"uber", "ÜBER", true},
		{"server", "an HTTPServerError", true},
		{"ls", "URLs", false},
		{"서버", "서버가 멈췄다", true},
		{"서", "서버가 멈췄다", false},
		{"हिन", "हिन्दी", true},
	} {
		q, err := ParseQuery(c.query)
		if err != nil || q.Matches(c.line) != c.finds {
			t.Errorf("%q finds %q: %v, %v", c.query, c.line, !c.finds, err)
		}
	}
	for _, none := range []string{"", " ", "->", `"`, `""`, `" "`, "\x00"} {
		if _, err := ParseQuery(none); err != ErrNoWords { //nolint:errorlint // it's that
			t.Errorf("%q: %v", none, err)
		}
	}
	if _, err := ParseQuery(strings.Repeat("a", 401)); err != ErrTooLong { //nolint:errorlint // it's that
		t.Error(err)
	}
}

// drawnText is text with what words are cut at.
func drawnText(least, most int) *rapid.Generator[string] {
	return rapid.StringOfN(rapid.SampledFrom([]rune("aabBcC1 _.-\"数据ก٣Éé\u0301\u1112서버가İßK*हि")), least, most, -1)
}

// Whatever a query is, a line that it finds has the words by which the index looks for it.
func TestTheIndexMissesNothing(t *testing.T) {
	drawtest.Check(t, func(t *rapid.T) {
		line := drawnText(0, 40).Draw(t, "line")
		text := drawnText(1, 8).Draw(t, "text")
		if runes := []rune(line); len(runes) > 0 && rapid.Bool().Draw(t, "of the line") {
			from := rapid.IntRange(0, len(runes)-1).Draw(t, "from")
			text = string(runes[from:rapid.IntRange(from+1, len(runes)).Draw(t, "to")])
		}
		if rapid.Bool().Draw(t, "large") {
			text = strings.ToUpper(text)
		}
		q, err := ParseQuery(text)
		if err != nil || !q.Matches(line) {
			return
		}
		words := appendWords(nil, line)
		for rest := q.match; rest != ""; {
			word, after, _ := strings.Cut(strings.TrimPrefix(rest, `"`), `"`)
			isOpen := strings.HasPrefix(after, " *")
			if !slices.ContainsFunc(words, func(w string) bool { return w == word || isOpen && strings.HasPrefix(w, word) }) {
				t.Fatalf("%q finds %q, which the index doesn't have by %s: it has %q", text, line, q.match, words)
			}
			rest = strings.TrimLeft(strings.TrimPrefix(after, " *"), " ")
		}
	})
}
