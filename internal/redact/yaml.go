package redact

import (
	"bytes"
	"slices"
)

// The forms that YAML has for a value beside name: value, and what programs that search in files put
// before their rows.

// dataFiles are the ends of names of files that give values to names.
var dataFiles = []string{ //nolint:gochecknoglobals // a constant table
	"yml", "yaml", "env", "ini", "conf", "cnf", "cfg", "properties", "toml", "txt", "log", "json", "tfvars", "netrc", "npmrc", "md", "config", "local", "prod", "production", "dev", "staging", "example", "bak",
}

// withoutPlace is a row without the file and number that grep and rg put before it: config/app.yml:12:
// It's so for files that give values to names, since in programs such a row has names of others.
func withoutPlace(row []byte) []byte {
	n := pathLen(row)
	path := row[:n]
	dot := bytes.LastIndexByte(path, '.')
	if n == len(row) || row[n] != ':' && row[n] != '-' || dot < 0 || !slices.Contains(dataFiles, string(path[dot+1:])) {
		return row
	}
	sign, rest := row[n], row[n+1:]
	if number := bytes.TrimLeft(rest, "0123456789"); len(number) < len(rest) && len(number) > 0 && number[0] == sign {
		return number[1:]
	}
	if sign == ':' && (len(rest) == 0 || rest[0] != '/') {
		return rest
	}
	return row
}

// pathLen is the length of a file's path at the beginning of a row.
func pathLen(row []byte) int {
	n := 0
	for n < len(row) && (isAlnum(row[n]) || bytes.IndexByte([]byte("_./@+~"), row[n]) >= 0) {
		n++
	}
	return n
}

// beforeName is what stands before a name in its row, without a place in a file, the row's number, and
// the mark of a list or of a change.
func beforeName(head []byte) []byte {
	return bytes.TrimLeft(withoutPlace(head), "0123456789:→│|\t -+")
}

// withoutNode goes over an anchor or a standard tag, which YAML can have before a value: &main x, !!str x.
func (s *scan) withoutNode(at int) int {
	end := at + 1
	switch c := s.buf[at]; {
	case c == '!' && s.buf[end] == '!':
		end++
	case c != '&':
		return at
	}
	first := end
	for end-at < maxName && (isAlnum(s.buf[end]) || s.buf[end] == '_' || s.buf[end] == '-') {
		end++
	}
	if end == first || s.buf[end] != ' ' {
		return at
	}
	return s.column(end)
}

// isFlow says whether a name is one of a map that YAML has in one row: {user: me, password: x}.
func (l *literal) isFlow(head []byte) bool {
	open := bytes.LastIndexByte(head, '{')
	if l.by != ':' || l.tight || open < 0 || bytes.ContainsAny(head[open:], "}()=;") || measureOf(l.v).digits == 0 {
		return false
	}
	if before := bytes.TrimLeft(beforeName(head[:open]), " "); len(before) > 0 {
		if name, ok := bytes.CutSuffix(before, []byte(": ")); !ok || !isReference(bytes.ReplaceAll(name, []byte("-"), nil)) {
			return false
		}
	}
	rest := l.s.buf[l.end:l.s.end(l.s.rowOf(l.end))]
	return len(rest) > 0 && len(rest) < maxHead && (rest[0] == ',' || rest[0] == '}') && rest[len(rest)-1] == '}' && !bytes.ContainsAny(rest, "();")
}

// isBlock says whether a value stands in rows of its own behind that of its name, and whether a mark
// says so, as in name: |-.
func (s *scan) isBlock(nameEnd int, o operand) (block, marked bool) {
	row := s.rowOf(nameEnd - 1)
	if o.by != ':' || o.escaped {
		return false, false
	}
	if s.rowOf(o.at) == row {
		mark := s.buf[o.at:s.end(row)]
		marked = len(mark) > 0 && len(mark) <= 3 && (mark[0] == '>' || mark[0] == '|') && len(bytes.Trim(mark[1:], "+-0123456789")) == 0
		return marked, marked
	}
	return s.buf[s.end(row)-1] == ':', false
}

// block finds the rows of such a value, which are indented behind their name's: each is a word, or
// several that may be a password. Without a mark there's one row, in quotes or no word alone.
func (a *assigner) block(s *scan, k keyword, from, nameEnd int, marked bool) (last int) {
	const most = 16
	row := s.rowOf(from)
	if len(beforeName(s.head(a.inRowFrom(s, from)))) > 0 || !a.endsName(s, k, from, nameEnd) {
		return 0
	}
	_, indent := s.indent(row)
	for next := row + 1; next < s.len() && next-row <= most; next++ {
		at, deep := s.indent(next)
		o, ok := s.unquote(operand{at: at, by: ':'})
		end := s.end(next)
		if !ok || at >= end || deep <= indent {
			return last
		}
		if o.quote != 0 {
			if end--; s.buf[end] != o.quote {
				return last
			}
		}
		if o.at >= end || !marked && (next > row+1 || o.quote == 0 && !isOrdinary(s.buf[o.at:end])) {
			return last
		}
		v := s.buf[o.at:min(end, o.at+maxLiteral)]
		if !isBlockValue(v, k) || s.isHead(end) {
			return last
		}
		s.found(match{from: o.at, secret: o.at, end: end, label: k.label, rank: rankGuess})
		last = end
	}
	return last
}

// isBlockValue says that a row of a block is a secret: no map, list, expression or sentence.
func isBlockValue(v []byte, k keyword) bool {
	if len(v) < 4 || hasMask(v) || isNothing(v) || isState(v) || isPlaceholder(v) || isWordForSecret(v) || isExpression(bytes.ReplaceAll(v, []byte(" "), nil)) || namesSecret(v) || isUUID(v) {
		return false
	}
	if bytes.IndexByte(v, ' ') >= 0 {
		return k.takesPhrases() && isBarePhrase(v)
	}
	return !bytes.ContainsAny(v, "(){}[],;\"`") && v[len(v)-1] != ':' && v[0] != '#' && v[0] != '-' && bytes.IndexByte(v, ':') < 0
}

// indent is where a row's text begins without a place in a file and the row's number, and how far it's
// indented, in characters, which can be compared with that of other rows.
func (s *scan) indent(row int) (at, indent int) {
	text := s.buf[s.start(row):s.end(row)]
	rest := withoutPlace(text)
	if len(rest) == len(text) {
		number := bytes.TrimLeft(text, "0123456789")
		switch {
		case len(number) == len(text) && len(text) > 1 && text[0] == '+' && (text[1] == ' ' || isAlnum(text[1])):
			rest = text[1:]
		case len(number) == 0 || len(number) == len(text):
		case bytes.HasPrefix(number, []byte("→")):
			rest = number[len("→"):]
		case number[0] == ':' || number[0] == '\t' || number[0] == ' ':
			rest = number[1:]
		}
	}
	blanks := len(rest) - len(bytes.TrimLeft(rest, " \t"))
	if len(rest) == len(text) {
		return s.start(row), s.rows[row].indent
	}
	return s.end(row) - len(rest) + blanks, blanks
}

// secretOfCluster finds the values in a Secret of Kubernetes, whatever their names are but such that
// say who or where.
func secretOfCluster(s *scan, _, from, end int) {
	row := s.rowOf(from)
	if s.buf[end] != '\n' || len(beforeName(s.head(from))) > 0 {
		return
	}
	_, indent := s.indent(row)
	const most = 64
	for next := row + 1; next < s.len() && next-row <= most; next++ {
		at, deep := s.indent(next)
		text := s.buf[at:s.end(next)]
		name, value, ok := bytes.Cut(text, []byte(": "))
		if len(text) == 0 || deep <= indent || !ok {
			return
		}
		if bytes.ContainsAny(name, " \"'") || tellsWhere(name) {
			continue
		}
		o, ok := s.unquote(operand{at: s.column(at + len(text) - len(value)), by: ':'})
		if !ok || o.at > s.end(next) {
			continue
		}
		stop := s.endOfPhrase(o.at, next)
		if o.quote != 0 {
			stop = min(stop, s.quoted(o.at, o.quote, false).ends[0])
		}
		if v := s.buf[o.at:max(o.at, stop)]; len(v) >= 3 && !hasMask(v) && !isExpression(bytes.ReplaceAll(v, []byte(" "), nil)) && v[0] != '|' && v[0] != '>' && v[0] != '&' && v[0] != '*' && v[0] != '!' && !isNothing(v) && !isPlaceholder(v) && !s.isHead(stop) {
			s.found(match{from: o.at, secret: o.at, end: stop, label: "secret", rank: rankGuess})
		}
	}
}

// tellsWhere says that a name in such a Secret is of a user or a place.
func tellsWhere(name []byte) bool {
	low := bytes.ToLower(name)
	return slices.ContainsFunc([]string{"user", "username", "name", "host", "hostname", "port", "database", "region", "endpoint", "type", "namespace", "email"}, func(w string) bool { return bytes.HasSuffix(low, []byte(w)) })
}
