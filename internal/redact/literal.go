package redact

import (
	"bytes"
	"slices"
)

// setting is how plainly the text around a name says that a value of its own follows.
type setting uint8

const (
	// inCode is anywhere, in a program above all: names of variables and types stand there, too.
	inCode setting = iota
	// inData is a row of YAML, of properties or of .netrc that has nothing else in it, or one of
	// pairs: INFO user=me password=x.
	inData
	// isSet is what's given to a program: NAME=value, --name value, ?name=value, Server=x;Pwd=y.
	isSet
)

// findLiteral finds a value that stands for itself, and returns where it ends; 0: there's none. It
// stands in the row of its name, or in rows that a terminal has broken: what's masked in a row
// depends on nothing behind it, but that a value that goes on in the next row goes on there.
func (a *assigner) findLiteral(s *scan, k keyword, from, nameEnd int, o operand) int {
	if o.quote != 0 && !o.escaped && o.by != 'v' && s.closes(o) || !a.endsName(s, k, from, nameEnd) {
		return 0
	}
	if row := s.rowOf(from); s.listed(nameEnd) || row != s.rowOf(o.at) && o.by != 'v' && (!s.full(row) || o.by == ' ' && s.buf[a.inRowFrom(s, from)] != '-') {
		return 0
	}
	r := s.bare(o.at, a.bare)
	if o.quote != 0 {
		r = s.quoted(o.at, o.quote, o.escaped)
	}
	for i, end := range r.ends {
		if s.isHead(end) {
			continue
		}
		if o.quote == 0 && s.buf[end] != '<' { // the end of a sentence isn't of the value
			end = o.at + len(bytes.TrimRight(s.buf[o.at:end], ".:!?"))
		}
		v := s.value(nil, o.at, end, maxLiteral)
		if len(v) == 0 || o.quote == 0 && bytes.IndexByte([]byte("([{"), s.buf[end]) >= 0 || hasMask(v) {
			continue
		}
		l := literal{s: s, a: a, k: k, from: from, nameEnd: nameEnd, operand: o, end: end, v: v, closed: r.closed && i == 0}
		if l.isSecret() {
			f := finding{from: o.at, secret: o.at, end: end, label: k.label, rank: rankGuess}
			s.waitEnd(f)
			s.found(f)
			return end
		}
	}
	return 0
}

// hasMask says that a text has a mask in it.
func hasMask(v []byte) bool {
	return bytes.Contains(v, []byte(maskBegin)) || bytes.Contains(v, []byte(dot))
}

// closes says whether the quote before a value is none that begins a text but one that ends the
// text in which the name stands: "password=" + x.
func (s *scan) closes(o operand) bool {
	open := byte(0)
	row := s.buf[s.start(s.rowOf(o.at-1)) : o.at-1]
	for i := 0; i < len(row); i++ {
		switch c := row[i]; {
		case c == '\\':
			i++
		case open == c:
			open = 0
		case open == 0 && (c == '"' || c == '`' || c == '\'' && (i == 0 || !isAlnum(row[i-1]))):
			open = c
		}
	}
	return open == o.quote
}

// literal is a value that may stand for itself.
type literal struct {
	operand
	s             *scan
	a             *assigner
	k             keyword
	from, nameEnd int // where the keyword begins and its name ends, in buf
	end           int
	v             []byte
	closed        bool
}

// isSecret says whether what a name is given that says that it's secret is a text that stands
// for itself: no variable, call, type or count. An ordinary password looks like words.
func (l *literal) isSecret() bool {
	set := l.setting()
	if l.isNone(set) {
		return false
	}
	v, m, first := l.v, measureOf(l.v), l.a.inRowFrom(l.s, l.from)
	switch {
	case set != isSet && namesSecret(v):
		return false
	case l.k.word == "pass" && set != isSet && l.a.begins(l.s, l.from): // a test passes
		return false
	case m.digits == len(v): // a count
		return l.k.label == "password" && (l.quote == 0 || set == isSet)
	case m.distinct < 4 || 5*m.steps > 4*(m.length-1): // xxxx, abcdef
		return false
	case l.quote == 0 && set != isSet && isHexNumber(v), l.by == ' ' && isHexNumber(v), bytes.HasPrefix(v, []byte(`\x1b[`)), bytes.HasPrefix(v, []byte(`\033[`)), bytes.HasPrefix(v, []byte(`\e[`)), isHexColour(v):
		return false
	case set == isSet:
		return true
	case l.by == '>': // <password>value</password>
		return first > 0 && l.s.buf[first-1] == '<' && l.s.buf[l.end] == '<'
	case l.quote == 0 && set == inData && (l.by == '=' && l.tight || l.by == ' '):
		return true
	case l.quote == 0 && (bytes.IndexByte([]byte("&=#*!@%"), v[0]) >= 0 || bytes.IndexByte(v, '*') >= 0 || bytes.HasPrefix(v, []byte("0x"))): // of a program
		return false
	case l.quote == 0 && isReference(v):
		return m.digits > 0 && bytes.IndexByte(v, '.') < 0 && bytes.IndexByte(v, '_') < 0 && set == inData
	case l.quote == 0 && isLetters(v):
		return false
	case bytes.ContainsAny(v, "\\\"'`"):
		return l.closed && !isPattern(v)
	}
	return true
}

// isNone says that a value says that there's no secret, or where it comes from.
func (l *literal) isNone(set setting) bool {
	v := l.v
	if len(v) < 4 || isNothing(v) || isVersion(v) || isStandIn(v) || isStandInWord(v) || isUUID(v) {
		return true
	}
	if l.k.word == "credential" && (bytes.ContainsAny(v, `/\`) || bytes.Contains(v, []byte("same-origin"))) { // a file, or whether a browser sends cookies
		return true
	}
	if l.quote == 0 && l.by == ' ' && v[0] == '-' { // the next option
		return true
	}
	if l.quote != 0 && bytes.IndexByte(v, ' ') >= 0 {
		return !isPhrase(v, set) || set != isSet && (!l.closed || l.k.label != "password" && l.k.label != "passphrase" && l.k.label != "secret" || bytes.IndexByte(v, '{') >= 0)
	}
	return isExpression(v)
}

// setting says how plainly it's said that a value follows the name.
func (l *literal) setting() setting {
	s, first := l.s, l.a.inRowFrom(l.s, l.from)
	name := s.buf[first:l.nameEnd]
	switch {
	case name[0] == '-' && (l.by == '=' || l.by == ' '), l.by == '=' && l.tight && isUpper(name):
		return isSet
	case l.a.isRow(s, l.from, l.end):
		return inData
	}
	return inCode
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

// isPhrase says that a text of several words is a password and no sentence.
func isPhrase(v []byte, set setting) bool {
	if bytes.IndexByte([]byte("$<{("), v[0]) >= 0 || v[0] == ' ' || isExpanded(v) || bytes.Contains(v, []byte("://")) {
		return false
	}
	var small [maxLiteral]byte
	words := bytes.Fields(appendLower(small[:0], v[:min(len(v), len(small))]))
	for _, w := range words {
		w = bytes.Trim(w, ".,:;!?()\"'")
		if slices.Contains(sentence, string(w)) || slices.ContainsFunc([]string{"pass", "secret", "token", "credential", "key", "pwd", "auth"}, func(stem string) bool { return bytes.HasPrefix(w, []byte(stem)) }) {
			return false
		}
	}
	return set == isSet || len(words) > 1 && len(words) <= 8
}

// isHexColour says that a text is a colour of the web: #d8dee9.
func isHexColour(v []byte) bool {
	return v[0] == '#' && len(v) <= len("#d8dee9ff") && onlyHex(v[1:])
}

// isHexNumber says that a text is a number of a program of at most 64 bits: 0x80A1, -0x3.
func isHexNumber(v []byte) bool {
	rest, ok := bytes.CutPrefix(bytes.TrimLeft(v, "-"), []byte("0x"))
	return ok && len(rest) <= 16 && onlyHex(bytes.TrimRight(rest, "uUlL"))
}

// namesSecret says that a text is a name of a secret and none itself: access_token, user.apiKey.
func namesSecret(v []byte) bool {
	last := 0
	for i, c := range v {
		switch {
		case !isAlnum(c) && c != '_' && c != '-' && c != '.':
			return false
		case !isAlnum(c):
			last = i + 1
		case i > 0 && classOf(c) == upper && classOf(v[i-1]) == lower:
			last = i
		}
	}
	var small [maxName]byte
	word := bytes.TrimSuffix(appendLower(small[:0], v[last:min(len(v), last+maxName)]), []byte("s"))
	return last > 0 && slices.ContainsFunc(keywords(), func(k keyword) bool { return k.word == string(word) })
}

// isPattern says that a text with backslashes is an expression or has control characters: \d+, \x00.
func isPattern(v []byte) bool {
	for i := 0; i+1 < len(v); i++ {
		if v[i] != '\\' {
			continue
		}
		if i++; isAlnum(v[i]) || bytes.IndexByte([]byte(".(){}[]+*?|^$/%"), v[i]) >= 0 {
			return true
		}
	}
	return false
}

// sentence are words that sentences have, and passwords of several words have not.
var sentence = []string{ //nolint:gochecknoglobals // a constant table
	"a", "an", "the", "this", "that", "is", "are", "was", "be", "been", "of", "to", "for", "from", "in", "on", "at", "by", "with", "without", "and", "or", "not", "no", "if", "when", "your",
	"you", "it", "its", "as", "has", "have", "must", "should", "can", "will", "may", "enter", "invalid", "required", "missing", "use", "used", "set", "please", "de", "la", "le", "el", "und", "der", "die", "das",
}
