package redact

import (
	"bytes"
	"regexp"
)

// matcher looks at a word that stands in a text from a place to another, and adds what
// it finds. word is the number of the anchor.
type matcher func(s *scan, word, from, end int)

// searchWord is a word that a secret begins with, or that stands beside one.
type searchWord struct {
	word  string
	match matcher
}

// ruleSet are what is searched for. They don't change.
type ruleSet struct {
	anchors []searchWord
	words   *automaton
	user    []userRule
	own     ownSecrets
	allowed []allowance
}

// newRules makes the rules of options. Without the others (off) the
// daemon's own secrets are still found.
func newRules(off bool, user []userRule, allowed []allowance, own ownSecrets) *ruleSet {
	r := &ruleSet{own: own}
	if !off {
		r.user, r.allowed = user, allowed
		r.builtIn()
	}
	r.anchor((*scan).mask, maskBegin)
	for i := range own {
		r.anchor(own[i].match, own[i].anchor())
	}
	words := make([]string, len(r.anchors))
	for i, a := range r.anchors {
		words[i] = a.word
	}
	r.words = newAutomaton(words)
	return r
}

func (r *ruleSet) anchor(m matcher, words ...string) {
	for _, w := range words {
		r.anchors = append(r.anchors, searchWord{w, m})
	}
}

func (r *ruleSet) builtIn() {
	for _, f := range forms() {
		r.anchor(f.match, f.prefixes...)
	}
	b := newBlocks()
	r.anchor(b.begin, "----BEGIN", "---- BEGIN")
	r.anchor(b.up, "----END", "---- END")
	r.anchor(b.putty, "Private-Lines: ")
	r.anchor(encodedKey(), "LS0tLS1CRUdJTi")
	r.anchor(jwt(), "eyJ")
	r.anchor(telegram(), ":A")
	r.anchor(discord(), discordBegins()...)
	r.anchor(discordWebhook(), "/api/webhooks/")
	r.anchor(awsSecret(), "AKIA", "ASIA")
	r.anchor(azureClientSecret(), "Q~")
	r.anchor(square(), "EAAA")
	r.anchor(signature(), "?sig=", "&sig=", ";sig=", "X-Amz-Signature=", "X-Goog-Signature=", "SharedAccessSignature=")
	r.anchor(userinfo(), "://")
	for _, c := range commands() {
		r.anchor(c.match, c.name)
	}
	r.anchor(cookieHeader, "Cookie:", "cookie:")
	r.anchor(sessionCookie, sessionCookies()...)
	r.anchor(cookieOfPage, "document.cookie")
	r.anchor(cookieOfFile, "TRUE", "FALSE")
	r.anchor(authorization(), "Authorization", "authorization", "AUTHORIZATION")
	r.anchor(userCall, userCalls()...)
	r.anchor(connection, connections()...)
	r.anchor(piped, readers()...)
	r.anchor(dataSource, "@tcp(", "@unix(")
	r.anchor(pgpass, ":5432:", ":*:")
	r.anchor(secretOfCluster, "stringData:")
	r.anchor(identified(), "IDENTIFIED ", "identified ", "Identified ")
	r.anchor(cryptHash(), cryptBegins()...)
	r.anchor(credentials(false), "Bearer", "bearer", "BEARER")
	r.anchor(credentials(true), "Basic", "basic", "BASIC")
	a := newAssigner()
	for _, k := range keywords() {
		r.anchor(a.matcher(k), k.spellings()...)
	}
}

// allowance is what isn't a secret: an exact text within it, or an expression that
// matches in it.
type allowance struct {
	text []byte
	re   *regexp.Regexp
}

func (r *ruleSet) allows(v []byte) bool {
	for _, a := range r.allowed {
		if a.re != nil && a.re.Match(v) || a.re == nil && bytes.Contains(v, a.text) {
			return true
		}
	}
	return false
}

// userRule is a rule of the configuration.
type userRule struct {
	label string
	re    *regexp.Regexp
}

// match finds a user's expression in each row, and where a row is wrapped into the
// next, in both together. If it has a group, that's the secret.
func (u *userRule) match(s *scan) {
	for row := range s.len() {
		at, end := s.start(row), s.end(row)
		u.in(s, s.buf[at:end], func(i int) int { return at + i })
		if row+1 == s.len() || end == at || !s.full(row) {
			continue
		}
		// The break has one byte in buf and none in what's searched.
		both := append(append([]byte(nil), s.buf[at:end]...), s.buf[end+1:s.end(row+1)]...)
		u.in(s, both, func(i int) int {
			if at+i > end {
				return at + i + 1
			}
			return at + i
		})
	}
}

func (u *userRule) in(s *scan, text []byte, place func(int) int) {
	for _, m := range u.re.FindAllSubmatchIndex(text, -1) {
		from, end := m[0], m[1]
		if len(m) >= 4 && m[2] >= 0 {
			from, end = m[2], m[3]
		}
		s.found(match{from: place(from), secret: place(from), end: place(end), label: u.label, rank: rankForm})
	}
}
