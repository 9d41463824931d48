package agent

import (
	"strings"

	"github.com/panebridge/panebridge/sessions"
)

// Fresh takes the visible screen apart. text are rows of the conversation behind what
// the person wrote last, as far as they're on the screen: the answer that's being
// written, and the tools that were used for it. volatile are the rows below: spinner,
// input box and status, or an open dialog. Banners, the program's own remarks and the
// frames of messages are in neither.
func (p *Profile) Fresh(s *sessions.Snapshot) (text, volatile []string) {
	l := p.layout(s, true)
	from := max(l.header, p.promptEnd(l))
	for i := from; i < l.lower; {
		if n := p.remark(l, i); n > 0 {
			i += n
			continue
		}
		text = append(text, l.rows[i])
		i++
	}
	return trimBlank(text), trimBlank(l.rows[l.lower:])
}

// Status returns the row that says what the program is doing, and for how long; "" if
// none does.
func (p *Profile) Status(s *sessions.Snapshot) string {
	l := p.layout(s, true)
	sign := p.findSign(l)
	if sign.state != sessions.StateWorking && sign.state != sessions.StateError {
		return ""
	}
	for i := l.lower; i < len(l.rows) && (l.foot < 0 || i < l.foot); i++ {
		if row := strings.TrimSpace(l.rows[i]); row != "" {
			return row
		}
	}
	if sign.in == inFoot {
		return l.rowWith(sign.text)
	}
	return ""
}

// rowWith returns the row of the foot that has a text.
func (l *layout) rowWith(text string) string {
	for _, row := range l.rows[l.lower:] {
		if strings.Contains(row, text) {
			return strings.TrimSpace(row)
		}
	}
	return text
}

// promptEnd returns the row behind the last thing that the person wrote, 0 if it isn't
// on the screen.
func (p *Profile) promptEnd(l *layout) int {
	for i := l.lower - 1; i >= l.header; i-- {
		if n := l.patternRows(p.spec.Screen.Prompt, i); n > 0 {
			return i + n
		}
	}
	return 0
}

// askedLast reports whether a text, by its letters, is what the person wrote last, as far as
// the screen shows it.
func (p *Profile) askedLast(s *sessions.Snapshot, text string) bool {
	shown := p.lastPrompt(s)
	return shown != "" && (shown == text || len(shown) >= longText && strings.HasPrefix(text, shown))
}

// lastPrompt returns the letters of what the person wrote last, as far as the screen shows
// it; "" if it isn't there.
func (p *Profile) lastPrompt(s *sessions.Snapshot) string {
	l := p.layout(s, true)
	for i := l.lower - 1; i >= l.header; i-- {
		if n := l.patternRows(p.spec.Screen.Prompt, i); n > 0 {
			return letters(strings.Join(l.rows[i:min(i+n, len(l.rows))], ""))
		}
	}
	return ""
}

// remark returns how many rows from row i on are the program's own remark.
func (p *Profile) remark(l *layout, i int) int { return l.patternRows(p.spec.Screen.Rows, i) }

// patternRows returns for how many rows from row i on a pattern stands; 0: none matches.
func (l *layout) patternRows(patterns []pattern, i int) int {
	rest := l.text[l.at[i]:l.at[l.lower]]
	for _, p := range patterns {
		if at := p.row.FindStringIndex(rest); at != nil {
			return 1 + strings.Count(strings.TrimSuffix(rest[:at[1]], "\n"), "\n")
		}
	}
	return 0
}

// trimBlank cuts blank rows at both ends.
func trimBlank(rows []string) []string {
	for len(rows) > 0 && rows[0] == "" {
		rows = rows[1:]
	}
	for len(rows) > 0 && rows[len(rows)-1] == "" {
		rows = rows[:len(rows)-1]
	}
	return rows
}
