package regular_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/regular"
)

// What's kept is the beginning of all that was written, whatever pieces it came in, and that there was more is told once.
func TestABeginningIsOfAllThatWasWritten(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		most, told := rapid.IntRange(0, 20).Draw(rt, "most"), 0
		b := regular.NewBeginning(most, func() { told++ })
		var all strings.Builder
		for _, piece := range rapid.SliceOf(rapid.StringN(0, 8, -1)).Draw(rt, "pieces") {
			if n, err := b.Write([]byte(piece)); n != len(piece) || err != nil {
				rt.Fatalf("of %d bytes it took %d: %v", len(piece), n, err)
			}
			all.WriteString(piece)
		}
		whole := all.String()
		if want := whole[:min(most, len(whole))]; b.String() != want {
			rt.Errorf("it has %q, want %q", b.String(), want)
		}
		if more := len(whole) > most; b.HasMore() != more || told > 1 || more != (told == 1) {
			rt.Errorf("%d bytes of at most %d: more %v, told %d times", len(whole), most, b.HasMore(), told)
		}
	})
}
