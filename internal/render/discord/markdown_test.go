package discord_test

import (
	"strings"
	"testing"

	"github.com/panebridge/panebridge/internal/render"
	"github.com/panebridge/panebridge/internal/render/discord"
	"github.com/panebridge/panebridge/internal/render/rendertest"
)

func TestAnswers(t *testing.T) {
	for name, source := range rendertest.Answers(t) {
		t.Run(name, func(t *testing.T) {
			parts := []render.Part{{Kind: render.Answer, Source: source}}
			s := discord.Markdown(render.Render(parts, render.TextPosition{}, render.End(parts)))
			if _, wrong := rendertest.ReadDiscord(s); wrong != nil {
				t.Error(strings.Join(wrong, "\n"))
			}
			rendertest.Golden(t, name, s+"\n")
		})
	}
}

func TestMarkdown(t *testing.T) {
	for _, tc := range []struct{ name, source, want string }{
		{"nothing", "", ""},
		{"emphasis", "*i* **b** ***bi*** ~~s~~ **b *bi* b**", "*i* **b** **<zwsp>*bi*<zwsp>** ~~s~~ **b *bi* b**"},
		{"emphasis that ends together", "**b *bi***", "**b *bi*<zwsp>**"},
		{"emphasis over lines", "**a\nb**", "**a**\n**b**"},
		{"marks within marks", "~~a~~  **b**\n---", "~~**a**~~  **b**"},
		{"headings", "# a", "**a**"},
		{"signs", `1 * 2 _a_b ~x~ |y| <z> [w] \` + "`", `1 \* 2 \_a\_b \~x\~ \|y\| \<z\> \[w\] ` + "\\`"},
		{"starts of lines", "\\# a\n\\- b\n\\> c\n1\\. d\n\\-# e", "\\# a\n\\- b\n\\> c\n1\\. d\n\\-# e"},
		{"list", "- a\n  1. b\n", "• a\n  1\\. b"},
		{"quote", "> a\n> b\n>\n> c", "> a\n> b\n> \n> c"},
		{"code in a quote", "> ```go\n> a\n> ```", "> ```go\n> a\n> ```"},
		{"code", "`a` `` b`c `` `` `d ``", "`a` ``b`c`` `` `d ``"},
		{"fence", "```go\na\n```", "```go\na\n```"},
		{"fence in a fence", "````\n```\na\n````", "```\n``<zwsp>`\na\n```"},
		{"two fences", "```go\na\n```\n```sh\nb\n```", "```go\na\n```\n```sh\nb\n```"},
		{"link", "[a](https://x.org/b_c) [`d`](https://x.org)", "[a](<https://x.org/b_c>) [`d`](<https://x.org>)"},
		{"link whose text looks like one", "[https://x.org](https://y.org)", "<https://x.org> (<https://y.org>)"},
		{"bare links", "https://x.org/a_b. (https://x.org/c)", "<https://x.org/a_b>. (<https://x.org/c>)"},
		{"table", "|a|b|\n|-|-|\n|c|d|", "```\na │ b\n──┼──\nc │ d\n```"},
		{"mentions", "@everyone <@1> <@&2> <#3> @anna a@b.cd x@here `@everyone`", "@<zwsp>everyone \\<@<zwsp>1\\> \\<@<zwsp>&2\\> \\<#3\\> @<zwsp>anna a@b.cd x@<zwsp>here `@everyone`"},
		{"mention in a link", "[a](https://x.org/@everyone)", "[a](<https://x.org/%40everyone>)"},
		{"time and emoji", "<t:1:R> <:a:2>", "\\<t:1:R\\> \\<:a:2\\>"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			parts := []render.Part{{Kind: render.Answer, Source: tc.source}}
			s := discord.Markdown(render.Render(parts, render.TextPosition{}, render.End(parts)))
			if got := strings.ReplaceAll(s, "\u200b", "<zwsp>"); got != tc.want {
				t.Errorf("got  %q\nwant %q", got, tc.want)
			}
		})
	}
}

// Code that goes on in the next message begins and ends with fences in both.
func TestFencesAreReopened(t *testing.T) {
	line := strings.Repeat("x", 50) + "\n"
	parts := []render.Part{{Kind: render.Answer, Source: "```go\n" + strings.Repeat(line, 3) + "```"}}
	form := discord.Form(120)
	first, next, _ := form.Next(parts, render.TextPosition{})
	second, _, done := form.Next(parts, next)
	wantFirst, wantSecond := "```go\n"+line+line+"```", "```go\n"+line+"```"
	if a, b := discord.Markdown(first), discord.Markdown(second); a != wantFirst || b != wantSecond || !done {
		t.Errorf("got %q and %q (done: %v)", a, b, done)
	}
}
