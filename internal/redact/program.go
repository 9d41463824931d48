package redact

import (
	"bytes"
	"slices"
)

// What programs and their documentation give to names with a keyword in them: numbers, fields of
// objects, words of parsers, texts that people read.

// isOfProgram says that a value is part of a program, or what documentation has for one.
func (l *literal) isOfProgram() bool {
	v := l.v
	if l.quote == 0 {
		switch {
		case l.k.label == "token" && isExponent(v), l.set == inCode && isNegative(v):
			return true
		case isComparison(v), bytes.HasPrefix(v, []byte("++")):
			return true
		case l.k.label != "password" && l.k.label != "passphrase" && l.k.label != "secret" && (l.set == inCode || l.by == ':') && l.k.isWordOf(v), l.isField():
			return true
		}
	}
	if l.set != inCode || l.k.label == "password" || l.k.label == "passphrase" {
		return l.set == inCode && bytes.HasPrefix(v, []byte("/etc")) // a file
	}
	switch {
	case l.compared && isLetters(v): // a lexer's: token == "STRING"
		return true
	case isUpper(v) && isLetters(v), isForeign(v): // STRING_VALUE; what a page says
		return true
	case l.quote != 0 && l.whole && l.isAlternative(): // "a" | "b"
		return true
	}
	return bytes.EqualFold(bytes.TrimRight(v, "sS"), []byte(l.k.word)) // tokens: "Tokens"
}

// saysToken says that a value of a token is letters that say themselves that they're one:
// myregistrytoken, my-auth-token-here.
func (l *literal) saysToken() bool {
	if l.k.word != "token" || !isLetters(l.v) {
		return false
	}
	var small [maxName]byte
	v := appendLower(small[:0], l.v[:min(len(l.v), maxName)])
	return bytes.HasSuffix(bytes.TrimSuffix(v, []byte("-here")), []byte("token"))
}

// isExponent says that a text is a number with an exponent: 15e3.
func isExponent(v []byte) bool {
	base, power, ok := bytes.Cut(v, []byte("e"))
	return ok && len(base) > 0 && len(power) == 1 && isDigit(power[0]) && len(bytes.Trim(base, "0123456789.")) == 0
}

// isComparison says that a text compares two others: a!==b.
func isComparison(v []byte) bool {
	return bytes.Contains(v, []byte("===")) || bytes.Contains(v, []byte("!=="))
}

// endsInComment says whether all that stands of a text in its last row is the mark of a comment.
func (s *scan) endsInComment(from, end int) bool {
	row := s.rowOf(end)
	return s.rowOf(from) != row && s.start(row) < end && len(bytes.Trim(s.buf[s.start(row):end], "#")) == 0
}

// isNegative says that a text is a number below zero.
func isNegative(v []byte) bool {
	return len(v) > 1 && v[0] == '-' && len(bytes.Trim(v[1:], "0123456789")) == 0
}

// isWordOf says that a keyword is a word within a text: ProgressTokenSchema2, credentials3.
func (k keyword) isWordOf(v []byte) bool {
	if bytes.ContainsAny(v, "&=%/-") { // others follow it, or it's none
		return false
	}
	for _, w := range k.spellings()[:2] {
		at := bytes.Index(v, []byte(w))
		if at < 0 || at > 0 && isAlnum(v[at-1]) && classOf(w[0]) == classOf(v[at-1]) {
			continue
		}
		if rest := v[at+len(w):]; len(rest) == 0 || classOf(rest[0]) != lower || k.plural && rest[0] == 's' {
			return true
		}
	}
	return false
}

// isField says that a text without quotes is a field of something in a program: a.#b, C$d.
func (l *literal) isField() bool {
	v := l.v
	at := bytes.IndexAny(v, "#$")
	if l.set != inCode || at < 1 || at+1 == len(v) || !isAlnum(v[at+1]) || v[at] == '#' && v[at-1] != '.' {
		return false
	}
	return isReference(v[:at]) && isReference(v[at+1:])
}

// isForeign says that a text has letters of other alphabets alone: no token and no key has.
func isForeign(v []byte) bool {
	return len(v) > 0 && !slices.ContainsFunc(v, func(c byte) bool { return c < 0x80 && c != ' ' })
}

// isAlternative says whether a text in quotes is one of several that a type can be: "a" | "b".
func (l *literal) isAlternative() bool {
	rest := l.s.buf[l.end+1 : min(len(l.s.buf), l.end+1+len(` | "`))]
	return bytes.Equal(rest, []byte(` | "`)) || bytes.Equal(rest, []byte(" | '"))
}

// isTold says whether what stands behind an option is no value of it but tells of it: the --token flag, or
// a text of help, which blanks keep apart.
func (s *scan) isTold(first, at int) bool {
	if s.buf[first] != '-' {
		return false
	}
	end := at
	for isAlnum(s.buf[end]) && end-at < maxName {
		end++
	}
	word := string(s.buf[at:end])
	if s.buf[at-1] == ' ' && s.buf[at-2] == ' ' && s.buf[end] == ' ' && isLetters(s.buf[at:end]) {
		return true
	}
	return slices.Contains([]string{
		"option", "options", "flag", "flags", "requires", "require", "argument", "arguments", "parameter", "parameters", "is", "are", "to", "for", "in", "on", "with", "and", "or", "if", "when", "must", "can", "should", "instead", "values", "but",
	}, word)
}
