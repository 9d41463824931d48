package redact

import (
	"bytes"
	"slices"
)

// charset is a set of bytes.
type charset [256]bool

func chars(list string) *charset {
	var s charset
	for i := 0; i < len(list); i++ {
		if i+2 < len(list) && list[i+1] == '-' && list[i+2] > list[i] {
			for c := int(list[i]); c <= int(list[i+2]); c++ {
				s[c] = true
			}
			i += 2
			continue
		}
		s[list[i]] = true
	}
	return &s
}

// pairs are, for each letter, those that follow it often in English: the 220 most
// frequent of the 676 pairs, which are 94 % of the pairs in the comments of Go's
// standard library.
var pairs = [26]string{ //nolint:gochecknoglobals // a constant table
	"bcdgilmnprstuvy", "aeilosuy", "aehiklortu", "adeiorsu", "acdefglmnpqrstvx", "aefilorstu",
	"ehino", "aeiot", "acdefglmnoprstvz", "", "e", "adeilostuy", "abeimopu", "acdegilnostuv",
	"acdfilmnoprstuvw", "aeiloprstuy", "u", "acdegimnorstuvy", "acehiklopstuy", "acehiloprstuy",
	"ceilmnprst", "aei", "aehior", "pt", "mpst", "e",
}

// common are pairs as bits.
var common = func() (bits [26]uint32) { //nolint:gochecknoglobals // a constant table that needs a loop
	for a, list := range pairs {
		for _, b := range []byte(list) {
			bits[a] |= 1 << (b - 'a')
		}
	}
	return bits
}()

type class uint8

const (
	separator class = iota
	lower
	upper
	digit
	symbol
)

func classOf(c byte) class {
	switch {
	case c >= 'a' && c <= 'z':
		return lower
	case c >= 'A' && c <= 'Z':
		return upper
	case c >= '0' && c <= '9':
		return digit
	case c == '_', c == '-', c == '.', c == '/', c == ' ', c == ':', c == ',':
		return separator
	}
	return symbol
}

func isAlnum(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}
func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// measure is what a text looks like, character by character.
type measure struct {
	pairs     int // of neighbours that say something
	surprises int // of those, pairs that don't stand in words
	steps     int // neighbours that count up or down: abc, 321
	repeats   int // neighbours that are the same
	distinct  int // different characters
	classes   int // kinds of character: lower, upper, digit, symbol
	digits    int
	length    int
}

func measureOf(v []byte) measure {
	m := measure{length: len(v)}
	var seen [256]bool
	var has [symbol + 1]bool
	for i, c := range v {
		if !seen[c] {
			seen[c] = true
			m.distinct++
		}
		k := classOf(c)
		has[k] = true
		if k == digit {
			m.digits++
		}
		if i == 0 {
			continue
		}
		before := v[i-1]
		switch d := int(c) - int(before); d {
		case 0:
			m.repeats++
		case 1, -1:
			m.steps++
		}
		was := classOf(before)
		switch {
		case k == separator || was == separator || k == digit && was == digit:
			continue
		case (k == lower || k == upper) && (k == was || was == upper):
			if common[before|0x20-'a']&(1<<(c|0x20-'a')) == 0 {
				m.surprises++
			}
		default:
			m.surprises++
		}
		m.pairs++
	}
	for _, h := range has[lower:] {
		if h {
			m.classes++
		}
	}
	return m
}

// dull says that a text has too little in it to be drawn at random: xxxx, 0000, abcdef,
// 12345678.
func (m measure) dull() bool {
	n := m.length - 1
	return m.length < 2 || 3*m.repeats > n || 5*m.steps > 2*n || m.distinct < min(6, m.length/2+1) || 5*m.distinct < min(m.length, 40)
}

// random says that at least a share in percent of the pairs don't stand in words. Of
// letters and digits drawn at random, about 85 in 100 don't; of words and of names that
// programmers make of them, about 20.
func (m measure) random(percent int) bool {
	return !m.dull() && 3*m.pairs >= m.length && 100*m.surprises >= percent*m.pairs
}

// drawn is random for what has letters of both cases, or digits.
func (m measure) drawn(percent int) bool { return m.classes > 1 && m.random(percent) }

// plain says that a text could be words or numbers of people.
func plain(v []byte) bool {
	m := measureOf(v)
	if m.length < 4 {
		return m.classes < 2
	}
	if m.digits > 5 && !isDate(v) {
		return false
	}
	// A short one must have nothing odd in it; the sixth part of it, a long one.
	return 6*m.surprises <= m.pairs
}

// isDate says that a text begins with a date: 2026-03-04.
func isDate(v []byte) bool {
	if len(v) < 10 {
		return false
	}
	for i, c := range v[:10] {
		if i == 4 || i == 7 {
			if c != '-' && c != '/' {
				return false
			}
		} else if !isDigit(c) {
			return false
		}
	}
	return true
}

// isHex says that a text is hexadecimal in one case, of digits and letters.
func isHex(v []byte) bool {
	digits, small, large := 0, 0, 0
	for _, c := range v {
		switch {
		case isDigit(c):
			digits++
		case c >= 'a' && c <= 'f':
			small++
		case c >= 'A' && c <= 'F':
			large++
		default:
			return false
		}
	}
	return digits > 0 && small+large > 0 && (small == 0 || large == 0)
}

func onlyHex(v []byte) bool {
	for _, c := range v {
		if !isDigit(c) && (c|0x20 < 'a' || c|0x20 > 'f') {
			return false
		}
	}
	return true
}

// stand-ins are what people write in the place of a secret. Short ones could turn up in
// a secret by chance.
var standIns = [][]byte{ //nolint:gochecknoglobals // a constant table
	[]byte("example"), []byte("placeholder"), []byte("changeme"), []byte("change-me"), []byte("change_me"), []byte("redacted"),
	[]byte("masked"), []byte("xxxxx"), []byte("your-"), []byte("your_"), []byte("yourapi"), []byte("yourkey"), []byte("insert"), []byte("replace"),
	[]byte("dummy"), []byte("not-a-real"), []byte("notareal"), []byte("deadbeef"), []byte("fake-"), []byte("fake_"), []byte("test-"), []byte("test_"), []byte("-test"), []byte("_test"), []byte("secret"), []byte("password"),
}

// isStandIn says that a text stands in the place of a secret.
func isStandIn(v []byte) bool {
	if isPublished(v) {
		return true
	}
	var small [256]byte
	low := appendLower(small[:0], v)
	for _, s := range standIns {
		if bytes.Contains(low, s) {
			return true
		}
	}
	return false
}

// isPlaceholder says that a text says that it stands in the place of a secret.
func isPlaceholder(v []byte) bool {
	if isPublished(v) {
		return true
	}
	var small [256]byte
	low := appendLower(small[:0], v)
	return slices.ContainsFunc([]string{"example", "placeholder", "redacted", "masked", "xxxxx", "your-", "your_", "yourapi", "yourkey", "yourpass", "yoursecret", "yourtoken", "insert", "replace", "not-a-real"}, func(w string) bool { return bytes.Contains(low, []byte(w)) })
}

func appendLower(to, v []byte) []byte {
	for _, c := range v {
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		to = append(to, c)
	}
	return to
}
