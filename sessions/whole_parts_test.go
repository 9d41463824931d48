package sessions

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/drawtest"
)

// Windows of one text overlap where they share more than half of their rows, whatever occurs in it
// again and whatever row says that more is hidden; texts without a common row don't.
func TestPartsOfOneTextOverlap(t *testing.T) {
	drawtest.Check(t, func(t *rapid.T) {
		row := rapid.SampledFrom([]string{"ls -la", "Reason: none", "cat", "X", "echo a", "echo b", "true"})
		all := rapid.SliceOfN(row, 4, 60).Draw(t, "text")
		part := func(from, to int) *Dialog {
			rows := slices.Clone(all[from:to])
			if rapid.Bool().Draw(t, "hides") {
				rows = append(rows, "... last 7 lines hidden ...")
			}
			return &Dialog{Body: strings.Join(rows, "\n"), Unseen: true}
		}
		high := rapid.IntRange(3, len(all)-1).Draw(t, "height")
		from := rapid.IntRange(0, len(all)-high).Draw(t, "from")
		a := part(from, from+high)
		by := rapid.IntRange(0, min((high-1)/2, len(all)-high-from)).Draw(t, "moved by")
		b := part(from+by, from+by+high)
		if !a.overlapsWith(b) || !b.overlapsWith(a) {
			t.Fatalf("they don't overlap:\n%s\n\n%s", a.Body, b.Body)
		}
		whole := &Dialog{Body: strings.Join(all, "\n")}
		if !whole.IsWholeOf(a) {
			t.Fatalf("it isn't the whole of\n%s:\n%s", a.Body, whole.Body)
		}
		other := &Dialog{Body: strings.Repeat("rm -r .\n", rapid.IntRange(1, 60).Draw(t, "other")) + "... last 7 lines hidden ..."}
		if other.overlapsWith(a) {
			t.Fatalf("others overlap:\n%s\n\n%s", a.Body, other.Body)
		}
	})
}
