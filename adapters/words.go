package adapters

import (
	"slices"
	"strings"
	"unicode"

	"github.com/panebridge/panebridge/internal/render"
	"github.com/panebridge/panebridge/sessions"
)

const (
	// maxWords is how much of an answer an ending says, in characters as people see them: what
	// a locked phone shows of a message beside "done · 3 min 12 s".
	maxWords = 80
	// maxWordsBytes is the same in bytes: one character can have any number of marks.
	maxWordsBytes = 1000
	// fewWords is below what a sentence alone says little: "Done.", or a heading.
	fewWords = 20
	// answerRows is how many lines of an answer are rendered for its first words.
	answerRows = 20
	// turnRows is how many lines back from a turn's end its answer is looked for.
	turnRows = 1000
)

// wordsOf returns the first words of the last answer among a turn's lines, and the number of
// the line that they begin in. Where the program's own record isn't read, they're the last row
// that says anything. What a person wrote is no answer, and neither is its echo. "": nothing
// is known.
func wordsOf(turn []sessions.Line) (words string, line int64) {
	from, answers := -1, false
	for i, l := range turn {
		if l.Kind == sessions.KindAnswer {
			if answers = true; l.Begins {
				from = i
			}
		}
	}
	if !answers {
		return lastRow(turn)
	}
	if from < 0 {
		return "", 0 // it begins further up
	}
	var page render.Page
	for _, l := range turn[from:min(len(turn), from+answerRows)] {
		if l.Kind != sessions.KindAnswer {
			break
		}
		if line == 0 && strings.TrimSpace(l.Text) != "" {
			line = l.N
		}
		row := render.Whole(render.Answer, l.Text)
		row.Begins = l.Begins
		page.Lines = append(page.Lines, row)
	}
	return firstWords(page.Text().String()), line
}

// lastRow is the last row of a pane that has a letter or a digit, unless it's the echo of what
// a person wrote.
func lastRow(turn []sessions.Line) (words string, line int64) {
	var said []string
	for _, l := range turn {
		if text := strings.TrimSpace(l.Text); l.Kind == sessions.KindUser && text != "" {
			said = append(said, text)
		}
	}
	for _, l := range slices.Backward(turn) {
		if l.Kind != sessions.KindPane || !strings.ContainsFunc(l.Text, isLetter) || isEcho(l.Text, said) {
			continue
		}
		return firstWords(l.Text), l.N
	}
	return "", 0
}

func isEcho(row string, said []string) bool {
	row = strings.TrimSpace(row)
	for _, text := range said {
		if strings.HasSuffix(row, text) {
			return true
		}
	}
	return false
}

func isLetter(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// schemes are what makes platforms link an address: the quotation mark behind it would be a part
// of that.
var schemes = strings.NewReplacer("https://", "", "http://", "") //nolint:gochecknoglobals // a constant table

// firstWords is the first sentence of a text, or what of it maxWords holds, on one line and
// without what only changes how a text looks.
func firstWords(text string) string {
	text = strings.Join(strings.Fields(schemes.Replace(strings.Map(shown, text))), " ")
	word, at := 0, 0
	for n, end := range graphemes(text, maxWordsBytes) {
		if n == maxWords || end > maxWordsBytes {
			return cutWords(text[:at], word)
		}
		if text[at:end] == " " {
			word = at
		}
		if at = end; n+1 >= fewWords && endsSentence(text[:at], text[at:]) {
			return text[:at]
		}
	}
	if at < len(text) {
		return cutWords(text[:at], word)
	}
	return text
}

// cutWords cuts a text behind its last word, if that leaves most of it. Chinese and Japanese
// have no blanks.
func cutWords(text string, word int) string {
	if word > len(text)/2 {
		text = text[:word]
	}
	return strings.TrimRight(text, " ") + " …"
}

func endsSentence(said, next string) bool {
	switch {
	case strings.HasSuffix(said, "。"), strings.HasSuffix(said, "！"), strings.HasSuffix(said, "？"):
		return true
	case strings.HasSuffix(said, "."), strings.HasSuffix(said, "!"), strings.HasSuffix(said, "?"):
		return next == "" || next[0] == ' '
	default:
		return false
	}
}

// shown drops what can't be seen, and would turn a text round or hide a part of it, but for the
// joiner within emoji.
func shown(r rune) rune {
	switch {
	case unicode.IsSpace(r):
		return ' '
	case r == '\u200d':
		return r
	case unicode.Is(unicode.Cf, r) || unicode.IsControl(r):
		return -1
	default:
		return r
	}
}
