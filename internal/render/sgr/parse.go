package sgr

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/ansi/parser"
)

// Parse splits a row into runs of equal style. All sequences but SGR, and all
// control characters but tab, are dropped.
func Parse(row string) []Run {
	var (
		runs []Run
		now  Style
		text strings.Builder
	)
	flush := func() {
		if text.Len() > 0 {
			runs = append(runs, Run{now, text.String()})
			text.Reset()
		}
	}
	p := new(ansi.Parser)
	p.SetParamsSize(parser.MaxParamsSize)
	p.SetDataSize(16) // of strings (OSC and the like), which are dropped; the default is 64 KB per row
	p.SetHandler(ansi.Handler{
		Print: func(r rune) {
			if r >= 0x20 && (r < 0x7f || r > 0x9f) {
				text.WriteRune(r)
			}
		},
		Execute: func(b byte) {
			if b == '\t' {
				text.WriteByte(b)
			}
		},
		HandleCsi: func(cmd ansi.Cmd, params ansi.Params) {
			if cmd.Final() != 'm' || cmd.Prefix() != 0 || cmd.Intermediate() != 0 {
				return
			}
			if next := now.apply(params); next != now {
				flush()
				now = next
			}
		},
	})
	p.Parse([]byte(row))
	flush()
	return runs
}

// Plain returns a row without its escape sequences.
func Plain(row string) string {
	if !strings.ContainsFunc(row, func(r rune) bool { return r < 0x20 || r >= 0x7f && r <= 0x9f || r == utf8.RuneError }) {
		return row
	}
	var b strings.Builder
	for _, r := range Parse(row) {
		b.WriteString(r.Text)
	}
	return b.String()
}
