package redact

import (
	"bytes"
	"slices"
)

// What's given to commands by a pipe, and the rows and addresses that only programs of databases and
// of mail have.

// readers are ends of commands that read a password from a pipe.
func readers() []string {
	return []string{"--password-stdin", "sudo -S", "passwd --stdin", "chpasswd", "--with-token", "--pass-stdin"}
}

// piped finds the password that's written into a pipe: echo x | docker login --password-stdin; also
// docker login --password-stdin <<< x.
func piped(s *scan, word, _, end int) {
	c := passwordCommand{pair: s.rules.anchors[word].word == "chpasswd"}
	row := s.rowOf(end)
	if i := bytes.Index(s.buf[end:min(s.end(row), end+maxHead)], []byte("<<<")); i >= 0 {
		if from, stop, _, ok := s.shellWord(end + i + len("<<<")); ok {
			c.found(s, from, stop)
		}
	}
	head := s.head(end)
	pipe := bytes.LastIndexByte(head, '|')
	if pipe < 0 {
		return
	}
	begin := max(bytes.LastIndex(head[:pipe], []byte("echo ")), bytes.LastIndex(head[:pipe], []byte("printf ")))
	if begin < 0 {
		return
	}
	first, last := 0, 0
	for at := end - len(head) + begin + bytes.IndexByte(head[begin:], ' '); at < end-len(head)+pipe; {
		from, stop, next, ok := s.shellWord(at)
		if !ok {
			break
		}
		at = next
		if first == 0 && (s.buf[from] == '-' || head[begin] == 'p' && bytes.IndexByte(s.buf[from:stop], '%') >= 0) { // an option, a format
			continue
		}
		if first == 0 {
			first = from
		}
		last = stop
	}
	if first > 0 && s.rowOf(last) == row {
		c.found(s, first, last)
	}
}

// dataSource finds the password in the address of a database as Go's driver for MySQL takes it:
// user:password@tcp(host).
func dataSource(s *scan, _, from, _ int) {
	head := s.head(from)
	begin := bytes.LastIndexAny(head, "\"'` \t") + 1
	user, password, ok := bytes.Cut(head[begin:], []byte{':'})
	user = user[bytes.LastIndexByte(user, '=')+1:]
	if !ok || len(user) == 0 || len(password) < 3 || isStandInPassword(user, password) || isExpanded(password) || hasMask(password) {
		return
	}
	s.found(match{from: from - len(password), secret: from - len(password), end: from, label: "password", rank: rankGuess})
}

// pgpass finds the password in a row of that file of PostgreSQL: host:port:database:user:password.
func pgpass(s *scan, _, from, _ int) {
	row := s.rowOf(from)
	text := s.buf[s.start(row):min(s.end(row), s.start(row)+maxHead)]
	fields := bytes.SplitN(text, []byte{':'}, 5)
	if len(fields) < 5 || s.start(row)+len(fields[0]) != from {
		return
	}
	for _, f := range fields[:4] {
		if len(f) == 0 || !isReference(bytes.ReplaceAll(f, []byte("-"), nil)) && string(f) != "*" && len(bytes.Trim(f, "0123456789.")) > 0 {
			return
		}
	}
	for _, f := range fields[2:4] { // those of /etc/passwd are numbers
		if len(bytes.Trim(f, "0123456789")) == 0 {
			return
		}
	}
	password := fields[4]
	if len(password) < 3 || bytes.ContainsAny(password, " \t") || isStandInPassword(fields[3], password) || hasMask(password) || isExpanded(password) {
		return
	}
	at := s.end(row) - len(password)
	s.found(match{from: at, secret: at, end: s.end(row), label: "password", rank: rankGuess})
}

// isAccount says whether a name begins a row of a file of accounts in which a blank stands behind
// names, as the row before does: user bob, password x.
func (s *scan) isAccount(first, end int) bool {
	row := s.rowOf(first)
	if first != s.start(row) || !slices.Contains([]string{"password", "passwd", "pass", "secret", "PASS"}, string(s.buf[first:end])) {
		return false
	}
	value, before := s.buf[end:s.end(row)], s.rowBefore(row)
	if bytes.HasPrefix(before, []byte("user")) && !isOrdinary(bytes.TrimSpace(value)) { // fields of a type
		return false
	}
	return bytes.Count(value, []byte(" ")) == 1 && slices.ContainsFunc([]string{"user ", "USER ", "username ", "login ", "account ", "machine ", "host ", "from ", "port ", "auth ", "tls "}, func(w string) bool {
		return bytes.HasPrefix(before, []byte(w))
	})
}

// declared finds what a variable of Terraform is if nothing else is given: variable "token" {, and in
// the rows behind it default = "x".
func (a *assigner) declared(s *scan, k keyword, from, end int) {
	if !bytes.HasPrefix(s.buf[end:], []byte(`" {`)) || !s.joined(a.inRowFrom(s, from), `variable "`) || !a.endsName(s, k, from, end) || a.strength(s, k, from, end, operand{at: end}) < 2 {
		return
	}
	const most = 8
	for row := s.rowOf(from) + 1; row < min(s.len(), s.rowOf(from)+most); row++ {
		text := s.buf[s.start(row):s.end(row)]
		if bytes.HasPrefix(text, []byte("}")) {
			return
		}
		name, rest, ok := bytes.Cut(text, []byte("= "))
		if !ok || string(bytes.TrimRight(name, " ")) != "default" {
			continue
		}
		if o, ok := s.inQuotes(s.end(row)-len(rest), 'd', "\n"); ok {
			s.cellFound(k, o.at, s.quoted(o.at, o.quote, false).ends[0], true)
		}
	}
}
