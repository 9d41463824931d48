package agent

import (
	"regexp"
	"slices"
	"strings"

	"github.com/clipperhouse/displaywidth"

	"github.com/panebridge/panebridge/sessions"
)

// continued is what shells put before a line that goes on with the one above.
var continued = regexp.MustCompile(`^(?:[a-z]+(?: [a-z]+)*)?> `) //nolint:gochecknoglobals // a constant

// shellLine reads the line that's being written in a shell, as an input box: what stands
// between its prompt and the cursor. The prompt is known by the shell's own marks, or by
// what prompts look like. It isn't open where no prompt stands before the cursor. It has
// no rows by which it's known again: marks are in them, and that the shell has the
// foreground says more.
func shellLine(s *sessions.Snapshot, prompts []*regexp.Regexp) sessions.Box {
	b := sessions.Box{Known: true, Shell: true}
	cursor := s.HistorySize + s.CursorY - s.First
	if s.Alternate || cursor < 0 || cursor >= len(s.Rows) {
		return b
	}
	row, at, ok := markedPrompt(s, cursor)
	if !ok {
		row, at, ok = knownPrompt(s, cursor, prompts)
	}
	if !ok {
		return b
	}
	b.Open, b.Text = true, lineBehind(s, row, at, cursor)
	return b
}

// markedPrompt finds the prompt before the cursor by the shell's marks: its row and the
// bytes of that row up to its end. A command's mark below it says that it's used up.
func markedPrompt(s *sessions.Snapshot, cursor int) (row, at int, ok bool) {
	if len(s.Marks) == 0 {
		return 0, 0, false
	}
	last := s.Marks[len(s.Marks)-1]
	return last.Row, last.At, last.Kind == sessions.MarkPrompt && last.Row <= cursor && last.Row >= s.HistorySize-s.First
}

// knownPrompt finds it by what prompts look like: in the line that the cursor is in, or
// in one above that goes on down to there.
func knownPrompt(s *sessions.Snapshot, cursor int, prompts []*regexp.Regexp) (row, at int, ok bool) {
	if len(s.Marks) > 0 {
		return 0, 0, false // this shell marks its prompts, and this is none
	}
	for row := cursor; row >= max(0, s.HistorySize-s.First); row-- {
		if row > 0 && row-1 < len(s.Wrapped) && s.Wrapped[row-1] {
			continue
		}
		if row < cursor && strings.TrimSpace(s.Rows[row+1]) == "" {
			return 0, 0, false
		}
		for _, re := range prompts {
			if m := re.FindStringIndex(s.Rows[row]); m != nil && m[1] > 0 {
				return row, m[1], true
			}
		}
	}
	return 0, 0, false
}

// lineBehind is what stands behind a prompt. Shells show suggestions and a second prompt
// at the right behind the cursor: that counts only where nothing stands before it.
func lineBehind(s *sessions.Snapshot, row, at, cursor int) string {
	before, behind := cutAt(s.Rows[cursor], s.CursorX)
	if row == cursor {
		at = min(at, len(s.Rows[row]))
		text := strings.TrimSpace(before[min(at, len(before)):])
		if text == "" && !atRight(behind, s) {
			text = strings.TrimSpace(behind)
		}
		return text
	}
	if m := continued.FindString(before); m != "" {
		return strings.TrimSpace(before[len(m):])
	}
	lines := slices.Concat([]string{s.Rows[row][min(at, len(s.Rows[row])):]}, s.Rows[row+1:cursor], []string{before})
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}

// atRight reports whether what stands behind the cursor is set apart from it and reaches
// the right edge: a prompt of the shell's.
func atRight(behind string, s *sessions.Snapshot) bool {
	text := strings.TrimRight(behind, " ")
	return strings.HasPrefix(text, " ") && s.CursorX+displaywidth.String(text) >= s.Width-2
}

// cutAt divides a row at a column.
func cutAt(row string, column int) (before, behind string) {
	width := 0
	for at, r := range row {
		if width >= column {
			return row[:at], row[at:]
		}
		width += displaywidth.Rune(r)
	}
	return row, ""
}
