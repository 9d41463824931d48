package tmux

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/sessions"
)

// encoded is a prompt's mark as the shells write it.
func encoded(m sessions.Mark) string {
	value := m.Status + 256*(m.Count+4*(m.Above+3*m.Width))
	text := "\uFE0D"
	for range 5 {
		text += string(rune(0xFE01 + value%12))
		value /= 12
	}
	return text
}

func TestMarksAreCut(t *testing.T) {
	drawtest.Check(t, func(t *rapid.T) {
		var rows, want []string
		var marks []sessions.Mark
		for i := range rapid.IntRange(1, 5).Draw(t, "rows") {
			var row, plain string
			for range rapid.IntRange(0, 3).Draw(t, "marks") {
				text := rapid.SampledFrom([]string{"", "$ ", "❯ ", "é", "❤\uFE0F", "\xef\xb8", "ab\tc"}).Draw(t, "text")
				row, plain = row+text, plain+text
				m := sessions.Mark{Row: i, At: len(plain), Kind: sessions.MarkKind(rapid.IntRange(1, 3).Draw(t, "kind"))}
				switch m.Kind {
				case sessions.MarkPrompt:
					m.Status, m.Count = rapid.IntRange(0, 255).Draw(t, "status"), rapid.IntRange(0, 3).Draw(t, "count")
					m.Above, m.Width = rapid.IntRange(0, 2).Draw(t, "above"), rapid.IntRange(0, sessions.FreshRow).Draw(t, "width")
					row += encoded(m)
				case sessions.MarkCommand:
					row += "\uFE00"
				case sessions.MarkBroken:
					row += "\uFE0D."
					plain += "."
				}
				marks = append(marks, m)
			}
			rows, want = append(rows, row), append(want, plain)
		}
		got := cutMarks(rows)
		if !slices.Equal(rows, want) || !slices.Equal(got, marks) {
			t.Errorf("cut %q and %+v, want %q and %+v", rows, got, want, marks)
		}
	})
}

func FuzzCutMarks(f *testing.F) {
	f.Add("$ \uFE0D\uFE01\uFE02ls")
	f.Add("\xef\xb8")
	f.Fuzz(func(t *testing.T, row string) {
		for _, m := range cutMarks([]string{row}) {
			if m.At < 0 || m.At > len(row) || m.Status > 255 || m.Above > 2 || m.Width > sessions.FreshRow {
				t.Errorf("%+v of %q", m, row)
			}
		}
	})
}
