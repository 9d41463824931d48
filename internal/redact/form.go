package redact

// secretForm is a kind of secret that begins with a prefix of its own.
type secretForm struct {
	label    string
	prefixes []string
	set      *charset
	least    int // characters behind the prefix that are a secret even if the rest is missing: at most a third of usual
	usual    int // characters behind the prefix, if that's always the same; 0: it's not
	look     look
}

// look is what the characters behind a prefix must look like.
type look uint8

const (
	mixed    look = iota // drawn at random of letters and digits
	loose                // not only words: the prefix is telling enough
	hex                  // hexadecimal
	whatever             // not dull
)

func (k look) fits(v []byte) bool {
	m := measureOf(v)
	if m.dull() || isStandIn(v) {
		return false
	}
	switch k {
	case mixed:
		return m.drawn(45)
	case loose:
		return m.random(25) && (m.classes > 1 || m.length < 16)
	case hex:
		return isHex(v)
	default:
		return true
	}
}

// probe is how many characters of a secret tell whether it's one.
const probe = 64

func (f *secretForm) match(s *scan, word, from, end int) {
	if from < s.done[word] || !s.apart(from) {
		return
	}
	r := s.follow(end, f.set, f.usual, probe)
	found := match{from: from, secret: end, label: f.label, rank: rankForm}
	for _, found.end = range s.ends(end, r.end) {
		v := s.peek(end, found.end)
		if len(v) < f.least || !f.look.fits(v) {
			continue
		}
		if found.end == r.end && r.n == probe {
			found.end = s.follow(end, f.set, f.usual, 0).end
		}
		found.end = s.glued(found.end)
		s.done[word] = found.end
		s.found(found)
		return
	}
	for _, found.end = range s.ends(end, r.end) {
		v := s.peek(end, found.end)
		if s.buf[found.end] != '\n' || len(v) >= max(f.least, f.usual) || isStandIn(v) {
			continue
		}
		if s.begun(found); f.look != mixed && len(v) < f.least {
			s.found(found)
		}
	}
}

// glued is where letters and digits end that stand right behind a secret.
func (t *text) glued(end int) int {
	for isAlnum(t.buf[end]) {
		end++
	}
	return end
}
