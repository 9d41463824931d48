package redact

import "bytes"

// reach is over how many rows a secret can be wrapped.
const reach = 200

// wordRun is a stretch of characters, over as many rows as it's wrapped over.
type wordRun struct {
	end  int  // in buf, behind the last character
	n    int  // characters
	open bool // it goes to the end of what's known, and could go on
}

// follow goes along characters of a set from a place on. usual is how many the secret
// has if that's known, or 0. limit is how many characters are followed at most; 0: all.
func (t *text) follow(at int, set *charset, usual, limit int) wordRun {
	r := wordRun{end: at}
	rows := 0
	for i := at; i < len(t.buf); {
		if c := t.buf[i]; set[c] {
			r.n++
			i++
			r.end = i
			if r.n == limit {
				return r
			}
			continue
		} else if c != '\n' {
			return r
		}
		if i+1 == len(t.buf) {
			r.open = t.open && (usual <= 0 || r.n < usual)
			return r
		}
		if rows++; rows > reach || !t.goesOn(i, set, r.n, usual) {
			return r
		}
		i++
	}
	return r
}

// tiny is a row with less characters than any word that would stand alone in one.
const tiny = 6

// evens says that a row completes hexadecimal digits to a number that keys have.
func (t *text) evens(br int, next []byte, n int) bool {
	switch n + len(next) {
	case 32, 40, 48, 64, 96, 128:
		return n >= 4 && onlyHex(next) && onlyHex(t.buf[max(0, br-4):br])
	}
	return false
}

// longEnough is as much of a row as is looked at to tell whether it goes on with what
// the row before ends with.
const longEnough = 200

// goesOn says whether the row behind a break goes on with n characters that stand
// before it. If in doubt it does.
func (t *text) goesOn(br int, set *charset, n, usual int) bool {
	at := br + 1
	end := at
	for end-at < longEnough && set[t.buf[end]] {
		end++
	}
	next := t.buf[at:end]
	if usual < 0 || len(next) == 0 {
		return len(next) > 0
	}
	// The rest of a row that was split can be short, but not two in turn.
	whole := t.buf[end] == '\n' && (len(next) >= tiny || br-t.start(t.rowOf(br)) >= tiny)
	switch {
	case n > 0 && t.buf[br-1] == '=' && next[0] != '=': // base64 is filled up at its end
		return false
	case usual > 0 && n >= usual:
		return false
	case usual > 0 && (n+len(next) == usual || n+len(next) < usual && whole), usual == 0 && t.evens(br, next, n):
		return true
	case t.named(at), isDate(next):
		return false
	case usual == 0 && n <= brief && t.another(at, end) && (!t.full(t.rowOf(br)) || t.width(t.rowOf(br)) < terminal):
		return false // a row of something else; and if it weren't, the rest would be letters or digits alone
	case t.buf[end] == ' ' && len(next) < tiny && n >= 4*len(next):
		return false // the name of a program; and if it weren't, it would be a fifth at most
	case !plain(next), whole && (len(next) < tiny || measureOf(next).pairs == 0):
		return true
	case t.buf[end] != '\n' && len(next) <= n/2:
		return false // words; and if they weren't, it would be less than a third
	}
	return t.full(t.rowOf(br))
}

// brief is how many characters a user and an ordinary password have at most, and terminal how wide one is at least
// that wraps its rows: the narrowest halves of a screen are.
const brief, terminal = 20, 40

// another says whether what a row begins with, up to a place, is no rest of a secret but a word, a
// prompt, an address, a time or a file's mode, and something follows.
func (t *text) another(at, end int) bool {
	if bytes.IndexByte([]byte(" ,;:>()"), t.buf[end]) < 0 || end == at {
		return false
	}
	next := t.buf[at:end]
	if last := next[len(next)-1]; (last == '$' || last == '#' || last == '%') && bytes.ContainsAny(next, "@:~") {
		return true
	}
	word := bytes.TrimRight(next, ".,:;!?>")
	switch {
	case len(word) == 0:
		return false
	case isDigit(word[0]):
		return len(bytes.Trim(word, "0123456789.:")) == 0 && (bytes.Count(word, []byte(".")) == 3 || bytes.Count(word, []byte(":")) == 2)
	case len(word) == len("-rw-r--r--") && len(bytes.Trim(word, "-rwxdlsStT")) == 0:
		return true
	}
	rest := bytes.Trim(word[1:], "abcdefghijklmnopqrstuvwxyz-_./")
	return len(rest) == 0 || len(bytes.Trim(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_-")) == 0
}

// named says whether a name stands at a place, and something that's given to it: an
// assignment, a field, a call.
func (t *text) named(at int) bool {
	end := at
	for end-at < longEnough && (isAlnum(t.buf[end]) || classOf(t.buf[end]) == separator && t.buf[end] != ' ' && t.buf[end] != ':' && t.buf[end] != ',') {
		end++
	}
	if !isName(t.buf[at:end]) || end-at > 8 && measureOf(t.buf[at:end]).drawn(60) {
		return false
	}
	op := end
	for t.buf[op] == ' ' {
		op++
	}
	switch t.buf[op] {
	case '=':
		// Behind the last characters of base64 it fills up.
		return op > end || isAlnum(t.buf[op+1]) || t.buf[op+1] == '$' || t.buf[op+1] == '{' || t.buf[op+1] == '\''
	case ':', '(':
		return true
	}
	return false
}

// isName says that a text is made of words with a number behind at most.
func isName(v []byte) bool {
	letters := 0
	for i, c := range v {
		switch {
		case !isDigit(c):
			letters++
		case i == 0, i+1 < len(v) && classOf(v[i+1]) != digit && classOf(v[i+1]) != separator:
			return false
		}
	}
	return letters > 0
}

// back goes along characters of a set back from a place, at most limit of them, and
// returns where they begin.
func (t *text) back(at int, set *charset, limit int) int {
	from := at
	for n := 0; n < limit && at > 0; {
		c := t.buf[at-1]
		if c == '\n' && at > 1 && set[t.buf[at-2]] {
			at--
			continue
		}
		if !set[c] {
			break
		}
		n++
		at--
		from = at
	}
	return from
}

// apart says whether a word can begin at a place: there's no letter or digit before it,
// but one that's part of an escape (\n, %3A).
func (t *text) apart(at int) bool {
	if at == 0 || !isAlnum(t.buf[at-1]) {
		return true
	}
	if at >= 2 && t.buf[at-2] == '\\' {
		return true
	}
	return at >= 3 && t.buf[at-3] == '%'
}

// skip goes over blanks from a place on, at most n of them and one break.
func (t *text) skip(at, n int) int {
	broken := false
	for end := at + n; at < end && at+1 < len(t.buf); at++ {
		switch c := t.buf[at]; {
		case c == ' ' || c == '\t':
		case c == '\n' && !broken:
			broken = true
		case c >= 0xC2 && t.wideBlank(at) > 0:
			at += t.wideBlank(at) - 1
		default:
			return at
		}
	}
	return at
}

// word goes over a word from a place on, letter by letter, over breaks too. ok is false
// if it isn't there.
func (t *text) word(at int, w string) (end int, ok bool) {
	for i := range len(w) {
		for at < len(t.buf) && t.buf[at] == '\n' {
			at++
		}
		if at >= len(t.buf) || t.buf[at] != w[i] {
			return at, false
		}
		at++
	}
	return at, true
}

// ends are the places at which a run can end that begins at one: where it does, and
// before that at each break between two rows, the last first. If what's in the last row
// isn't part of it, it can't be told otherwise.
func (t *text) ends(from, end int) []int {
	out := []int{end}
	for i := end - 1; i >= from && len(out) < 8; i-- {
		if t.buf[i] == '\n' {
			out = append(out, i)
		}
	}
	return out
}
