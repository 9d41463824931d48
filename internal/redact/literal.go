package redact

import (
	"bytes"
	"slices"
)

// inRow says whether a text stands in one row, or in rows that a terminal has broken.
func (s *scan) inRow(from, end int) bool {
	first := s.rowOf(from)
	return s.rowOf(end-1) == first || s.full(first)
}

// isLiteral says whether what a name is given that says that it's secret is a text that stands
// for itself: no variable, call, type or count. An ordinary password looks like words.
func (a *assigner) isLiteral(s *scan, k keyword, from, nameEnd, at, end int, quote byte, v []byte) bool {
	if len(v) < 4 || s.listed(nameEnd) || isExpression(v) || isNothing(v) || isVersion(v) || isStandIn(v) || isStandInWord(v) || isUUID(v) || !a.endsName(s, k, from, nameEnd) {
		return false
	}
	m := measureOf(v)
	setting := s.isSetting(a, from, at, quote)
	switch {
	case k.word == "pass" && !setting && a.begins(s, from): // a test passes
		return false
	case m.digits == len(v): // a count
		return k.label == "password" && (quote == 0 || setting)
	case m.distinct < 4 || 5*m.steps > 4*(m.length-1): // xxxx, abcdef
		return false
	case setting:
		return true
	case quote == 0 && s.buf[end] == '<' && s.buf[at-1] == '>': // <password>value</password>
		return true
	case quote == 0 && (s.buf[at-1] == '=' && s.buf[at-2] != ' ' || s.buf[at-1] == ' ' && isAlnum(s.buf[at-2])) && a.isRow(s, from, end): // of properties, or of .netrc
		return true
	case quote == 0 && (bytes.IndexByte([]byte("&=#*!@%"), v[0]) >= 0 || bytes.IndexByte(v, '*') >= 0 || bytes.HasPrefix(v, []byte("0x"))): // of a program
		return false
	case quote == 0 && isReference(v):
		return m.digits > 0 && bytes.IndexByte(v, '.') < 0 && bytes.IndexByte(v, '_') < 0 && a.isRow(s, from, end)
	case isLetters(v):
		return quote != 0
	}
	return true
}

// begins says whether a keyword begins its name.
func (a *assigner) begins(s *scan, from int) bool { return a.inRowFrom(s, from) == from }

// inRowFrom is where a name begins in its row: what stands in the row before may be no part of it.
func (a *assigner) inRowFrom(s *scan, from int) int {
	return max(s.back(from, a.name, maxName), s.start(s.rowOf(from)))
}

// isRow says whether what's given to a name stands in a row of its own: name: value.
func (a *assigner) isRow(s *scan, from, end int) bool {
	begin := bytes.TrimLeft(s.buf[s.start(s.rowOf(from)):a.inRowFrom(s, from)], " -+")
	return bytes.IndexByte([]byte(".:!?\n"), s.buf[end]) >= 0 && (len(begin) == 0 || bytes.Equal(begin, []byte("export ")) || bytes.Contains(begin, []byte("login ")))
}

// isLetters says that a text has nothing but letters and what joins words.
func isLetters(v []byte) bool {
	for _, c := range v {
		if !isAlnum(c) && classOf(c) != separator || isDigit(c) {
			return false
		}
	}
	return true
}

// endsName says whether a name ends in a keyword: those that go on are about a secret.
func (a *assigner) endsName(s *scan, k keyword, from, end int) bool {
	rest := s.value(nil, from+len(k.word), end, maxName)
	if k.plural {
		rest = bytes.TrimPrefix(bytes.TrimPrefix(rest, []byte("s")), []byte("S"))
	}
	return len(bytes.Trim(rest, "_-0123456789")) == 0
}

// isSetting says whether a name is given a value as environment variables and options of commands
// are: NAME=value, --name value.
func (s *scan) isSetting(a *assigner, from, at int, quote byte) bool {
	first := a.inRowFrom(s, from)
	if at > 0 && quote != 0 {
		at--
	}
	if at > 1 && s.buf[first] == '-' && (s.buf[at-1] == '=' || s.buf[at-1] == ' ') {
		return true
	}
	return at > 1 && s.buf[at-1] == '=' && s.buf[at-2] != ' ' && isUpper(s.buf[first:at-1])
}

// isUpper says that a name has no small letters.
func isUpper(name []byte) bool {
	return bytes.IndexFunc(name, func(r rune) bool { return r >= 'a' && r <= 'z' }) < 0
}

// isReference says that a text could be a name in a program: a.b_c1.
func isReference(v []byte) bool {
	for i, c := range v {
		switch {
		case isAlnum(c) && (i > 0 || !isDigit(c)), c == '_', c == '.' && i > 0:
		default:
			return false
		}
	}
	return true
}

// nothings are values that say that there's no secret, or what type it has.
var nothings = [][]byte{ //nolint:gochecknoglobals // a constant table
	[]byte("true"), []byte("false"), []byte("null"), []byte("none"), []byte("nil"), []byte("undefined"), []byte("string"), []byte("bytes"), []byte("byte"), []byte("number"),
	[]byte("boolean"), []byte("object"), []byte("optional"), []byte("required"), []byte("default"), []byte("empty"), []byte("unset"), []byte("void"),
}

// listed says whether a name stands in a list, before another text of it.
func (s *scan) listed(nameEnd int) bool {
	at, closed := closing(s, nameEnd)
	_, comma := s.either(s.skip(at, 8), ",")
	return closed && comma
}

// isVersion says that a text is a version: ^1.2.3.
func isVersion(v []byte) bool {
	v = bytes.TrimLeft(v, "^~>=<v")
	return len(v) > 2 && isDigit(v[0]) && len(bytes.Trim(v, "0123456789.x")) == 0 && bytes.IndexByte(v, '.') > 0
}

// isNothing says that a value is one of those.
func isNothing(v []byte) bool {
	var small [256]byte
	low := appendLower(small[:0], v[:min(len(v), len(small))])
	return slices.ContainsFunc(nothings, func(w []byte) bool { return bytes.Equal(w, low) })
}

// isExpression says that a text is put together by a program, or is an address or words.
func isExpression(v []byte) bool {
	first, last := v[0], v[len(v)-1]
	return bytes.IndexByte([]byte("$<{("), first) >= 0 || first == '%' && last == '%' || first == '*' && last == '*' ||
		bytes.IndexByte(v, ' ') >= 0 || bytes.Contains(v, []byte("://")) || isExpanded(v)
}
