package inbound

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/drawtest"
)

// What's quoted is bounded, of rows that each begin with the mark, whatever is in it; and it's typed.
func TestQuotesAreBounded(t *testing.T) {
	drawtest.Check(t, func(rt *rapid.T) {
		rows := rapid.SliceOfN(rapid.OneOf(rapid.String(), rapid.StringMatching(`[ -~\r\x{2028}\x{85}\v]{0,300}`)), 0, 40).Draw(rt, "rows")
		quote := quoteOf(strings.Join(rows, "\n"))
		if quote == "" {
			return
		}
		lines := strings.Split(quote, "\n")
		if len(lines) > 12 || len(quote) > 12*4*210 {
			rt.Errorf("%d rows, %d bytes", len(lines), len(quote))
		}
		for _, l := range lines {
			if !strings.HasPrefix(l, "> ") || strings.ContainsFunc(l, func(r rune) bool {
				return r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == '\u2028' || r == '\u202e'
			}) {
				rt.Errorf("row %q", l)
			}
		}
	})
	long := make([]string, 100)
	for i := range long {
		long[i] = fmt.Sprint("row ", i)
	}
	if got := quoteOf(strings.Join(long, "\n")); got != "> row 0\n> row 1\n> row 2\n> row 3\n> row 4\n> row 5\n> …\n> row 95\n> row 96\n> row 97\n> row 98\n> row 99" {
		t.Errorf("%q", got)
	}
}
