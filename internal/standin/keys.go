package standin

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// key is a key that was read, or a text that was pasted.
type key struct {
	name   string // "Enter", "Escape", "Up", "C-u", or one character; "": it's pasted
	pasted string
	person bool // it's one of Person
	shown  bool // it's no key: the terminal has worked in what was drawn
}

// named are the keys with names, by what a terminal sends.
var named = map[string]string{ //nolint:gochecknoglobals // a constant table
	"\r": "Enter", "\n": "C-j", "\t": "Tab", "\x1b": "Escape", "\x7f": "BSpace", "\x15": "C-u", " ": "Space",
	"\x1b[A": "Up", "\x1b[B": "Down", "\x1b[C": "Right", "\x1b[D": "Left", "\x1b[Z": "BTab",
	"\x1bOA": "Up", "\x1bOB": "Down", "\x1bOC": "Right", "\x1bOD": "Left",
}

// Person is what a person's keyboard sends for keys, so that they can be told from those
// that panebridge presses: tmux's names, or single characters.
func Person(keys ...string) []byte {
	var b bytes.Buffer
	for _, k := range keys {
		for seq, name := range named {
			if name == k && !strings.HasPrefix(seq, "\x1bO") {
				k = seq
				break
			}
		}
		fmt.Fprintf(&b, "\x1b[77;%s~", asNumber(k))
	}
	return b.Bytes()
}

// asNumber writes bytes as a decimal number, so that a terminal's sequence can carry them.
func asNumber(s string) string {
	n := uint64(1)
	for i := range len(s) {
		n = n<<8 | uint64(s[i])
	}
	return strconv.FormatUint(n, 10)
}

func ofNumber(s string) string {
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		return ""
	}
	var b []byte
	for ; n > 1; n >>= 8 {
		b = append([]byte{byte(n)}, b...)
	}
	return string(b)
}

const (
	pasteBegin, pasteEnd = "\x1b[200~", "\x1b[201~"
	escapeAfter          = 30 * time.Millisecond // an ESC that nothing follows is the key
)

// decoder makes keys of what's read.
type decoder struct{ rest []byte }

// take adds what was read and returns the keys that are complete.
func (d *decoder) take(b []byte) (out []key) {
	d.rest = append(d.rest, b...)
	for len(d.rest) > 0 {
		k, n := next(d.rest)
		if n == 0 {
			return out
		}
		d.rest = d.rest[n:]
		out = append(out, k)
	}
	return out
}

// late returns the Escape that an ESC was, if nothing followed it.
func (d *decoder) late() (out []key) {
	if len(d.rest) == 1 && d.rest[0] == 0x1b {
		d.rest = nil
		return []key{{name: "Escape"}}
	}
	return nil
}

// next reads one key; 0: it isn't complete.
func next(b []byte) (key, int) {
	s := string(b)
	switch {
	case b[0] != 0x1b:
		if name := named[s[:1]]; name != "" {
			return key{name: name}, 1
		}
		if !utf8.FullRune(b) {
			return key{}, 0
		}
		_, n := utf8.DecodeRune(b)
		return key{name: s[:n]}, n
	case strings.HasPrefix(s, pasteBegin):
		text, _, whole := strings.Cut(s[len(pasteBegin):], pasteEnd)
		if !whole {
			return key{}, 0
		}
		return key{pasted: text}, len(pasteBegin) + len(text) + len(pasteEnd)
	case len(s) == 1 || s == "\x1b[" || s == "\x1bO":
		return key{}, 0
	case s[1] != '[' && s[1] != 'O':
		return key{name: "Escape"}, 1
	}
	end := 2
	for end < len(s) && (s[end] >= '0' && s[end] <= '9' || s[end] == ';') {
		end++
	}
	if end == len(s) {
		return key{}, 0
	}
	seq := s[:end+1]
	if seq == "\x1b[0n" {
		return key{shown: true}, len(seq)
	}
	if code, ok := strings.CutPrefix(seq, "\x1b[77;"); ok && seq[end] == '~' {
		k, _ := next([]byte(ofNumber(strings.TrimSuffix(code, "~")) + " "))
		if plain := ofNumber(strings.TrimSuffix(code, "~")); plain == "\x1b" {
			k = key{name: "Escape"}
		}
		k.person = true
		return k, len(seq)
	}
	return key{name: named[seq]}, len(seq)
}
