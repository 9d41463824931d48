package typing

import (
	"strings"
	"unicode"

	"github.com/panebridge/panebridge/sessions"
)

// endRunes is how many letters and digits are the end of a text: a box may not show
// all of it.
const endRunes = 20

// places are where a text, or its end, stands among the letters and digits of a box:
// those before and behind it; nil: it doesn't, or isn't shown as it was typed.
func places(text, box string) (around []string) {
	all, shown := sessions.Letters(text), sessions.Letters(box)
	if before, behind, ok := strings.Cut(shown, all); ok {
		return []string{before, behind}
	}
	end := lastLetters(text)
	if at := strings.LastIndex(shown, end); at >= 0 && end != "" {
		return []string{"", shown[at+len(end):]}
	}
	return nil
}

// lastLetters are the last letters and digits of a text.
func lastLetters(text string) string {
	runes := []rune(sessions.Letters(text))
	return string(runes[max(0, len(runes)-endRunes):])
}

// aroundCursor is the cursor's row before and from the cursor on. A wide character counts
// as one cell, which errs to the side of seeing text.
func aroundCursor(s *sessions.Snapshot) (before, behind string) {
	y := s.HistorySize + s.CursorY - s.First
	if y < 0 || y >= len(s.Rows) {
		return "", ""
	}
	row, n := s.Rows[y], s.CursorX
	for i := range row {
		if n == 0 {
			return row[:i], row[i:]
		}
		n--
	}
	return row, ""
}

// withoutSpace is a text as it's compared with what a box shows of it, which breaks rows
// where it likes.
func withoutSpace(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, text)
}
