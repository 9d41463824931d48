package redact

import (
	"bytes"
	"slices"
)

// userinfo is a password in an address: scheme://user:password@host. It counts whatever
// it looks like, but for what people write in examples.
func userinfo() matcher {
	set := chars("!-~")
	for _, c := range []byte("/?#\"'<>`\\,@ {}()[]|^") {
		set[c] = false
	}
	scheme := chars("a-z0-9+.-")
	return func(s *scan, _, from, end int) {
		if from > 0 && s.buf[from-1] != '\n' && !scheme[s.buf[from-1]] {
			return
		}
		r := s.follow(end, set, 0, 512)
		at, ok := s.word(r.end, "@")
		near, wrapped := r, false
		if !ok {
			// It may go on in the next row, whatever that looks like, if an @ follows.
			far := s.follow(end, set, -1, 512)
			if at, wrapped = s.word(far.end, "@"); wrapped {
				near, r, ok = r, far, true
			}
		}
		if far := s.lastAt(end); !ok && far > 0 {
			r.end, ok = far, true
			at = far + 1
		}
		for ok && !wrapped { // an @ in the password
			more := s.bare(at, set)
			next, again := s.word(more.ends[0], "@")
			if !again || s.rowOf(next) != s.rowOf(end) {
				break
			}
			r.end, at = more.ends[0], next
		}
		v := s.value(nil, end, r.end, 512)
		user, password, has := bytes.Cut(v, []byte{':'})
		if !has || len(password) == 0 {
			return
		}
		f := match{from: end, secret: s.skipOver(end, len(user)+1), end: r.end, label: "password", rank: rankGuess}
		random := len(password) >= 8 && measureOf(password).random(50)
		if ok && (random || !wrapped && !s.exampleHost(at)) && !isStandInPassword(user, password) {
			s.found(f)
			return
		}
		if ok && !wrapped {
			return
		}
		for _, f.end = range s.ends(end, near.end) { // it was so before the next row came
			if f.end > f.secret && !isPort(s.peek(f.secret, f.end)) {
				s.begun(f)
			}
		}
	}
}

// lastAt is where the @ stands behind a user and a password with characters that an address may not
// have there, but that people write: / ? # and letters of other alphabets; 0: there's none. What
// begins with a port is no password.
func (s *scan) lastAt(from int) int {
	row := s.buf[from:min(s.end(s.rowOf(from)), from+maxLiteral)]
	if i := bytes.IndexAny(row, " \t\"'`<>|\\,"); i >= 0 {
		row = row[:i]
	}
	at := bytes.LastIndexByte(row, '@')
	if at < 0 || hasMask(row) || at+1 == len(row) || !isAlnum(row[at+1]) && row[at+1] != '[' {
		return 0
	}
	user, password, ok := bytes.Cut(row[:at], []byte{':'})
	if !ok || len(password) == 0 || bytes.ContainsAny(user, "/?#@[.") || bytes.Contains(password, []byte("://")) {
		return 0
	}
	digits := len(password) - len(bytes.TrimLeft(password, "0123456789"))
	if digits > 0 && digits < len(password) && bytes.IndexByte([]byte("/?#"), password[digits]) >= 0 {
		return 0
	}
	return from + at
}

func isPort(v []byte) bool {
	for _, c := range v {
		if !isDigit(c) {
			return false
		}
	}
	return len(v) <= 5
}

// exampleHost says that a host is this one, or one of documentation (RFC 2606).
func (s *scan) exampleHost(at int) bool {
	host := s.peek(at, min(len(s.buf), at+64))
	for _, h := range []string{"localhost", "127.0.0.1", "host", "foo", "test", "www.example."} {
		if rest, ok := bytes.CutPrefix(host, []byte(h)); ok && (len(rest) == 0 || !isAlnum(rest[0])) {
			return true
		}
	}
	return bytes.HasPrefix(host, []byte("example.")) || bytes.Contains(host, []byte(".example."))
}

// isStandInPassword says that a password is one of documentation.
func isStandInPassword(user, password []byte) bool {
	if len(password) == 0 || bytes.EqualFold(user, password) || password[0] == '$' || bytes.ContainsAny(password, "{}<>") || bytes.Contains(password, []byte("$(")) || bytes.Contains(password, []byte("**")) || password[0] == '[' || password[0] == '(' || bytes.Contains(password, []byte("...")) || bytes.Contains(password, []byte("%s")) {
		return true
	}
	return isStandInWord(password) || isStandIn(password) || len(password) >= 3 && 2*measureOf(password).repeats >= len(password) || isCount(password)
}

// isStandInWord says that a password is a word that documentation has for one.
func isStandInWord(password []byte) bool {
	var small [256]byte
	low := appendLower(small[:0], password)
	return slices.Contains([]string{
		"pass", "passwd", "password", "pwd", "pw", "p", "secret", "token", "user", "username", "test", "foo", "bar", "baz", "root", "admin", "guest", "postgres",
		"abc", "hunter2", "opensesame", "secr3t", "credentials", "key", "apikey", "auth", "oauth2", "x-oauth-basic", "open sesame", "bearer",
	}, string(low))
}

// isWordForSecret says that a text is a word that says that a secret stands in its place.
func isWordForSecret(v []byte) bool {
	var small [256]byte
	return slices.Contains([]string{
		"pass", "passwd", "password", "passphrase", "pwd", "secret", "token", "user", "username", "credentials", "key", "apikey", "auth", "mypassword", "mypass",
	}, string(appendLower(small[:0], v)))
}

// isCount says that a text is digits that count: 1234.
func isCount(v []byte) bool {
	for i, c := range v {
		if !isDigit(c) || i > 0 && c != v[i-1]+1 {
			return false
		}
	}
	return true
}
