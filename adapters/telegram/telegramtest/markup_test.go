package telegramtest

import (
	"fmt"
	"strings"
	"testing"
)

// show writes a text with its entities as kind[offset+length:argument].
func show(text string, list []Entity) string {
	var out strings.Builder
	out.WriteString(text)
	for _, e := range list {
		fmt.Fprintf(&out, " %s[%d+%d%s%s%s]", e.Type, e.Offset, e.Length, e.URL, e.Language, e.CustomEmojiID)
	}
	return out.String()
}

func checkMarkup(t *testing.T, parse func(string) (string, []Entity, error), cases [][2]string) {
	t.Helper()
	for _, c := range cases {
		text, list, err := parse(c[0])
		sortEntities(list)
		got := show(text, list)
		if err != nil {
			got = "! " + err.Error()
		}
		if got != c[1] {
			t.Errorf("%q:\n got %s\nwant %s", c[0], got, c[1])
		}
	}
}

func TestHTML(t *testing.T) {
	checkMarkup(t, parseHTML, [][2]string{
		{"plain & simple", "plain & simple"},
		{"<b>bold</b> <i>it</i> <u>u</u> <s>s</s>", "bold it u s bold[0+4] italic[5+2] underline[8+1] strikethrough[10+1]"},
		{"<STRONG>x</STRONG><em>y</em><ins>z</ins><del>w</del><strike>v</strike>", "xyzwv bold[0+1] italic[1+1] underline[2+1] strikethrough[3+1] strikethrough[4+1]"},
		{"<b>a<i>b</i></b>", "ab bold[0+2] italic[1+1]"},
		{"😀<b>x</b>", "😀x bold[2+1]"},
		{"<b></b>x", "x"},
		{"<b>x</>", "x bold[0+1]"},
		{"&lt;b&gt; &amp;lt; &quot; &#60;&#x3c; &copy; & &lt", `<b> &lt; " << &copy; & <`},
		{"&#0; &#xffffffff; &#99999999;", "&#0; &#xffffffff; &#99999999;"},
		{"<a href='https://a.b/?x=1&amp;y=2'>link</a>", "link text_link[0+4https://a.b/?x=1&y=2]"},
		{"<a>https://a.b</a>", "https://a.b text_link[0+11https://a.b]"},
		{"<a href=abc.DE>x</a>", "x text_link[0+1abc.de]"},
		{`<pre><code class="language-go">x := 1</code></pre>`, "x := 1 pre[0+6go]"},
		{`<code class="language-go"><pre>x</pre></code>`, "x pre[0+1go]"},
		{`<pre>x</pre> <code class="language-go">y</code>`, "x y pre[0+1] code[2+1]"},
		{`<pre><code>x</code></pre>`, "x pre[0+1]"},
		{`<span class="tg-spoiler">x</span><tg-spoiler>y</tg-spoiler>`, "xy spoiler[0+1] spoiler[1+1]"},
		{`<tg-emoji emoji-id="5368">👍</tg-emoji>`, "👍 custom_emoji[0+25368]"},
		{"<blockquote>q</blockquote><blockquote expandable>r</blockquote>", "qr blockquote[0+1] expandable_blockquote[1+1]"},

		{"<user@host>", `! Unsupported start tag "user@host" at byte offset 0`},
		{"a <br/> b", `! Unsupported start tag "br/" at byte offset 2`},
		{"x < y", `! Unsupported start tag "" at byte offset 2`},
		{"if a < b then", `! Unsupported start tag "" at byte offset 5`},
		{"<b", "! Unclosed start tag at byte offset 0"},
		{"<a href", "! Unclosed start tag at byte offset 0"},
		{"<a href=", "! Unclosed start tag at byte offset 0"},
		{`<a href="x`, "! Unclosed start tag at byte offset 0"},
		{"<b ", "! Unclosed start tag at byte offset 0"},
		{"<a =x>", `! Empty attribute name in the tag "a" at byte offset 0`},
		{"<a href=x&y>", "! Unexpected end of name token at byte offset 8"},
		{"<span>x</span>", `! Tag "span" must have class "tg-spoiler" at byte offset 0`},
		{"x</b>", "! Unexpected end tag at byte offset 1"},
		{"<b>x</b", "! Unclosed end tag at byte offset 4"},
		{"<b><i>x</b></i>", `! Unmatched end tag at byte offset 7, expected "</i>", found "</b>"`},
		{"<b>x", `! Can't find end tag corresponding to start tag "b"`},
		{"<tg-emoji>x</tg-emoji>", "! Invalid custom emoji identifier specified"},
		{"&#xd83d;", "! " + errSurrogates.Error()},
		{`<a href="&#xd83d;">x</a>`, "! " + errSurrogates.Error()},
	})
}

func TestMarkdownV2(t *testing.T) {
	checkMarkup(t, parseMarkdownV2, [][2]string{
		{"plain", "plain"},
		{"*b* _i_ __u__ ~s~ ||p||", "b i u s p bold[0+1] italic[2+1] underline[4+1] strikethrough[6+1] spoiler[8+1]"},
		{"*a _b_*", "a b bold[0+3] italic[2+1]"},
		{"___x_**__", "x italic[0+1] underline[0+1]"}, // bold of nothing is nothing
		{`\*\_\\ 1\.`, `*_\ 1.`},
		{"`a.b*c\\`d`", "a.b*c`d code[0+7]"},
		{"```go\nx := 1\n```", "x := 1\n pre[0+7go]"},
		{"```\nx\n```", "x\n pre[0+2]"},
		{"```x```", "x pre[0+1]"},
		{"[a](https://a.b/\\)x)", "a text_link[0+1https://a.b/)x]"},
		{"[a\\.b]", "a.b text_link[0+3a.b]"},
		{"![👍](tg://emoji?id=5368)", "👍 custom_emoji[0+25368]"},
		{">q\n>r\nx", "q\nr\nx blockquote[0+4]"},
		{">q||\nx", "q\nx expandable_blockquote[0+2]"},
		{">q||", "q expandable_blockquote[0+1]"},
		{">*q*", "q blockquote[0+1] bold[0+1]"},
		{"😀*x*", "😀x bold[2+1]"},

		{"a.b", `! Character '.' is reserved and must be escaped with the preceding '\'`},
		{"a > b", `! Character '>' is reserved and must be escaped with the preceding '\'`},
		{"a | b", `! Character '|' is reserved and must be escaped with the preceding '\'`},
		{"hi!", `! Character '!' is reserved and must be escaped with the preceding '\'`},
		{"*x", "! Can't find end of Bold entity at byte offset 0"},
		{"a _x", "! Can't find end of Italic entity at byte offset 2"},
		{"```go\nx", "! Can't find end of PreCode entity at byte offset 0"},
		{"`x", "! Can't find end of Code entity at byte offset 0"},
		{"[a](b", "! Can't find end of a URL at byte offset 4"},
		{"![a](b", "! Can't find end of a custom emoji URL at byte offset 5"},
		{"![a]", "! Custom emoji entity must contain a tg://emoji URL"},
		{">*q\nx*", "! Can't find end of Bold entity at byte offset 1"},
		{"*a\n>b*", "! Can't find end of Bold entity at byte offset 0"},
	})
}

func TestTextsAreCleanedAndTrimmed(t *testing.T) {
	bold := func(offset, length int) []Entity { return []Entity{{Type: "bold", Offset: offset, Length: length}} }
	for _, c := range []struct {
		text string
		list []Entity
		want string
	}{
		{"  x  ", nil, "x"},
		{"\n\n x \n", nil, "x"},
		{"a\tb\r\nc\x01d", nil, "a b\nc d"},
		{"a\u202eb\u2028c\u030ad", nil, "abcd"},
		{"  x ", bold(2, 1), "x bold[0+1]"},
		{"  x ", bold(1, 3), " x bold[0+2]"}, // what an entity covers stays at the beginning
		{"a\r\nb", bold(1, 3), "a\nb bold[1+2]"},
		{"x  ", bold(1, 2), "x"},
		{"x\r", bold(1, 1), "x"},
		{"😀  ", bold(0, 4), "😀 bold[0+2]"},
		{"\u00a0x\u00a0", nil, "\u00a0x\u00a0"},
	} {
		text, list := trimText(cleanText(c.text, c.list))
		if got := show(text, list); got != c.want {
			t.Errorf("%q %v: got %q, want %q", c.text, c.list, got, c.want)
		}
	}
}

func TestFoundEntities(t *testing.T) {
	code := func(offset, length int) []Entity { return []Entity{{Type: "code", Offset: offset, Length: length}} }
	for _, c := range []struct {
		text  string
		given []Entity
		want  string
	}{
		{"/start now", nil, "/start now bot_command[0+6]"},
		{"/new@panebridge_bot x", nil, "/new@panebridge_bot x bot_command[0+19]"},
		{"a/b /c/d //x", nil, "a/b /c/d //x"},
		{"hi @ada, a@b", nil, "hi @ada, a@b mention[3+4]"},
		{"see https://example.com/a?b=c. (http://x.y)", nil, "see https://example.com/a?b=c. (http://x.y) url[4+25] url[32+10]"},
		{"https://github.com/@ada #1", nil, "https://github.com/@ada #1 url[0+23]"},
		{"😀 #go2 ada@example.com", nil, "😀 #go2 ada@example.com email[8+15] hashtag[3+4]"},
		{"use @ada here", code(4, 4), "use @ada here"},
	} {
		if got := show(c.text, findEntities(c.text, c.given)); got != c.want {
			t.Errorf("%q:\n got %s\nwant %s", c.text, got, c.want)
		}
	}
}

func TestLinks(t *testing.T) {
	for address, want := range map[string]string{
		"https://example.com":   "https://example.com/",
		"HTTP://Example.com/x":  "http://Example.com/x",
		"example.com/x":         "http://example.com/x",
		"readme.md":             "http://readme.md/", // a trap of Telegram's
		"example.com:80/x":      "http://example.com:80/x",
		"http://[::1]:80":       "http://[::1]:80/",
		"tg://resolve?domain=x": "tg://resolve?domain=x",
		"localhost":             "! Wrong HTTP URL",
		"./a":                   "! Wrong HTTP URL",
		"../a/b.md":             "! Wrong HTTP URL",
		"#part":                 "! Wrong HTTP URL",
		"http://a b.c":          "! Wrong HTTP URL",
		"file:///etc/passwd":    "! Unsupported URL protocol",
		"javascript:alert(1)":   "! Unsupported URL protocol",
	} {
		got, why := checkLink(address)
		if why != "" {
			got = "! " + why
		}
		if got != want {
			t.Errorf("%s: got %s, want %s", address, got, want)
		}
	}
	if id := mentionedUser("tg://user?id=42"); id != 42 {
		t.Errorf("the mentioned user is %d", id)
	}
}

func TestUnitSlice(t *testing.T) {
	const text = "a😀b"
	for _, c := range []struct {
		offset, length int
		want           string
	}{{0, 1, "a"}, {1, 2, "😀"}, {3, 1, "b"}, {2, 1, ""}, {0, 99, text}, {99, 1, ""}} {
		if got := unitSlice(text, c.offset, c.length); got != c.want {
			t.Errorf("%d+%d: got %q, want %q", c.offset, c.length, got, c.want)
		}
	}
}
