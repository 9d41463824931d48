package entities_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/panebridge/panebridge/internal/render"
	"github.com/panebridge/panebridge/internal/render/entities"
	"github.com/panebridge/panebridge/internal/render/rendertest"
)

func seeds(f *testing.F) {
	f.Helper()
	for i := range uint64(50) {
		f.Add(rendertest.Garbage([]uint64{i, i * i}), 70+int(i)*10)
		f.Add(rendertest.WellFormed([]uint64{i, i * i}).Source, 70+int(i)*10)
	}
	f.Add("[a]: <b\n[c](d\n\"e\")", 100)
	f.Add("\u030a", 100)
	f.Add("a\u0333 A\u030a\u202e\ufffc", 100)
	f.Add("|a|\n|-|\n|b|c|\n***\n- ```\n> x\n\ty", 100)
}

// FuzzRender renders any text, and divides it anywhere.
func FuzzRender(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, source string, at int) {
		parts := []render.Part{{Kind: render.Answer, Source: source}, {Kind: render.Pane, Source: source}}
		cut := render.TextPosition{Part: at & 1, Byte: at}
		for _, text := range []render.MessageText{
			render.Render(parts, render.TextPosition{}, cut), render.Render(parts, cut, render.End(parts)),
		} {
			m := entities.From(text)
			if m.Text == "" || m.Size() > entities.MaxUnits {
				continue
			}
			if bad := faults(m, entities.MaxUnits); bad != nil {
				t.Fatal(strings.Join(bad, "\n"))
			}
		}
	})
}

// FuzzSplit splits any text. Its letters come out in order; what isn't a letter may
// be markup.
func FuzzSplit(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, source string, limit int) {
		if len(source) > 4000 || !utf8.ValidString(source) {
			t.Skip()
		}
		limit = max(70, limit%4096)
		messages := split(t, []render.Part{{Kind: render.Plain, Source: source}}, limit)
		var shown strings.Builder
		for _, m := range messages {
			shown.WriteString(m.Text)
		}
		if got, want := letters(shown.String()), letters(source); got != want {
			t.Fatalf("letters are %q, want %q", got, want)
		}
		split(t, []render.Part{{Kind: render.Answer, Source: source}}, limit)
	})
}

// letters are a text's, with their accents.
func letters(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, norm.NFC.String(s))
}
