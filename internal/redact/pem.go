package redact

import "bytes"

// A private key is a block of base64 between two lines that say so: PEM (RFC 7468),
// OpenSSH, PGP (RFC 9580), SSH2 (RFC 4716). The lines themselves are shown.

const (
	maxBlock   = reach // rows that are masked behind a BEGIN
	maxBlockUp = 60    // rows that are masked before an END without a BEGIN
)

type blocks struct{ base64, head *charset }

func newBlocks() *blocks {
	return &blocks{base64: chars("A-Za-z0-9+/="), head: chars("A-Z0-9 ")}
}

// title goes over what stands between BEGIN or END and the dashes. ok says that it's of
// a private key.
func (b *blocks) title(s *scan, at int) (end int, ok bool) {
	var name [64]byte
	n, dashes := 0, 0
	for ; at < len(s.buf); at++ {
		switch c := s.buf[at]; {
		case c == '-':
			dashes++
		case c == '\n' && dashes < 5 && at+1 < len(s.buf) && s.buf[at+1] == '-':
		case dashes >= 4:
			return at, isPrivate(name[:n])
		case dashes > 0 && c == '\n':
		case c == ' ' || c == '\n':
		case dashes > 0 || !b.head[c] || n == len(name):
			return at, false
		default:
			name[n] = c
			n++
		}
		if dashes == 5 {
			return at + 1, isPrivate(name[:n])
		}
	}
	return at, false
}

func isPrivate(title []byte) bool {
	return bytes.HasSuffix(title, []byte("PRIVATEKEY")) || bytes.HasSuffix(title, []byte("PRIVATEKEYBLOCK"))
}

// begin masks what stands behind a BEGIN.
func (b *blocks) begin(s *scan, _, _, end int) {
	if at, ok := b.title(s, end); ok {
		b.body(s, at)
	}
}

// putty masks the private lines of a key of PuTTY.
func (b *blocks) putty(s *scan, _, _, end int) { b.body(s, s.end(s.rowOf(end))) }

func (b *blocks) body(s *scan, at int) {
	first := s.rowOf(at)
	seen, blank := false, 0
	for row := first; row < min(s.len(), first+maxBlock); row++ {
		from, end := max(at, s.start(row)), s.end(row)
		if from == end {
			if blank++; blank > 2 {
				return
			}
			continue
		}
		l := b.line(s.buf[from:end])
		switch {
		case l.header && !seen, l.bare && !seen && row < first+2:
			continue
		case !l.block, !seen && !l.sure && l.end-l.from >= tiny && plain(s.buf[from+l.from:from+l.end]):
			return
		}
		if l.end > l.from {
			s.key(row, from+l.from, from+l.end, !seen)
			seen, blank = seen || l.end-l.from >= tiny, 0
		}
		if l.last {
			return
		}
	}
}

// key adds a row of a key.
func (s *scan) key(row, from, end int, first bool) {
	if !s.inMask(from) {
		s.pieces = append(s.pieces, matchPiece{row: row, from: from, secret: from, end: end, label: privateKey, first: first, rank: rankForm})
	}
}

// up masks what stands before an END, where its BEGIN isn't seen.
func (b *blocks) up(s *scan, _, from, end int) {
	if _, ok := b.title(s, end); !ok {
		return
	}
	at := s.rowOf(from)
	for row := at; row >= max(0, at-maxBlockUp); row-- {
		begin, stop := s.start(row), min(s.end(row), from)
		if begin == stop {
			if row == at {
				continue
			}
			return
		}
		l := b.line(s.buf[begin:stop])
		if row == at && l.bare {
			continue
		}
		if !l.block || l.last || l.end == l.from || row < at-2 && !l.sure {
			return
		}
		s.key(row, begin+l.from, begin+l.end, false)
	}
}

// blockRow is what a row of a block has.
type blockRow struct {
	block     bool // it can be a part of a block
	header    bool // it's a header: "Proc-Type: 4,ENCRYPTED"
	bare      bool // there's nothing but what may stand around base64
	sure      bool // its base64 is too long to be anything else
	last      bool // the block ends in it
	from, end int  // of its base64
}

// line looks at a row of a block. Around the base64 may be what code, diffs and listings
// with line numbers put there: numbers, quotes, "\n", a plus, a comment's sign.
func (b *blocks) line(l []byte) blockRow {
	var out blockRow
	if i := bytes.Index(l, []byte("----")); i >= 0 {
		out.last = true
		l = l[:i]
	}
	if isHeader(l) {
		out.header = true
		return out
	}
	runs, longest, short := 0, 0, 0
	for i := 0; i < len(l); {
		if c := l[i]; c == '\\' && i+1 < len(l) && (l[i+1] == 'n' || l[i+1] == 'r' || l[i+1] == 't') {
			i += 2
			continue
		}
		if !b.base64[l[i]] || isSign(l, i) {
			if !isOrnament(l[i]) {
				return blockRow{}
			}
			i++
			continue
		}
		j := i
		for j < len(l) && b.base64[l[j]] {
			j++
		}
		if runs == 0 && isGutter(l[i:j]) && j < len(l) {
			i = j
			continue
		}
		if runs == 0 {
			out.from = i
		}
		runs++
		if j-i < 24 {
			short++
		}
		longest = max(longest, j-i)
		out.end = j
		i = j
	}
	out.bare = runs == 0
	out.block = runs > 0 && (runs == 1 || short <= 1 || bytes.Contains(l, []byte(`\n`))) || out.last
	out.sure = longest >= 40
	return out
}

// isGutter says that a text is the number of a line.
func isGutter(v []byte) bool {
	for _, c := range v {
		if !isDigit(c) {
			return false
		}
	}
	return len(v) <= 6
}

// isSign says that a plus or slash is one of code: it joins texts, or begins a comment.
func isSign(l []byte, i int) bool {
	switch {
	case l[i] != '+' && l[i] != '/':
		return false
	case i > 0:
		return l[i-1] == ' ' || l[i-1] == '"' || l[i-1] == '\''
	}
	return len(l) > 2 && (l[1] == ' ' || l[1] == '*' || l[1] == '\t' || l[1] == '/' && l[2] == ' ')
}

// isOrnament says what may stand around the base64 of a block.
func isOrnament(c byte) bool {
	return c >= 0x80 || bytes.IndexByte([]byte(" \t\r\"'`,;+-\\|>#*/:()"), c) >= 0
}

// isHeader says that a row is a header of a block: a name, a colon, a blank.
func isHeader(l []byte) bool {
	name, rest, ok := bytes.Cut(l, []byte(":"))
	if !ok || len(rest) == 0 || rest[0] != ' ' || len(name) == 0 || name[0] < 'A' || name[0] > 'Z' {
		return false
	}
	for _, c := range name {
		if !isAlnum(c) && c != '-' {
			return false
		}
	}
	return true
}
