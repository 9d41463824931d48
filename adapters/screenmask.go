package adapters

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/clipperhouse/displaywidth"

	"github.com/panebridge/panebridge/internal/redact"
	"github.com/panebridge/panebridge/internal/render/sgr"
	"github.com/panebridge/panebridge/sessions"
)

// screenLines is how many of a log's last lines decide what's masked on a screen below them.
const screenLines = redact.Before

// ScreenLog is what of a log decides what's masked on a screen below it; it isn't masked itself. Its methods do I/O.
type ScreenLog interface {
	lineReader
	// Head returns the number of the newest line, and the row of the newest gap.
	Head(ctx context.Context, id sessions.ID) (line, gap int64, err error)
}

// MaskScreenOf masks rows of a session's screen by MaskScreen. Of the log it goes by what can be read.
func MaskScreenOf(ctx context.Context, m *redact.Masker, l ScreenLog, id sessions.ID, rows []string) []string {
	if len(rows) == 0 {
		return rows
	}
	var last sessions.Output
	if head, _, err := l.Head(ctx, id); err == nil {
		last, _ = l.Read(ctx, id, max(1, head-screenLines+1), screenLines)
	}
	return MaskScreen(m, last.Lines, rows)
}

// MaskScreen masks rows of a session's screen, which may have SGR sequences. A screen shows a part of what was written: so a row is
// masked, too, where a secret goes on that began in the log's last lines, where it's of one of these in which something is
// masked, and where several rows look like the middle of a key's file.
func MaskScreen(m *redact.Masker, last []sessions.Line, rows []string) []string {
	texts := textsOf(last)
	out := m.Rows(nil, rows)
	if len(texts) > 0 {
		for i, row := range m.Rows(texts, rows) {
			if out[i] == rows[i] {
				out[i] = row
			}
		}
	}
	plain := make([]string, len(rows))
	for i, row := range rows {
		plain[i] = strings.TrimSpace(sgr.Plain(row))
	}
	hidden := maskedTexts(m, texts)
	for i, text := range plain {
		if out[i] == rows[i] && (isPartOf(text, hidden) || isKeyRow(plain, i)) {
			out[i] = maskRow(plain[i], rows[i])
		}
	}
	return out
}

// maskedTexts are the lines in which something is masked.
func maskedTexts(m *redact.Masker, texts []string) (hidden []string) {
	if len(texts) == 0 {
		return nil
	}
	masked := m.Lines(redact.LineWindow{Lines: texts, Open: true})
	for i, text := range texts {
		if masked.Lines[i] != text {
			hidden = append(hidden, text)
		}
	}
	return hidden
}

// shortestPart is how many bytes of a line a row has at least that's taken to be a part of it.
const shortestPart = 16

// isPartOf reports whether a row is a part of a line, or all of it, in which something is masked.
func isPartOf(row string, hidden []string) bool {
	return len(row) >= shortestPart && slices.ContainsFunc(hidden, func(line string) bool { return strings.Contains(line, row) })
}

// keyRow is a row of a key's file: base64 in the width that openssl (64), OpenSSH (70) and MIME (76) write.
var keyRow = regexp.MustCompile(`^[A-Za-z0-9+/]{64}$|^[A-Za-z0-9+/]{70}$|^[A-Za-z0-9+/]{76}$`)

// keyRows is how many such rows in a row are taken for a key's.
const keyRows = 3

// isKeyRow reports whether a row is among several of a key's file.
func isKeyRow(rows []string, i int) bool {
	if !keyRow.MatchString(rows[i]) {
		return false
	}
	from, to := i, i
	for from > 0 && len(rows[from-1]) == len(rows[i]) && keyRow.MatchString(rows[from-1]) {
		from--
	}
	for to+1 < len(rows) && len(rows[to+1]) == len(rows[i]) && keyRow.MatchString(rows[to+1]) {
		to++
	}
	return to-from+1 >= keyRows
}

// maskRow is a row of which all text is masked, as wide as it was.
func maskRow(plain, row string) string {
	width := displaywidth.String(strings.TrimRight(sgr.Plain(row), " "))
	const word = "[masked]"
	indent := strings.Repeat(" ", max(0, width-displaywidth.String(plain)))
	return indent + word + strings.Repeat(" ", max(0, width-len(indent)-len(word)))
}
