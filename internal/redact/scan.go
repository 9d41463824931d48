package redact

import (
	"bytes"
	"slices"
	"unicode/utf8"
)

// match is a secret in a text.
type match struct {
	from   int // in buf; what stands from here to secret tells what it is, and is shown
	secret int
	end    int
	label  string
	rank   int // of two that overlap, what the higher one says is shown
}

// The ranks of findings: the surer one knows what it is, the higher.
const (
	rankGuess = iota // by the name before it
	rankForm         // by its form
	rankOwn          // it's known
)

// matchPiece is what of a finding stands in one row.
type matchPiece struct {
	row    int
	from   int // in buf, as in finding
	secret int
	end    int
	label  string
	first  bool // the secret begins here
	rank   int
}

// scan is one search in one text.
type scan struct {
	*text
	rules   *ruleSet
	pieces  []matchPiece
	waits   int // the first row that had better wait for the next one; len(): none
	done    []int
	opaque  []interval // masks that stand there already, and aren't looked into
	scratch [256]byte
}

type interval struct{ from, end int }

// search finds the secrets in a text.
func (r *ruleSet) search(t *text) *scan {
	s := &scan{text: t, rules: r, waits: t.len(), done: make([]int, len(r.anchors))}
	r.words.scan(t.buf, func(word uint16, end int) {
		a := &r.anchors[word]
		a.match(s, int(word), s.begin(end, len(a.word)), end)
	})
	for _, u := range r.user {
		u.match(s)
	}
	r.own.tails(s)
	return s
}

// begin is where a word of n characters begins that ends at a place.
func (s *scan) begin(end, n int) int {
	for n > 0 {
		end--
		if s.buf[end] != '\n' {
			n--
		}
	}
	return end
}

// found adds a finding, unless it's allowed.
func (s *scan) found(f match) {
	if f.secret >= f.end || s.inMask(f.from) || s.isHead(f.end) {
		return
	}
	if f.rank < rankOwn && s.rules.allows(s.value(nil, f.from, f.end, 4096)) {
		return
	}
	s.add(f)
}

// add cuts a finding into its rows.
func (s *scan) add(f match) {
	first := true
	for row := s.rowOf(f.secret); row < s.len() && s.start(row) < f.end; row++ {
		p := matchPiece{
			row: row, from: max(f.from, s.start(row)), secret: max(f.secret, s.start(row)), end: min(f.end, s.end(row)),
			label: f.label, first: first, rank: f.rank,
		}
		if p.secret < p.end {
			s.pieces = append(s.pieces, p)
			first = false
		}
	}
}

// wait notes that more may come to what stands at a place.
func (s *scan) wait(at int) { s.waits = min(s.waits, s.rowOf(at)) }

// begun takes what may be the beginning of a secret, at the end of a row or where somebody has cut
// it off ("ghp_x7Kq…"): what looks drawn at random is masked, whatever follows, so that nothing is
// shown that was masked before. Where nothing follows yet its row had better wait.
func (s *scan) begun(f match) {
	if f.secret >= f.end || s.buf[f.end] != '\n' && !bytes.HasPrefix(s.buf[f.end:], []byte("…")) {
		return
	}
	s.waitEnd(f)
	if !plain(s.peek(f.secret, f.end)) {
		s.found(f)
	}
}

// waitEnd has the row of what may be the beginning of a secret wait, where nothing follows yet.
func (s *scan) waitEnd(f match) {
	if s.open && f.end+1 == len(s.buf) {
		s.wait(f.from)
	}
}

// peek is the beginning of what stands in buf, without breaks, until the next peek.
func (s *scan) peek(from, end int) []byte { return s.value(s.scratch[:0], from, end, len(s.scratch)) }

// isHead says whether a mask stands behind what ends at a place, which then is what the
// mask shows of its secret.
func (s *scan) isHead(end int) bool {
	broken := end < len(s.buf) && s.buf[end] == '\n'
	if broken {
		end++
	}
	rest := s.buf[min(end, len(s.buf)):]
	if broken && bytes.HasPrefix(rest, []byte(dot+" ")) { // of a list
		return false
	}
	return bytes.HasPrefix(rest, []byte("…"+maskBegin)) || bytes.HasPrefix(rest, []byte(dot))
}

func (s *scan) inMask(at int) bool {
	for _, o := range slices.Backward(s.opaque) {
		if o.from <= at {
			return at < o.end
		}
	}
	return false
}

// maxLabel is how long the name of a rule can be, in characters.
const maxLabel = 64

// mask notes a mask that stands in the text already.
func (s *scan) mask(_, from, end int) {
	for i := end; i < min(len(s.buf), end+utf8.UTFMax*maxLabel+len(": ]")); i++ {
		if s.buf[i] == ']' {
			s.opaque = append(s.opaque, interval{max(0, from-len("…")), i + 1})
			return
		}
	}
}
