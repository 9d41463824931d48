package render_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/render"
	"github.com/panebridge/panebridge/internal/render/discord"
	"github.com/panebridge/panebridge/internal/render/entities"
	"github.com/panebridge/panebridge/internal/render/rendertest"
)

func TestPages(t *testing.T) {
	before := func(s ...string) []string { return s }
	lines := func(l ...render.PageLine) []render.PageLine { return l }
	answer := func(s string) render.PageLine { return render.Whole(render.Answer, s) }
	pane := func(s string) render.PageLine { return render.Whole(render.Pane, s) }
	notice := func(s string) render.PageLine { return render.Whole(render.Notice, s) }
	user := func(s, author string) render.PageLine {
		l := render.Whole(render.User, s)
		l.Author = author
		return l
	}
	part := func(l render.PageLine, from, to int) render.PageLine {
		l.From, l.To = from, to
		return l
	}
	begins := func(l render.PageLine) render.PageLine {
		l.Begins = true
		return l
	}
	tool := func(s string) render.PageLine { return render.Whole(render.Tool, s) }
	for _, tc := range []struct {
		name string
		page render.Page
		want string // as Discord's Markdown, which shows what's what
	}{
		{"rows of a pane are one block", render.Page{Lines: lines(pane("$ ls"), pane("a  b"))}, "```\n$ ls\na  b\n```"},
		{"lines of an answer are one document", render.Page{Lines: lines(answer("- a"), answer("  - [x] b"))}, "• a\n  ☑ b"},
		{"kinds", render.Page{Lines: lines(user("go", "Anna"), answer("**a**"), notice("[gap]"), pane("$"))}, "> **Anna:**\n> go\n\n**a**\n\n*\\[gap\\]*\n```\n$\n```"},
		{"two people", render.Page{Lines: lines(user("a", "A"), user("b", "B"))}, "> **A:**\n> a\n> **B:**\n> b"},
		{"goes on in code", render.Page{Before: before("x", "```go", "a"), Lines: lines(answer("b"), answer("```"), answer("*c*"))}, "```go\nb\n```\n*c*"},
		{"goes on in code behind a notice", render.Page{Before: before("```go"), Lines: lines(notice("n"), answer("b"))}, "*n*\n\n```go\nb\n```"},
		{"goes on in a table", render.Page{Before: before("|a|b|", "|-|-|", "|long|c|"), Lines: lines(answer("|d|e|"))}, "```\nd    │ e\n```"},
		{"goes on in a list", render.Page{Before: before("1. a", "2. b"), Lines: lines(answer("   c"), answer("3. d"))}, "\u200b   c\n3\\. d"},
		{"goes on in a quote", render.Page{Before: before("> a"), Lines: lines(answer("> b"), answer("c"))}, "> b\n> c"},
		{"goes on in a line", render.Page{Lines: lines(part(answer("**a b**"), 4, 7))}, "**b**"},
		{"ends in a line", render.Page{Lines: lines(answer("x"), part(answer("**a b**"), 0, 3))}, "x\n**a**"},
		{"a person's line goes on", render.Page{Lines: lines(part(user("a b", "A"), 2, 3))}, "> b"},
		{"an answer behind something else begins anew", render.Page{Before: before("```"), Lines: lines(pane("$"), answer("*a*"))}, "```\n$\n```\n*a*"},
		{"a fence ends with its block", render.Page{Lines: lines(begins(answer("```go")), answer("a"), begins(answer("*b*")))}, "```go\na\n```\n\n*b*"},
		{"a list ends with its block", render.Page{Lines: lines(begins(answer("- a")), begins(answer("  b")))}, "• a\n\nb"},
		{"a block begins behind another", render.Page{Before: before("```"), Lines: lines(answer("a"), begins(answer("*b*")))}, "```\na\n```\n\n*b*"},
		{"a block begins", render.Page{Before: before("```"), Lines: lines(begins(answer("*b*")))}, "*b*"},
		{"calls and results", render.Page{Lines: lines(begins(tool("⚙ Bash: seq 1 3")), begins(tool("  1")), tool("  2"), begins(answer("ok")))}, "`⚙ Bash: seq 1 3`\n`  1`\n`  2`\n\nok"},
		{"a question", render.Page{Lines: lines(begins(tool("⚙ x")), begins(tool("❓ Which *one*?")), tool("› 1. a"), tool("› 2. b"))}, "`⚙ x`\n**❓ Which \\*one\\*?**\n› 1. a\n› 2. b"},
		{"nothing", render.Page{}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := discord.Markdown(tc.page.Text()); got != tc.want {
				t.Errorf("got  %q\nwant %q", got, tc.want)
			}
		})
	}
}

// A page is divided so that the parts show what it shows, and the first of them fits.
func TestSplitPages(t *testing.T) {
	rendertest.Documents(t, 0.02, func(t *rapid.T, seeds []uint64) {
		doc := rendertest.WellFormed(seeds)
		p := render.Page{Lines: linesOf(render.Answer, doc.Source)}
		p.Lines = append(p.Lines, render.Whole(render.Notice, "end"))
		if rapid.Bool().Draw(t, "two blocks") { // of which the first never ends a fence
			fence := append(linesOf(render.Answer, "```\nfenced\n    "), p.Lines...)
			fence[0].Begins, fence[3].Begins = true, true
			p.Lines, doc.Text = fence, "fenced"+doc.Text
		}
		form := discord.Form(rapid.IntRange(200, 2000).Draw(t, "limit"))
		var got strings.Builder
		for rest := p; len(rest.Lines) > 0; {
			var first render.Page
			first, rest = form.Split(rest)
			if !form.Fits(first.Text()) {
				t.Fatalf("%d units of %d: %+v", form.Size(first.Text()), form.Max, first)
			}
			got.WriteString(rendertest.Bare(first.Text().String()))
		}
		if want := doc.Text + "end"; got.String() != want {
			t.Fatalf("got  %q\nwant %q\nof\n%s", got.String(), want, doc.Source)
		}
	})
}

// A further line makes no page smaller, but for one that shows that the line above is the
// head of a table. (So may one that closes markup that a line above has opened, which
// these documents don't have.)
func TestFurtherLinesMakePagesLonger(t *testing.T) {
	forms := []render.MessageForm{entities.Form(entities.MaxUnits), discord.Form(discord.MaxUnits)}
	rendertest.Documents(t, 0.005, func(t *rapid.T, seeds []uint64) {
		p := render.Page{Lines: linesOf(render.Answer, rendertest.WellFormed(seeds).Source)}
		for _, f := range forms {
			before := 0
			for n := range p.Lines {
				text := render.Page{Lines: p.Lines[:n+1]}.Text()
				size := f.Size(text)
				if head := strings.Trim(p.Lines[n].Text, "> |:-") == ""; size < before && !head {
					t.Fatalf("%d lines take %d, %d take %d\n%s", n, before, n+1, size, text.String())
				}
				before = size
			}
		}
	})
}
