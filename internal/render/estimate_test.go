package render_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/render"
	"github.com/panebridge/panebridge/internal/render/discord"
	"github.com/panebridge/panebridge/internal/render/entities"
	"github.com/panebridge/panebridge/internal/render/rendertest"
)

// What's estimated to fit does. (Where it doesn't, all is tried once more; that's
// slow, and growth could change where messages end.)
func TestEstimates(t *testing.T) {
	rendertest.Documents(t, 0.1, func(t *rapid.T, seeds []uint64) {
		source := rendertest.Garbage(seeds)
		if rapid.Bool().Draw(t, "well formed") {
			source = rendertest.WellFormed(seeds).Source
		}
		limit := rapid.IntRange(70, 500).Draw(t, "limit")
		from := render.Place{Byte: rapid.IntRange(0, len(source)).Draw(t, "from")}
		for _, f := range []render.Form{entities.Form(limit), discord.Form(limit)} {
			parts := []render.Part{{Kind: render.Answer, Source: source}}
			if !render.Guess(f, parts, from) {
				t.Fatalf("limit %d (widest %d), from %v: doesn't fit\n%s", limit, f.Widest, from, source)
			}
		}
	})
}
