package redact

import "bytes"

// Cookies of sessions outside of headers: by their names, in programs of pages, and in the files of cookies
// that curl and wget write.

// sessionCookies are names of cookies that servers know who has logged in by.
func sessionCookies() []string {
	return []string{"PHPSESSID=", "JSESSIONID=", "jsessionid=", "ASP.NET_SessionId="}
}

// sessionCookie finds the value of such a cookie, and those of others behind it.
func sessionCookie(s *scan, word, from, _ int) {
	if from >= s.done[word] && s.apart(from) {
		s.done[word] = s.cookies(from)
	}
}

// cookieOfPage finds what a program of a page sets: document.cookie = "sid=x".
func cookieOfPage(s *scan, _, _, end int) {
	if at, ok := s.either(s.column(end), "="); ok {
		if at = s.column(at); at < len(s.buf) && bytes.IndexByte([]byte("\"'`"), s.buf[at]) >= 0 {
			s.cookies(at + 1)
		}
	}
}

// cookieOfFile finds the value in a row of a file of cookies (curl.se/docs/http-cookies.html): domain, whether
// for all below it, path, whether by https alone, when it ends, name and value. from is the second one's place.
func cookieOfFile(s *scan, _, from, _ int) {
	row := s.rowOf(from)
	at, end := s.start(row), s.end(row)
	if from-at > maxHead {
		return
	}
	var cells [7]interval
	for i := range cells {
		for at < end && isBlank(s.buf[at]) {
			at++
		}
		cells[i].from = at
		for at < end && !isBlank(s.buf[at]) {
			at++
		}
		cells[i].end = at
		if i == 1 && cells[1].from != from { // of a long row it's asked often
			return
		}
	}
	cell := func(i int) []byte { return s.buf[cells[i].from:cells[i].end] }
	only := cell(3)
	if !bytes.HasPrefix(cell(2), []byte("/")) || !bytes.Equal(only, []byte("TRUE")) && !bytes.Equal(only, []byte("FALSE")) || len(bytes.Trim(cell(4), "0123456789")) > 0 {
		return
	}
	value := cells[6].from
	r := s.follow(value, cookieValue, 0, 0)
	if v := s.peek(value, r.end); isCookie(cell(5), v) {
		s.found(match{from: value, secret: value, end: r.end, label: "cookie", rank: rankGuess})
	}
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }
