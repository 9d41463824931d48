package entities_test

import (
	"strings"
	"testing"

	"github.com/panebridge/panebridge/internal/render"
	"github.com/panebridge/panebridge/internal/render/entities"
	"github.com/panebridge/panebridge/internal/render/rendertest"
)

func TestAnswers(t *testing.T) {
	for name, source := range rendertest.Answers(t) {
		t.Run(name, func(t *testing.T) {
			parts := []render.Part{{Kind: render.Answer, Source: source}}
			m := entities.From(render.Render(parts, render.TextPosition{}, render.End(parts)))
			if bad := faults(m, 4096); bad != nil {
				t.Error(strings.Join(bad, "\n"))
			}
			rendertest.Golden(t, name+".txt", tagged(m)+"\n")
		})
	}
}

func TestMarkdown(t *testing.T) {
	for _, tc := range []struct{ name, source, want string }{
		{"nothing", "", ""},
		{"nothing to see", "\n```\n```\n&nbsp;\u200b", ""},
		{"paragraphs", "a\nb\n\n\n\nc", "a\nb\n\nc"},
		{"line breaks", "a  \nb\\\nc", "a\nb\nc"},
		{"emphasis", "*i* **b** ***bi*** _i_ __b__ **b *bi* b**", "<i>i</i> <b>b</b> <b><i>bi</i></b> <i>i</i> <b>b</b> <b>b <i>bi</i> b</b>"},
		{"emphasis over lines", "**a\nb**", "<b>a\nb</b>"},
		{"not emphasis", "snake_case_name 2 * 3 * 4 a*", "snake_case_name 2 * 3 * 4 a*"},
		{"overlapping", "*a **b* c**", "<i>a b c</i>"},
		{"strikethrough", "~~gone~~ 3~5 ~x~ 10~20", "<s>gone</s> 3~5 ~x~ 10~20"},
		{"code", "`a` ``b ` c`` `  d ` **`e`**", "<code>a</code> <code>b ` c</code>  <code>d</code> <code>e</code>"},
		{"code in bold", "**a `b` c**", "<b>a</b> <code>b</code> <b>c</b>"},
		{"headings", "# a\ntext\n## b ##\n\nc\n===\nd\n---", "<b>a</b>\ntext\n<b>b</b>\n\n<b>c</b>\n<b>d</b>"},
		{"fence", "x\n\n```go\nfunc f() {\n\treturn\n}\n```\ny", "x\n<pre go>func f() {\n    return\n}</pre>\ny"},
		{"fence with more than a language", "```go main.go\na\n```", "go main.go\n<pre go>a</pre>"},
		{"fence with a path", "~~~src/a.go\na\n~~~", "src/a.go\n<pre>a</pre>"},
		{"open fence", "```sh\na\n\n\nb", "<pre sh>a\n\n\nb</pre>"},
		{"indented fence", "```\n    a\n  b\n```", "<pre><zwsp>    a\n  b</pre>"},
		{"indented code", "a\n\n    b\n      c", "a\n<pre>b\n  c</pre>"},
		{"markup in code", "```\n**a** [b](c) @d\n```", "<pre>**a** [b](c) @d</pre>"},
		{"list", "- a\n- b\n  c\n\n  d\n* e", "• a\n• b\n  c\n\n  d\n• e"},
		{"nested list", "1. a\n   - b\n     1. c\n2. d\n10) e", "1. a\n   • b\n     1. c\n2. d\n10) e"},
		{"numbers are counted", "3. a\n3. b\n3. c", "3. a\n4. b\n5. c"},
		{"tasks", "- [ ] a\n- [x] b\n1. [X] c", "☐ a\n☑ b\n1. ☑ c"},
		{"code in a list", "1. a\n   ```sh\n   b\n   ```\n2. ```\n   c\n   ```", "1. a\n<pre sh>b</pre>\n2. \n<pre>c</pre>"},
		{"empty items", "-\n- a\n-", "• \n• a\n•"},
		{"quote", "> a\n> b\n>\n> c\n\nd", "<quote>a\nb\n\nc</quote>\n\nd"},
		{"two quotes", "> a\n\n> b", "<quote>a</quote>\n\n<quote>b</quote>"},
		{"quote with code and list", "> - a\n>\n> ```\n> b\n> ```", "<quote>• a\n<pre>b</pre></quote>"},
		{"nested quote", "> a\n> > b\n> > c", "<quote>a\n│ b\n│ c</quote>"},
		{"quote in a list", "- a\n  > b\n  > c", "• a\n  │ b\n  │ c"},
		{"link", "[a **b**](https://x.org/a_b?c=d&e=f)", "<a https://x.org/a_b?c=d&e=f>a <b>b</b></a>"},
		{"link that leads nowhere from a phone", "[a](http://localhost:3000) [b](http://host/c)", "a (http://localhost:3000) b (http://host/c)"},
		{"definition behind what's no title", "[a]: /x\n (|\nb (c) d\n[e]:\n/f\n'g'\nh", "[a]: /x\n(|\nb (c) d\n[e]:\n/f\n'g'\nh"},
		{"link with a title", `[a](https://x.org "t")`, `<a https://x.org>a</a> (https://x.org "t")`},
		{"link that says another address", "[https://x.org](https://y.org)", "<a https://y.org>https://x.org</a> (https://y.org)"},
		{"link that says another address without a scheme", "[log in at X.com](https://x.com.y.org/x.com)", "<a https://x.com.y.org/x.com>log in at X.com</a> (https://x.com.y.org/x.com)"},
		{"link to somebody's", "[https://x.org/](https://x.org@y.org/)", "<a https://x.org@y.org/>https://x.org/</a> (https://x.org@y.org/)"},
		{"link that hides its address", "[x&#46;o\u200brg](https://y.org)", "<a https://y.org>x.o<zwsp>rg</a> (https://y.org)"},
		{"link that says its address", "[x.org/a](https://www.x.org/a/b?c) [`os.Getenv`](https://x.org) [README.md](https://x.org/b)", "<a https://www.x.org/a/b?c>x.org/a</a> <a https://x.org>os.Getenv</a> <a https://x.org/b>README.md</a>"},
		{"link of code", "[`a`](https://x.org)", "<a https://x.org>a</a>"},
		{"local link", "[a](./b.go:12) [c](mailto:d@e.f)", "a (./b.go:12) c (mailto:d@e.f)"},
		{"link that would mention", "[a](tg://user?id=1)", "a (tg://user?id=1)"},
		{"references", "[a][r] [r] [b][l]\n\n[r]: https://x.org\n[l]: /y", "<a https://x.org>a</a> <a https://x.org>r</a> b [l]\n\n[r]: https://x.org\n[l]: /y"},
		{"bare links", "https://x.org/a_b_c www.x.org <https://y.org> a@b.cd", "https://x.org/a_b_c www.x.org https://y.org a@b.cd"},
		{"link with what looks like a mention", "https://x.org/@ab", "<a https://x.org/@ab>https://x.org/@ab</a>"},
		{"link without a text", "[](https://x.org)", "(https://x.org)"},
		{"images", "![a](https://x.org/b.png) ![c](d.png)", "🖼 <a https://x.org/b.png>a</a> 🖼 c (d.png)"},
		{"linked image", "[![a](https://x.org/b.svg)](https://x.org)", "<a https://x.org>🖼 a (https://x.org/b.svg)</a>"},
		{"HTML", "<b>a</b> <br>\n\n<div>\n*c*\n</div>", "<b>a</b> <br>\n\n<div>\n*c*\n</div>"},
		{"comment", "a <!-- b --> c", "a <!-- b --> c"},
		{"entities and escapes", `&amp; &lt; &#65; &bogus; &ampx; \* \a \&amp; &copy`, `& < A &bogus; &ampx; * \a &amp; &copy`},
		{"rule", "a\n\n---\n\nb", "a\n\n———\n\nb"},
		{"table", "| a | bb |\n|--:|:-:|\n| ccc | d |", "<pre><zwsp>  a │ bb\n────┼───\nccc │ d</pre>"},
		{"table of wide characters", "|日本|b|\n|-|-|\n|c|语|", "<pre>日本 │ b\n─────┼───\nc    │ 语</pre>"},
		{"table with markup", "|a|b|\n|-|-|\n|**c**|[d](https://x.org)|\n|`e\\|f`|g \\| h|", "<pre>a   │ b\n────┼──────────────────\nc   │ d (https://x.org)\ne|f │ g | h</pre>"},
		{"table with too few and too many cells", "|a|b|\n|-|-|\n|c|\n|d|e|f|g|", "<pre>a │ b\n──┼───┼────\nc\nd │ e │ f|g</pre>"},
		{"text above a table, and a line below", "x\n|a|\n|-|\n|b|\n---", "<b>x</b>\n<pre>a\n─\nb</pre>"},
		{"mentions", "@anna, x@y.zz **@bob** `@c` @types/node. @", "<code>@anna</code>, x@y.zz <code>@bob</code> <code>@c</code> <code>@types/node</code>. @"},
		{"right to left", "- שלום **עולם**", "• שלום <b>עולם</b>"},
		{"blanks of markup", "**a ** b", "**a ** b"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			parts := []render.Part{{Kind: render.Answer, Source: tc.source}}
			m := entities.From(render.Render(parts, render.TextPosition{}, render.End(parts)))
			if got := tagged(m); got != tc.want {
				t.Errorf("got  %q\nwant %q", got, tc.want)
			}
			if m.Text != "" {
				if bad := faults(m, 4096); bad != nil {
					t.Error(strings.Join(bad, "\n"))
				}
			}
		})
	}
}
