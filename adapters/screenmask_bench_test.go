package adapters

import (
	"fmt"
	"testing"

	"github.com/panebridge/panebridge/internal/redact"
	"github.com/panebridge/panebridge/sessions"
)

// BenchmarkMaskScreen masks a screen of 50 rows below a log without secrets, and as a baseline by itself.
func BenchmarkMaskScreen(b *testing.B) {
	m, err := redact.New(redact.Options{})
	if err != nil {
		b.Fatal(err)
	}
	var last []sessions.Line
	var rows []string
	for i := range screenLines {
		last = append(last, sessions.Line{Text: fmt.Sprintf("line %d of what an agent says, about as long as lines mostly are", i)})
	}
	for i := range 50 {
		rows = append(rows, fmt.Sprintf("\x1b[1mrow %d\x1b[0m of what an agent shows, about as long as lines mostly are", i))
	}
	b.Run("alone", func(b *testing.B) {
		for b.Loop() {
			m.Rows(nil, rows)
		}
	})
	b.Run("below a log", func(b *testing.B) {
		for b.Loop() {
			MaskScreen(m, last, rows)
		}
	})
}
