package render_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"

	"github.com/panebridge/panebridge/internal/render"
	"github.com/panebridge/panebridge/internal/render/discord"
	"github.com/panebridge/panebridge/internal/render/entities"
)

// section is a piece of an answer: 200 bytes with a bit of everything.
const section = "## Step\n\nI changed **the parser** in `split.go` and [the docs](https://example.org/x).\n\n" +
	"- one `a`\n- two *b*\n  1. nested ~~c~~\n\n```go\nfunc main() {\n\tprintln(\"hi\")\n}\n```\n\n| a | b |\n|---|--:|\n| x | 1 |\n\n"

// prose is what answers mostly are.
const prose = "The scheduler grants a slot when the **budget** allows it, and the deliverer renders what `the log` has by then. " +
	"Nothing is queued, so nothing can be late; what was shown once is never shown twice.\n\n"

func linesOf(kind render.PartKind, text string) []render.PageLine {
	var lines []render.PageLine
	for s := range strings.SplitSeq(text, "\n") {
		lines = append(lines, render.Whole(kind, s))
	}
	return lines
}

// Full pages, to the last byte that's sent. The baseline is the time in which the
// parser's own renderer makes HTML of the same.
func BenchmarkPage(b *testing.B) {
	for _, tc := range []struct {
		name string
		page render.Page
	}{
		{"pane", render.Page{Lines: linesOf(render.Pane, strings.Repeat("2026-11-21 10:00:00 INFO  request done path=/api/v1 ms=12\n", 70))}},
		{"prose", render.Page{Lines: linesOf(render.Answer, strings.Repeat(prose, 20))}},
		{"markup", render.Page{Lines: linesOf(render.Answer, strings.Repeat(section, 12))}},
		{"behind 16 KB", render.Page{Before: strings.Split(strings.Repeat(section, 70), "\n"), Lines: linesOf(render.Answer, strings.Repeat(prose, 20))}},
	} {
		for _, f := range []struct {
			platform string
			size     func(render.MessageText) int
		}{{"telegram", entities.Form(0).Size}, {"discord", discord.Form(0).Size}} {
			b.Run(tc.name+", "+f.platform, func(b *testing.B) {
				for b.Loop() {
					f.size(tc.page.Text())
				}
				b.ReportMetric(float64(f.size(tc.page.Text())), "units")
			})
		}
		b.Run(tc.name+", baseline", func(b *testing.B) {
			md := goldmark.New(goldmark.WithExtensions(extension.GFM))
			var source bytes.Buffer
			for _, l := range tc.page.Lines {
				fmt.Fprintln(&source, l.Text)
			}
			for b.Loop() {
				if err := md.Convert(source.Bytes(), new(bytes.Buffer)); err != nil {
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
			for from, done := (render.TextPosition{}), false; !done; {
				_, from, done = form.Next(parts, from)
			}
		}
	})
	b.Run("10 KB, baseline", func(b *testing.B) {
		for b.Loop() {
			from := render.TextPosition{}
			for at := range parts[0].Source {
				to := render.TextPosition{Byte: at + 1}
				if parts[0].Source[at] == '\n' && !form.Fits(render.Render(parts, from, to)) {
					from = to
				}
			}
		}
	})
}
