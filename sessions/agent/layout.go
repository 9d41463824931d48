package agent

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"

	"github.com/panebridge/panebridge/sessions"
)

// layout is a visible screen taken apart by a profile: header, conversation, and the
// volatile rest below it.
type layout struct {
	rows   []string // without blanks at their ends
	raw    []string // as the terminal has them
	text   string   // the rows, each with a line end
	at     []int    // where in text each row begins
	header int      // rows[:header] are the header
	lower  int      // rows[lower:] are volatile: the foot and what's above it, or a dialog
	foot   int      // first row of the foot; -1: there is none
	dialog int      // first row of an open dialog; -1: none is open
	begins beginning
	lowest int    // the lowest row that may be its first
	behind int    // rows[behind:] are below the dialog: calls that wait behind it
	phrase string // by which the dialog is recognised
	narrow bool   // agents draw dialogs otherwise there than was tried
	title  string
	cursor string // the cursor's row, up to it
}

// beginning says how surely the first row of a dialog is known.
type beginning int

const (
	// beginsUnsure: it isn't on the screen, or there are several rows that may be it. Then
	// the dialog is read from the uppermost.
	beginsUnsure beginning = iota
	// beginsOnTop: one row may be it, but the dialog fills the screen, and its first row may
	// stand above that.
	beginsOnTop
	beginsSure
)

// A smaller pane than this, in cells, may show no row of what a dialog is about: Codex 0.169.0 does
// so at 40×16, opencode 1.18.33 at 100×14, Claude Code 2.1.329 at 24×14, Qwen Code 0.15.10 at 30×14.
const (
	leastWidth  = 60
	leastHeight = 16
)

// plainBlanks makes blanks of those that don't break (U+00A0) and of zero-width ones (U+200B),
// which some programs write beside their signs and in their input boxes.
var plainBlanks = strings.NewReplacer("\u00a0", " ", "\u200b", "") //nolint:gochecknoglobals // a constant table

// visibleRows returns the rows that are on the screen, with plain blanks and none at their
// ends.
func visibleRows(s *sessions.Snapshot) []string {
	rows := s.Rows[max(0, len(s.Rows)-s.Height):]
	out := make([]string, len(rows))
	for i, row := range rows {
		if strings.Contains(row, "\u00a0") || strings.Contains(row, "\u200b") {
			row = plainBlanks.Replace(row)
		}
		out[i] = strings.TrimRight(row, " ")
	}
	return out
}

// layout takes a screen apart. dialogs: a phrase of a dialog may be on it.
func (p *Profile) layout(s *sessions.Snapshot, dialogs bool) *layout {
	l := &layout{rows: visibleRows(s), raw: s.Rows[max(0, len(s.Rows)-s.Height):], title: strings.TrimSpace(s.Title), narrow: s.Width < leastWidth}
	p.cutScrollbar(l.rows, s.Width)
	p.cutTrack(l.rows, s.Width)
	l.joinRows()
	l.behind = p.behindFrom(l.rows)
	l.foot, l.dialog = lowest(l, p.spec.Screen.Foot, len(l.rows)), -1
	menu := p.isMenu(l, l.foot)
	if menu {
		l.dialog, l.begins, l.foot = l.foot, beginsSure, -1
	}
	if dialogs && !menu {
		p.findDialog(l)
	}
	p.findLower(l)
	for l.header < l.lower && (matchesRow(p.spec.Screen.Header, l.rows[l.header]) || l.header > 0 && l.rows[l.header] == "") {
		l.header++
	}
	if y := s.CursorY; y < len(l.rows) {
		l.cursor = cells(l.rows[y], s.CursorX)
	}
	return l
}

// cutScrollbar takes the scroll bar off the ends of rows that reach the last column.
func (p *Profile) cutScrollbar(rows []string, width int) {
	if len(p.spec.Screen.Scrollbar) == 0 {
		return
	}
	for i, row := range rows {
		if displaywidth.String(row) < width {
			continue
		}
		for _, bar := range p.spec.Screen.Scrollbar {
			if at := bar.FindStringIndex(row); at != nil && at[1] == len(row) {
				rows[i] = strings.TrimRight(row[:at[0]], " ")
			}
		}
	}
}

// cutTrack takes the rest of a scroll bar off the ends of rows that reach the last column,
// but for those that stand in a frame: that's what its right side looks like.
func (p *Profile) cutTrack(rows []string, width int) {
	track := p.spec.Screen.Track
	for i, row := range rows {
		if rest, ok := strings.CutSuffix(row, track); ok && track != "" && strings.HasSuffix(rest, " ") && utf8.RuneCountInString(row) >= width && (strings.TrimSpace(rest) == "" || !strings.HasPrefix(strings.TrimLeft(row, " "), track)) {
			rows[i] = strings.TrimRight(rest, " ")
		}
	}
}

// footOf returns the first row of the foot, -1 without one.
func (p *Profile) footOf(rows []string) int {
	l := &layout{rows: rows}
	l.joinRows()
	foot := lowest(l, p.spec.Screen.Foot, len(rows))
	if p.isMenu(l, foot) {
		return -1
	}
	return foot
}

// isMenu reports whether a dialog stands where the foot seems to begin.
func (p *Profile) isMenu(l *layout, foot int) bool {
	if foot < 0 {
		return false
	}
	rest := l.text[l.at[foot]:]
	return slices.ContainsFunc(p.spec.Screen.Menu, func(p pattern) bool { return p.row.MatchString(rest) })
}

func (l *layout) joinRows() {
	l.at = make([]int, len(l.rows)+1)
	var b strings.Builder
	for i, row := range l.rows {
		l.at[i] = b.Len()
		b.WriteString(row)
		b.WriteByte('\n')
	}
	l.at[len(l.rows)] = b.Len()
	l.text = b.String()
}

// lowest returns the lowest row above before at which a pattern matches, or -1.
func lowest(l *layout, patterns []pattern, before int) int {
	for i := before - 1; i >= 0; i-- {
		rest := l.text[l.at[i]:]
		if slices.ContainsFunc(patterns, func(p pattern) bool { return p.row.MatchString(rest) }) {
			return i
		}
	}
	return -1
}

// findDialog looks for an open dialog. Where the input box is on the screen a phrase
// above it is only quoted: no agent draws both. In the box it's what somebody types.
func (p *Profile) findDialog(l *layout) {
	from, to := p.boxRows(l)
	for i := l.behind - 1; i > l.foot; i-- {
		if i >= from && i < to {
			continue
		}
		first := len(p.phrases.phrases)
		p.phrases.eachPhrase(l.rows[i], func(n int) { first = min(first, n) })
		if first < len(p.phrases.phrases) {
			l.phrase = p.phrases.phrases[first]
			l.dialog, l.begins = p.beginningOf(l, i)
			return
		}
	}
}

// beginningOf finds the first row of the dialog that has a phrase in a row. Where its top
// can't be seen, it fills the screen.
func (p *Profile) beginningOf(l *layout, from int) (first int, how beginning) {
	furniture := &p.spec.Screen
	if len(furniture.Inside) == 0 {
		if first = lowest(l, furniture.Dialog, from+1); first < 0 {
			return 0, beginsUnsure
		}
		return first, beginsSure
	}
	opens := func(row int) bool {
		rest := l.text[l.at[row]:]
		return slices.ContainsFunc(furniture.Dialog, func(p pattern) bool { return p.row.MatchString(rest) })
	}
	row := from
	for row >= 0 && !matchesRow(furniture.Inside, l.rows[row]) && !opens(row) { // what stands below it
		row--
	}
	openings := 0
	for ; row >= 0 && matchesRow(furniture.Inside, l.rows[row]); row-- {
		if opens(row) {
			if first, openings = row, openings+1; openings == 1 {
				l.lowest = row
			}
		}
	}
	switch {
	case row >= 0 && opens(row):
		if openings == 0 {
			return row, beginsSure
		}
		return row, beginsUnsure
	case openings == 0:
		return row + 1, beginsUnsure
	case openings > 1:
		return first, beginsUnsure
	case row < 0:
		return first, beginsOnTop
	}
	return first, beginsSure
}

// behindFrom returns the first row of the calls that wait behind the one that a dialog asks
// about: the one that stands below the options. Without any, or with several that may be it,
// it's the number of rows.
func (p *Profile) behindFrom(rows []string) int {
	if len(p.spec.Screen.Behind) == 0 {
		return len(rows)
	}
	first, above := len(rows), "" // the last row above that isn't blank
	for i, row := range rows {
		switch {
		case row == "":
			continue
		case matchesRow(p.spec.Screen.Behind, row) && !matchesRow(p.spec.Screen.Asked, row) && p.isOption(above):
			if first < len(rows) {
				return len(rows)
			}
			first = i
		case first < len(rows) && !matchesRow(p.spec.Screen.Inside, row) && !matchesRow(p.spec.Screen.Behind, row):
			return len(rows) // it's a text that's only quoted
		}
		above = row
	}
	return first
}

// isOption reports whether a row looks like an option of a permission or a plan.
func (p *Profile) isOption(row string) bool {
	for i := range p.spec.Prompts {
		if f := &p.spec.Prompts[i]; allows(f.Kind) && f.Frame == nil && f.Option != nil && f.Option.row.MatchString(row) {
			return true
		}
	}
	return false
}

// boxRows are the rows of what stands in the input box, if all of that is on the screen.
func (p *Profile) boxRows(l *layout) (from, to int) {
	if l.foot < 0 {
		return 0, 0
	}
	foot := l.text[l.at[l.foot]:]
	for _, box := range p.spec.Input.Box {
		if at := box.row.FindStringSubmatchIndex(foot); at != nil && at[0] == 0 && len(at) > 2 && at[2] >= 0 {
			from = l.foot + strings.Count(foot[:at[2]], "\n")
			return from, from + strings.Count(strings.TrimSuffix(foot[at[2]:at[3]], "\n"), "\n") + 1
		}
	}
	return 0, 0
}

// findLower finds where the conversation ends.
func (p *Profile) findLower(l *layout) {
	if l.dialog >= 0 {
		l.lower = l.dialog
		return
	}
	l.lower = l.foot
	if l.foot < 0 {
		l.lower = len(l.rows)
	}
	for {
		end := l.lower
		for end > 0 && l.rows[end-1] == "" {
			end--
		}
		from := p.aboveFrom(l, end)
		if from < 0 {
			return
		}
		l.lower = from
	}
}

// maxAbove is for how many rows a pattern of Above may stand.
const maxAbove = 8

// aboveFrom returns where rows that belong to the foot begin that end before end; -1:
// there are none.
func (p *Profile) aboveFrom(l *layout, end int) int {
	for i := end - 1; i >= max(0, end-maxAbove); i-- {
		rows := l.text[l.at[i] : l.at[end]-1]
		if slices.ContainsFunc(p.spec.Screen.Above, func(p pattern) bool { return p.whole.MatchString(rows) }) {
			return i
		}
	}
	return -1
}

func matchesRow(patterns []pattern, row string) bool {
	return slices.ContainsFunc(patterns, func(p pattern) bool { return p.row.MatchString(row) })
}

// endRows is how many rows of the conversation inEnd means.
const endRows = 3

// partOfScreen returns a part of the screen; false: it isn't there.
func (l *layout) partOfScreen(in where) (string, bool) {
	switch in {
	case inTitle:
		return l.title, l.title != ""
	case inDialog:
		return l.phrase, l.dialog >= 0
	case inFoot:
		return l.text[l.at[l.lower]:], l.lower < len(l.rows) && l.dialog < 0
	case inCursor:
		return l.cursor, l.cursor != ""
	case inEnd:
		return l.endOfText()
	default:
		return l.text, true
	}
}

func (l *layout) endOfText() (string, bool) {
	from, to, n := l.lower, l.lower, 0
	for i := l.lower - 1; i >= l.header && n < endRows; i-- {
		if l.rows[i] == "" {
			continue
		}
		if n == 0 {
			to = i + 1
		}
		from, n = i, n+1
	}
	return l.text[l.at[from]:l.at[to]], n > 0
}

// cells cuts a row at a cell. Wide characters are rare before a cursor that matters,
// so a character counts as a cell.
func cells(row string, n int) string {
	for i := range row {
		if n == 0 {
			return row[:i]
		}
		n--
	}
	return row
}

// signFound is the sign that a screen shows.
type signFound struct {
	state sessions.State // "": none
	in    where
	text  string // what was found, without blanks around it
	sure  bool
}

// findSign returns the first sign that's on the screen.
func (p *Profile) findSign(l *layout) signFound {
	for _, s := range p.spec.Signs {
		part, there := l.partOfScreen(s.In)
		if !there || s.Without != nil && s.Without.MatchString(part) {
			continue
		}
		text := part
		if s.Match != nil {
			at := s.Match.FindStringIndex(part)
			if at == nil {
				continue
			}
			text = part[at[0]:at[1]]
		}
		if s.State == unsure {
			return signFound{}
		}
		return signFound{s.State, s.In, strings.TrimSpace(text), s.Sure}
	}
	return signFound{}
}

// unsure reports whether the first sign on a screen is one that says nothing.
func (p *Profile) unsure(l *layout) bool {
	for _, s := range p.spec.Signs {
		part, there := l.partOfScreen(s.In)
		if !there || s.Without != nil && s.Without.MatchString(part) || s.Match != nil && !s.Match.MatchString(part) {
			continue
		}
		return s.State == unsure
	}
	return false
}

// runsHook reports whether the screen says that a hook of the program's runs, which may
// decide in a person's place.
func (p *Profile) runsHook(l *layout) bool {
	for _, s := range p.spec.Signs {
		part, there := l.partOfScreen(s.In)
		if there && s.State == unsure && s.Match != nil && strings.Contains(s.Match.FindString(part), "Running hook") {
			return true
		}
	}
	return false
}

// interrupted reports whether the conversation's end says that it was interrupted.
func (p *Profile) interrupted(l *layout) bool {
	end, there := l.endOfText()
	return there && slices.ContainsFunc(p.spec.Interrupted, func(p pattern) bool { return p.MatchString(end) })
}
