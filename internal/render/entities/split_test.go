package entities_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/internal/render"
	"github.com/panebridge/panebridge/internal/render/entities"
)

func texts(t *testing.T, parts []render.Part, limit int) []string {
	t.Helper()
	var out []string
	for _, m := range split(t, parts, limit) {
		out = append(out, tagged(m))
	}
	return out
}

func answer(s string) []render.Part { return []render.Part{{Kind: render.Answer, Source: s}} }

func TestSplitPlaces(t *testing.T) {
	words := strings.Repeat("word ", 10) // 50 units
	for _, tc := range []struct {
		name  string
		parts []render.Part
		want  []string
	}{
		{"between paragraphs", answer(words + "\n" + words + "\n\n" + words), []string{strings.TrimSpace(words) + "\n" + strings.TrimSpace(words), strings.TrimSpace(words)}},
		{"between lines", answer(strings.Repeat(words+"\n", 3)), []string{strings.TrimSpace(words) + "\n" + strings.TrimSpace(words), strings.TrimSpace(words)}},
		{"between words", answer(strings.Repeat("a bc ", 30)), []string{strings.Repeat("a bc ", 23) + "a bc", strings.TrimSpace(strings.Repeat("a bc ", 6))}},
		{"behind a mark of Chinese", answer(strings.Repeat("字", 80) + "。" + strings.Repeat("字", 80)), []string{strings.Repeat("字", 80) + "。", strings.Repeat("字", 80)}},
		{"between characters", answer(strings.Repeat("x", 121)), []string{strings.Repeat("x", 120), "x"}},
		{"a heading isn't left behind", answer(words + "\n\n# head\n\n" + words + words + "\n"), []string{strings.TrimSpace(words), "<b>head</b>\n\n" + words + strings.TrimSpace(words)}},
		{"fence", answer("```go\n" + strings.Repeat(strings.TrimSpace(words)+"\n", 3) + "```"), []string{
			"<pre go>" + strings.TrimSpace(words) + "\n" + strings.TrimSpace(words) + "</pre>", "<pre go>" + strings.TrimSpace(words) + "</pre>",
		}},
		{"bold", answer("**" + strings.Repeat("a bc ", 30) + "d**"), []string{"<b>" + strings.Repeat("a bc ", 23) + "a bc</b>", "<b>" + strings.Repeat("a bc ", 6) + "d</b>"}},
		{"a table's head stays whole", answer(words + "\n\n|aaaaaaaaaaaaaaaaaaaa|b|\n|-|-|\n|c|d|\n|e|f|"), []string{
			strings.TrimSpace(words) + "\n<pre>aaaaaaaaaaaaaaaaaaaa │ b\n─────────────────────┼──</pre>", "<pre>c                    │ d\ne                    │ f</pre>",
		}},
		{"wide rows of a pane", []render.Part{{Kind: render.Pane, Source: strings.Repeat("─", 119) + "\n│ " + strings.Repeat("x", 117)}}, []string{
			"<pre>" + strings.Repeat("─", 119) + "</pre>", "<pre>│ " + strings.Repeat("x", 117) + "</pre>",
		}},
		{"between parts", []render.Part{{Kind: render.Notice, Source: strings.TrimSpace(words)}, {Kind: render.Pane, Source: strings.TrimSpace(words)}, {Kind: render.Answer, Source: words}}, []string{
			"<i>" + strings.TrimSpace(words) + "</i>\n<pre>" + strings.TrimSpace(words) + "</pre>", strings.TrimSpace(words),
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := texts(t, tc.parts, 120); !slices.Equal(got, tc.want) {
				t.Errorf("got  %q\nwant %q", got, tc.want)
			}
		})
	}
}

// A message with too many entities ends early.
func TestEntitiesAreCounted(t *testing.T) {
	messages := split(t, answer(strings.Repeat("`a` ", 350)), 4096)
	if n := len(messages[0].Entities); len(messages) != 4 || n != 100 {
		t.Errorf("%d messages, the first with %d entities, want 4 and 100", len(messages), n)
	}
}

// So does one whose links are too long all together.
func TestBytesOfEntitiesAreCounted(t *testing.T) {
	link := "[a](https://x.org/" + strings.Repeat("b", 1000) + ") "
	for _, m := range split(t, answer(strings.Repeat(link, 30)), 4096) {
		if n := len(m.Entities); n > 9 {
			t.Errorf("a message has %d links of a kilobyte", n)
		}
	}
}

// Characters as people see them aren't divided, wherever a message ends.
func TestCharactersStayWhole(t *testing.T) {
	characters := []string{"x", "e\u0301", "👩‍💻", "字", "👍🏽", "नि", "🇩🇪", "한", "a\u0308\u0323", "❤️", "1️⃣", "👨‍👩‍👧‍👦", "ᄒ\u1161\u11AB", "🏴󠁧󠁢󠁳󠁣󠁴󠁿"}
	for _, kind := range []render.PartKind{render.Plain, render.Answer, render.Pane} {
		for limit := 70; limit < 90; limit++ {
			var source strings.Builder
			ends := map[int]bool{}
			for range 12 {
				for _, c := range characters {
					source.WriteString(c)
					ends[source.Len()] = true
				}
			}
			parts := []render.Part{{Kind: kind, Source: source.String()}}
			form := entities.Form(limit)
			for from, done := (render.TextPosition{}), false; !done; {
				if from, done = next(t, form, parts, from); !done && !ends[from.Byte] {
					t.Errorf("limit %d: a message ends within %q", limit, source.String()[from.Byte-8:from.Byte+8])
				}
			}
		}
	}
}

func next(t *testing.T, form render.MessageForm, parts []render.Part, from render.TextPosition) (render.TextPosition, bool) {
	t.Helper()
	_, to, done := form.Next(parts, from)
	return to, done
}

// A character that's longer than a message is divided between its runes.
func TestCharacterLongerThanAMessage(t *testing.T) {
	source := "a" + strings.Repeat("\u0301", 1000) + "b"
	var got strings.Builder
	form := entities.Form(400)
	parts := answer(source)
	for from, done := (render.TextPosition{}), false; !done; {
		text, to, last := form.Next(parts, from)
		got.WriteString(text.String())
		if n := entities.Units(entities.From(text).Text); n > 400 {
			t.Errorf("%d units", n)
		}
		from, done = to, last
	}
	if got.String() != source {
		t.Errorf("%d bytes became %d", len(source), got.Len())
	}
}

// Texts that parsers and splitters take long for: the worst that are still parsed, and
// longer ones. The work for a message doesn't depend on how much text there is: so many
// renderings, each of which sees no more than is parsed at all.
func TestHostileTexts(t *testing.T) {
	const mostRenderings = 60
	hostile := map[string]func(n int) string{
		"quotes":          func(n int) string { return strings.Repeat(">", n) },
		"quotes on lines": func(n int) string { return strings.Repeat(strings.Repeat("> ", 60)+"a\n", n/121+1) },
		"lists":           func(n int) string { return strings.Repeat(strings.Repeat("- + * ", 20)+"a\n", n/121+1) },
		"ever deeper":     deeper,
		"brackets":        func(n int) string { return strings.Repeat("[", n) },
		"open links":      func(n int) string { return strings.Repeat("[a](", n/4) },
		"open images":     func(n int) string { return strings.Repeat("![", n/2) },
		"stars":           func(n int) string { return strings.Repeat("*a **b ", n/7) },
		"backticks":       func(n int) string { return strings.Repeat("`a``b```c", n/9) },
		"HTML":            func(n int) string { return strings.Repeat("<a ", n/3) },
		"columns":         func(n int) string { return strings.Repeat("|", n/2) + "\n" + strings.Repeat("|-", n/4) },
		"rows":            func(n int) string { return "|a|b|\n|-|-|\n" + strings.Repeat("|x|y|\n", n/6) },
		"definitions":     func(n int) string { return strings.Repeat("[a]: b\n", n/7) },
		"links":           func(n int) string { return strings.Repeat("[a](http://a.bc/)", n/17) },
		"mentions":        func(n int) string { return strings.Repeat("@a ", min(n, 10_000)/3) },
		"empty lines":     func(n int) string { return "a" + strings.Repeat("\n", n) + "b" },
		"blanks":          func(n int) string { return "a" + strings.Repeat(" ", n) + "b" },
		"one word":        func(n int) string { return strings.Repeat("x", n) },
		"short lines":     func(n int) string { return strings.Repeat("x\n", n/2) },
		"accents":         func(n int) string { return strings.Repeat("\u0301", n/2) },
	}
	for name, text := range hostile {
		for _, n := range []int{3900, drawtest.Times(50_000, 15_000, 15_000)} {
			renderings := 0
			form := entities.Form(4096)
			size := form.Size
			form.Size = func(t render.MessageText) int {
				renderings++
				return size(t)
			}
			parts := answer(text(n))
			for from, done := (render.TextPosition{}), false; !done; {
				renderings = 0
				var shown render.MessageText
				shown, from, done = form.Next(parts, from)
				if m := entities.From(shown); m.Text != "" {
					if bad := faults(m, 4096); bad != nil {
						t.Fatalf("%s: %s", name, strings.Join(bad, "\n"))
					}
				}
				if renderings > mostRenderings {
					t.Errorf("%d bytes of %s: %d renderings for a message", n, name, renderings)
				}
			}
		}
	}
}

// deeper is a list of which each item is in the one before.
func deeper(n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		b.WriteString(strings.Repeat("  ", i) + "- a\n")
	}
	return b.String()
}

// A line of a megabyte is all there, whatever it's of; a quarter of one where counts are small.
func TestLineOfAMegabyte(t *testing.T) {
	line := strings.Repeat("word", drawtest.Times(1<<18, 1<<16, 1<<16))
	for _, kind := range []render.PartKind{render.Answer, render.Pane} {
		got := 0
		for _, m := range split(t, []render.Part{{Kind: kind, Source: line}}, 4096) {
			got += len(m.Text)
		}
		if got != len(line) {
			t.Errorf("kind %d: %d bytes are shown", kind, got)
		}
	}
}
