package entities_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/render"
	"github.com/panebridge/panebridge/internal/render/entities"
	"github.com/panebridge/panebridge/internal/render/rendertest"
)

// A text that grows line by line is split like one that was there from the start:
// what was complete once never changes.
func TestGrowthChangesNoCompleteMessage(t *testing.T) {
	rendertest.Documents(t, 0.1, func(t *rapid.T, seeds []uint64) {
		source := rendertest.Garbage(seeds)
		if rapid.Bool().Draw(t, "well formed") {
			source = rendertest.WellFormed(seeds).Source
		}
		limit := limits(t)
		whole := ends(source, limit)
		for range 3 {
			n := lineBreak(source, rapid.IntRange(0, len(source)).Draw(t, "length"))
			for i, end := range ends(source[:n], limit) {
				if i >= len(whole) || whole[i] != end {
					t.Fatalf("%d bytes are split at %v, all %d at %v (limit %d)\n%s", n, ends(source[:n], limit), len(source), whole, limit, source)
				}
			}
		}
	})
}

// lineBreak is the end of the line that a byte is in.
func lineBreak(s string, at int) int {
	if i := strings.IndexByte(s[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(s)
}

// ends is where the complete messages of an answer end.
func ends(source string, limit int) []render.Place {
	parts := []render.Part{{Kind: render.Answer, Source: source}}
	form := entities.Form(limit)
	var out []render.Place
	for from := (render.Place{}); ; {
		_, next, done := form.Next(parts, from)
		if done {
			return out
		}
		out, from = append(out, next), next
	}
}

// However an answer is divided between messages, all of them together show
// everything once, and each is the same whatever comes behind its last line.
func TestAnyDivisionShowsEverything(t *testing.T) {
	rendertest.Documents(t, 0.1, func(t *rapid.T, seeds []uint64) {
		source := rendertest.Garbage(seeds)
		parts := []render.Part{{Kind: render.Answer, Source: source}}
		var messages []entities.Message
		for from := 0; from < len(source); {
			to := from + rapid.IntRange(1, 200).Draw(t, "bytes")
			if rapid.Bool().Draw(t, "whole lines") {
				to = lineBreak(source, min(to, len(source)))
			}
			for to < len(source) && !utf8.RuneStart(source[to]) {
				to++
			}
			to = min(to, len(source))
			m := entities.From(render.Render(parts, render.Place{Byte: from}, render.Place{Byte: to}))
			known := []render.Part{{Kind: render.Answer, Source: source[:lineBreak(source, to)]}}
			if source[to-1] == '\n' {
				known[0].Source = source[:to]
			}
			again := entities.From(render.Render(known, render.Place{Byte: from}, render.Place{Byte: to}))
			if m.Text != again.Text || len(m.Entities) != len(again.Entities) {
				t.Fatalf("bytes %d to %d are %q, and %q when nothing comes behind the line\n%s", from, to, m.Text, again.Text, source)
			}
			messages = append(messages, m)
			from = to
		}
		checkShown(t, source, messages)
	})
}
