package agent

import (
	"bytes"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/panebridge/panebridge/sessions"
	"github.com/panebridge/panebridge/sessions/transcript"
)

// kinds are the lines that records become; the others become none.
var kinds = map[transcript.RecordKind]sessions.LineKind{ //nolint:gochecknoglobals // a constant table
	transcript.User:       sessions.KindUser,
	transcript.Answer:     sessions.KindAnswer,
	transcript.Helper:     sessions.KindAnswer,
	transcript.Tool:       sessions.KindTool,
	transcript.ToolResult: sessions.KindTool,
	transcript.Question:   sessions.KindTool,
	transcript.Thought:    sessions.KindThought,
	transcript.Failure:    sessions.KindNotice,
	transcript.Compacted:  sessions.KindNotice,
}

// linesOf are what records become in the output log. What was typed by panebridge
// stands there already, with its author.
func (o *Observer) linesOf(records []transcript.Record, now time.Time) []sessions.Line {
	var out []sessions.Line
	for _, r := range records {
		if r.Kind == transcript.TurnEnd && r.At.After(o.program.last) && !r.At.After(now) {
			o.program.last = r.At
		}
		if r.At.After(o.program.until) && !r.At.After(now) {
			o.program.until = r.At
		}
		kind, ok := kinds[r.Kind]
		if r.Kind == transcript.User && len(o.program.profile.spec.Screen.Prompt) == 0 {
			o.program.text.asked = letters(r.Text)
		}
		if !ok || r.Text == "" || r.Kind == transcript.User && o.typed.takeText(r.Text) {
			continue
		}
		at := r.At
		if at.IsZero() || at.After(now) {
			at = now
		}
		for i, text := range strings.Split(marked(r), "\n") {
			line := sessions.Line{Kind: kind, Text: printable(text), At: at, Begins: i == 0}
			if line.Begins && kind == sessions.KindTool {
				line.Tool = toolPart(r)
			}
			out = append(out, line)
		}
		o.program.text.addText(r.Text, r.Kind == transcript.User || r.Kind == transcript.Helper)
	}
	return out
}

// printable drops control characters other than tab.
func printable(s string) string {
	control := func(r rune) bool { return r != '\t' && unicode.IsControl(r) }
	if strings.IndexFunc(s, control) < 0 {
		return s
	}
	return strings.Map(func(r rune) rune {
		if control(r) {
			return -1
		}
		return r
	}, s)
}

// letters are the letters and digits of a text: what's left of it however it's
// wrapped, indented, framed or marked up.
func letters(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, s)
}

// typed are texts that panebridge typed and whose records are yet to come, by
// their letters, the oldest first.
type typed []string

const (
	maxTyped     = 16
	maxTypedText = 2000 // of a text; a longer one is known by its beginning
	longText     = 20   // a text of so many is hardly a part of another by chance
)

func (t *typed) addTexts(texts []sessions.Typed) {
	for _, x := range texts {
		if l := start(signs(x.Text)); l != "" {
			*t = append(*t, l)
		}
	}
	if len(*t) > maxTyped {
		*t = slices.Clone((*t)[len(*t)-maxTyped:])
	}
}

// takeText reports whether a text that was asked of the agent is one of these, and
// takes it and those before it away.
func (t *typed) takeText(text string) bool {
	i, n := t.findText(signs(text))
	if i < 0 {
		return false
	}
	*t = slices.Clone((*t)[i+n:])
	return true
}

// hasText reports whether a text, by its letters, is one of these.
func (t typed) hasText(l string) bool {
	i, _ := t.findText(l)
	return i >= 0
}

// findText finds a text also where the program has made one of several, has wrapped
// something around it, or has cut it: the first, and how many.
func (t typed) findText(l string) (first, n int) {
	if i := slices.Index(t, start(l)); i >= 0 {
		return i, 1
	}
	if i, n := t.findJoined(l); n > 1 {
		return i, n
	}
	return slices.IndexFunc(t, func(was string) bool {
		return len(was) >= longText && strings.Contains(l, was) || len(l) >= longText && strings.HasPrefix(was, l)
	}), 1
}

// findJoined finds texts that the program has made one of, which were sent while it was
// at work: the first, and how many.
func (t typed) findJoined(l string) (first, n int) {
	for first := range t {
		rest := l
		for i, was := range t[first:] {
			var ok bool
			if rest, ok = strings.CutPrefix(rest, was); !ok {
				break
			}
			if rest == "" && i > 0 {
				return first, i + 1
			}
		}
	}
	return -1, 0
}

// signs are the letters of a text, or what's to be seen of one without any.
func signs(s string) string {
	if l := letters(s); l != "" {
		return l
	}
	return strings.Join(strings.Fields(s), "")
}

// start is at most maxTypedText bytes of a text, whole characters.
func start(s string) string {
	if len(s) <= maxTypedText {
		return s
	}
	end := maxTypedText
	for !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end]
}

// recent is the end of what was told of a transcript, by its letters.
type recent struct {
	text []byte
	turn []byte // what the program said in the turn that's open, or was the last
	// asked is what was asked last, of a program that doesn't mark that on its screen.
	asked string
}

const (
	maxRecent = 64 << 10
	minKnown  = 4 // letters by which a row is known
)

// keptRecent is the end of that, as far as a screen may show it: behind a restart, what
// stands there isn't taken for what's being written.
type keptRecent struct {
	Text  string `json:"text,omitempty"`
	Turn  string `json:"turn,omitempty"`
	Asked string `json:"asked,omitempty"`
}

const (
	maxKeptText = 4 << 10 // bytes: some 100 columns and 40 rows
	maxKeptTurn = 1 << 10 // bytes: the last that was told is looked for in it
)

func (r *recent) keep() keptRecent {
	return keptRecent{lastBytes(r.text, maxKeptText), lastBytes(r.turn, maxKeptTurn), lastBytes([]byte(r.asked), maxKeptTurn)}
}

func (k keptRecent) recent() recent {
	return recent{text: []byte(k.Text), turn: []byte(k.Turn), asked: k.Asked}
}

// lastBytes are at most so many bytes of a text's end, whole characters.
func lastBytes(s []byte, most int) string {
	from := max(0, len(s)-most)
	for from < len(s) && !utf8.RuneStart(s[from]) {
		from++
	}
	return string(s[from:])
}

// addText takes in what was told; asked: a person wrote it.
func (r *recent) addText(text string, asked bool) {
	l := letters(text)
	r.text = appendRecent(r.text, l)
	if !asked {
		r.turn = appendRecent(r.turn, l)
	}
}

func appendRecent(to []byte, l string) []byte {
	if to = append(to, l...); len(to) > 2*maxRecent {
		return slices.Clone(to[len(to)-maxRecent:])
	}
	return to
}

// beginTurn notes that a turn begins.
func (r *recent) beginTurn() { r.turn = nil }

// hasRow reports whether a row shows some of it.
func (r *recent) hasRow(row string) bool {
	l := letters(row)
	return len(l) >= minKnown && bytes.Contains(r.text, []byte(l))
}

// unsaid are the rows behind the last that was told in the turn. A short row, which may
// stand in many places of a text, was told if it's the end, or stands behind the one above.
func (r *recent) unsaid(rows []string) []string {
	above := make([]string, len(rows)) // letters of the row above each that has some
	last := ""
	for i, row := range rows {
		if l := letters(row); l != "" {
			above[i], last = last, l
		}
	}
	for i, row := range slices.Backward(rows) {
		l := letters(row)
		switch {
		case len(l) < minKnown:
		case l == r.asked || len(l) >= longText && strings.HasSuffix(r.asked, l):
			return rows[i+1:]
		case len(l) >= longText && bytes.Contains(r.turn, []byte(l)),
			above[i] != "" && bytes.Contains(r.turn, []byte(above[i]+l)),
			bytes.HasSuffix(r.turn, []byte(l)):
			return rows[i+1:]
		}
	}
	return rows
}
