package redact

import "bytes"

// command is a program that takes a password in a word of its own.
type command struct {
	name    string
	options []string // the password is the next word, or what stands behind =
	glued   string   // an option behind which the password stands at once: -pX
	pair    bool     // what's given is USER:PASSWORD
	nth     int      // it's the word with this number that's no option, from 1; 0: it isn't
}

// commands are those whose passwords are asked for in scripts most (their manuals name the options).
func commands() []command {
	return []command{
		{name: "curl", options: []string{"-u", "--user", "-U", "--proxy-user"}, pair: true},
		{name: "sshpass", options: []string{"-p"}, glued: "-p"},
		{name: "mysql", glued: "-p"},
		{name: "mysqldump", glued: "-p"},
		{name: "mysqladmin", glued: "-p"},
		{name: "mariadb", glued: "-p"},
		{name: "redis-cli", options: []string{"-a", "--pass"}},
		{name: "docker login", options: []string{"-p"}},
		{name: "podman login", options: []string{"-p"}},
		{name: "htpasswd", nth: 3},
		{name: "ldapsearch", options: []string{"-w"}},
		{name: "smbclient", options: []string{"-U"}, pair: true},
	}
}

// maxCommand is how many bytes of a command are looked at.
const maxCommand = 2048

func (c *command) match(s *scan, word, from, end int) {
	if from < s.done[word] || from > 0 && (isAlnum(s.buf[from-1]) || s.buf[from-1] == '-' || s.buf[from-1] == '_') || s.buf[end] != ' ' {
		return
	}
	given, plain := false, 0
	for at := end; at < min(end+maxCommand, len(s.buf)-1); {
		begin, stop, next, ok := s.shellWord(at)
		if !ok {
			break
		}
		at = next
		v := s.value(nil, begin, stop, glance)
		switch {
		case given:
			c.found(s, begin, stop)
			given = false
		case len(v) > 0 && v[0] == '-':
			for _, o := range c.options {
				if string(v) == o {
					given = true
				} else if rest, ok := bytes.CutPrefix(v, []byte(o+"=")); ok {
					c.found(s, s.skipOver(begin, len(v)-len(rest)), stop)
				}
			}
			if rest, ok := bytes.CutPrefix(v, []byte(c.glued)); ok && c.glued != "" && len(rest) > 0 && rest[0] != '=' {
				c.found(s, s.skipOver(begin, len(c.glued)), stop)
			}
		default:
			if plain++; plain == c.nth {
				c.found(s, begin, stop)
			}
		}
		s.done[word] = at
	}
}

// found adds what a command is given: all of a word that goes on in the next row, or what of it
// stands in one.
func (c *command) found(s *scan, from, end int) {
	for _, end := range s.ends(from, end) {
		if c.takes(s, from, end, s.value(nil, from, end, glance)) {
			return
		}
	}
}

func (c *command) takes(s *scan, from, end int, v []byte) bool {
	secret := from
	if c.pair {
		user, password, ok := bytes.Cut(v, []byte{':'})
		if !ok {
			user, password, ok = bytes.Cut(v, []byte{'%'}) // of smbclient
		}
		if !ok {
			return false
		}
		secret, v = s.skipOver(from, len(user)+1), password
		if bytes.Equal(user, password) {
			return false
		}
	}
	if len(v) < 3 || bytes.IndexByte([]byte("$-<"), v[0]) >= 0 || isExpanded(v) || isStandIn(v) || isStandInWord(v) || isCount(v) {
		return false
	}
	s.found(finding{from: from, secret: secret, end: end, label: "password", rank: rankGuess})
	return true
}

// isExpanded says that a shell, or what makes texts of templates, puts something into a text.
func isExpanded(v []byte) bool {
	for _, w := range []string{"${", "$(", "{{", "..."} {
		if bytes.Contains(v, []byte(w)) {
			return true
		}
	}
	for i, c := range v { // %s, and %s-x, but not %sx
		if c == '%' && i+1 < len(v) && bytes.IndexByte([]byte("sdvqw"), v[i+1]) >= 0 && (i+2 == len(v) || !isAlnum(v[i+2])) {
			return true
		}
	}
	return false
}

// shellWord is the next word of a command, without its quotes; false: the command has ended.
func (s *scan) shellWord(at int) (from, end, next int, ok bool) {
	for at < len(s.buf)-1 && (s.buf[at] == ' ' || s.buf[at] == '\\' && s.buf[at+1] == '\n') {
		at++
		if s.buf[at-1] == '\\' {
			at++
		}
	}
	switch c := s.buf[at]; c {
	case '\n', ';', '|', '&', ')', '`', '>', '<', '#':
		return 0, 0, at, false
	case '"', '\'':
		for end = at + 1; end < len(s.buf) && s.buf[end] != c; end++ {
			if s.buf[end] == '\n' && !s.full(s.rowOf(end)) {
				return at + 1, end, end, true
			}
		}
		return at + 1, end, min(end+1, len(s.buf)), true
	}
	for end = at; end < len(s.buf); end++ {
		switch c := s.buf[end]; {
		case c == ' ', c == ';', c == '|', c == ')', c == '`', c == '"':
			return at, end, end, end > at
		case c == '\n' && !s.full(s.rowOf(end)):
			return at, end, end, end > at
		}
	}
	return at, end, end, end > at
}

// cookies are the values of cookies: what lets in is among them.
func cookies() matcher {
	name, set := chars("A-Za-z0-9_.-"), chars("!-~")
	for _, c := range []byte("\"',;\\`") {
		set[c] = false
	}
	return func(s *scan, word, from, end int) {
		if from < s.done[word] {
			return
		}
		for at := end; at < min(end+4*maxCommand, len(s.buf)-1); {
			at = s.skip(at, 3)
			n := s.follow(at, name, 0, maxName)
			value, ok := s.word(n.end, "=")
			if n.n == 0 || !ok {
				return
			}
			r := s.follow(value, set, 0, 0)
			v := s.peek(value, r.end)
			if isCookie(s.peek(at, n.end), v) {
				s.found(finding{from: value, secret: value, end: r.end, label: "cookie", rank: rankGuess})
			}
			s.done[word] = r.end
			if at, ok = s.word(r.end, ";"); !ok {
				return
			}
		}
	}
}

// isCookie says that a cookie lets in, by its name or by its value.
func isCookie(name, v []byte) bool {
	if len(v) < 8 || isStandIn(v) || isExpression(v) {
		return false
	}
	var small [maxName]byte
	low := appendLower(small[:0], name[:min(len(name), maxName)])
	for _, w := range []string{"sess", "sid", "token", "auth", "jwt", "csrf", "xsrf", "remember", "login", "secret"} {
		if bytes.Contains(low, []byte(w)) {
			return true
		}
	}
	return secretLike(v, 16) || len(v) >= 28 && isHex(v)
}

// cryptBegins are how hashes of passwords begin in /etc/shadow and files of htpasswd (crypt(5)).
func cryptBegins() []string {
	return []string{"$1$", "$5$", "$6$", "$y$", "$2a$", "$2b$", "$2y$", "$7$", "$gy$", "$apr1$", "$argon2i", "$argon2id$", "$scrypt$", "$pbkdf2"}
}

// cryptHash is the hash of a password: salt and hash, each behind a $.
func cryptHash() matcher {
	set := chars("A-Za-z0-9./$=,+-")
	return func(s *scan, word, from, end int) {
		if from < s.done[word] {
			return
		}
		r := s.follow(end, set, 0, glance)
		for _, stop := range s.ends(end, r.end) {
			v := s.value(nil, end, stop, glance)
			last := bytes.LastIndexByte(v, '$')
			if hash := v[last+1:]; len(v) >= 28 && len(hash) >= 20 && measureOf(hash).random(40) {
				s.done[word] = stop
				s.found(finding{from: from, secret: end, end: stop, label: "password hash", rank: rankForm})
				return
			}
		}
		for _, stop := range s.ends(end, r.end) {
			s.begun(finding{from: from, secret: end, end: stop, label: "password hash", rank: rankForm})
		}
	}
}
