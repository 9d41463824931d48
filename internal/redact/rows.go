package redact

import (
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Rows masks rows of a screen. They may have SGR sequences in them, as tmux captures
// them; of other sequences those that can hold text (OSC, DCS: links, titles) are left
// out. Each row keeps its columns: what's masked is as wide as it was. before are lines
// that stand above the screen, without sequences: a secret may have begun there.
func (m *Masker) Rows(before, rows []string) []string {
	plain := make([]string, len(rows))
	parts := make([][]part, len(rows))
	for i, r := range rows {
		parts[i], plain[i] = split(r)
	}
	got := m.Lines(LineWindow{Before: before, Lines: plain, Open: true})
	out := slices.Clone(rows)
	for i, r := range rows {
		var own []Mask
		for len(got.Masks) > 0 && got.Masks[0].Line == i {
			own = append(own, got.Masks[0])
			got.Masks = got.Masks[1:]
		}
		if len(own) > 0 || plain[i] != r {
			out[i] = join(parts[i], own)
		}
	}
	return out
}

// part is a piece of a row: text or a sequence.
type part struct {
	text string
	seq  bool
}

// split takes a row apart. plain is its text alone.
func split(r string) (parts []part, plain string) {
	if !strings.ContainsRune(r, '\x1b') {
		return []part{{text: r}}, r
	}
	var text strings.Builder
	for len(r) > 0 {
		n := strings.IndexByte(r, '\x1b')
		if n != 0 {
			if n < 0 {
				n = len(r)
			}
			parts = append(parts, part{text: r[:n]})
			text.WriteString(r[:n])
			r = r[n:]
			continue
		}
		n, keep := sequence(r)
		if keep {
			parts = append(parts, part{r[:n], true})
		} else {
			parts = append(parts, part{"", true})
		}
		r = r[n:]
	}
	return parts, text.String()
}

// sequence is the length of the escape sequence at the beginning, and whether it's one
// without text in it (ECMA-48, 5.4 and 5.6).
func sequence(r string) (n int, keep bool) {
	if len(r) < 2 {
		return len(r), false
	}
	switch r[1] {
	case '[':
		for n = 2; n < len(r); n++ {
			switch c := r[n]; {
			case c >= 0x40 && c <= 0x7e:
				return n + 1, true
			case c < 0x20 || c > 0x7e:
				return n, false
			}
		}
		return n, false
	case ']', 'P', 'X', '^', '_':
		for n = 2; n < len(r); n++ {
			if r[n] == '\a' {
				return n + 1, false
			}
			if r[n] == '\x1b' {
				if n+1 < len(r) && r[n+1] == '\\' {
					n++
				}
				return n + 1, false
			}
		}
		return n, false
	}
	return 2, true
}

// join puts a row together again, with its masks.
func join(parts []part, masks []Mask) string {
	var out strings.Builder
	at := 0 // in the plain text
	for _, p := range parts {
		if p.seq {
			out.WriteString(p.text)
			continue
		}
		for t := p.text; len(t) > 0; {
			n := len(t)
			switch {
			case len(masks) == 0 || at+n <= masks[0].From:
				out.WriteString(t)
			case at < masks[0].From:
				n = masks[0].From - at
				out.WriteString(t[:n])
			default:
				n = min(n, masks[0].To-at)
				out.WriteString(fill(masks[0], ansi.StringWidth(t[:n]), at == masks[0].From))
			}
			at += n
			t = t[n:]
			if len(masks) > 0 && at == masks[0].To {
				masks = masks[1:]
			}
		}
	}
	return out.String()
}

// dot stands in each column of a mask that its text leaves.
const dot = "•"

// fill is a mask in so many columns: as much of its text as there's room for, and dots.
func fill(m Mask, width int, begins bool) string {
	text := ""
	if begins {
		text = m.Text()
		if ansi.StringWidth(text) > width {
			text = Mask{Rest: true}.Text()
		}
		if ansi.StringWidth(text) > width {
			text = ""
		}
	}
	return text + strings.Repeat(dot, width-ansi.StringWidth(text))
}
