package agent

import (
	"regexp"
	"slices"
	"strings"

	"github.com/clipperhouse/displaywidth"

	"github.com/panebridge/panebridge/sessions"
)

// continued is what shells put before a line that goes on with the one above.
var continued = regexp.MustCompile(`^(?:[a-z]+(?: [a-z]+)*)?> `)

// miniLine is where zsh reads what it searches for, or a command of its editor's, while the
// cursor stays in the line above.
var miniLine = regexp.MustCompile(`^(?:failing |invalid )?(?:(?:bck|fwd)-i-search|execute): .*_$`)

// shellLine reads the line that's being written in a shell, as an input box: what stands
// between its prompt and the cursor. The prompt is known by the shell's own marks, or by
// what prompts look like. It isn't open where no prompt stands before the cursor. It has
// no rows by which it's known again: marks are in them, and that the shell has the
// foreground says more.
func shellLine(s *sessions.Snapshot, prompts []*regexp.Regexp) sessions.InputBox {
	b := sessions.InputBox{Known: true, Shell: true}
	cursor := s.HistorySize + s.CursorY - s.First
	if s.Alternate || cursor < 0 || cursor >= len(s.Rows) {
		return b
	}
	row, at, ok := markedPrompt(s, cursor)
	if !ok && len(s.Marks) > 0 || cursor+1 < len(s.Rows) && miniLine.MatchString(s.Rows[cursor+1]) {
		return sessions.InputBox{} // one of its own commands reads: read, say
	}
	if !ok {
		row, at, ok = knownPrompt(s, cursor, prompts)
	}
	if !ok {
		return b
	}
	b.Open = true
	b.Text, b.Unfinished = lineBehind(s, row, at, cursor)
	return b
}

// markedPrompt finds the prompt before the cursor by the shell's marks: its row and the
// bytes of that row up to its end. A command's mark in its row or below says that it's
// used up.
func markedPrompt(s *sessions.Snapshot, cursor int) (row, at int, ok bool) {
	for _, m := range slices.Backward(s.Marks) {
		if m.Kind != sessions.MarkPrompt {
			continue
		}
		used := slices.ContainsFunc(s.Marks, func(c sessions.Mark) bool { return c.Kind == sessions.MarkCommand && c.Row >= m.Row })
		return m.Row, m.At, !used && m.Row <= cursor && m.Row >= s.HistorySize-s.First
	}
	return 0, 0, false
}

// knownPrompt finds it by what prompts look like: in the line that the cursor is in, or
// in the one above that it goes on with.
func knownPrompt(s *sessions.Snapshot, cursor int, prompts []*regexp.Regexp) (row, at int, ok bool) {
	for row := cursor; row >= max(0, s.HistorySize-s.First); row-- {
		if row > 0 && (wrapped(s, row-1) || continued.MatchString(s.Rows[row])) {
			continue
		}
		for _, re := range prompts {
			if m := re.FindStringSubmatchIndex(s.Rows[row]); m != nil && m[1] > 0 && plainFolder(re, s.Rows[row], m) {
				return row, m[1], true
			}
		}
		break
	}
	return 0, 0, false
}

func wrapped(s *sessions.Snapshot, row int) bool {
	return row >= 0 && row < len(s.Wrapped) && s.Wrapped[row]
}

// folders are what prompts show of a folder, and of a branch behind it. What has more
// words may be the beginning of a command.
var folders = regexp.MustCompile(`^(?:(?:[\w.-]+@[\w.-]+[ :])?\S*(?: (?:git:)?\([^()]*\))?|\S+ (?:on|in|via|at) \S.*)$`)

// plainFolder reports whether what a prompt has for a folder is surely one.
func plainFolder(re *regexp.Regexp, row string, m []int) bool {
	i := re.SubexpIndex("folder")
	return i < 0 || m[2*i] < 0 || folders.MatchString(row[m[2*i]:m[2*i+1]])
}

// lineBehind is what stands behind a prompt, and what of an unfinished command stands
// above that. Shells show suggestions and a second prompt at the right behind the cursor:
// that counts only where nothing stands before it.
func lineBehind(s *sessions.Snapshot, row, at, cursor int) (text, unfinished string) {
	before, behind := cutAt(s.Rows[cursor], s.CursorX)
	if row == cursor {
		text = strings.TrimSpace(before[min(at, len(before)):])
		if text == "" && !atRight(behind, s) {
			text = strings.TrimSpace(behind)
		}
		return text, ""
	}
	lines := slices.Concat([]string{s.Rows[row][min(at, len(s.Rows[row])):]}, s.Rows[row+1:cursor], []string{before})
	goesOn := !wrapped(s, cursor-1) && continued.MatchString(before)
	for i := range lines {
		if i > 0 && !wrapped(s, row+i-1) {
			lines[i] = strings.TrimPrefix(lines[i], continued.FindString(lines[i]))
		}
		lines[i] = strings.TrimSpace(lines[i])
	}
	if last := len(lines) - 1; goesOn {
		return lines[last], strings.Join(lines[:last], "\n") + "\n"
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n"), ""
}

// promptGap is how far a prompt at the right is from the cursor at least.
const promptGap = 8

// atRight reports whether all that stands behind the cursor is set apart from it and
// reaches the right edge: a prompt of the shell's.
func atRight(behind string, s *sessions.Snapshot) bool {
	text := strings.TrimRight(behind, " ")
	return strings.HasPrefix(text, strings.Repeat(" ", promptGap)) && s.CursorX+displaywidth.String(text) >= s.Width-2
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
