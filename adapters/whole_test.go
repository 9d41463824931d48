package adapters

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/internal/render"
	"github.com/panebridge/panebridge/sessions"
)

// formattedShapes are those of the platforms' messages: formatting takes no room on the one, and
// some characters around code on the other.
func formattedShapes() map[string]Shape {
	return map[string]Shape{
		"telegram": {MaxLen: 4096, MaxFile: 50 << 20, MaxCaption: 1024, Size: func(p Page) int { return UTF16Len(Rendered(p).Text().String()) }},
		"discord": {MaxLen: 2000, MaxFile: 10 << 20, MaxCaption: 2000, Size: func(p Page) int {
			text := Rendered(p).Text()
			size := UTF16Len(text.String())
			for _, r := range text.Runs() {
				if r.Style.Pre {
					size += 10 // fences before and behind
				}
			}
			return size
		}},
	}
}

// answerOf are the lines of an answer.
func answerOf(lines ...string) *backlog {
	b := &backlog{head: int64(len(lines)), all: true}
	var out sessions.Output
	for i, text := range lines {
		out.Lines = append(out.Lines, sessions.Line{N: int64(i) + 1, Kind: sessions.KindAnswer, Text: text, Begins: i == 0})
	}
	b.addLines(out, 0)
	return b
}

// drawAnswer draws an answer's lines: paragraphs, blocks of code and tables, some longer than
// what's kept whole.
func drawAnswer(t *rapid.T) []string {
	word := rapid.StringMatching(`[a-zäß日]{1,12}`)
	row := rapid.Custom(func(t *rapid.T) string { return strings.Join(rapid.SliceOfN(word, 1, 14).Draw(t, "words"), " ") })
	var lines []string
	for range rapid.IntRange(1, 14).Draw(t, "blocks") {
		n := rapid.OneOf(rapid.IntRange(1, 45), rapid.Just(13)).Draw(t, "rows")
		switch rapid.IntRange(0, 2).Draw(t, "kind") {
		case 0:
			for range n / 4 {
				lines = append(lines, row.Draw(t, "row"))
			}
		case 1:
			lines = append(lines, "```go")
			for range n {
				lines = append(lines, row.Draw(t, "row"))
			}
			lines = append(lines, "```")
		default:
			lines = append(lines, "| name | value |", "|---|---|")
			for range n {
				lines = append(lines, "| "+word.Draw(t, "cell")+" | "+row.Draw(t, "cell")+" |")
			}
		}
		lines = append(lines, "")
	}
	return lines
}

// No block of code and no table that fits a message is divided between two, no line is lost
// or there twice, and that costs at most one message for each block that's moved.
func TestBlocksAreKeptWhole(t *testing.T) {
	for name, shape := range formattedShapes() {
		shape = shape.withDefaults()
		t.Run(name, func(t *testing.T) {
			drawtest.Check(t, func(t *rapid.T) {
				lines := drawAnswer(t)
				log := answerOf(lines...)
				pageOf, shown := make([]int, len(lines)), make([]int, len(lines))
				pages, moved := 0, 0
				for pieces := log.pieces; !allBlank(pieces); pages++ {
					p := shape.fill(Page{}, pieces)
					if !shape.fits(p) || len(p.Pieces) == 0 {
						t.Fatalf("message %d has %d lines", pages, len(p.Pieces))
					}
					if p.Pieces[len(p.Pieces)-1].end().Before(shape.fillUp(Page{}, pieces).lastEnd()) {
						moved++
					}
					for _, piece := range p.Pieces {
						pageOf[piece.Line.N-1], shown[piece.Line.N-1] = pages, shown[piece.Line.N-1]+1
					}
					pieces = remainingPieces(pieces, p)
				}
				for i, n := range shown {
					if n > 1 || n == 0 && strings.TrimSpace(lines[i]) != "" {
						t.Fatalf("line %d is there %d times: %q", i+1, n, lines[i])
					}
				}
				for _, f := range render.Frames(strings.Join(lines, "\n")) {
					if block := log.pieces[f.From:f.To]; f.To-f.From <= maxWhole && shape.fits(Page{}.plus(block)) && pageOf[f.From] != pageOf[f.To-1] {
						t.Fatalf("the block of lines %d to %d is in messages %d to %d", f.From+1, f.To, pageOf[f.From], pageOf[f.To-1])
					}
				}
				if least := shape.messages(Page{}, log.pieces, 1000); pages > least+moved {
					t.Fatalf("%d messages, of which %d end before a block, where %d are enough", pages, moved, least)
				}
			})
		})
	}
}

func (p Page) lastEnd() Position {
	if len(p.Pieces) == 0 {
		return Position{}
	}
	return p.Pieces[len(p.Pieces)-1].end()
}

// A message in which a text was being written ends before a block that comes in its place and
// doesn't fit, and takes back no line that it shows.
func TestATextThatWasBeingWrittenEndsBeforeABlock(t *testing.T) {
	for name, shape := range formattedShapes() {
		shape = shape.withDefaults()
		t.Run(name, func(t *testing.T) {
			lines := []string{"first"}
			for len(strings.Join(lines, "\n")) < shape.MaxLen-400 {
				lines = append(lines, fmt.Sprintf("line %d of a text", len(lines)))
			}
			begins := len(lines)
			lines = append(lines, "```")
			for range 12 {
				lines = append(lines, strings.Repeat("code ", 9))
			}
			lines = append(lines, "```")
			for _, shown := range []int{0, begins, begins + 3} {
				s := situation{
					nonce: "n", binding: Binding{View: ViewStream}, shape: shape, progress: LogProgress{Head: int64(len(lines))},
					doc: Document{Shown: Position{Line: int64(shown) + 1}}, log: *answerOf(lines...), region: region{known: true},
				}
				s.doc.Tail = &Message{ID: "7", View: ViewStream, From: Position{Line: 1}, To: s.doc.Shown, Writing: true}
				st := planCall(s)
				want := Position{Line: int64(max(shown, begins)) + 1}
				if to := st.before.Intent.Shown; st.op.Kind != KindEdit || shown <= begins && to != want || to.Before(s.doc.Shown) {
					t.Errorf("with %d lines shown: a %s up to %v, want up to %v", shown, st.op.Kind, to, want)
				}
			}
		})
	}
}
