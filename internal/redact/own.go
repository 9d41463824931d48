package redact

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
)

// ownSecret is one form in which a secret of the daemon can stand in a text.
type ownSecret struct {
	label string
	text  string
}

type ownSecrets []ownSecret

// minOwn is how short a secret can be that's found wherever it stands; a shorter one
// would be found in other words.
const minOwn = 6

// forms are the forms of a secret: as it is, escaped in an address or in JSON, and in
// base64, also within a longer text. One of several lines is several secrets.
func ownForms(label, secret string) ownSecrets {
	var out ownSecrets
	for line := range strings.Lines(secret) {
		line = strings.TrimSpace(line)
		if len(line) < minOwn {
			continue
		}
		texts := []string{line, url.QueryEscape(line), url.PathEscape(line)}
		if quoted, err := json.Marshal(line); err == nil {
			texts = append(texts, strings.Trim(string(quoted), `"`))
		}
		for shift := range 3 {
			texts = append(texts, within(base64.RawStdEncoding, line, shift), within(base64.RawURLEncoding, line, shift))
		}
		for i, t := range texts {
			if (i == 0 || len(t) >= 2*minOwn || len(t) >= len(line)) && !slices.Contains(texts[:i], t) {
				out = append(out, ownSecret{label, t})
			}
		}
	}
	return out
}

// within is what of a text in base64 doesn't depend on what stands around it, if it
// begins at a byte whose number leaves a rest of shift when divided by 3.
func within(enc *base64.Encoding, text string, shift int) string {
	all := enc.EncodeToString(append(make([]byte, shift), text...))
	bits := 8 * (shift + len(text))
	return all[(8*shift+5)/6 : bits/6]
}

// anchor is the beginning by which the secret is found.
func (o ownSecret) anchor() string { return o.text[:min(len(o.text), minOwn)] }

func (o ownSecret) match(s *scan, _, from, _ int) {
	end, ok := s.word(from, o.text)
	f := match{from: from, secret: from, end: end, label: o.label, rank: rankOwn}
	switch {
	case ok:
		s.found(f)
	case end >= len(s.buf) && s.open:
		s.wait(from)
		s.found(f)
	}
}

// tails finds short beginnings of secrets at the end of what's known: those of a third
// and more, which are too short for match.
func (list ownSecrets) tails(s *scan) {
	if !s.open || s.len() == 0 {
		return
	}
	known := strings.TrimSuffix(string(s.peek(max(0, len(s.buf)-minOwn), len(s.buf))), "\n")
	for _, o := range list {
		for n := min(len(o.anchor())-1, len(known)); 3*n >= len(o.text); n-- {
			if strings.HasSuffix(known, o.text[:n]) {
				at := s.end(s.len()-1) - n
				s.wait(at)
				s.found(match{from: at, secret: at, end: at + n, label: o.label, rank: rankOwn})
				break
			}
		}
	}
}
