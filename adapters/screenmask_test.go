package adapters

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/internal/redact"
	"github.com/panebridge/panebridge/sessions"
)

// No row of a key stands on a screen unmasked, wherever the screen stands in what was printed, however much of it isn't in the
// log yet, and however narrow the pane; and rows of prose stand there as they are.
func TestNoRowOfAKeyIsOnAScreen(t *testing.T) {
	m, err := redact.New(redact.Options{})
	if err != nil {
		t.Fatal(err)
	}
	drawtest.Check(t, func(rt *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))
		raw := make([]byte, 48*rapid.IntRange(8, 60).Draw(rt, "rows"))
		for i := range raw {
			raw[i] = byte(random.Uint32())
		}
		width := rapid.SampledFrom([]int{64, 70, 76}).Draw(rt, "width of the key's rows")
		var lines []string
		prose := func(n int) {
			for range n {
				lines = append(lines, fmt.Sprintf("line %d of what was said before and after it", len(lines)))
			}
		}
		prose(rapid.IntRange(0, 50).Draw(rt, "before"))
		lines = append(lines, "-----BEGIN PRIVATE KEY-----")
		var key []string
		for text := base64.StdEncoding.EncodeToString(raw); len(text) > 0; text = text[min(width, len(text)):] {
			key = append(key, text[:min(width, len(text))])
		}
		lines = append(lines, key...)
		ended := rapid.Bool().Draw(rt, "it has ended")
		if ended {
			lines = append(lines, "-----END PRIVATE KEY-----")
			prose(rapid.IntRange(0, 50).Draw(rt, "after"))
		}
		columns := rapid.SampledFrom([]int{40, 64, 80, 200}).Draw(rt, "columns")
		var rows []string
		var firsts []int // the first row of each line
		for _, text := range lines {
			firsts = append(firsts, len(rows))
			for ; len(text) > columns; text = text[columns:] {
				rows = append(rows, text[:columns])
			}
			rows = append(rows, text)
		}
		top := max(0, len(rows)-rapid.IntRange(1, 40).Draw(rt, "height"))
		above, _ := slices.BinarySearch(firsts, top) // what has left the screen is in the log
		logged := rapid.IntRange(above, len(lines)).Draw(rt, "lines in the log")
		var last []sessions.Line
		for i, text := range lines[:logged] {
			last = append(last, sessions.Line{N: int64(i + 1), Text: text})
		}
		last, rows = last[max(0, len(last)-screenLines):], rows[top:]
		for i, row := range MaskScreen(m, last, rows) {
			for _, k := range key {
				for part := k; len(part) > 0; part = part[min(columns, len(part)):] {
					piece := part[:min(columns, len(part))]
					if len(piece) >= shortestPart && strings.Contains(row, piece) {
						rt.Fatalf("row %d of the screen shows %q", i, row)
					}
				}
			}
			if strings.HasPrefix(rows[i], "line ") && row != rows[i] && ended && len(rows[i]) <= columns {
				rt.Fatalf("row %q is %q", rows[i], row)
			}
		}
	})
}

// In a pager nothing says what stands above.
func TestTheMiddleOfAKeyIsMasked(t *testing.T) {
	m, err := redact.New(redact.Options{})
	if err != nil {
		t.Fatal(err)
	}
	row := strings.Repeat("aB3/", 16)
	rows := []string{"\x1b[7m" + row + "\x1b[0m", row, "  " + row, row, ":"}
	for i, got := range MaskScreen(m, nil, rows) {
		if strings.Contains(got, row) || i == 4 && got != ":" {
			t.Errorf("row %d is %q", i, got)
		}
	}
	alone := []string{"sum", row, "of a file"}
	if got := MaskScreen(m, nil, alone); got[1] != row {
		t.Errorf("one row alone is %q", got[1])
	}
}
