package sgr_test

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"github.com/panebridge/panebridge/internal/render/sgr"
)

func index(n uint8) sgr.Colour       { return sgr.Colour{Kind: sgr.Indexed, Index: n} }
func rgb(r, g, b uint8) sgr.Colour   { return sgr.Colour{Kind: sgr.True, R: r, G: g, B: b} }
func fg(c sgr.Colour) sgr.Style      { return sgr.Style{FG: c} }
func bg(c sgr.Colour) sgr.Style      { return sgr.Style{BG: c} }
func attrs(a sgr.Attr) sgr.Style     { return sgr.Style{Attrs: a} }
func plain(s string) []sgr.Run       { return []sgr.Run{{Text: s}} }
func x(s sgr.Style) []sgr.Run        { return []sgr.Run{{Style: s, Text: "x"}} }
func xy(s sgr.Style) []sgr.Run       { return []sgr.Run{{Style: s, Text: "x"}, {Text: "y"}} }
func both(f, b sgr.Colour) sgr.Style { return sgr.Style{FG: f, BG: b} }

func TestParse(t *testing.T) {
	const all = sgr.Bold | sgr.Dim | sgr.Italic | sgr.Underline | sgr.Blink | sgr.Reverse | sgr.Hidden | sgr.Strike
	for _, tc := range []struct {
		name, row string
		want      []sgr.Run
	}{
		{"plain", "hello", plain("hello")},
		{"basic colours", "\x1b[31;42mx\x1b[0my", xy(both(index(1), index(2)))},
		{"bright colours", "\x1b[91;107mx", x(both(index(9), index(15)))},
		{"256 with semicolons", "\x1b[38;5;200;48;5;17mx", x(both(index(200), index(17)))},
		{"256 with colons", "\x1b[38:5:200mx", x(fg(index(200)))},
		{"true colour with semicolons", "\x1b[38;2;1;2;255mx", x(fg(rgb(1, 2, 255)))},
		{"true colour with colons", "\x1b[38:2:1:2:3mx", x(fg(rgb(1, 2, 3)))},
		{"true colour with colour space", "\x1b[48:2::1:2:3mx", x(bg(rgb(1, 2, 3)))},
		{"colour of the underline is left out", "\x1b[58:2::255:0:0;4:3mx", x(attrs(sgr.Underline))},
		{"legacy colour of the underline", "\x1b[58;5;1;1mx", x(attrs(sgr.Bold))},
		{"no underline", "\x1b[4m\x1b[4:0mx", plain("x")},
		{"attributes", "\x1b[1;2;3;4;5;7;8;9mx", x(attrs(all))},
		{"attributes off", "\x1b[1;2;3;4;5;7;8;9m\x1b[22;23;24;25;27;28;29mx", plain("x")},
		{"default colours", "\x1b[31;41m\x1b[39;49mx", plain("x")},
		{"empty is reset", "\x1b[31m\x1b[mx", plain("x")},
		{"runs of one style are joined", "\x1b[31ma\x1b[31mb", []sgr.Run{{Style: fg(index(1)), Text: "ab"}}},
		{"colour out of range", "\x1b[38;5;256mx\x1b[38;2;300;0;0my", plain("xy")},
		{"cut colour", "\x1b[38mx\x1b[38;2;1my", plain("xy")},
		{"other sequences", "a\x1b[2Jb\x1b]8;;http://x/\x1b\\c\x1b]8;;\x1b\\\x1b[?25l\x07d", plain("abcd")},
		{"wide", "日本 👩‍💻 é", plain("日本 👩‍💻 é")},
		{"tab", "a\tb", plain("a\tb")},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, sgr.Parse(tc.row)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestPalette(t *testing.T) {
	for i, want := range map[uint8][3]uint8{16: {0, 0, 0}, 196: {255, 0, 0}, 67: {95, 135, 175}, 231: {255, 255, 255}, 232: {8, 8, 8}, 255: {238, 238, 238}} {
		r, g, b := sgr.Palette(i)
		if got := [3]uint8{r, g, b}; got != want {
			t.Errorf("colour %d is %v, want %v", i, got, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"", "\x1b[1;31mhi\x1b[0m <b>", "\x1b[38:2::1:2:3;4:3;58:5:1mx", "\x1b]8;;http://x\x1b\\l\x1b]8;;\x1b\\",
		"\x1b[" + strings.Repeat("1;", 100) + "mx", "\x9b31mx", "\xff\x1b[m", "\x1bP<q>\x1b\\", "\x1b[38;2;;;mx",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, row string) {
		var text strings.Builder
		for i, r := range sgr.Parse(row) {
			if r.Text == "" {
				t.Fatalf("run %d is empty", i)
			}
			text.WriteString(r.Text)
		}
		if got := sgr.Plain(row); text.String() != got {
			t.Fatalf("runs have %q, plain text is %q", text.String(), got)
		}
		if printable(row) && sgr.Plain(row) != ansi.Strip(row) {
			t.Fatalf("plain text is %q, want %q", sgr.Plain(row), ansi.Strip(row))
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
