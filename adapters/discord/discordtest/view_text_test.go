package discordtest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
)

func nobody(string) string { return "" }

// marked is a text with its entities shown as tags.
func marked(markdown string, name func(string) string) string {
	t := viewText(markdown, name)
	all := utf16.Encode([]rune(t.Text))
	var out strings.Builder
	for at := 0; at <= len(all); at++ {
		for _, e := range slices.Backward(t.Entities) {
			if e.Offset+e.Length == at {
				fmt.Fprintf(&out, "</%s>", e.Type)
			}
		}
		for _, e := range t.Entities {
			if e.Offset == at {
				fmt.Fprintf(&out, "<%s%s%s>", e.Type, e.URL, e.Language)
			}
		}
		if at < len(all) {
			out.WriteString(string(utf16.Decode(all[at : at+1])))
		}
	}
	return out.String()
}

func TestMarkdownIsRead(t *testing.T) {
	name := func(m string) string { return map[string]string{"@7": "Ada", "#5": "agents"}[m] }
	for markdown, want := range map[string]string{
		"":                        "",
		"a **b *c* d** e":         "a <bold>b <italic>c</italic> d</bold> e",
		"__a__ _b_ ~~c~~ ||d||":   "<underline>a</underline> <italic>b</italic> <strikethrough>c</strikethrough> <spoiler>d</spoiler>",
		`\*a\* 1\. \\`:            `*a* 1. \`,
		"2 * 3 * 4 and **open":    "2 * 3 * 4 and **open",
		"`a *b*` and ``c ` d``":   "<code>a *b*</code> and <code>c ` d</code>",
		"**a `**` b**":            "<bold>a <code>**</code> b</bold>",
		"x\n```go\na *b*\n```\ny": "x\n<prego>a *b*</pre>\ny",
		"```a```":                 "<pre>a</pre>",
		"> a\n> **b**\nc":         "<blockquote>a\n<bold>b</bold></blockquote>\nc",
		">>> a\nb":                "<blockquote>a\nb</blockquote>",
		"# a\n-# b\n- c\n  * d":   "<heading1>a</heading1>\n<subtext>b</subtext>\n• c\n  • d",
		"[a *b*](<https://x.y/1>) <https://z.y> https://q.r/s.": "<text_linkhttps://x.y/1>a <italic>b</italic></text_link> <url>https://z.y</url> <url>https://q.r/s</url>.",
		"[a](javascript:b)":       "[a](javascript:b)",
		"<@7> <#5> <@9> <a>":      "<mention>@Ada</mention> <mention>#agents</mention> <@9> <a>",
		"日本 **語** \U0001f642 *x*": "日本 <bold>語</bold> \ufffd\ufffd <italic>x</italic>",
	} {
		if got := marked(markdown, name); got != want {
			t.Errorf("%q is read as\n%s, want\n%s", markdown, got, want)
		}
	}
}

// Whatever it is, entities are within the text, sorted outer before inner, and never
// cross.
func FuzzMarkdownIsRead(f *testing.F) {
	for _, s := range []string{"a **b *c* d** e", "> a\n> ```\nx\n```", "```go\nx\n```", "[a](https://b.c) `x` <@1>", ">>> > a", "||**__~~*_a_*~~__**||", "\\", "- # a"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) > 4000 {
			return
		}
		text := viewText(s, nobody)
		size := units(text.Text)
		var open []int // ends
		before := 0
		for _, e := range text.Entities {
			end := e.Offset + e.Length
			if e.Offset < before || e.Length < 1 || end > size {
				t.Fatalf("%q has %+v in %d units", s, text.Entities, size)
			}
			for len(open) > 0 && open[len(open)-1] <= e.Offset {
				open = open[:len(open)-1]
			}
			if len(open) > 0 && open[len(open)-1] < end {
				t.Fatalf("%q has crossing %+v", s, text.Entities)
			}
			open, before = append(open, end), e.Offset
		}
	})
}
