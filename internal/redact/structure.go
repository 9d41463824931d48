package redact

import "bytes"

// The structures in which a name and its value stand apart: pairs, cells of tables, calls, SQL.

// structured is the value of a name that's one of a pair or a table.
func (s *scan) structured(first, at int, closed bool) (o operand, ok bool) {
	if o, ok = s.pair(first, at); ok {
		return o, ok
	}
	if o, ok = s.cell(first, at, closed); ok || closed {
		return o, ok
	}
	return s.beside(first, at)
}

// pair is the value of a name that is a value itself: "name": "TOKEN", "value": "x", in one row or
// in two; <key>token</key><string>x</string>, <entry key="token">x</entry>.
func (s *scan) pair(first, at int) (o operand, ok bool) {
	if at >= len(s.buf)-1 || bytes.IndexByte([]byte("\"'\n,< >"), s.buf[at-1]) < 0 && bytes.IndexByte([]byte("\n,< "), s.buf[at]) < 0 {
		return o, false
	}
	head := bytes.TrimRight(s.head(first), " \t\"'")
	if !endsInWord(head, "name", "key", "variable", "param") {
		return o, false
	}
	const most = 64
	broken := false
	for i := at; i < min(at+most, len(s.buf)-1); {
		switch c := s.buf[i]; {
		case c == '\n' && broken:
			return o, false
		case isAlnum(c):
			end := i
			for isAlnum(s.buf[end]) {
				end++
			}
			var small [most]byte
			word := appendLower(small[:0], s.buf[i:min(end, i+most)])
			switch {
			case s.buf[i-1] == '/': // </name>
				i = end
				continue
			case !bytes.HasSuffix(word, []byte("value")) && (string(word) != "string" || s.buf[i-1] != '<'):
				return o, false
			}
			at, _ = s.either(end, `"`, "'")
			if at = s.column(at); bytes.IndexByte([]byte(":=>"), s.buf[at]) < 0 {
				return o, false
			}
			o = operand{at: s.column(at + 1), by: 'v'}
			if s.buf[at] == '>' {
				o.until = '<'
			}
			return s.unquote(o)
		case c == '>' && i+1 < len(s.buf) && !broken && head[len(head)-1] == '=' && s.buf[i+1] != '\n' && s.buf[i+1] != '<':
			return operand{at: i + 1, by: 'v', until: '<'}, true
		case c == '\n':
			broken = true
			i++
		case bytes.IndexByte([]byte(" \t\"',;></"), c) >= 0:
			i++
		default:
			return o, false
		}
	}
	return o, false
}

// endsInWord says whether a text ends in one of some words and what gives a value to it.
func endsInWord(head []byte, words ...string) bool {
	if len(head) == 0 || bytes.IndexByte([]byte(":=>"), head[len(head)-1]) < 0 {
		return false
	}
	head = bytes.TrimRight(head[:len(head)-1], " \"'")
	for _, w := range words {
		if len(head) >= len(w) && bytes.EqualFold(head[len(head)-len(w):], []byte(w)) {
			return true
		}
	}
	return false
}

// cell is the value in a table that stands right of its name: | password | x |. The row before is one
// of the table, too, since the first one has the names of columns.
func (s *scan) cell(first, at int, closed bool) (o operand, ok bool) {
	bar := s.column(at)
	if bar == at || closed && s.buf[at-1] != '`' {
		return o, false
	}
	next, ok := s.either(bar, "|", "│")
	if !ok || s.buf[next] != ' ' {
		return o, false
	}
	row := s.rowOf(first)
	if head := bytes.TrimRight(s.head(first), " `"); len(head) > 0 {
		return o, false
	}
	o = operand{at: s.column(next), by: '|', until: '|'}
	if s.buf[o.at] == '`' {
		return s.unquote(o)
	}
	above := s.rowBefore(row)
	if row == 0 || hasMask(above) || !bytes.Contains(above, []byte("|")) && !bytes.Contains(above, []byte("│")) && !bytes.HasPrefix(above, []byte("+--")) && !bytes.HasPrefix(above, []byte("──")) {
		return o, false
	}
	return o, s.buf[o.at] != '\n'
}

// isCall says whether what a name is an argument of gives it the next one: define('TOKEN', 'x').
func (s *scan) isCall(first int) bool {
	head := bytes.TrimRight(s.head(first), "\"'` ")
	if len(head) == 0 || head[len(head)-1] != '(' {
		return false
	}
	head = bytes.ToLower(head[max(0, len(head)-16) : len(head)-1])
	for _, w := range []string{"define", "setenv", "putenv", "set", "setproperty", "setitem", "put", "setdefault", "addenv", "getenv", "environ.get", "env.get", "env.fetch", "env", "getenvordefault", "envor", "getordefault"} {
		if rest, ok := bytes.CutSuffix(head, []byte(w)); ok && (len(rest) == 0 || !isAlnum(rest[len(rest)-1])) {
			return true
		}
	}
	return false
}

// isSQL says whether a name is followed by a text as in SQL: ALTER USER x PASSWORD 'x'.
func (s *scan) isSQL(first, nameEnd, at int) bool {
	if s.buf[at] != '\'' || !bytes.EqualFold(s.buf[first:nameEnd], []byte("password")) {
		return false
	}
	head := bytes.ToLower(s.head(first))
	for _, w := range []string{"user ", "role ", "login ", "alter ", "create ", "with "} {
		if bytes.Contains(head, []byte(w)) {
			return true
		}
	}
	return false
}

// identified finds passwords of SQL: IDENTIFIED BY 'x', IDENTIFIED WITH plugin BY 'x'.
func identified() matcher {
	return func(s *scan, _, from, end int) {
		head := bytes.ToLower(s.head(from))
		if s.buf[from] == 'i' && !bytes.Contains(head, []byte("user ")) && !bytes.Contains(head, []byte("grant ")) {
			return
		}
		rest := s.buf[end:min(len(s.buf), end+64)]
		by := bytes.Index(bytes.ToLower(rest), []byte("by "))
		if by < 0 || bytes.IndexByte(rest[:by], '\n') >= 0 || bytes.ContainsAny(rest[:by], "'\";") {
			return
		}
		at := s.column(end + by + len("by "))
		if next, ok := s.either(at, "PASSWORD ", "password "); ok {
			at = s.column(next)
		}
		o, ok := s.unquote(operand{at: at})
		if !ok || o.quote != '\'' && o.quote != '"' {
			return
		}
		for _, stop := range s.quoted(o.at, o.quote, false).ends {
			if v := s.value(nil, o.at, stop, maxLiteral); len(v) > 0 && !hasMask(v) && !isPlaceholder(v) && bytes.IndexByte([]byte("$<{%"), v[0]) < 0 && !isExpanded(v) {
				f := match{from: o.at, secret: o.at, end: stop, label: "password", rank: rankGuess}
				s.waitEnd(f)
				s.found(f)
				return
			}
		}
	}
}

// isProgram says that a row's rest is no word but of a program: a call, a statement.
func isProgram(v []byte) bool {
	if len(v) == 0 {
		return true
	}
	for _, w := range []string{"$(", "${", "<(", "`$", "();", "()"} {
		if bytes.Contains(v, []byte(w)) {
			return true
		}
	}
	open := bytes.IndexByte(v, '(')
	return open > 0 && v[len(v)-1] == ')' || bytes.IndexByte([]byte(",;{\"'`\\|&):"), v[len(v)-1]) >= 0 || bytes.IndexByte([]byte("\"'`([{<"), v[0]) >= 0
}
