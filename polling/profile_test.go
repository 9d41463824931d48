package polling

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// plainDialog is Generic.Dialog without its haste.
func plainDialog(rows []string) string {
	screen := strings.ToLower(strings.Join(rows, "\n"))
	for _, phrase := range dialogPhrases {
		if strings.Contains(screen, phrase) {
			return phrase
		}
	}
	return ""
}

// Of all phrases on the screen the first of the table is found, in capitals or
// not, wherever it stands; not across rows, not a part of it.
func TestDialogFindsWhatAPlainSearchFinds(t *testing.T) {
	piece := rapid.OneOf(
		rapid.SampledFrom(dialogPhrases),
		rapid.Map(rapid.SampledFrom(dialogPhrases), strings.ToUpper),
		rapid.Map(rapid.SampledFrom(dialogPhrases), func(s string) string { return s[:len(s)-1] }),
		rapid.SampledFrom([]string{" ", "d", "do ", "│ ", "日本", "\x00", "?"}),
		rapid.StringMatching(`[ -~]{0,20}`),
	)
	row := rapid.Map(rapid.SliceOfN(piece, 0, 4), func(p []string) string { return strings.Join(p, "") })
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.SliceOfN(row, 0, 5).Draw(t, "rows")
		if got, want := (Generic{}).Dialog(rows), plainDialog(rows); got != want {
			t.Errorf("found %q, want %q in %q", got, want, rows)
		}
	})
}

// BenchmarkDialog searches a screen of 40 full rows without a dialog.
func BenchmarkDialog(b *testing.B) {
	rows := make([]string, 40)
	for i := range rows {
		rows[i] = strings.Repeat("what an agent said some time ago, about the trees and the paths. ", 2)[:120]
	}
	for _, way := range []struct {
		name   string
		search func([]string) string
	}{{"search=plain", plainDialog}, {"search=ours", Generic{}.Dialog}} {
		b.Run(way.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if way.search(rows) != "" {
					b.Fatal("found a dialog")
				}
			}
		})
	}
}
