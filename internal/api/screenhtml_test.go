package api

import (
	"html"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"github.com/panebridge/panebridge/sessions"
)

func TestScreenHTML(t *testing.T) {
	for _, tc := range []struct{ name, row, want string }{
		{"plain", "hello", "hello"},
		{"escaped", `<script>alert("x")</script> & 'y'`, "&lt;script&gt;alert(&#34;x&#34;)&lt;/script&gt; &amp; &#39;y&#39;"},
		{"basic colours", "\x1b[31;42mx\x1b[0my", `<span class="f1 b2">x</span>y`},
		{"bright colours", "\x1b[91;107mx", `<span class="f9 b15">x</span>`},
		{"256 with semicolons", "\x1b[38;5;200;48;5;17mx", `<span class="f200 b17">x</span>`},
		{"256 with colons", "\x1b[38:5:200mx", `<span class="f200">x</span>`},
		{"true colour with semicolons", "\x1b[38;2;1;2;255mx", `<span data-fg="#0102ff">x</span>`},
		{"true colour with colons", "\x1b[38:2:1:2:3mx", `<span data-fg="#010203">x</span>`},
		{"true colour with colour space", "\x1b[48:2::1:2:3mx", `<span data-bg="#010203">x</span>`},
		{"colour of the underline is left out", "\x1b[58:2::255:0:0;4:3mx", `<span class="underline">x</span>`},
		{"legacy colour of the underline", "\x1b[58;5;1;1mx", `<span class="bold">x</span>`},
		{"no underline", "\x1b[4m\x1b[4:0mx", "x"},
		{"attributes", "\x1b[1;2;3;4;5;7;8;9mx", `<span class="bold dim italic underline reverse hidden strike">x</span>`},
		{"attributes off", "\x1b[1;2;3;4;5;7;8;9m\x1b[22;23;24;25;27;28;29mx", "x"},
		{"default colours", "\x1b[31;41m\x1b[39;49mx", "x"},
		{"empty is reset", "\x1b[31m\x1b[mx", "x"},
		{"runs of one style are joined", "\x1b[31ma\x1b[31mb", `<span class="f1">ab</span>`},
		{"colour out of range", "\x1b[38;5;256mx\x1b[38;2;300;0;0my", "xy"},
		{"cut colour", "\x1b[38mx\x1b[38;2;1my", "xy"},
		{"other sequences", "a\x1b[2Jb\x1b]8;;http://x/\x1b\\c\x1b]8;;\x1b\\\x1b[?25l\x07d", "abcd"},
		{"wide", "日本 👩‍💻 é", "日本 👩‍💻 é"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := screenHTML(sessions.Screen{Rows: []string{tc.row}})
			if got != tc.want+"\n" {
				t.Errorf("got  %q\nwant %q", got, tc.want+"\n")
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
		text := tag.ReplaceAllString(screenHTML(sessions.Screen{Rows: []string{row}}), "")
		if strings.ContainsAny(text, `<>"`) {
			t.Fatalf("there's markup beside our spans: %q", text)
		}
		if got, want := html.UnescapeString(text), plainText(row)+"\n"; got != want {
			t.Fatalf("text is %q, want %q", got, want)
		}
		if printable(row) {
			if got, want := plainText(row), ansi.Strip(row); got != want {
				t.Fatalf("plain text is %q, want %q", got, want)
			}
		}
	})
}

// printable reports whether a row is what tmux writes, valid text and CSI
// sequences: about what is in others, strippers differ.
func printable(row string) bool {
	rest := regexp.MustCompile(`\x1b\[[0-9;:]*m`).ReplaceAllString(row, "")
	for _, r := range rest {
		if r < 0x20 || r >= 0x7f && r <= 0x9f || r == utf8.RuneError {
			return false
		}
	}
	return true
}
