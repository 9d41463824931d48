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
	if row := s.rowOf(from); o.by == ',' && (o.quote == 0 || !s.isCall(a.inRowFrom(s, from))) || row != s.rowOf(o.at) && o.by != 'v' && !o.listed && (!s.full(row) || o.by == ' ' && s.buf[a.inRowFrom(s, from)] != '-') {
		return 0
	}
	if o.escaped && o.tight && !o.closed && s.joined(a.inRowFrom(s, from), `\"`) || o.by == ' ' && s.isTold(a.inRowFrom(s, from), o.at) { // \"Password:\", see --password options
		return 0
	}
	if end := a.findPhrase(s, k, from, nameEnd, o); end > 0 {
		return end
	}
	var r stretch
	switch {
	case o.quote != 0:
		r = s.quoted(o.at, o.quote, o.escaped)
	case o.until != 0:
		r = s.before(o.at, o.until)
	default:
		r = s.bare(o.at, a.bare)
		if o.by == '=' && o.tight && isUpper(s.buf[a.inRowFrom(s, from):nameEnd]) {
			whole := s.bare(o.at, a.word)
			if end := whole.ends[len(whole.ends)-1]; s.buf[end] == '\n' && a.isRow(s, from, end) && !isProgram(s.buf[o.at:end]) {
				r = whole
			}
		}
	}
	for i, end := range r.ends {
		if s.isHead(end) || o.quote == 0 && s.endsInComment(o.at, end) {
			continue
		}
		if o.quote == 0 && o.until == 0 && bytes.IndexByte([]byte("([{"), s.buf[end]) >= 0 {
			continue
		}
		l := literal{s: s, a: a, k: k, first: a.inRowFrom(s, from), from: from, nameEnd: nameEnd, operand: o, end: end, whole: r.closed && i == 0, v: s.value(nil, o.at, end, maxLiteral)}
		if l.set = l.setting(); l.set == inCode && o.quote == 0 && s.rowOf(o.at) != s.rowOf(end) {
			continue
		}
		if l.set == inCode && o.quote == 0 && s.buf[end] != '<' { // the end of a sentence isn't of the value
			end = o.at + len(bytes.TrimRight(s.buf[o.at:end], ".:!?"))
			l.end = end
		}
		if l.v = s.value(nil, o.at, end, maxLiteral); len(l.v) > 0 && !hasMask(l.v) && l.isSecret() {
			f := match{from: o.at, secret: o.at, end: end, label: k.label, rank: rankGuess}
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
func (s *scan) closes(o operand) bool { return s.openQuote(o.at-1) == o.quote }

// openQuote is the quote that was opened before a place in its row, and not closed; 0: there's none.
func (s *scan) openQuote(at int) (open byte) {
	row := s.head(at)
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
	return open
}

// literal is a value that may stand for itself.
type literal struct {
	operand
	s                    *scan
	a                    *assigner
	k                    keyword
	first, from, nameEnd int // where the name begins in its row, where its keyword does, and where it ends, in buf
	end                  int
	v                    []byte
	whole                bool
	set                  setting
}

// isSecret says whether what a name is given that says that it's secret is a text that stands
// for itself: no variable, call, type or count. An ordinary password looks like words.
func (l *literal) isSecret() bool {
	if l.isNone() || l.set != isSet && l.isOfProgram() {
		return false
	}
	v, m := l.v, measureOf(l.v)
	switch {
	case l.k.tongue && !isOrdinary(v), l.by == 'd' && isState(v):
		return false
	case l.set != isSet && (namesSecret(v) || l.saysToken()):
		return false
	case l.k.word == "pass" && l.set != isSet && l.a.begins(l.s, l.from) && (!isOrdinary(v) || !l.isBesideUser()): // a test passes
		return false
	case l.k.word == "pwd" && l.by == ':' && l.a.begins(l.s, l.from) && (!isOrdinary(v) || bytes.IndexByte(v, '/') >= 0): // a folder
		return false
	case m.digits == len(v):
		return l.isNumber()
	case l.quote == 0 && (isHexNumber(v) || l.set != isSet && isVariable(v)), isColour(v), l.by == ' ' && l.set == inCode:
		return false
	case l.set == isSet:
		return m.distinct > 1
	case m.distinct < 4 || 5*m.steps > 4*(m.length-1): // xxxx, abcdef
		return false
	case l.by == '>': // <password>value</password>
		return bytes.HasPrefix(l.s.buf[l.end:], []byte("</")) && l.first > 0 && (l.s.buf[l.first-1] == '<' || l.s.buf[l.nameEnd] == '"' && l.set != inCode)
	case l.listed && l.quote == 0 && isFormat(v): // [a-z0-9]
		return false
	case (l.by == ',' || l.by == 'c') && l.s.buf[l.s.column(l.end+1)] != ')': // an argument among others
		return false
	case l.by == 'v' && l.quote == 0:
		return !isState(v) && (l.until != 0 || l.endsField())
	case l.by == '|':
		return !isState(v) && (l.quote == 0 || isOrdinary(v)) && (m.digits > 0 || l.s.buf[l.s.column(l.end)] == '\n')
	case l.quote == 0 && l.set == inData && (l.by == '=' && l.tight || l.by == ' '):
		return !isState(v)
	case l.quote == 0 && (bytes.IndexByte([]byte("&=#*!@%"), v[0]) >= 0 || bytes.IndexByte(v, '*') >= 0): // of a program
		return l.set == inData && m.digits > 0 && v[0] != '*' && v[0] != '&'
	case l.quote == 0 && (isReference(v) || isLetters(v)):
		return l.set == inData && (m.digits > 0 && bytes.IndexByte(v, '.') < 0 && bytes.IndexByte(v, '_') < 0 || l.isWord())
	case bytes.ContainsAny(v, "\\\"'`"):
		return l.whole && !isPattern(v)
	}
	return true
}

// isNone says that a value says that there's no secret, or where it comes from.
func (l *literal) isNone() bool {
	v := l.v
	least := 4
	if l.set == isSet && l.k.label == "password" {
		least = 3
	}
	switch {
	case len(v) < least || isNothing(v) || isVersion(v) || isUUID(v) || isPublicKey(v) || l.isStandIn():
		return true
	case l.k.label == "credential" && (bytes.ContainsAny(v, `/\`) || slices.Contains(ways, string(bytes.ToLower(v)))): // a file
		return true
	case l.k.label != "password" && l.k.label != "passphrase" && bytes.Count(v, []byte("/")) > 1 && measureOf(v).surprises == 0, bytes.Contains(v, []byte("secrets/")): // where it is
		return true
	case l.quote == 0 && l.by != '=' && v[0] == '-': // the next option, or what stands for it: ${TOKEN:-none}
		return true
	case l.quote == 0 && l.by == ' ' && l.s.buf[l.first] == '-' && isFlag(l.s.buf[l.first:l.from]):
		return true
	case (l.quote != 0 || l.until != 0) && bytes.IndexByte(v, ' ') >= 0:
		return !isPhrase(v, l.set) || l.set != isSet && (!l.whole || l.k.label != "password" && l.k.label != "passphrase" && l.k.label != "secret" || bytes.IndexByte(v, '{') >= 0)
	}
	return isExpression(v)
}

// isStandIn says that a value is what documentation has for one. What's given to a program is none,
// unless it says so.
func (l *literal) isStandIn() bool {
	if l.set != isSet && l.k.label == "password" {
		return isPlaceholder(l.v) || isWordForSecret(l.v) || l.set == inCode && measureOf(l.v).digits == 0 && isStandIn(l.v) && !bytes.Contains(l.v, []byte("secret"))
	}
	if l.set == inCode {
		v := l.v
		for _, w := range []string{"secret-", "secret_", "Secret-"} { // what follows isn't said by it
			v = bytes.TrimPrefix(v, []byte(w))
		}
		return isStandIn(v) || isStandInWord(l.v)
	}
	if name := l.s.buf[l.first:l.nameEnd]; (name[0] == '-' || !isUpper(name)) && (isWordForSecret(l.v) || isVariable(l.v) || isUpper(l.v) && isLetters(l.v)) { // --password PASSWORD
		return true
	}
	return isPlaceholder(l.v)
}

// endsField says whether a value without quotes is all that's given, and not a variable of a program.
func (l *literal) endsField() bool {
	after := l.s.buf[l.s.column(l.end)]
	return bytes.IndexByte([]byte("\n#,}"), after) >= 0 && (l.s.buf[l.nameEnd] == '\n' || l.s.buf[l.nameEnd] == ',' || !isReference(l.v) || measureOf(l.v).digits > 0)
}

// isNumber says whether a number is a secret: a password is, a count of tokens isn't.
func (l *literal) isNumber() bool {
	if l.k.label == "password" {
		return true
	}
	if l.quote == 0 && l.set == inCode || len(l.v) < 6 || isCount(l.v) || l.k.label == "token" && l.quote == 0 && l.s.buf[l.nameEnd-1]|0x20 == 's' {
		return false
	}
	var small [maxName]byte
	name := appendLower(small[:0], l.s.buf[l.first:min(l.nameEnd, l.first+maxName)])
	return !slices.ContainsFunc(counts, func(w string) bool { return bytes.Contains(name, []byte(w)) })
}

// maxHead is how many bytes of a row are looked at to tell what kind of text stands in it.
const maxHead = 1024

// head is what stands before a place in its row, the last of it if that's long.
func (s *scan) head(at int) []byte { return s.buf[max(s.start(s.rowOf(at)), at-maxHead):at] }

// setting says how plainly it's said that a value follows the name.
func (l *literal) setting() setting {
	s := l.s
	name, head := s.buf[l.first:l.nameEnd], s.head(l.first)
	before := byte(' ')
	if len(head) > 0 {
		before = head[len(head)-1]
	}
	assigned := l.by == '=' && l.tight
	switch {
	case name[0] == '-' && (l.by == '=' || l.by == ' '), assigned && isUpper(name):
		return isSet
	case assigned && (before == ',' && bytes.Contains(head, []byte(" -o ")) || (before == ',' || s.buf[l.end] == ',') && bytes.Contains(head, []byte("--set ")) || bytes.HasSuffix(head, []byte("--from-literal="))): // mount -o user=me,pass=x
		return isSet
	case assigned && (before == '?' || before == '&' && !bytes.HasSuffix(head, []byte("&&"))): // of an address
		return isSet
	case l.listed && isUpper(name) && l.by == '=': // a list of a shell's
		return isSet
	case assigned && l.isConnection(head), l.by == ':' && l.tight && l.isPrinted(head), l.by == ':' && isRequestHeader(head):
		return isSet
	case l.by == ' ' && (isGiven(head, name) || s.isAccount(l.first, l.nameEnd) || l.quote == '\'' && s.isSQL(l.first, l.nameEnd, l.at-1)), l.by == 'v' && l.quote != 0, l.by == ',' && l.quote != 0 && isUpper(name):
		return isSet
	case l.by == 'd' && l.until != 0, before == '[' && s.buf[l.nameEnd] == ']' && l.a.isRow(s, l.from, l.end): // of a variable; of PHP
		return isSet
	case l.by == 'v', l.by == '|', l.listed && l.a.isRow(s, l.from, s.end(s.rowOf(l.from))) && (s.rowOf(l.at) != s.rowOf(l.from) || s.buf[s.end(s.rowOf(l.end))-1] == ']'):
		return inData
	case l.a.isRow(s, l.from, l.end), l.isFlow(head), l.isLabel(head), l.isSaid(), l.isAmong(head), assigned && (l.isPair(head, before) || l.isOfDatabase(head)):
		return inData
	}
	return inCode
}

// isConnection says whether a name is one of a connection string: Server=db;Pwd=x.
func (l *literal) isConnection(head []byte) bool {
	s := l.s
	if !bytes.HasSuffix(head, []byte(";")) && s.buf[l.end] != ';' || bytes.IndexByte(s.buf[l.first:l.nameEnd], '.') >= 0 {
		return false
	}
	var small [512]byte
	all := appendLower(small[:0], head[max(0, len(head)-256):])
	all = appendLower(all, s.buf[l.end:min(s.end(s.rowOf(l.end)), l.end+200)])
	return slices.ContainsFunc([]string{"server=", "host=", "source=", "user id=", "uid=", "user=", "username=", "database=", "catalog=", "dbname=", "endpoint=", "driver=", "address=", "port="}, func(w string) bool {
		return bytes.Contains(all, []byte(w))
	})
}

// isOfDatabase says whether a name is one of several with values in a text in quotes, which says how a database
// is reached: connect("host=db password=x").
func (l *literal) isOfDatabase(head []byte) bool {
	s := l.s
	quote := s.openQuote(l.first)
	begin := bytes.LastIndexByte(head, quote)
	if quote == 0 || quote == '`' || s.buf[l.end] != ' ' && s.buf[l.end] != quote {
		return false
	}
	rest, _, _ := bytes.Cut(s.buf[l.end:min(s.end(s.rowOf(l.end)), l.end+200)], []byte{quote})
	for _, part := range [][]byte{head[begin+1:], rest} {
		for w := range bytes.FieldsSeq(part) {
			name, _, ok := bytes.Cut(w, []byte{'='})
			if ok && slices.Contains([]string{"host", "hostaddr", "port", "dbname", "user", "sslmode"}, string(name)) {
				return true
			}
		}
	}
	return false
}

// isBesideUser says whether a user's name is given before, in the same row or in the one above: user: bob,
// pass: x.
func (l *literal) isBesideUser() bool {
	var small [2 * maxHead]byte
	row := l.s.rowOf(l.first)
	before := append(append(small[:0], l.s.rowBefore(row)...), '\n')
	before = bytes.ToLower(append(before, l.s.head(l.first)...))
	return classOf(l.s.buf[l.from]) == lower && slices.ContainsFunc([]string{"user", "login", "email"}, func(w string) bool {
		at := bytes.LastIndex(before, []byte(w))
		return at >= 0 && bytes.ContainsAny(before[at:], ":=")
	})
}

// isPrinted says whether a name is a field of a value that Go has printed: map[password:x user:y],
// {User:y Password:x}.
func (l *literal) isPrinted(head []byte) bool {
	after := l.s.buf[l.end]
	if i := bytes.LastIndex(head, []byte("map[")); i >= 0 && bytes.IndexByte(head[i:], ']') < 0 {
		return after == ' ' || after == ']' || after == '\n'
	}
	i := bytes.LastIndexByte(head, '{')
	return i >= 0 && classOf(l.s.buf[l.first]) == upper && bytes.IndexByte(head[i:], '}') < 0 && (after == ' ' || after == '}') && !bytes.ContainsAny(head[i:], ",;\"'(")
}

// isRequestHeader says that what stands before a name begins a header that a command is given: -H "X-Token: x".
func isRequestHeader(head []byte) bool {
	return len(head) > 3 && (bytes.HasSuffix(head[:len(head)-1], []byte("-H ")) || bytes.HasSuffix(head[:len(head)-1], []byte("--header ")))
}

// isGiven says that a blank stands between a name and its value: in Dockerfiles and shells (not of
// .netrc, which has words of other kinds in its rows).
func isGiven(head, name []byte) bool {
	return bytes.Equal(name, []byte("requirepass")) || slices.ContainsFunc([]string{"ENV ", "ARG ", "set -x ", "set -gx ", "set -Ux ", "setx ", "setenv ", "config set ", "CONFIG SET ", "secret set ", "configure set "}, func(w string) bool { return bytes.HasSuffix(head, []byte(w)) })
}

// isPair says whether a name and its value stand among others, or in a row of prose or a log:
// INFO user=me password=x.
func (l *literal) isPair(head []byte, before byte) bool {
	s := l.s
	if before == '=' { // --from-literal=password=x
		i := bytes.LastIndexByte(head, ' ')
		if i+1 < len(head) && head[i+1] != '-' {
			return false
		}
	} else if before != ' ' && before != '"' && before != '\'' {
		return false
	}
	if bytes.Count(head, []byte("(")) > bytes.Count(head, []byte(")")) || hasMask(head) {
		return false
	}
	if after := s.buf[l.end]; after != ' ' && after != '\n' && after != '"' && after != '\'' {
		return false
	}
	last := s.buf[s.end(s.rowOf(l.end))-1]
	return last != ';' && last != '{' && last != ',' && last != '('
}

// begins says whether a keyword begins its name.
func (a *assigner) begins(s *scan, from int) bool { return a.inRowFrom(s, from) == from }

// inRowFrom is where a name begins in its row: what stands in the row before may be no part of it.
func (a *assigner) inRowFrom(s *scan, from int) int {
	return max(s.back(from, a.name, maxName), s.start(s.rowOf(from)))
}

// isRow says whether what's given to a name stands in a row of its own: name: value. A number of
// the row, and a mark of a list or of a change, may stand before it, and a comment behind.
func (a *assigner) isRow(s *scan, from, end int) bool {
	begin := beforeName(s.head(a.inRowFrom(s, from)))
	if len(begin) > 0 && !bytes.Equal(begin, []byte("export ")) && (!bytes.Equal(begin, []byte("[")) || s.buf[from-1] == '"') && !bytes.Contains(begin, []byte("login ")) {
		return false
	}
	after := s.column(end)
	return s.buf[after] == '\n' || s.buf[after] == '#' && after > end || s.buf[end] == ' ' && s.rowOf(end) == s.rowOf(from) && bytes.HasPrefix(begin, []byte("machine ")) && bytes.Contains(begin, []byte(" login "))
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

// endsName says whether a name ends in a keyword: those that go on are about a secret, unless they
// say which one it is: DB_PASSWORD_PROD.
func (a *assigner) endsName(s *scan, k keyword, from, end int) bool {
	rest := s.value(nil, from+len(k.word), end, maxName)
	if k.plural {
		rest = bytes.TrimPrefix(bytes.TrimPrefix(rest, []byte("s")), []byte("S"))
	}
	if rest = bytes.Trim(rest, "_-0123456789"); len(rest) == 0 {
		return true
	}
	var small [maxName]byte
	return slices.Contains(places, string(appendLower(small[:0], rest)))
}

// places are ends of names that say where a secret is used.
var places = []string{ //nolint:gochecknoglobals // a constant table
	"prod", "production", "staging", "stage", "dev", "devel", "development", "test", "testing", "qa", "uat", "live", "local", "old", "new", "current", "previous", "next", "primary", "secondary",
	"main", "root", "admin", "base", "value", "plain", "plaintext", "db", "database", "master", "replica", "read", "write", "ro", "rw", "ci", "eu", "us", "internal", "external", "backup", "a", "b", "key",
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
		bytes.IndexByte(v, ' ') >= 0 || bytes.Contains(v, []byte("://")) || bytes.Contains(v, []byte("?.")) || isExpanded(v)
}

// states are words that say what a secret is like.
var states = []string{ //nolint:gochecknoglobals // a constant table
	"incorrect", "invalid", "valid", "wrong", "missing", "expired", "changed", "updated", "enabled", "disabled", "hidden", "masked", "sensitive", "secretstr", "text", "varchar", "integer",
	"char", "list", "dict", "array", "enter", "hash", "yes", "value", "passed", "failed", "self", "this", "input", "encrypted", "str", "basestring", "unknown", "found", "given", "ok", "not", "the", "see", "same", "read", "write", "inherit", "files",
}

// isState says that a text without quotes is one of those, or something's field.
func isState(v []byte) bool {
	if owner, _, ok := bytes.Cut(v, []byte{'.'}); ok && slices.Contains([]string{
		"self", "this", "process", "os", "env", "config", "cfg", "args", "opts", "options", "params", "props", "settings", "req", "request", "ctx", "data", "state", "user", "ENV", "event", "conn", "var", "local", "module", "secrets", "values",
	}, string(owner)) {
		return true
	}
	var small [maxName]byte
	return slices.Contains(states, string(appendLower(small[:0], v[:min(len(v), maxName)])))
}

// ways are values that say how somebody shows who they are, or whether a browser sends cookies.
var ways = []string{ //nolint:gochecknoglobals // a constant table
	"same-origin", "include", "omit", "basic", "bearer", "digest", "oauth", "oauth2", "oidc", "ntlm", "kerberos", "negotiate", "sasl", "ldap", "saml", "netrc", "token", "plain", "login", "trust", "peer", "cookie", "session",
	"publickey", "password", "md5", "cram-md5", "scram-sha-1", "scram-sha-256", "always", "never", "pam", "mtls", "apikey", "user", "anonymous",
}

// counts are parts of names of numbers of tokens.
var counts = []string{ //nolint:gochecknoglobals // a constant table
	"max", "min", "num", "count", "total", "limit", "budget", "input", "output", "prompt", "completion", "context", "cache", "reason", "used", "usage", "per", "window", "size", "next", "last", "first", "rate",
}

// isFlag says that an option takes no value, by the words that its name begins with.
func isFlag(name []byte) bool {
	for w := range bytes.SplitSeq(bytes.Trim(name, "-"), []byte("-")) {
		return slices.Contains([]string{
			"no", "ask", "show", "print", "use", "with", "without", "has", "allow", "require", "skip", "disable", "enable", "hide", "reset", "generate", "rotate", "list", "get", "create", "delete", "reveal",
			"prompt", "read", "change", "dump", "check", "force", "ignore", "keep", "all", "include", "exclude",
		}, string(w))
	}
	return false
}

// isPhrase says that a text of several words is a password and no sentence.
func isPhrase(v []byte, set setting) bool {
	if bytes.IndexByte([]byte("$<{("), v[0]) >= 0 || v[0] == ' ' || isExpanded(v) || bytes.Contains(v, []byte("://")) {
		return false
	}
	var small [maxName]byte
	words := bytes.Fields(v)
	for _, w := range words {
		w = bytes.Trim(w, ".,:;!?()\"'")
		word := appendLower(small[:0], w[:min(len(w), len(small))])
		if slices.Contains(sentence, string(word)) && (!isUpper(w) || isUpper(v)) || slices.ContainsFunc([]string{"pass", "secret", "token", "credential", "key", "pwd", "auth"}, func(stem string) bool { return bytes.HasPrefix(word, []byte(stem)) }) {
			return false
		}
	}
	return set == isSet || len(words) > 1 && len(words) <= 8
}

// isColour says that a text is a colour: of the web, #d8dee9, or of a terminal, \x1b[31m.
func isColour(v []byte) bool {
	return v[0] == '#' && len(v) <= len("#d8dee9ff") && onlyHex(v[1:]) ||
		slices.ContainsFunc([]string{`\x1b[`, `\033[`, `\e[`}, func(w string) bool { return bytes.HasPrefix(v, []byte(w)) })
}

// isHexNumber says that a text is a number of a program of at most 64 bits: 0x80A1, -0x3.
func isHexNumber(v []byte) bool {
	rest, ok := bytes.CutPrefix(bytes.TrimLeft(v, "-"), []byte("0x"))
	return ok && len(rest) <= 16 && onlyHex(bytes.TrimRight(rest, "uUlL"))
}

// namesSecret says that a text is a name of a secret and none itself: access_token, user.apiKey.
func namesSecret(v []byte) bool {
	v = bytes.TrimRight(v, ".:!?")
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
