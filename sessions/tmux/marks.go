package tmux

import (
	"strings"

	"github.com/panebridge/panebridge/sessions"
)

// A shell's mark (sessions.Mark) is of variation selectors, which have no width, mean nothing behind the
// characters that prompts have, and are three bytes long. tmux before 3.5 keeps 21
// bytes in a cell: six of them behind a character of three bytes.
const (
	markLead   = "\xef\xb8"
	markSubmit = 0x80 // U+FE00
	markDigit  = 0x81 // U+FE01 … U+FE0C: the digits
	markEnd    = 0x8d // U+FE0D, and for a prompt five digits, the lowest first
	markBase   = 12
	markDigits = 5

	markStatuses, markAbove = 256, 3
	markCounts              = 4 // how far a shell counts its commands
)

// cutMarks cuts the marks out of rows, in place, and returns them in their order.
func cutMarks(rows []string) []sessions.Mark {
	var out []sessions.Mark
	for i, row := range rows {
		if strings.Contains(row, markLead) {
			rows[i], out = cutRowMarks(row, i, out)
		}
	}
	return out
}

func cutRowMarks(row string, n int, out []sessions.Mark) (string, []sessions.Mark) {
	var b strings.Builder
	for {
		at := strings.Index(row, markLead)
		if at < 0 || at+3 > len(row) {
			b.WriteString(row)
			return b.String(), out
		}
		b.WriteString(row[:at])
		row = row[at:]
		m, size := readMark(row)
		if size == 0 {
			b.WriteString(row[:2])
			row = row[2:]
			continue
		}
		m.Row, m.At = n, b.Len()
		out, row = append(out, m), row[size:]
	}
}

// readMark reads the mark at the beginning of a text; size 0: there's none.
func readMark(s string) (m sessions.Mark, size int) {
	switch s[2] {
	case markSubmit:
		return sessions.Mark{Kind: sessions.MarkCommand}, 3
	case markEnd:
	default:
		return sessions.Mark{}, 0
	}
	value, scale := 0, 1
	for i := 1; i <= markDigits; i++ {
		if len(s) < 3*(i+1) || s[3*i:3*i+2] != markLead {
			return sessions.Mark{Kind: sessions.MarkBroken}, 3
		}
		d := int(s[3*i+2]) - markDigit
		if d < 0 || d >= markBase {
			return sessions.Mark{Kind: sessions.MarkBroken}, 3
		}
		value += d * scale
		scale *= markBase
	}
	m = sessions.Mark{Kind: sessions.MarkPrompt, Status: value % markStatuses}
	value /= markStatuses
	m.Count, value = value%markCounts, value/markCounts
	m.Above, m.Width = value%markAbove, value/markAbove
	return m, 3 * (markDigits + 1)
}
