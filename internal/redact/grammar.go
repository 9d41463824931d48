package redact

import (
	"bytes"
	"slices"
)

// maxLiteral is how many bytes of a value that stands for itself are gone along at most.
const maxLiteral = 512

// stretch is what a value can be that begins at a place: the whole of it, and before that what of it
// stands in the rows that were there before the last one. Each is judged by itself, so that what was
// masked as the newest row stays so.
type stretch struct {
	ends   []int // in buf, the last first
	closed bool  // the first end is that of the whole value: its closing quote, or what can't be part of it
}

func (t *text) stretch(from, end int, closed bool) stretch {
	ends := []int{end}
	for i := end - 1; i > from && len(ends) < 8; i-- {
		if t.buf[i] == '\n' {
			ends = append(ends, i)
		}
	}
	return stretch{ends, closed}
}

// quoted goes along a text in quotes from behind the first one. A backslash keeps the character
// behind it from closing the text, as a second ' does in SQL and YAML. Where the quotes have
// backslashes themselves, as in JSON within JSON, only such a one closes it.
func (t *text) quoted(at int, quote byte, escaped bool) stretch {
	for i := at; i+1 < len(t.buf); i++ {
		switch c := t.buf[i]; {
		case i-at > maxLiteral:
			return t.stretch(at, i, false)
		case c == '\n' && !t.full(t.rowOf(i)):
			return t.stretch(at, i, false)
		case c == '\\' && escaped && t.buf[i+1] == quote:
			return t.stretch(at, i, true)
		case c == '\\' && !escaped && t.buf[i+1] != '\n':
			i++
		case c == quote && quote == '\'' && t.buf[i+1] == quote && i > at:
			i++
		case c == quote:
			return t.stretch(at, i, true)
		}
	}
	return t.stretch(at, len(t.buf)-1, false)
}

// bare goes along a word without quotes, of the characters of a set and letters of other alphabets.
// A backslash takes the next character with it.
func (t *text) bare(at int, set *charset) stretch {
	i := at
	for i+1 < len(t.buf) && i-at < maxLiteral {
		switch c := t.buf[i]; {
		case set[c]:
			i++
		case c == '\\' && t.buf[i+1] > ' ' && t.buf[i+1] != 'n' && t.buf[i+1] != '"' && t.buf[i+1] != '\'':
			i += 2
		case c == '\n' && i > at && t.full(t.rowOf(i)) && t.goesOn(i, set, i-at, 0):
			i++
		default:
			n := foreign(t.buf[i:])
			if n == 0 {
				return t.stretch(at, i, c != '\n')
			}
			i += n
		}
	}
	return t.stretch(at, i, false)
}

// before goes along whatever stands in a row before a character, without the blanks at its end.
func (t *text) before(at int, stop byte) stretch {
	row := t.buf[at:min(t.end(t.rowOf(at)), at+maxLiteral)]
	n := bytes.IndexByte(row, stop)
	if n < 0 {
		n = len(row)
	}
	if stop == '|' {
		if i := bytes.Index(row[:n], []byte("│")); i >= 0 {
			n = i
		}
	}
	end := at + len(bytes.TrimRight(row[:n], " \t"))
	return stretch{[]int{end}, true}
}

// foreign is the length of a letter or sign at the beginning that ASCII doesn't have; 0: there's
// none, or it's one of punctuation, as quotes, dashes, frames and blanks are.
func foreign(l []byte) int {
	n := 0
	switch c := l[0]; {
	case c < 0xC2 || c > 0xED || c == 0xE2 && !bytes.HasPrefix(l, []byte("€")):
		return 0
	case c < 0xE0:
		n = 2
	default:
		n = 3
	}
	if n > len(l) || slices.ContainsFunc([]string{"\u00a0", "«", "»", "\u3000", "。", "、"}, func(w string) bool { return bytes.HasPrefix(l, []byte(w)) }) {
		return 0
	}
	for _, c := range l[1:n] {
		if c&0xC0 != 0x80 {
			return 0
		}
	}
	return n
}
