package entities_test

import (
	"strings"
	"testing"

	"github.com/panebridge/panebridge/internal/render"
	"github.com/panebridge/panebridge/internal/render/entities"
)

func TestParts(t *testing.T) {
	long := strings.Repeat("x\n", 8) + "x"
	for _, tc := range []struct {
		name  string
		parts []render.Part
		want  string
	}{
		{"pane", []render.Part{{Kind: render.Pane, Source: "$ ls *.go\n  **a**  @b\n\n└── c"}}, "<pre>$ ls *.go\n  **a**  @b\n\n└── c</pre>"},
		{"pane that begins with blanks", []render.Part{{Kind: render.Pane, Source: "\n   a\nb"}}, "<pre><zwsp>   a\nb</pre>"},
		{"plain", []render.Part{{Source: "*a* @b `c`"}}, "*a* <code>@b</code> `c`"},
		{"user", []render.Part{{Kind: render.User, Source: "fix *it*\n@b", Author: "Anna"}}, "<quote><b>Anna:</b>\nfix *it*\n<code>@b</code></quote>"},
		{"user without a name", []render.Part{{Kind: render.User, Source: "fix it"}}, "<quote>fix it</quote>"},
		{"long user", []render.Part{{Kind: render.User, Source: long, Author: "A"}}, "<long-quote><b>A:</b>\n" + long + "</long-quote>"},
		{"tool", []render.Part{{Kind: render.Tool, Source: "Bash(go test)\n  ok"}}, "<code>Bash(go test)\n  ok</code>"},
		{"notice", []render.Part{{Kind: render.Notice, Source: "[at least 3 lines are missing: tmux dropped them]"}}, "<i>[at least 3 lines are missing: tmux dropped them]</i>"},
		{"several", []render.Part{
			{Kind: render.User, Source: "go", Author: "A"},
			{Kind: render.Answer, Source: "Done: **x**\n"},
			{Kind: render.Notice, Source: "[gap]"},
			{Kind: render.Pane, Source: "$ a"},
			{Kind: render.Pane, Source: "$ b"},
			{Kind: render.Answer, Source: "- c"},
		}, "<quote><b>A:</b>\ngo</quote>\n\nDone: <b>x</b>\n\n<i>[gap]</i>\n<pre>$ a</pre>\n<pre>$ b</pre>\n• c"},
		{"what can't be in a message", []render.Part{{Source: "a\x00b\x1b[31mc\xffd\u0085e\tf"}}, "a b [31mc?d  e    f"},
		{"what Telegram takes out", []render.Part{{Source: "A\u030angstro\u0308m\u2028b"}}, "\u00c5ngstr\u00f6m\nb"},
		{"nothing", []render.Part{{Kind: render.Pane, Source: " \n\n"}, {Source: "\u200b"}}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m := entities.From(render.Render(tc.parts, render.TextPosition{}, render.End(tc.parts)))
			if got := tagged(m); got != tc.want {
				t.Errorf("got  %q\nwant %q", got, tc.want)
			}
		})
	}
}

// A message that begins in the middle of something goes on in it.
func TestContextIsKept(t *testing.T) {
	for _, tc := range []struct{ name, source, from, want string }{
		{"code", "```go\na\nb\n```", "b", "<pre go>b</pre>"},
		{"code in a list", "- x\n  ```go\n  a\n  b\n  ```\n- y", "b", "<pre go>b</pre>\n• y"},
		{"indented code", "```go\na\n    b\n```", "    b", "<pre go><zwsp>    b</pre>"},
		{"quote", "> a\n> b", "b", "<quote>b</quote>"},
		{"lazy quote", "> a\nb", "b", "<quote>b</quote>"},
		{"list", "- a\n  b\n- c", "b", "<zwsp>  b\n• c"},
		{"nested list", "1. a\n   - b\n   - c", "- c", "<zwsp>   • c"},
		{"numbers", "1. a\n1. b\n1. c", "1. c", "3. c"},
		{"bold", "**a\nb**", "b", "<b>b</b>"},
		{"link", "[a b](https://x.org)", "b]", "<a https://x.org>b</a>"},
		{"table", "|long|b|\n|-|-|\n|c|d|\n|e|f|", "|e", "<pre>e    │ f</pre>"},
		{"reference", "[r]: https://x.org\n\na\n\n[b][r]", "[b", "<a https://x.org>b</a>"},
		{"link over lines whose beginning was text", "[a](\nhttps://x.org) b", "https", "https://x.org) b"},
		{"far behind the beginning", strings.Repeat("a\n\n", 200) + "- b\n\n  c", "c", "<zwsp>  c"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			parts := []render.Part{{Kind: render.Answer, Source: tc.source}}
			from := render.TextPosition{Byte: strings.LastIndex(tc.source, tc.from)}
			m := entities.From(render.Render(parts, from, render.End(parts)))
			if got := tagged(m); got != tc.want {
				t.Errorf("got  %q\nwant %q", got, tc.want)
			}
		})
	}
}

// Without entities a message has the same length, and mentions nobody either.
func TestPlain(t *testing.T) {
	const source = "**@anna**, x@y.zz `@b`\n\n```\n@types/node@1\n```"
	parts := []render.Part{{Kind: render.Answer, Source: source}}
	m := entities.From(render.Render(parts, render.TextPosition{}, render.End(parts)))
	plain := entities.FormattedText{Text: m.Plain()}
	if want := "＠anna, x@y.zz ＠b\n＠types/node＠1"; plain.Text != want {
		t.Errorf("got  %q\nwant %q", plain.Text, want)
	}
	if bad := faults(plain, entities.Units(m.Text)); bad != nil {
		t.Error(strings.Join(bad, "\n"))
	}
}
