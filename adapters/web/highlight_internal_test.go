package web

import (
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/chroma/v2/lexers"
	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/drawtest"
)

// Whatever the language says of it, the code that's shown is the code that's there.
func TestHighlightedCodeIsTheCode(t *testing.T) {
	names := lexers.Names(true)
	pieces := []string{"func ", "\"", "'", "`", "/*", "*/", "//", "#", "\n", "\r\n", "\t", "<?php ", "<script>", "</", "{{", "${", "0x1F", "é", "漢", "\x00", "=begin\n", "<<EOF\n", "EOF\n", " "}
	drawtest.CheckTimes(t, drawtest.Times(20000, 1000, 100), func(t *rapid.T) {
		language := rapid.SampledFrom(names).Draw(t, "language")
		code := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 40).Draw(t, "pieces"), "")
		var got strings.Builder
		for _, token := range highlight(language, code) {
			got.WriteString(token.Text)
		}
		if got.String() != code {
			t.Errorf("%s: %q became %q", language, code, got.String())
		}
	})
}

func TestHighlightKnowsTheLanguage(t *testing.T) {
	got := highlight("go", "func a() { // x\n\treturn \"s\", 1\n}\n")
	for _, want := range []codeToken{{"func", "keyword"}, {"// x", "comment"}, {`"s"`, "string"}, {"1", "number"}} {
		if !slices.Contains(got, want) {
			t.Errorf("no %+v in %+v", want, got)
		}
	}
	for _, language := range []string{"", "nothing-such"} {
		if got := highlight(language, "x = 1"); len(got) != 1 || got[0].As != "" {
			t.Errorf("%q: %+v", language, got)
		}
	}
}
