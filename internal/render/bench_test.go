package render_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"

	"github.com/panebridge/panebridge/internal/render"
	"github.com/panebridge/panebridge/internal/render/entities"
)

// section is a piece of an answer: 200 bytes with a bit of everything.
const section = "## Step\n\nI changed **the parser** in `split.go` and [the docs](https://example.org/x).\n\n" +
	"- one `a`\n- two *b*\n  1. nested ~~c~~\n\n```go\nfunc main() {\n\tprintln(\"hi\")\n}\n```\n\n| a | b |\n|---|--:|\n| x | 1 |\n\n"

// The baseline is what the parser's own renderer takes for HTML.
func BenchmarkRender(b *testing.B) {
	for _, n := range []int{1, 20, 200} {
		parts := []render.Part{{Kind: render.Answer, Source: strings.Repeat(section, n)}}
		source := []byte(parts[0].Source)
		b.Run(fmt.Sprintf("%d bytes", len(source)), func(b *testing.B) {
			for b.Loop() {
				render.Render(parts, render.Place{}, render.End(parts))
			}
		})
		b.Run(fmt.Sprintf("%d bytes, baseline", len(source)), func(b *testing.B) {
			md := goldmark.New(goldmark.WithExtensions(extension.GFM))
			for b.Loop() {
				if err := md.Convert(source, new(bytes.Buffer)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Splitting an answer of 10 KB; the baseline tries each line.
func BenchmarkNext(b *testing.B) {
	parts := []render.Part{{Kind: render.Answer, Source: strings.Repeat(section, 50)}}
	form := entities.Form(entities.MaxUnits)
	b.Run("10 KB", func(b *testing.B) {
		for b.Loop() {
			for from, done := (render.Place{}), false; !done; {
				_, from, done = form.Next(parts, from)
			}
		}
	})
	b.Run("10 KB, baseline", func(b *testing.B) {
		for b.Loop() {
			from := render.Place{}
			for at := range parts[0].Source {
				to := render.Place{Byte: at + 1}
				if parts[0].Source[at] == '\n' && !form.Fits(render.Render(parts, from, to)) {
					from = to
				}
			}
		}
	})
}
