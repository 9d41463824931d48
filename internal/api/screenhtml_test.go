package api

import (
	"html"
	"regexp"
	"strings"
	"testing"

	"github.com/panebridge/panebridge/internal/render/sgr"
	"github.com/panebridge/panebridge/sessions"
)

// How rows are read is tested where it's done, in internal/render/sgr.
func TestScreenHTML(t *testing.T) {
	for _, tc := range []struct{ name, row, want string }{
		{"plain", "hello", "hello"},
		{"escaped", `<script>alert("x")</script> & 'y'`, "&lt;script&gt;alert(&#34;x&#34;)&lt;/script&gt; &amp; &#39;y&#39;"},
		{"palette colours", "\x1b[31;42mx\x1b[0my", `<span class="f1 b2">x</span>y`},
		{"bright colours", "\x1b[91;107mx", `<span class="f9 b15">x</span>`},
		{"256 colours", "\x1b[38;5;200;48;5;17mx", `<span class="f200 b17">x</span>`},
		{"true colours", "\x1b[38;2;1;2;255;48:2::1:2:3mx", `<span data-fg="#0102ff" data-bg="#010203">x</span>`},
		{"attributes", "\x1b[1;2;3;4;5;7;8;9mx", `<span class="bold dim italic underline reverse hidden strike">x</span>`},
		{"blinking is left out", "\x1b[5mx", "x"},
		{"all at once", "\x1b[1;31;48;2;1;2;3mx", `<span class="f1 bold" data-bg="#010203">x</span>`},
		{"runs of one style are joined", "\x1b[31ma\x1b[31mb", `<span class="f1">ab</span>`},
		{"wide characters and signs have cells", "\x1b[31ma日🙂│é⏺b", `<span class="f1">a</span><span class="f1 w2">日</span><span class="f1 w2">🙂</span><span class="f1">│é</span><span class="f1 w1">⏺</span><span class="f1">b</span>`},
		{"what's written from right to left is apart", "│שלום│\x1b[31mمرحبا بكم\x1b[0m  x12 א", `│<span class="apart">שלום</span>│<span class="f1 apart">مرحبا بكم</span>  x12 <span class="apart">א</span>`},
		{"what turns the direction of writing", "a\u202eb\u2066c\u2069\u202c\u200fd\u061c", "abcd"},
		{"other sequences", "a\x1b[2Jb\x1b]8;;http://x/\x1b\\c\x1b]8;;\x1b\\\x1b[?25l\x07d", "abcd"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := screenHTML(sessions.Screen{Rows: []string{tc.row}})
			if got != tc.want+"\n" {
				t.Errorf("got  %q\nwant %q", got, tc.want+"\n")
			}
		})
	}
}

// The cursor is the cell in which the next character would stand.
func TestScreenHTMLShowsTheCursor(t *testing.T) {
	const at = `<span class="cursor">`
	for _, tc := range []struct {
		name string
		row  string
		x    int
		want string
	}{
		{"on a character", "abc", 1, "a" + at + "b</span>c"},
		{"in front", "abc", 0, at + "a</span>bc"},
		{"behind the text", "$ ", 2, "$ " + at + " </span>"},
		{"further on", "$", 3, "$  " + at + " </span>"},
		{"in an empty row", "", 0, at + " </span>"},
		{"on what has a style", "\x1b[31mab\x1b[0mc", 1, `<span class="f1">a</span><span class="f1 cursor">b</span>c`},
		{"on a wide character", "日本", 2, `<span class="w2">日</span><span class="cursor w2">本</span>`},
		{"on the second half of one", "日本", 1, `<span class="cursor w2">日</span><span class="w2">本</span>`},
		{"on a character of several parts", "a\u0301b", 0, at + "a\u0301</span>b"},
		{"behind a tab", "\tx", 8, "\t" + at + "x</span>"},
		{"escaped", "<b>", 0, at + "&lt;</span>b&gt;"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := sessions.Screen{Rows: []string{"above", tc.row}, Width: 20, Height: 2, CursorX: tc.x, CursorY: 1, CursorVisible: true}
			if got := screenHTML(s); got != "above\n"+tc.want+"\n" {
				t.Errorf("got  %q\nwant %q", got, "above\n"+tc.want+"\n")
			}
			s.CursorVisible = false
			if got := screenHTML(s); strings.Contains(got, "cursor") {
				t.Errorf("a hidden cursor is shown: %q", got)
			}
		})
	}
}

func FuzzScreenHTML(f *testing.F) {
	for _, seed := range []string{
		"", "\x1b[1;31mhi\x1b[0m <b>", "\x1b[38:2::1:2:3;4:3;58:5:1mx", "\x1b]8;;http://x\x1b\\l\x1b]8;;\x1b\\",
		"\x1b[" + strings.Repeat("1;", 100) + "mx", "\x9b31mx", "\xff\x1b[m", "\x1bP<q>\x1b\\", "\x1b[38;2;;;mx",
	} {
		f.Add(seed)
	}
	tag := regexp.MustCompile(`<span( class="[a-z0-9 ]+")?( data-fg="#[0-9a-f]{6}")?( data-bg="#[0-9a-f]{6}")?>|</span>`)
	f.Fuzz(func(t *testing.T, row string) {
		withCursor := tag.ReplaceAllString(screenHTML(sessions.Screen{Rows: []string{row}, Width: 80, CursorX: len(row) % 80, CursorVisible: true}), "")
		if got, want := strings.TrimRight(html.UnescapeString(withCursor), " \n"), strings.TrimRight(withoutTurns(sgr.Plain(row)), " \n"); got != want {
			t.Fatalf("with a cursor the text is %q, want %q", got, want)
		}
		text := tag.ReplaceAllString(screenHTML(sessions.Screen{Rows: []string{row}}), "")
		if strings.ContainsAny(text, `<>"`) {
			t.Fatalf("there's markup beside our spans: %q", text)
		}
		if got, want := html.UnescapeString(text), withoutTurns(sgr.Plain(row))+"\n"; got != want {
			t.Fatalf("text is %q, want %q", got, want)
		}
	})
}
