package entities_test

import (
	"slices"
	"strings"
	"testing"
	"time"

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

// Characters as people see them aren't divided, wherever a message ends.
func TestCharactersStayWhole(t *testing.T) {
	characters := []string{"x", "e\u0301", "👩‍💻", "字", "👍🏽", "नि", "🇩🇪", "한", "a\u0308\u0323", "❤️", "1️⃣", "👨‍👩‍👧‍👦", "ᄒ\u1161\u11AB", "🏴󠁧󠁢󠁳󠁣󠁴󠁿"}
	for _, kind := range []render.Kind{render.Plain, render.Answer, render.Pane} {
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
			for from, done := (render.Place{}), false; !done; {
				if from, done = next(t, form, parts, from); !done && !ends[from.Byte] {
					t.Errorf("limit %d: a message ends within %q", limit, source.String()[from.Byte-8:from.Byte+8])
				}
			}
		}
	}
}

func next(t *testing.T, form render.Form, parts []render.Part, from render.Place) (render.Place, bool) {
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
	for from, done := (render.Place{}), false; !done; {
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

// Texts that parsers and splitters take long for.
func TestHostileTexts(t *testing.T) {
	n := 16_000
	if testing.Short() {
		n = 4000
	}
	for name, s := range map[string]string{
		"quotes":            strings.Repeat(">", n),
		"quotes on lines":   strings.Repeat(strings.Repeat("> ", 100)+"a\n", n/200),
		"lists":             strings.Repeat("- + * ", n/6) + "a",
		"brackets":          strings.Repeat("[", n),
		"open links":        strings.Repeat("[a](", n/4),
		"open images":       strings.Repeat("![", n/2),
		"stars":             strings.Repeat("*a **b ", n/7),
		"backticks":         strings.Repeat("`a``b```c", n/9),
		"HTML":              strings.Repeat("<a ", n/3),
		"a table's columns": strings.Repeat("|", n/2) + "\n" + strings.Repeat("|-", n/4),
		"a table's rows":    "|a|b|\n|-|-|\n" + strings.Repeat("|x|y|\n", n/6),
		"definitions":       strings.Repeat("[a]: b\n", n/7),
		"blank lines":       "a" + strings.Repeat("\n", n) + "b",
		"blanks":            "a" + strings.Repeat(" ", n) + "b",
		"one word":          strings.Repeat("x", n),
		"marks":             strings.Repeat("\u0301", n/2),
	} {
		start := time.Now()
		messages := split(t, answer(s), 4096)
		if took := time.Since(start); took > 30*time.Second {
			t.Errorf("%s: %v for %d messages", name, took, len(messages))
		}
	}
}
