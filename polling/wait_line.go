package polling

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"

	"github.com/panebridge/panebridge/sessions"
)

// Bounds of what a wait is asked for: every new line is searched for all of it.
const (
	maxWaitPatterns     = 64
	maxWaitPatternBytes = 4096
)

// WaitPatterns are what a wait looks for.
type WaitPatterns struct {
	patterns, stops []waitPattern
}

// waitPattern is one pattern or stop.
type waitPattern struct {
	text    string
	literal string         // to be found as it is, or in lower case if fold; "": re is used
	fold    bool           // upper and lower case are the same
	re      *regexp.Regexp // of a regular expression; of a literal, for lines that aren't ASCII
}

// NewWaitPatterns reads a request's patterns and stops. Errors wrap
// sessions.ErrInvalid.
func NewWaitPatterns(r sessions.WaitRequest) (*WaitPatterns, error) {
	var out WaitPatterns
	if err := r.CheckInterval(); err != nil {
		return nil, err
	}
	for _, kind := range []struct {
		name  string
		texts []string
		into  *[]waitPattern
	}{{sessions.MatchPattern, r.Patterns, &out.patterns}, {sessions.MatchStop, r.Stops, &out.stops}} {
		if len(kind.texts) > maxWaitPatterns {
			return nil, fmt.Errorf("%w wait: %d times %s is too much, at most %d may be given", sessions.ErrInvalid, len(kind.texts), kind.name, maxWaitPatterns)
		}
		for _, text := range kind.texts {
			p, err := newWaitPattern(text, r.Regex, !r.MatchCase)
			if err != nil {
				return nil, fmt.Errorf("%w %s %q: %w", sessions.ErrInvalid, kind.name, shortPattern(text), err)
			}
			*kind.into = append(*kind.into, p)
		}
	}
	return &out, nil
}

func newWaitPattern(text string, isRegex, fold bool) (waitPattern, error) {
	p := waitPattern{text: text, fold: fold}
	switch {
	case text == "":
		return p, fmt.Errorf("it's empty: leave it out to wait for any output")
	case len(text) > maxWaitPatternBytes:
		return p, fmt.Errorf("it has more than %d bytes", maxWaitPatternBytes)
	case !utf8.ValidString(text):
		return p, fmt.Errorf("it isn't valid UTF-8")
	case !isRegex && strings.ContainsAny(text, "\n\r"):
		return p, fmt.Errorf("it has a line end in it, and a line is searched at a time")
	}
	expr := text
	if !isRegex {
		expr = regexp.QuoteMeta(text)
	}
	if fold {
		expr = "(?i)" + expr
	}
	var err error
	if p.re, err = regexp.Compile(expr); err != nil {
		return p, err
	}
	switch {
	case isRegex && p.re.MatchString(""):
		return p, fmt.Errorf("it matches the empty text, and so anything: leave it out to wait for any output")
	case !isRegex && fold && isASCII(text):
		p.literal = strings.ToLower(text)
	case !isRegex && !fold:
		p.literal = text
	}
	return p, nil
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// findIn looks for the pattern in text from byte from on. lower is text in lower case,
// or "" where that has other offsets.
func (p *waitPattern) findIn(text, lower string, from int) (start, end int) {
	in := text
	if p.fold {
		in = lower
	}
	if p.literal != "" && (in != "" || text == "") {
		i := strings.Index(in[from:], p.literal)
		if i < 0 {
			return -1, -1
		}
		return from + i, from + i + len(p.literal)
	}
	if loc := p.re.FindStringIndex(text[from:]); loc != nil {
		return from + loc[0], from + loc[1]
	}
	return -1, -1
}

// span of bytes.
type byteSpan struct{ from, to int }

// waitLine is a line with what of it is output after the call.
type waitLine struct {
	text  string // with trailing blanks as far as they're known
	fresh []byteSpan
	// rewritten: what stood there at the call was overwritten, so that what's new goes
	// on where it stood. Otherwise all that's new stands behind it, and only that's searched.
	rewritten bool
}

// output is the part of the line in which there's something new.
func (l *waitLine) output() string {
	if len(l.fresh) == 0 {
		return ""
	}
	if l.rewritten {
		return trimRow(l.text)
	}
	return trimRow(l.text[l.fresh[0].from:])
}

// isNew reports whether bytes from … to hold anything new.
func (l *waitLine) isNew(from, to int) bool {
	for _, f := range l.fresh {
		if from < f.to && f.from < to {
			return true
		}
	}
	return false
}

// matchPatterns searches a line: of several of a kind the first that was given.
func (l *waitLine) matchPatterns(kind string, all []waitPattern) *sessions.WaitMatch {
	if len(l.fresh) == 0 || len(all) == 0 {
		return nil
	}
	text := l.text
	if !l.rewritten {
		text = text[l.fresh[0].from:]
	}
	lower := ""
	if isASCII(text) {
		lower = strings.ToLower(text)
	}
	for i := range all {
		p := &all[i]
		start, end := l.findNew(p, text, lower)
		if start < 0 {
			// A regular expression may want the end of the line where the row has blanks.
			if cut := trimRow(text); p.literal == "" && len(cut) < len(text) {
				start, end = l.findNew(p, cut, lower[:min(len(lower), len(cut))])
			}
		}
		if start >= 0 {
			return &sessions.WaitMatch{Kind: kind, Index: i, Pattern: p.text, Text: cutText(text[start:end]), Line: cutText(l.output())}
		}
	}
	return nil
}

// findNew finds the first place where the pattern stands with something new in it.
func (l *waitLine) findNew(p *waitPattern, text, lower string) (start, end int) {
	if !l.rewritten {
		return p.findIn(text, lower, 0)
	}
	if p.literal == "" || p.fold && lower == "" { // not from the middle of the line: ^ would match there
		for _, loc := range p.re.FindAllStringIndex(text, -1) {
			if l.isNew(loc[0], loc[1]) {
				return loc[0], loc[1]
			}
		}
		return -1, -1
	}
	for from := 0; from <= len(text); from = start + 1 {
		if start, end = p.findIn(text, lower, from); start < 0 || l.isNew(start, end) {
			return start, end
		}
	}
	return -1, -1
}

// cutText bounds a text of a result.
func cutText(s string) string {
	if len(s) <= sessions.MaxWaitLineBytes {
		return s
	}
	n := sessions.MaxWaitLineBytes
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// shortPattern is enough of a pattern to know it by.
func shortPattern(text string) string {
	const most = 60 // runes
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}

// waitCell is what a wait knows of a row, or of a line, at its last look: its text, and
// how much of that stood there at the call. The first before bytes and the last behind
// bytes did; what's between them is output since.
type waitCell struct {
	text           string
	before, behind int
	rewritten      bool // what stood there at the call isn't as it was
}

// oldCell is one that stood there at the call.
func oldCell(text string) waitCell { return waitCell{text: text, before: len(text)} }

// isOld reports whether there's nothing new in it.
func (c waitCell) isOld() bool {
	return c.before >= len(trimRow(c.text)) || c.before+c.behind >= len(c.text)
}

// goesOn is the cell as it is now, where its text was c before.
func (c waitCell) goesOn(now string) waitCell {
	if c.text == now {
		return c
	}
	n := waitCell{text: now, before: c.before, behind: c.behind, rewritten: c.rewritten}
	p := commonPrefix(c.text, now)
	if p < len(trimRow(c.text[:c.before])) {
		n.before, n.rewritten = p, true
	} else {
		n.before = min(c.before, len(now)) // blanks at its end come and go
		for n.before > 0 && n.before < len(now) && !utf8.RuneStart(now[n.before]) {
			n.before--
		}
		for i := p; i < n.before; i++ {
			if now[i] != ' ' { // a blank was overwritten: that's what stands there now
				n.before = i
			}
		}
	}
	if !n.rewritten {
		n.behind = 0
		return n
	}
	most := len(now) - n.before
	if c.rewritten {
		most = min(most, c.behind)
	}
	n.behind = min(commonSuffix(c.text, now), most)
	return n
}

// commonPrefix is how many bytes two texts have in common at their beginning, whole
// runes only.
func commonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	for n > 0 && (n < len(a) && !utf8.RuneStart(a[n]) || n < len(b) && !utf8.RuneStart(b[n])) {
		n--
	}
	return n
}

// commonSuffix is the same at their end.
func commonSuffix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	for n > 0 && !utf8.RuneStart(a[len(a)-n]) {
		n--
	}
	return n
}

// callText is what stood in the snapshot's i-th row at the call: without trailing
// blanks, but as far as the cursor if that's in it ("Password: ").
func callText(s *sessions.Snapshot, i int) string {
	raw := s.Rows[i]
	text := trimRow(raw)
	if s.First+i != s.HistorySize+s.CursorY {
		return text
	}
	for w := displaywidth.String(text); w < s.CursorX && len(text) < len(raw); w++ {
		text = raw[:len(text)+1] // behind the trimmed text there are only blanks
	}
	return text
}

// joinCells makes one of the cells of a line's rows.
func joinCells(cells []waitCell) waitLine {
	if len(cells) == 1 {
		c := cells[0]
		l := waitLine{text: c.text, rewritten: c.rewritten}
		if !c.isOld() {
			l.fresh = []byteSpan{{c.before, len(c.text) - c.behind}}
		}
		return l
	}
	var l waitLine
	old := false // text that stood there at the call behind something new
	for _, c := range cells {
		at := len(l.text)
		l.text += c.text
		old = old || len(l.fresh) > 0 && c.before+c.behind > 0 && trimRow(c.text) != ""
		l.rewritten = l.rewritten || c.rewritten || old
		if !c.isOld() {
			l.fresh = append(l.fresh, byteSpan{at + c.before, at + len(c.text) - c.behind})
		}
	}
	return l
}

// splitCell gives the rows of a line their part of it.
func splitCell(line waitCell, rows []string) []waitCell {
	out := make([]waitCell, 0, len(rows))
	at, end := 0, len(line.text)-line.behind
	for _, text := range rows {
		c := waitCell{text: text, rewritten: line.rewritten}
		c.before = min(max(0, line.before-at), len(text))
		c.behind = min(max(0, at+len(text)-max(end, at)), len(text)-c.before)
		out = append(out, c)
		at += len(text)
	}
	return out
}
