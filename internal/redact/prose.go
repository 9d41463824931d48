package redact

import (
	"bytes"
	"slices"
)

// The forms that prompts, messages and people have for a name and its value.

// mostBetween is how many bytes can stand between a name and the colon before its value.
const mostBetween = 96

// prompted is the value behind what a prompt or a message says of a name, at the end of its row:
// Password for bob: x, your password is: x, password set to x. at is where the name ends.
func (s *scan) prompted(at int) (o operand, ok bool) {
	if s.buf[at] != ' ' {
		return o, false
	}
	if o, ok := s.quotedInProse(at); ok {
		return o, ok
	}
	switch s.buf[at+1] {
	case 's', 'c', 'r', 'h', 'w':
		if next, ok := s.either(at+1, "set to ", "changed to ", "reset to ", "has been set to ", "has been changed to ", "has been reset to ", "was set to ", "was changed to ", "was reset to "); ok {
			return s.said(next)
		}
		return o, false
	case '[': // AWS Secret Access Key [None]: x
		row := s.buf[at:s.end(s.rowOf(at))]
		i := bytes.Index(row, []byte("]: "))
		if i < 0 || i > maxName {
			return o, false
		}
		o = operand{at: s.column(at + i + len("]:")), by: 'd', until: '\n'}
		return o, isOrdinary(s.buf[o.at:max(o.at, s.end(s.rowOf(at)))])
	case 'f', 'i', 'o', 'l':
	default:
		return o, false
	}
	text := s.buf[at:min(s.end(s.rowOf(at)), at+mostBetween+maxName)]
	if !slices.ContainsFunc([]string{" for ", " is ", " is: ", " of ", " ist: ", " lautet: "}, func(w string) bool { return bytes.HasPrefix(text, []byte(w)) }) {
		return o, false
	}
	colon := bytes.LastIndex(text, []byte(": "))
	if colon < 0 || colon > mostBetween || bytes.ContainsAny(text[:colon], "(){}[]=;,\"`<>") {
		return o, false
	}
	return s.said(s.column(at + colon + 1))
}

// quotedInProse is a text in quotes that stands behind a password's name in a sentence, and is no word or
// name: the password `x`, set the password to "x". at is where the name ends.
func (s *scan) quotedInProse(at int) (o operand, ok bool) {
	next, _ := s.either(at+1, "to ", "as ", "(", "→ ", "-> ")
	if q := s.buf[next]; q != '"' && q != '\'' && q != '`' {
		return o, false
	}
	name := s.buf[max(0, at-len("passphrase")):at]
	if !bytes.EqualFold(name, []byte("passphrase")) && !bytes.EqualFold(name[max(0, len(name)-len("password")):], []byte("password")) {
		return o, false
	}
	if o, ok = s.inQuotes(next, 'd', ""); !ok {
		return o, false
	}
	v := s.buf[o.at:s.quoted(o.at, o.quote, false).ends[0]]
	return o, isOrdinary(v) && v[0] != '$' && !bytes.ContainsAny(v, "_.(){}[]<>/\\") && !isExpanded(v)
}

// said is a value that a row of prose ends with, if it's no word alone.
func (s *scan) said(at int) (o operand, ok bool) {
	if q := s.buf[at]; q == '"' || q == '\'' || q == '`' {
		o, ok = s.inQuotes(at, 'd', "\n.,)")
		return o, ok && isOrdinary(s.buf[o.at:s.quoted(o.at, o.quote, false).ends[0]])
	}
	row := s.buf[at:s.end(s.rowOf(at))]
	return operand{at: at, by: 'd', until: '\n'}, len(row) < maxName && isOrdinary(row) && !bytes.ContainsAny(row, "()[]{}<>\"'`,;/|\\") && row[len(row)-1] != ':' && row[0] != '%'
}

// isSaid says whether a row of prose says that a name is a value, which is no word alone: the password is x.
func (l *literal) isSaid() bool {
	m := measureOf(l.v)
	if l.by != 'i' || l.quote != 0 || !isOrdinary(l.v) || m.digits < 2 && m.surprises < 3 || bytes.IndexByte(l.v, '.') >= 0 {
		return false
	}
	after := l.s.buf[l.end]
	return after == '\n' || (after == '.' || after == ',' || after == '!') && l.s.buf[l.end+1] <= ' '
}

// isAmong says whether a name and its value stand among others with commas, behind a user, or in what
// a program prints of an object: user=bob, password=x, host=y.
func (l *literal) isAmong(head []byte) bool {
	if l.by != '=' && l.by != ':' || !isOrdinary(l.v) {
		return false
	}
	after := l.s.buf[l.end]
	if open := bytes.LastIndexByte(head, '<'); open >= 0 && l.tight && after == '>' {
		return bytes.IndexByte(head[open:], '"') < 0 && bytes.IndexByte(head[open:], '>') < 0
	}
	pair, ok := bytes.CutSuffix(bytes.TrimRight(head, " "), []byte(","))
	if !ok || measureOf(l.v).digits < 2 || after != ',' && after != ')' && after != '\n' || l.by == '=' && bytes.Count(head, []byte("(")) > bytes.Count(head, []byte(")")) {
		return false
	}
	if i := bytes.LastIndexAny(pair, ",("); i >= 0 {
		pair = pair[i+1:]
	}
	name, value, ok := bytes.Cut(bytes.ToLower(bytes.TrimSpace(pair)), []byte{l.by})
	name = bytes.TrimSpace(name)
	return ok && (bytes.HasSuffix(name, []byte("user")) || bytes.HasSuffix(name, []byte("username")) || bytes.HasSuffix(name, []byte("login"))) && isReference(bytes.TrimSpace(value)) && !bytes.HasSuffix(bytes.TrimSpace(value), name)
}

// openQuotes are the quotes that texts of people begin with, and what the closing ones begin with.
var openQuotes = []string{"“", "„", "‘", "‚", "«", "‹"} //nolint:gochecknoglobals // a constant table

// inCurly is a text in quotes of those.
func (s *scan) inCurly(at int) (o operand, ok bool) {
	next, ok := s.either(at, openQuotes...)
	if !ok || s.rowOf(next) != s.rowOf(at) {
		return o, false
	}
	return operand{at: next, by: 'v', until: s.buf[at]}, s.buf[next] != s.buf[at]
}

// wideBlank is the length of a blank at a place that ASCII doesn't have; 0: there's none.
func (t *text) wideBlank(at int) int {
	switch rest := t.buf[at:]; {
	case bytes.HasPrefix(rest, []byte("\u00a0")):
		return 2
	case bytes.HasPrefix(rest, []byte("\u202f")), bytes.HasPrefix(rest, []byte("\u2009")), bytes.HasPrefix(rest, []byte("\u3000")):
		return 3
	}
	return 0
}

// tongues are words for a password in other languages.
func tongues() (out []keyword) {
	for _, w := range []string{
		"passwort", "kennwort", "contraseña", "contrasena", "senha", "mot de passe", "wachtwoord", "hasło", "heslo", "lösenord", "adgangskode", "salasana", "şifre", "parola", "jelszó",
		"пароль", "密码", "密碼", "口令", "パスワード", "비밀번호", "암호",
	} {
		out = append(out, keyword{word: w, label: "password", whole: true, tongue: true})
	}
	return out
}
