package adapters

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/sessions"
)

// piecesOf are the lines of a log that begins with line 1.
func piecesOf(texts ...string) []Piece {
	var out []Piece
	for i, s := range texts {
		out = append(out, Piece{Line: sessions.Line{N: int64(i) + 1, Text: s}, To: len(s)})
	}
	return out
}

// Any lines, cut into messages, are all there, in order, and each message fits, and
// is cut between characters.
func TestFilledPagesAreTheWholeText(t *testing.T) {
	shape := Shape{MaxLen: minLen}.withDefaults()
	line := rapid.OneOf(
		rapid.StringMatching(`[a-z ]{0,40}`),
		rapid.StringMatching(`(日本|e\x{301}|👩‍👩‍👧‍👦|🇩🇪|x){0,400}`),
		rapid.Custom(func(t *rapid.T) string { return strings.Repeat("lorem ipsum ", rapid.IntRange(0, 200).Draw(t, "n")) }),
		rapid.Custom(func(t *rapid.T) string { return "a" + strings.Repeat("\u0301", rapid.IntRange(0, 2000).Draw(t, "n")) }), // one character
	)
	drawtest.Check(t, func(t *rapid.T) {
		pieces := piecesOf(rapid.SliceOfN(line, 0, 60).Draw(t, "lines")...)
		want := strings.Fields(joined(pieces))
		var got []string
		for n := 0; !allBlank(pieces); n++ {
			p := shape.fill(Page{}, pieces)
			if len(p.Pieces) == 0 || n > 1000 {
				t.Fatalf("message %d of what's left shows nothing", n)
			}
			checkPage(t, shape, p)
			got = append(got, joined(p.Pieces))
			pieces = remainingPieces(pieces, p)
		}
		if a, b := strings.Join(want, ""), strings.Join(strings.Fields(strings.Join(got, "\n")), ""); a != b {
			t.Fatalf("the messages together are\n%q, the lines\n%q", b, a)
		}
	})
}

// The same for any text, valid or not.
func FuzzFill(f *testing.F) {
	f.Add("one\ntwo\n\n"+strings.Repeat("x", 2000)+"\n👩‍👩‍👧‍👦", 500)
	f.Add(strings.Repeat("\n", 3000)+"e"+strings.Repeat("\u0301", 3000), 4096)
	f.Add("\xff\xfe\x00 \u200b\u2028", 0)
	f.Fuzz(func(t *testing.T, text string, maxLen int) {
		shape := Shape{MaxLen: maxLen % 10000}.withDefaults()
		pieces := piecesOf(strings.Split(text, "\n")...)
		want, got := strings.Join(strings.Fields(joined(pieces)), ""), ""
		for n := 0; !allBlank(pieces); n++ {
			p := shape.fill(Page{}, pieces)
			if len(p.Pieces) == 0 || n > len(text) {
				t.Fatalf("message %d of what's left shows nothing", n)
			}
			if units := UTF16Len(shape.Text(p)); units > shape.MaxLen {
				t.Fatalf("a message of %d units, of at most %d", units, shape.MaxLen)
			}
			got += strings.Join(strings.Fields(joined(p.Pieces)), "")
			pieces = remainingPieces(pieces, p)
		}
		if got != want {
			t.Fatalf("the messages together are\n%q, the text\n%q", got, want)
		}
	})
}

func joined(pieces []Piece) string {
	var out []string
	for _, p := range pieces {
		out = append(out, p.Text())
	}
	return strings.Join(out, "\n")
}

func checkPage(t *rapid.T, shape Shape, p Page) {
	t.Helper()
	text := shape.Text(p)
	if n := UTF16Len(text); n > shape.MaxLen || strings.TrimSpace(text) == "" || !utf8.ValidString(text) {
		t.Fatalf("a message of %d units, of at most %d: %q", n, shape.MaxLen, text)
	}
	last := p.Pieces[len(p.Pieces)-1]
	if last.To == len(last.Line.Text) {
		return
	}
	whole := last.Line.Text[last.From:]
	at := 0
	for at < last.To-last.From {
		c, _ := ansi.FirstGraphemeCluster(whole[at:], ansi.GraphemeWidth)
		at += len(c)
	}
	if at != last.To-last.From && UTF16Len(text) < shape.MaxLen/2 {
		t.Fatalf("cut within a character though it had room: %q", text)
	}
	if len(p.Pieces) > 1 {
		t.Fatal("a line was cut that isn't alone in its message")
	}
}

func TestUTF16Len(t *testing.T) {
	for s, want := range map[string]int{"": 0, "abc": 3, "日本": 2, "👩": 2, "👩‍👧": 5, "e\u0301": 2} {
		if got := UTF16Len(s); got != want {
			t.Errorf("%q: got %d units, want %d", s, got, want)
		}
	}
}

func TestPlainText(t *testing.T) {
	gap := &sessions.Gap{AtLeast: 3, Reason: "clear"}
	pieces := piecesOf("one", "", "three")
	pieces[2].Gap = gap
	part := Piece{Line: sessions.Line{N: 9, Text: "long line"}, From: 5, To: 9}
	tests := map[string]struct {
		page Page
		want string
	}{
		"lines and a gap": {Page{Pieces: pieces}, "one\n\n[at least 3 lines are missing: clear]\nthree"},
		"part of a line":  {Page{Pieces: []Piece{part}}, "line"},
		"live rows":       {Page{Pieces: pieces[:1], Live: []string{"* busy"}}, "one\n* busy"},
		"all marks": {
			Page{Double: true, Cut: true, Dropped: 1, Pieces: pieces[:1]},
			doubleMark + "\n[at least 1 line is missing: dropped from the log before it could be sent]\none",
		},
		"an end alone":   {Page{Ending: &Ending{Turns: 1}}, "done"},
		"beside a file":  {Page{Attached: 12}, "[12 lines are in the attached file]"},
		"nobody knows":   {Page{Cut: true}, "[output may be missing: dropped from the log before it could be sent]"},
		"a long reason":  {Page{Pieces: []Piece{{Gap: &sessions.Gap{Reason: strings.Repeat("ä", 500)}}}}, "[output may be missing: " + strings.Repeat("ä", 99) + "…]\n"},
		"no page at all": {Page{}, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := PlainText(tt.page); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestSeveralGapsAtAPlaceAreOne(t *testing.T) {
	var g *sessions.Gap
	for _, x := range []sessions.Gap{{AtLeast: 2, Reason: "clear"}, {AtLeast: 3, Reason: "clear"}, {Reason: "resize"}} {
		g = joinGaps(g, x)
	}
	if g.AtLeast != 5 || g.Reason != "clear; resize" {
		t.Errorf("got %+v", g)
	}
}

// What's planned costs little, however long the backlog is.
func BenchmarkPlan(b *testing.B) {
	for name, lines := range map[string]int{"edit": 5, "send": 60, "file": 20000} {
		b.Run(name, func(b *testing.B) {
			texts := make([]string, lines)
			for i := range texts {
				texts[i] = strings.Repeat("x", 60)
			}
			s := situation{
				binding: Binding{View: ViewStream}, doc: Document{Shown: Position{Line: 3}},
				progress: LogProgress{Head: int64(lines)}, shape: Shape{MaxLen: 4096, MaxFile: 50 << 20}.withDefaults(),
				log: backlog{pieces: piecesOf(texts...), head: int64(lines), all: true},
			}
			if name == "edit" {
				s.doc.Tail = &Message{ID: "1", View: ViewStream, From: Position{Line: 1}, To: Position{Line: 3}}
			}
			b.ReportAllocs()
			for b.Loop() {
				if st := planCall(s); st.op == nil || string(st.op.Kind) != name {
					b.Fatalf("planned %+v", st.op)
				}
			}
		})
	}
}

// A gap stands before the first part of a line only.
func TestTheRestOfALineStandsBehindNoGap(t *testing.T) {
	pieces := piecesOf("one two")
	pieces[0].Gap = &sessions.Gap{AtLeast: 3}
	first := pieces[0]
	first.To = 3
	left := remainingPieces(pieces, Page{Pieces: []Piece{first}})
	if len(left) != 1 || left[0].Text() != " two" || left[0].Gap != nil {
		t.Errorf("left is %+v", left)
	}
}
