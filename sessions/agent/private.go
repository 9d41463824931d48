package agent

import (
	"slices"
	"strings"
	"unicode"

	"github.com/charmbracelet/x/ansi"

	"github.com/panebridge/panebridge/sessions"
)

// Privacy makes screens unreadable that go into a report: of a word only its length
// stays, unless the profile needs the word to recognise what the program draws. So what
// is made of the screen is the same. It's for one goroutine.
type Privacy struct {
	profile *Profile
	// kept has which runes of a match stay, by pattern and text, as screens hardly change.
	kept map[keptKey][]bool
}

type keptKey struct {
	pattern *pattern
	text    string
}

// maxKept bounds what's remembered; texts that stand still are few.
const maxKept = 5000

// NewPrivacy returns one for screens of a profile's program.
func NewPrivacy(p *Profile) *Privacy { return &Privacy{p, map[keptKey][]bool{}} }

// Rows makes the visible rows of a screen unreadable. Each keeps its columns.
func (v *Privacy) Rows(s *sessions.Snapshot) []string {
	l := v.profile.layout(s, true)
	keep := make([]bool, len(l.text)) // by byte of the text
	screen, p := &v.profile.spec.Screen, v.profile
	for _, patterns := range [][]pattern{screen.Header, screen.Foot, screen.Above, screen.Dialog, screen.Rows} {
		for i := range patterns {
			for _, at := range l.at[:len(l.rows)] {
				v.keepMatch(keep[at:], l.text[at:], &patterns[i], patterns[i].row.FindStringIndex(l.text[at:]))
			}
		}
	}
	for i := range p.spec.Interrupted {
		v.keepIn(keep, l, inEnd, &p.spec.Interrupted[i])
	}
	for _, s := range p.spec.Signs {
		v.keepIn(keep, l, s.In, s.Match)
		v.keepIn(keep, l, s.In, s.Without)
	}
	lower := asciiLower(l.text)
	for _, phrase := range p.spec.Dialogs {
		for from := 0; ; {
			i := strings.Index(lower[from:], phrase)
			if i < 0 {
				break
			}
			from += i
			for range len(phrase) {
				keep[from] = true
				from++
			}
		}
	}
	out := slices.Clone(s.Rows)
	visible := out[max(0, len(out)-s.Height):]
	for i, row := range visible {
		visible[i] = hide(row, l.rows[i], keep[l.at[i]:])
	}
	return out
}

// Title makes a title unreadable.
func (v *Privacy) Title(title string) string {
	text := strings.TrimSpace(title)
	keep := make([]bool, len(text)+1)
	for _, s := range v.profile.spec.Signs {
		for _, p := range []*pattern{s.Match, s.Without} {
			if s.In == inTitle && p != nil {
				v.keepMatch(keep, text, p, p.FindStringIndex(text))
			}
		}
	}
	return hide(text, text, keep)
}

// Text makes a text unreadable that's no screen.
func (v *Privacy) Text(text string) string { return hide(text, text, make([]bool, len(text)+1)) }

// keepIn keeps what a pattern needs in a part of the screen.
func (v *Privacy) keepIn(keep []bool, l *layout, in where, p *pattern) {
	if p == nil || in == inTitle || in == inDialog {
		return
	}
	part, there := l.partOfScreen(in)
	if !there {
		return
	}
	at := strings.Index(l.text, part)
	if in == inFoot || in == inEnd {
		at = strings.LastIndex(l.text, part)
	}
	if at < 0 {
		return
	}
	for _, m := range p.FindAllStringIndex(part, -1) {
		v.keepMatch(keep[at:], part, p, m)
	}
}

// keepMatch keeps what a pattern needs of what it matches at a place in a text; nil: it
// doesn't match.
func (v *Privacy) keepMatch(keep []bool, text string, p *pattern, m []int) {
	if m == nil || m[0] == m[1] {
		return
	}
	match := text[m[0]:m[1]]
	key := keptKey{p, match}
	need, known := v.kept[key]
	if !known {
		if len(v.kept) > maxKept {
			clear(v.kept)
		}
		need = needed(p, match)
		v.kept[key] = need
	}
	for i, n := range need {
		keep[m[0]+i] = keep[m[0]+i] || n
	}
}

// needed says which bytes of a text must stay so that a pattern matches all of it: each
// word that can be made unreadable is.
func needed(p *pattern, text string) []bool {
	need := make([]bool, len(text)+1)
	if p.whole.MatchString(hide(text, text, need)) {
		return need[:len(text)]
	}
	for i := range need {
		need[i] = true
	}
	for i := 0; i < len(text); {
		end := wordEnd(text, i)
		if end == i {
			i++
			continue
		}
		set(need[i:end], false)
		if !p.whole.MatchString(hide(text, text, need)) {
			set(need[i:end], true)
		}
		i = end
	}
	return need[:len(text)]
}

func set(list []bool, to bool) {
	for i := range list {
		list[i] = to
	}
}

// wordEnd is where the word ends that begins at i; i if none does.
func wordEnd(text string, i int) int {
	n := strings.IndexFunc(text[i:], func(r rune) bool { return !isWord(r) })
	if n < 0 {
		return len(text)
	}
	return i + n
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// hide makes a row unreadable but for what's kept, by byte of the row without the blanks
// that layout leaves out.
func hide(row, clean string, keep []bool) string {
	var b strings.Builder
	at := 0 // in clean
	for _, r := range row {
		if r == '\u200b' && !strings.HasPrefix(clean[min(at, len(clean)):], "\u200b") {
			b.WriteRune(r)
			continue
		}
		stays := at < len(clean) && keep[at]
		if at < len(clean) {
			at += runeLen(clean[at:])
		}
		switch {
		case stays || !isWord(r):
			b.WriteRune(r)
		case unicode.IsDigit(r):
			b.WriteByte('0')
		case ansi.StringWidth(string(r)) == 2:
			b.WriteRune('ｘ')
		default:
			b.WriteByte('x')
		}
	}
	return b.String()
}

func runeLen(s string) int {
	for i := range s {
		if i > 0 {
			return i
		}
	}
	return len(s)
}

// asciiLower makes letters from A to Z small, and no others.
func asciiLower(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}
