package redact

import (
	"bytes"
	"encoding/base64"
)

// The kinds of secret whose form says more than a prefix does.

// glance is how much of a secret is looked at where there may be much before it's told
// that it's none. What was looked at once mustn't be looked at from each anchor in it.
const glance = 512

// code completes and adds a finding whose secret is characters of a set, drawn at
// random, at least so many.
func (s *scan) code(f match, set *charset, usual, least int) {
	r := s.follow(f.secret, set, usual, glance)
	for _, end := range s.ends(f.secret, r.end) {
		v := s.peek(f.secret, end)
		if len(v) >= least && (measureOf(v).random(35) || isHex(v)) && !isStandIn(v) {
			if end == r.end && r.n == glance {
				end = s.follow(f.secret, set, usual, 0).end
			}
			f.end = s.glued(end)
			s.found(f)
			return
		}
	}
	for _, f.end = range s.ends(f.secret, r.end) {
		if len(s.peek(f.secret, f.end)) < least {
			s.begun(f)
		}
	}
}

// jwt is a JSON web token (RFC 7519): three parts in base64url, of which the first is
// a JSON object and so begins with eyJ.
func jwt() matcher {
	set := chars("A-Za-z0-9_.=-")
	return func(s *scan, word, from, end int) {
		if from < s.done[word] || !s.apart(from) {
			return
		}
		r := s.follow(end, set, 0, glance)
		for _, e := range s.ends(end, r.end) {
			f := match{from: from, secret: end, end: s.glued(e), label: "JWT", rank: rankForm}
			header, rest, ok := bytes.Cut(s.value(nil, end, e, glance), []byte{'.'})
			if ok && len(header) >= 12 && len(rest) >= 10 && !isStandIn(rest[:min(len(rest), probe)]) && !isPublished(rest) && !isPublished(s.value(nil, from, e, glance)) {
				if e == r.end && r.n == glance {
					f.end = s.glued(s.follow(end, set, 0, 0).end)
				}
				s.done[word] = f.end
				s.found(f)
				return
			}
			if e > end && !ok {
				s.begun(f)
			}
		}
	}
}

// telegram is the token of a bot on Telegram: its number, a colon and 35 characters,
// of which the first are AA (core.telegram.org/bots/features, "BotFather").
func telegram() matcher {
	digits, set := chars("0-9"), chars("A-Za-z0-9_-")
	return func(s *scan, _, from, _ int) {
		first := s.back(from, digits, 16)
		if n := len(s.peek(first, from)); n < 6 || n > 12 {
			return
		}
		s.code(match{from: first, secret: from + 1, label: "Telegram bot token", rank: rankForm}, set, 35, 12)
	}
}

// discordBegins are how the token of a bot on Discord can begin: the bot's number in
// base64 (discord.py, "Tokens"). A digit and a digit and the beginning of a digit.
func discordBegins() []string {
	var out []string
	for a := '0'; a <= '9'; a++ {
		for b := '0'; b <= '9'; b++ {
			begin := base64.RawURLEncoding.EncodeToString([]byte{byte(a), byte(b), '0'})[:3]
			if len(out) == 0 || out[len(out)-1] != begin {
				out = append(out, begin)
			}
		}
	}
	return out
}

// discord is the token of a bot on Discord: its number, the time and a code, each in
// base64url, with dots between.
func discord() matcher {
	set := chars("A-Za-z0-9_.-")
	return func(s *scan, _, from, end int) {
		if !s.apart(from) {
			return
		}
		r := s.follow(from, set, 0, 128)
		for _, end := range s.ends(from, r.end) {
			v := s.value(nil, from, end, 128)
			number, rest, ok := bytes.Cut(v, []byte{'.'})
			if len(number) < 16 || !isNumber(number) {
				return
			}
			f := match{from: from, secret: s.skipOver(from, len(number)+1), end: s.glued(end), label: "Discord bot token", rank: rankForm}
			if ok && len(rest) >= 12 && measureOf(rest).random(35) && !isStandIn(rest) {
				s.found(f)
				return
			}
			if ok && len(rest) < 12 {
				s.begun(f)
			}
		}
	}
}

// skipOver is the place behind n characters, over breaks.
func (t *text) skipOver(at, n int) int {
	for ; n > 0 && at < len(t.buf); at++ {
		if t.buf[at] != '\n' {
			n--
		}
	}
	return at
}

func isNumber(v []byte) bool {
	var out [64]byte
	n, err := base64.RawURLEncoding.Decode(out[:], v[:min(len(v), 64)])
	if err != nil {
		return false
	}
	for _, c := range out[:n] {
		if !isDigit(c) {
			return false
		}
	}
	return true
}

// discordWebhook is the address of a webhook: its number and a token of 68 characters.
func discordWebhook() matcher {
	digits, set := chars("0-9"), chars("A-Za-z0-9_-")
	return func(s *scan, _, _, end int) {
		id := s.follow(end, digits, -1, 24)
		slash, ok := s.word(id.end, "/")
		if id.n < 6 || !ok {
			return
		}
		s.code(match{from: slash, secret: slash, label: "Discord webhook", rank: rankForm}, set, 68, 16)
	}
}

// awsSecret is the secret that stands behind the id of an access key, as in a file of
// credentials: 40 characters of base64.
func awsSecret() matcher {
	id, set, between := chars("A-Z2-7"), chars("A-Za-z0-9+/"), chars(" \t\n,;:|'\"")
	return func(s *scan, _, from, end int) {
		r := s.follow(end, id, 16, 17)
		if r.n != 16 || !s.apart(from) {
			return
		}
		at := r.end
		for at < len(s.buf) && at-r.end < 8 && between[s.buf[at]] {
			at++
		}
		if at == r.end || at == len(s.buf) {
			return
		}
		s.code(match{from: at, secret: at, label: "AWS secret key", rank: rankForm}, set, 40, 40)
	}
}

// azureClientSecret is the secret of an application in Microsoft Entra: three
// characters, a digit, Q~ and 31 to 34 characters.
func azureClientSecret() matcher {
	set := chars("A-Za-z0-9_.~-")
	return func(s *scan, _, from, _ int) {
		first := s.back(from, set, 4)
		if v := s.peek(first, from); len(v) != 4 || !isDigit(v[3]) || !s.apart(first) {
			return
		}
		s.code(match{from: first, secret: first, label: "Azure client secret", rank: rankForm}, set, 40, 16)
	}
}

// square is a token of Square's or Facebook's: EAAA and at least 56 characters. Rows of base64 have
// that, too, but go on with others.
func square() matcher {
	set, base64Rest := chars("A-Za-z0-9_-"), chars("+/=")
	return func(s *scan, _, from, end int) {
		if !s.apart(from) || from > 0 && base64Rest[s.buf[from-1]] {
			return
		}
		r := s.follow(end, set, 0, glance)
		for _, stop := range s.ends(end, r.end) {
			if v := s.value(nil, end, stop, glance); len(v) >= 56 && !base64Rest[s.buf[stop]] && mixed.fits(v[:probe-8]) {
				s.found(match{from: from, secret: end, end: stop, label: "Square token", rank: rankForm})
				return
			}
		}
	}
}

// signature is the signature of an address: of an Azure shared access signature (sig=),
// an address that AWS or Google Cloud has signed.
func signature() matcher {
	set := chars("A-Za-z0-9%+/=_-")
	return func(s *scan, _, from, end int) {
		s.code(match{from: from, secret: end, label: "signature", rank: rankForm}, set, 0, 32)
	}
}

// encodedKey is a block of a private key in base64 once more, as Kubernetes and CI
// systems keep it. The word is "-----BEGIN" in base64.
func encodedKey() matcher {
	set := chars("A-Za-z0-9+/=_-")
	return func(s *scan, word, from, end int) {
		if from < s.done[word] {
			return
		}
		v := s.value(nil, from, s.follow(end, set, 0, 60).end, 60)
		head, _ := base64.StdEncoding.DecodeString(string(v[:len(v)/4*4]))
		if !bytes.Contains(head, []byte("PRIVATE")) {
			return
		}
		f := match{from: from, secret: end, end: s.glued(s.follow(end, set, 0, 0).end), label: privateKey, rank: rankForm}
		s.done[word] = f.end
		s.found(f)
	}
}

// credentials is what follows "Bearer" and "Basic" (RFC 6750, RFC 7617).
func credentials(basic bool) matcher {
	set := chars("A-Za-z0-9._~+/=-")
	return func(s *scan, word, from, end int) {
		if from < s.done[word] || from > 0 && (isAlnum(s.buf[from-1]) || s.buf[from-1] == '_') {
			return
		}
		at := s.skip(end, 4)
		if at == end && s.buf[end] != '+' && s.buf[end] != '%' {
			return
		}
		r := s.follow(at, set, 0, glance)
		f := match{from: at, secret: at, label: "bearer token", rank: rankGuess}
		if basic {
			f.label = "basic credentials"
		}
		for _, f.end = range s.ends(at, r.end) {
			v := s.value(nil, at, f.end, glance)
			if basic && isUserAndPassword(v) || !basic && len(v) >= 16 && (secretLike(v, 16) || isHex(v)) {
				if r.n == glance {
					f.end = s.follow(at, set, 0, 0).end
				}
				s.done[word] = f.end
				s.found(f)
				return
			}
		}
		for _, f.end = range s.ends(at, r.end) {
			if v := s.peek(at, f.end); len(v) > 2 && (!basic || isText(v)) && !isWords(v) && !isPublished(v) {
				s.begun(f)
			}
		}
	}
}

// isWords says that a text is of small letters and what ends sentences, as in "a bearer token.".
func isWords(v []byte) bool {
	return len(bytes.Trim(v, "abcdefghijklmnopqrstuvwxyz.-_/")) == 0 && len(v) < 16
}

// isText says that a text is base64 of one that people write.
func isText(v []byte) bool {
	out, err := base64.RawStdEncoding.DecodeString(string(v[:len(v)/4*4]))
	_, password, ok := bytes.Cut(out, []byte{':'})
	return err == nil && len(out) > 0 && (!ok || !isStandInWord(password) && !isPublished(password)) && bytes.IndexFunc(out, func(r rune) bool { return r < ' ' || r > '~' }) < 0
}

// isUserAndPassword says that a text is "user:password" in base64.
func isUserAndPassword(v []byte) bool {
	if len(v) < 8 {
		return false
	}
	v = bytes.TrimRight(v, "=")
	if len(v)%4 == 1 {
		v = v[:len(v)-1] // it was cut off
	}
	out, err := base64.RawStdEncoding.DecodeString(string(v))
	if err != nil {
		return false
	}
	user, password, ok := bytes.Cut(out, []byte{':'})
	for _, c := range out {
		if c < ' ' || c > '~' {
			return false
		}
	}
	return ok && !isStandInPassword(user, password)
}
