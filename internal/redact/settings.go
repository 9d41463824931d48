package redact

import (
	"bytes"
	"slices"
)

// The rows of YAML, of files of settings and of environment variables: values without quotes in them
// can be words, and several of them.

// takesPhrases says that what a name is given can be several words.
func (k keyword) takesPhrases() bool {
	return k.label == "password" || k.label == "passphrase" || k.label == "secret"
}

// isWord says whether a word without quotes is a password, in a row of YAML or of a file of
// settings: it's none in a program, and none that says what a password is like. A token or a key is
// a word only where the row before is of such a file, too, or where its name has several words and
// the row before is of no program.
func (l *literal) isWord() bool {
	if isState(l.v) {
		return false
	}
	row := l.s.rowOf(l.first)
	if !l.k.takesPhrases() {
		if l.listed || l.k.label == "credential" || !isSmall(l.v) {
			return false
		}
		named := bytes.ContainsAny(l.s.buf[l.first:l.nameEnd], "_-")
		return l.by == ':' && (l.s.isYAML(row) || named && !l.s.isCode(row)) || l.by == '=' && l.s.isIni(row)
	}
	return (l.by == ':' || l.listed) && !l.s.isCode(row) || l.by == '=' && l.s.isIni(row)
}

// findPhrase finds a value of several words without quotes, which is the rest of its row or goes on in
// the next one where that's full, and returns where it ends; 0: there's none.
func (a *assigner) findPhrase(s *scan, k keyword, from, nameEnd int, o operand) int {
	row := s.rowOf(from)
	if !k.takesPhrases() || o.quote != 0 || o.until != 0 || o.listed || o.by != ':' && o.by != '=' || s.rowOf(o.at) != row || s.rowOf(nameEnd-1) != row || !a.isRow(s, from, s.end(row)) {
		return 0
	}
	ends := []int{s.endOfPhrase(o.at, row)}
	long := s.width(row) >= terminal || bytes.IndexByte(s.buf[o.at:max(o.at, ends[0])], ' ') > 0 // else a word stands alone in its row
	for next := row; long && len(ends) < 4 && ends[0] == s.end(next) && next+1 < s.len() && s.full(next); {
		next++
		ends = append([]int{s.endOfPhrase(s.start(next), next)}, ends...)
	}
	for _, end := range ends {
		if s.isHead(end) || end <= o.at {
			continue
		}
		words := s.buf[o.at:min(end, o.at+maxLiteral)]
		if !isBarePhrase(words) || !a.holdsPhrase(s, row, from, nameEnd, o, len(bytes.Fields(words))) {
			continue
		}
		f := match{from: o.at, secret: o.at, end: end, label: k.label, rank: rankGuess}
		s.waitEnd(f)
		s.found(f)
		return end
	}
	return 0
}

// endOfPhrase is where a row's text ends from a place on: before a comment.
func (s *scan) endOfPhrase(at, row int) int {
	text := s.buf[at:s.end(row)]
	if i := bytes.Index(text, []byte(" #")); i >= 0 {
		text = text[:i]
	}
	return at + len(bytes.TrimRight(text, " \t"))
}

// isBarePhrase says that a text of several words is a password and no sentence, command or type.
func isBarePhrase(text []byte) bool {
	var small [maxLiteral]byte
	words := bytes.Fields(appendLower(small[:0], text))
	if len(words) < 2 || len(words) > 8 || bytes.ContainsAny(text, "(){}[]<>=;\"'`|\\,/&$") || hasMask(text) {
		return false
	}
	for _, w := range words {
		if bytes.IndexByte([]byte("-:.!%@*+"), w[0]) >= 0 || string(w) == "#" || w[len(w)-1] == ':' || w[len(w)-1] == '.' || slices.Contains(sentence, string(w)) || slices.Contains(states, string(w)) || isNothing(w) || isWordForSecret(bytes.TrimRight(w, "s")) && string(w) != "pass" {
			return false
		}
	}
	return true
}

// holdsPhrase says whether several words without quotes are a value where they stand: in a row of YAML
// or of a file of settings, as the row before tells.
func (a *assigner) holdsPhrase(s *scan, row, from, nameEnd int, o operand, words int) bool {
	if o.by == ':' {
		return s.isYAML(row) || s.isComment(row) || words > 2 && !s.isCode(row)
	}
	if name := s.buf[a.inRowFrom(s, from):nameEnd]; o.tight && bytes.IndexByte(name, '.') < 0 { // a shell would run the words
		return words > 2 && s.isSetting(row, true)
	}
	return s.isIni(row) || s.isComment(row) || s.isSetting(row, false) || words > 2 && !s.isCode(row)
}

// rowBefore is the end of the row before one that has something in it, at most two above. Of what
// searches in files it's a row of the same file.
func (s *scan) rowBefore(row int) []byte {
	var before []byte
	for i := row - 1; i >= max(0, row-2) && len(before) == 0; i-- {
		before = s.buf[max(s.start(i), s.end(i)-maxHead):s.end(i)]
	}
	own := s.buf[s.start(row):s.end(row)]
	if n := pathLen(own); n > 0 && len(withoutPlace(own)) < len(own) && !bytes.HasPrefix(before, own[:n]) {
		return nil
	}
	return withoutPlace(before)
}

// isCode says whether the row before one is of a program, or can't be told since it's masked.
func (s *scan) isCode(row int) bool {
	before := s.rowBefore(row)
	if len(before) == 0 {
		return false
	}
	if bytes.IndexByte([]byte("{([,;)>"), before[len(before)-1]) >= 0 || hasMask(before) {
		return true
	}
	return slices.ContainsFunc([]string{"class ", "def ", "struct ", "type ", "interface ", "func ", "case ", "if ", "@", "//", "*"}, func(w string) bool { return bytes.HasPrefix(before, []byte(w)) }) ||
		bytes.Contains(before, []byte(" = ")) || bytes.IndexByte(before, '(') >= 0
}

// isIni says whether the row before one is of a file of settings: [section], name = value.
func (s *scan) isIni(row int) bool {
	before := s.rowBefore(row)
	if len(before) > 2 && before[0] == '[' && before[len(before)-1] == ']' {
		return true
	}
	name, value, ok := bytes.Cut(before, []byte("="))
	name, value = bytes.TrimSpace(name), bytes.TrimSpace(value)
	return ok && len(value) > 0 && len(name) > 0 && isReference(name) && isReference(value) && bytes.IndexByte(value, '.') < 0 && !hasMask(before) && s.rows[row].indent == 0
}

// isComment says whether the row before one is a comment of YAML or of a file of settings.
func (s *scan) isComment(row int) bool {
	before := s.rowBefore(row)
	return len(before) > 1 && before[0] == '#' && (before[1] == ' ' || before[1] == '#')
}

// isYAML says whether the row before one is of YAML: a name, or a name and a value that's no type.
func (s *scan) isYAML(row int) bool {
	before := s.rowBefore(row)
	if bytes.HasPrefix(before, []byte("---")) {
		return len(bytes.Trim(before, "-")) == 0
	}
	if len(before) == 0 || s.isCode(row) {
		return false
	}
	name, value, ok := bytes.Cut(beforeName(before), []byte(":"))
	if !ok || len(name) == 0 || len(value) > 0 && value[0] != ' ' || slices.Contains([]string{"else", "try", "finally", "default", "public", "private", "protected"}, string(name)) {
		return false
	}
	for _, c := range name {
		if !isAlnum(c) && c != '_' && c != '-' && c != '.' {
			return false
		}
	}
	value = bytes.TrimSpace(value)
	return !isNothing(value) && !isState(value) && !slices.Contains([]string{"int", "float", "bool", "any", "uuid", "date", "datetime"}, string(value))
}

// isSetting says whether the row before one gives a value to a name and does nothing else. tight: no
// blanks stand beside the sign.
func (s *scan) isSetting(row int, tight bool) bool {
	before := s.rowBefore(row)
	name, value, ok := bytes.Cut(before, []byte("="))
	if !ok || hasMask(before) || tight != (len(bytes.TrimRight(name, " ")) == len(name)) || tight && bytes.IndexByte(value, ' ') >= 0 {
		return false
	}
	name, value = bytes.TrimSpace(name), bytes.TrimSpace(value)
	return len(name) > 0 && isReference(name) && len(value) > 0 && !bytes.ContainsAny(value, "(){}[];\"'`$=|&+*?,") && s.rows[row].indent == 0
}

// isSmall says that a text has small letters alone, and dashes between them.
func isSmall(v []byte) bool {
	return len(bytes.Trim(v, "abcdefghijklmnopqrstuvwxyz-")) == 0 && v[0] != '-' && v[len(v)-1] != '-'
}
