package discord_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/render"
	"github.com/panebridge/panebridge/internal/render/discord"
	"github.com/panebridge/panebridge/internal/render/rendertest"
)

// Whatever is rendered, it's read as it should be, nothing is lost, doubled or out
// of order, nobody is called, and no message is too long.
func TestAnyTextIsShown(t *testing.T) {
	rendertest.Documents(t, 0.1, func(t *rapid.T, seeds []uint64) {
		source := rendertest.Garbage(seeds)
		if rapid.Bool().Draw(t, "well formed") {
			source = rendertest.WellFormed(seeds).Source
		}
		limit := rapid.SampledFrom([]int{200, 400, 2000}).Draw(t, "limit")
		kind := rapid.SampledFrom([]render.PartKind{render.Answer, render.Answer, render.Answer, render.Pane, render.Plain, render.User, render.Tool, render.Notice}).Draw(t, "kind")
		checkShown(t, []render.Part{{Kind: kind, Source: source}}, limit)
	})
}

func checkShown(t *rapid.T, parts []render.Part, limit int) {
	t.Helper()
	source := parts[0].Source
	form := discord.Form(limit)
	var shown []rune
	for from, done := (render.TextPosition{}), false; !done; {
		text, next, last := form.Next(parts, from)
		s := discord.Markdown(text)
		if n := len(utf16.Encode([]rune(s))); n > limit {
			t.Fatalf("%d units, limit %d\n%s\n%s", n, limit, s, source)
		}
		if s != "" && strings.TrimSpace(s) != s {
			t.Fatalf("blanks at the ends of %q", s)
		}
		seen, wrong := rendertest.ReadDiscord(s)
		if wrong != nil {
			t.Fatalf("%s\nin\n%s\nof\n%s", strings.Join(wrong, "\n"), s, source)
		}
		shown = append(shown, rendertest.Marks(seen)...)
		from, done = next, last
	}
	for _, r := range rendertest.Marks(source) {
		if !slices.Contains(shown, r) {
			t.Fatalf("%c is lost\n%s", r, source)
		}
	}
}
