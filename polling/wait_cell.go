package polling

import (
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"

	"github.com/panebridge/panebridge/sessions"
)

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
