package redact

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"
)

// keyword is a word in a name that says that its value is secret.
type keyword struct {
	word   string // in small letters
	plural bool   // it may have an s behind it
	label  string
	// weak says that the word alone doesn't say it: "key" does so only beside others.
	weak bool
	// whole says that nothing but a place may follow the word in the name.
	whole bool
	// tongue says that it's of another language than English: it's a word of its own, and its value
	// is no word alone.
	tongue bool
}

func keywords() []keyword {
	return append(tongues(), []keyword{
		{"password", true, "password", false, false, false},
		{"passwd", false, "password", false, false, false},
		{"passphrase", true, "passphrase", false, false, false},
		{"passwrd", false, "password", false, false, false},
		{"pswd", false, "password", false, false, false},
		{"pword", false, "password", false, true, false},
		{"pass", false, "password", false, false, false},
		{"pwd", false, "password", false, false, false},
		{"pw", false, "password", false, true, false},
		{"passcode", true, "password", false, true, false},
		{"psk", false, "password", false, true, false},
		{"cred", true, "credential", false, true, false},
		{"secret", true, "secret", false, false, false},
		{"token", true, "token", false, false, false},
		{"pat", false, "token", false, true, false},
		{"credential", true, "credential", false, false, false},
		{"auth", false, "credential", true, false, false},
		{"key", true, "key", true, false, false},
	}...)
}

// spellings are how a keyword stands in names: token, Token, TOKEN.
func (k keyword) spellings() []string {
	up := strings.ToUpper(k.word)
	_, n := utf8.DecodeRuneInString(k.word)
	if up == k.word { // it has no capitals
		return []string{k.word}
	}
	return []string{k.word, strings.ToUpper(k.word[:n]) + k.word[n:], up}
}

// strongKeys are the keys that are secret, as their names are without _ and -.
var strongKeys = [][]byte{ //nolint:gochecknoglobals // a constant table
	[]byte("apikey"), []byte("accesskey"), []byte("secretkey"), []byte("privatekey"), []byte("authkey"), []byte("signingkey"), []byte("encryptionkey"),
	[]byte("masterkey"), []byte("accountkey"), []byte("servicekey"), []byte("sharedkey"), []byte("appkey"), []byte("jwtkey"), []byte("clientkey"),
	[]byte("securitykey"), []byte("sessionkey"), []byte("adminkey"), []byte("rootkey"), []byte("deploykey"), []byte("rolekey"), []byte("writekey"),
}

// services are those who hand out keys that are named after them: STRIPE_KEY.
var services = [][]byte{ //nolint:gochecknoglobals // a constant table
	[]byte("stripe"), []byte("openai"), []byte("anthropic"), []byte("claude"), []byte("gemini"), []byte("mistral"), []byte("groq"), []byte("cohere"), []byte("deepseek"), []byte("openrouter"), []byte("perplexity"),
	[]byte("replicate"), []byte("huggingface"), []byte("twilio"), []byte("sendgrid"), []byte("mailgun"), []byte("postmark"), []byte("mailchimp"), []byte("github"), []byte("gitlab"), []byte("slack"), []byte("discord"),
	[]byte("telegram"), []byte("datadog"), []byte("sentry"), []byte("pinecone"), []byte("algolia"), []byte("supabase"), []byte("firebase"), []byte("cloudflare"), []byte("digitalocean"), []byte("linode"), []byte("heroku"),
	[]byte("paypal"), []byte("braintree"), []byte("plaid"), []byte("razorpay"), []byte("okta"), []byte("vercel"), []byte("netlify"), []byte("shopify"), []byte("elevenlabs"), []byte("newrelic"), []byte("honeycomb"),
}

// harmless are ends of names that say that the value is about a secret, and none.
var harmless = [][]byte{ //nolint:gochecknoglobals // a constant table
	[]byte("name"), []byte("path"), []byte("file"), []byte("url"), []byte("uri"), []byte("type"), []byte("size"), []byte("len"), []byte("length"),
	[]byte("count"), []byte("index"), []byte("time"), []byte("expiry"), []byte("expires"), []byte("alg"), []byte("algorithm"), []byte("format"),
	[]byte("hash"), []byte("fingerprint"), []byte("thumbprint"), []byte("checksum"), []byte("digest"), []byte("arn"), []byte("version"), []byte("endpoint"), []byte("keyid"), []byte("tokenid"),
	[]byte("limit"), []byte("usage"), []byte("label"), []byte("prefix"), []byte("dir"), []byte("ref"), []byte("accesskeyid"), []byte("field"), []byte("header"),
	[]byte("regex"), []byte("command"), []byte("cmd"), []byte("helper"), []byte("program"), []byte("script"), []byte("askpass"), []byte("pattern"), []byte("algo"), []byte("scheme"), []byte("method"), []byte("class"), []byte("func"), []byte("test"), []byte("tokendata"),
}

// maxName is how long a name can be, in characters.
const maxName = 64

type assigner struct {
	name, bare, quoted, word *charset
}

func newAssigner() *assigner {
	a := &assigner{name: chars("A-Za-z0-9_.-"), bare: chars("!-~"), quoted: chars(" -~"), word: chars("!-~")}
	for _, c := range []byte("\"'`,;()[]{}<>|\\") {
		a.bare[c] = false
	}
	for _, c := range []byte("\"'`\\") {
		a.quoted[c] = false
	}
	return a
}

// matcher finds values that are given to a name with a keyword in it, if they look
// drawn at random: in files of environment variables, YAML, JSON, TOML, shells, source
// code, XML, options of commands.
func (a *assigner) matcher(k keyword) matcher {
	return func(s *scan, word, from, end int) {
		if from < s.done[word] || !a.isPart(s, k, from, end) {
			return
		}
		tail := s.follow(end, a.name, 0, maxName)
		for _, end := range slices.Backward(s.ends(end, tail.end)) { // the next row may be the value
			a.columns(s, k, from, end)
			a.valueFirst(s, k, from, end)
			a.declared(s, k, from, end)
			if last := a.given(s, k, from, end); last > 0 {
				s.done[word] = last
				return
			}
		}
	}
}

// given finds the value of a name whose keyword begins at a place and which ends at
// another, and returns where it ends; 0: there's none that's secret.
func (a *assigner) given(s *scan, k keyword, from, end int) int {
	if s.buf[end-1] == '.' {
		return 0
	}
	o, ok := a.operator(s, from, end)
	if !ok {
		return 0
	}
	strength := a.strength(s, k, from, end, o)
	if strength == 0 {
		return 0
	}
	if o.quote == 0 && s.buf[o.at] == '[' {
		return a.list(s, k, from, end, o, strength)
	}
	if o.quote == 0 && o.by == ':' && s.buf[o.at] == '-' && (s.buf[o.at+1] == ' ' || s.buf[o.at+1] == '\n') && s.rowOf(o.at) == s.rowOf(end)+1 {
		return a.rows(s, k, from, end, o, strength)
	}
	last := a.value(s, k, from, end, o, strength)
	if block, marked := s.isBlock(end, o); block && strength == 2 {
		last = max(last, a.block(s, k, from, end, marked))
	}
	return last
}

// list finds the texts in a list that a name is given: ["a", "b"].
func (a *assigner) list(s *scan, k keyword, from, end int, o operand, strength int) (last int) {
	const most = 64
	at := o.at
	for range most {
		at = s.skip(at+1, 8) // over [ or ,
		o.quote = s.buf[min(at, len(s.buf)-1)]
		if o.quote != '"' && o.quote != '\'' {
			if o.by != ':' && o.by != '=' {
				return last
			}
			o.quote, o.at, o.listed = 0, at, true
			stop := s.bare(at, a.bare).ends[0]
			if strength == 2 {
				last = max(last, a.findLiteral(s, k, from, end, o))
			}
			if at = s.column(stop); s.buf[at] != ',' || s.rowOf(at) != s.rowOf(o.at) {
				return last
			}
			continue
		}
		stop := s.follow(at+1, a.quoted, 0, glance).end
		o.at = at + 1
		if found := a.value(s, k, from, end, o, strength); found > 0 {
			stop, last = found, found
		}
		if at = s.skip(min(stop+1, len(s.buf)-1), 8); s.buf[at] != ',' {
			return last
		}
	}
	return last
}

// rows finds the texts in a list of YAML, each in a row of its own behind the name's. A row of it
// may have come in two pieces.
func (a *assigner) rows(s *scan, k keyword, from, end int, o operand, strength int) (last int) {
	o.listed = true
	pieces := 0
	for row := s.rowOf(o.at); row < s.len() && row-s.rowOf(end) < reach; row++ {
		item, text := o, s.buf[s.start(row):s.end(row)]
		if !bytes.HasPrefix(text, []byte("- ")) {
			if pieces++; pieces > 2 || len(text) > maxName || bytes.IndexByte(text, ':') >= 0 {
				return last
			}
			continue
		}
		pieces = 0
		item.at = s.column(s.start(row) + len("- "))
		if item, ok := s.unquote(item); ok {
			last = max(last, a.value(s, k, from, end, item, strength))
		}
	}
	return last
}

// value finds the value of a name, and returns where it ends; 0: it isn't secret. What's so by its
// name is looked for beside what's so by its looks: the one goes on in rows that are full, the other
// in any that look alike.
func (a *assigner) value(s *scan, k keyword, from, end int, o operand, strength int) int {
	last := a.random(s, k, end, o, strength)
	if strength == 2 {
		last = max(last, a.findLiteral(s, k, from, end, o))
	}
	return last
}

// random finds a value that looks drawn at random.
func (a *assigner) random(s *scan, k keyword, nameEnd int, o operand, strength int) int {
	at, quote := o.at, o.quote
	set := a.bare
	if quote != 0 {
		set = a.quoted
	}
	r := s.follow(at, set, 0, glance)
	if r.n == 0 || s.isHead(r.end) {
		return 0
	}
	ends := s.ends(at, r.end)
	if quote != 0 && s.buf[r.end] != quote {
		// A quote that isn't closed in its row is closed in the next.
		far := s.follow(at, set, -1, 4*probe)
		if s.buf[min(far.end, len(s.buf)-1)] == quote && !bytes.ContainsAny(s.buf[at:far.end], " ()[]{};") {
			ends = append([]int{far.end}, ends...)
		}
	}
	for i, end := range ends {
		if quote == 0 && s.endsInComment(at, end) {
			continue
		}
		if quote == 0 && s.buf[end] != '<' { // the end of a sentence isn't of the value
			end = at + len(bytes.TrimRight(s.buf[at:end], ".:!?"))
		}
		v := s.value(nil, at, end, glance)
		if len(v) == 0 || quote == 0 && bytes.IndexByte([]byte("([{"), s.buf[end]) >= 0 { // code
			continue
		}
		f := match{from: at, secret: at, end: end, label: k.label, rank: rankGuess}
		if isValue(v, strength) || k.word == "auth" && isUserAndPassword(v) {
			if i == 0 && r.n == glance {
				f.end = s.follow(at, set, 0, 0).end
			}
			s.found(f)
			return f.end
		}
		if o.quote == 0 && v[0] == '#' && s.rowOf(o.at) != s.rowOf(nameEnd-1) { // #endif
			continue
		}
		if len(v) > 2 && len(v) < probe && strength == 2 && couldBeValue(v) {
			if quote == 0 && isReference(v) && len(bytes.TrimRight(v, "0123456789")) > 0 && isLetters(bytes.TrimRight(v, "0123456789")) { // a name in a program
				s.waitEnd(f)
				continue
			}
			s.begun(f)
		}
	}
	return 0
}

// isPart says whether a keyword is a word of its own within its name: "apiKey" and
// "API_KEY", but not "monkey".
func (a *assigner) isPart(s *scan, k keyword, from, end int) bool {
	small := s.buf[from] >= 'a'
	if from > 0 && (k.weak || len(k.word) < 5 || k.word == "pword" || k.tongue) {
		switch before := s.buf[from-1]; {
		case small && isAlnum(before) && !isDigit(before), !small && before >= 'A' && before <= 'Z' && s.buf[from+1] < 'a':
			if !s.glues(k, from) {
				return false
			}
		}
	}
	switch c := s.buf[end]; {
	case c >= 'a' && c <= 'z':
		return c == 's' && k.plural && classOf(s.buf[end+1]) != lower
	case c >= 'A' && c <= 'Z' && s.buf[end-1] < 'a':
		return c == 'S' && k.plural && !isAlnum(s.buf[end+1])
	}
	return true
}

// glues says whether what stands right before a keyword is a word that's written together with it:
// apikey, PGPASS, dbpass.
func (s *scan) glues(k keyword, from int) bool {
	first := from
	for first > 0 && from-first < maxName && isAlnum(s.buf[first-1]) {
		first--
	}
	var small [maxName]byte
	word := appendLower(small[:0], s.buf[first:from])
	if k.weak {
		return bytes.HasSuffix(word, []byte("api")) || bytes.Equal(word, []byte("pg"))
	}
	return slices.Contains([]string{
		"api", "pg", "db", "my", "user", "usr", "root", "admin", "smtp", "mail", "ftp", "ssh", "sudo", "login", "redis", "mysql", "sql", "http", "proxy", "wifi", "wpa", "vnc", "ldap", "imap", "pop", "web", "app",
		"new", "old", "key", "store", "mq", "mongo", "net", "require", "rabbit", "sa", "sys", "test", "postgres",
	}, string(word))
}

// joined says whether a word stands right before a place.
func (s *scan) joined(at int, w string) bool {
	return at >= len(w) && string(s.buf[at-len(w):at]) == w
}

// operand is a value that a name is given, as far as its beginning tells.
type operand struct {
	at      int  // in buf: its first character, behind its quote
	quote   byte // what it's quoted with; 0: nothing
	escaped bool // a backslash stands before the quote
	closed  bool // the name is in quotes
	by      byte // what gives it: one of = : > | , a blank, i for "is", v for a value that a name of its own says to be one, c for what a call is given, d for a default
	tight   bool // no blank stands between the name and the value
	until   byte // it ends before this, whatever it's made of; 0: it's a word or in quotes
	listed  bool // it's one of a list
	// compared says that the name isn't given the value, but compared with it.
	compared bool
}

// maxBlanks is how many blanks can stand before an operator, or anywhere beside a break; maxColumn
// how many behind it, where values stand below each other.
const maxBlanks, maxColumn = 8, 96

// operator goes over what stands between a name and its value.
func (a *assigner) operator(s *scan, from, end int) (o operand, ok bool) {
	first := a.inRowFrom(s, from)
	at, closed := closing(s, end)
	bold := s.buf[max(0, first-1)] == '*' || s.buf[at] == '*' && bytes.IndexByte(s.head(first), '*') >= 0 // of Markdown
	if bold {
		at = s.withoutStars(at)
	}
	nameEnd := at
	if far := s.column(at); s.buf[far] == ':' || s.buf[far] == '=' {
		at = far
	}
	at = s.skip(at, maxBlanks)
	if at >= len(s.buf) {
		return o, false
	}
	if o, ok := s.structured(first, nameEnd, closed); ok {
		return o, ok
	}
	if o, ok := s.marked(first, nameEnd, closed); ok {
		return o, ok
	}
	if c := s.buf[nameEnd]; (c == ':' || c == '-') && s.joined(first, "${") {
		return s.ofVariable(nameEnd)
	}
	if o, ok := s.prompted(nameEnd); ok && !closed {
		return o, ok
	}
	if o, ok := a.programmed(s, first, end, nameEnd, closed); ok {
		return o, ok
	}
	o.closed = closed
	if next, ok := s.either(at, ":=", "?=", "=>", "->", "==", "!="); ok {
		o.compared = s.buf[at] == '!' || s.buf[next-1] == '=' && s.buf[at] == '='
		at, o.by = next, '='
	} else if next, ok := s.either(at, "=", ":"); ok {
		at, o.by = next, s.buf[next-1]
		o.tight = next == nameEnd+1
		if !closed {
			at = s.typed(at)
		}
	} else if next, ok := s.either(at, "：", "是：", "是:", "为："); ok {
		at, o.by = next, ':'
	} else if next, ok := s.either(at, ">"); ok && !closed {
		at, o.by, o.until = next, '>', '<'
	} else if next, ok := s.either(at, "('"); ok && s.buf[end-1] == 'D' { // PASSWORD('x') of SQL
		at, o.by = next-1, '='
	} else if next, ok := s.either(at, ","); ok && closed {
		at, o.by = next, ','
	} else if next, ok := s.either(at, "is "); ok {
		at, o.by = next, 'i'
	} else if at == end || closed || !a.isOption(s, from) && !s.isAccount(first, end) && !s.isSQL(first, end, at) {
		return o, false
	} else {
		o.by = ' '
	}
	behind := at
	if o.by != ' ' {
		at = s.column(at)
	}
	if bold {
		if next := s.withoutStars(at); next > at && s.buf[next] > ' ' { // *x*
			at, o.until = next, '*'
		} else {
			at = s.column(next)
		}
	}
	at = s.skip(at, maxBlanks)
	o.tight = o.tight && at == behind
	if head := s.head(first); o.by == '=' && o.tight {
		quote := byte(0)
		switch {
		case s.buf[at] == '{' && bytes.HasSuffix(head, []byte(";")): // a;password={x;y};b
			at, quote = at+1, '}'
		case bytes.HasSuffix(head, []byte(`--data-urlencode "`)), bytes.HasSuffix(head, []byte("--data-urlencode '")):
			quote = head[len(head)-1]
		}
		if quote != 0 && bytes.IndexByte(s.buf[at:min(s.end(s.rowOf(at)), at+maxLiteral)], quote) > 0 {
			return operand{at: at, by: 'd', until: quote}, true
		}
	}
	if o.by == '=' || o.by == ':' {
		if o, ok := s.inEntities(at); ok {
			return o, ok
		}
		if o, ok := s.inCurly(at); ok {
			return o, ok
		}
	}
	if next, ok := s.either(at, "string("); ok && closed && o.by == '=' { // of PHP's var_dump
		if next, ok = s.either(s.follow(next, digitSet, 0, 8).end, `) "`); ok {
			o.at, o.by = next-1, 'v'
			return s.unquote(o)
		}
	}
	if o.by == ':' {
		if at = s.withoutNode(at); s.buf[at] == '*' && s.buf[at+1] == '*' { // password: **x**
			return operand{at: s.withoutStars(at), by: ':', until: '*'}, true
		}
		if s.buf[at] == '{' {
			if next, ok := s.inField(at); ok {
				o.at = next
				return s.unquote(o)
			}
		}
	}
	if o.by == '=' || o.by == ':' {
		if next, ok := s.wrapped(at); ok {
			o.at = next
			return s.unquote(o)
		}
	}
	if next, ok := s.either(at, `b"`, `r"`, `f"`, `u"`, `$"`, `@"`, `b'`, `r'`, `f'`, `u'`, `$'`); ok {
		at = next - 1
	}
	if next, ok := s.either(at, `\`); ok && (s.buf[next] == '"' || s.buf[next] == '\'') {
		at, o.escaped = next, true
	}
	o.at = at
	return s.unquote(o)
}

// unquote goes over the quote that a value begins with. false: it's an empty text.
func (s *scan) unquote(o operand) (_ operand, ok bool) {
	at := o.at
	if next, ok := s.either(at, `"`, "'", "`"); ok {
		o.quote, o.until = s.buf[next-1], 0
		at = next
		for at < len(s.buf) && s.buf[at] == o.quote {
			at++
		}
		if at == next+1 { // an empty text
			return o, false
		}
		if at+1 < len(s.buf) && s.buf[at] == '\n' {
			at++
		}
	}
	o.at = at
	return o, at < len(s.buf)
}

// column is where a text begins that stands in a column of its own, behind blanks: the end of its row
// at most.
func (s *scan) column(at int) int {
	at = min(at, len(s.buf)-1)
	for end := at + maxColumn; at < end; {
		switch c := s.buf[at]; {
		case c == ' ' || c == '\t':
			at++
		case c >= 0xC2 && s.wideBlank(at) > 0:
			at += s.wideBlank(at)
		default:
			return at
		}
	}
	return at
}

// either goes over the first of some words that stands at a place.
func (s *scan) either(at int, words ...string) (end int, ok bool) {
	for _, w := range words {
		if end, ok := s.word(at, w); ok {
			return end, true
		}
	}
	return at, false
}

// closing goes over what closes a name: "key"], 'key', \"key\".
func closing(s *scan, at int) (end int, closed bool) {
	if next, ok := s.either(at, `\"`, `\'`, `"`, "'", "`"); ok {
		if end, ok := s.either(next, "]", ")"); ok {
			return end, true
		}
		return next, true
	}
	if s.buf[at] == '&' {
		if next, ok := s.either(at, entities...); ok {
			return next, true
		}
	}
	if s.buf[at] == ']' && bytes.HasPrefix(s.buf[at:], []byte("] => ")) { // of PHP
		return at + 1, true
	}
	return at, false
}

// isOption says whether a blank stands between a name and its value: for the options of
// a command (--token abc), in Dockerfiles (ENV TOKEN abc), in shells (set -x TOKEN abc)
// and in .netrc (login me password abc).
func (a *assigner) isOption(s *scan, from int) bool {
	first, row := s.back(from, a.name, maxName), a.inRowFrom(s, from)
	if s.buf[first] == '-' || s.buf[row] == '-' || isVariable(s.buf[row:from]) || bytes.HasPrefix(s.buf[row:], []byte("requirepass ")) {
		return true
	}
	before := s.peek(max(0, row-40), row)
	for _, w := range []string{"ENV ", "ARG ", "set -x ", "set -gx ", "set -Ux ", "setx ", "setenv ", "config set ", "login", "secret set ", "CONFIG SET ", "configure set "} {
		if bytes.Contains(before, []byte(w)) {
			return true
		}
	}
	return false
}

// isVariable says that a name begins as those of environment variables do: API_KEY.
func isVariable(name []byte) bool {
	for _, c := range name {
		if c != '_' && c != '\n' && !isDigit(c) && (c < 'A' || c > 'Z') {
			return false
		}
	}
	return bytes.IndexByte(name, '_') > 0
}

// strength says how surely a name's value is secret: 0 no, 1 maybe, 2 yes.
func (a *assigner) strength(s *scan, k keyword, from, end int, o operand) int {
	if k.tongue {
		if !a.endsName(s, k, from, end) || s.rowOf(o.at) != s.rowOf(from) {
			return 0
		}
		return 2
	}
	first := s.back(from, a.name, maxName)
	var buf [3 * maxName]byte
	name := buf[:0]
	for _, c := range s.value(nil, first, end, 2*maxName+16) {
		if isAlnum(c) {
			name = append(name, c|0x20)
		}
	}
	for _, h := range harmless {
		if bytes.HasSuffix(name, h) && !bytes.HasSuffix(name, []byte(k.word)) {
			return 0
		}
	}
	if bytes.Contains(name, []byte("public")) || bytes.Contains(name, []byte("pubkey")) || bytes.Contains(name, []byte("buflen")) {
		return 0
	}
	if k.word == "token" && (isPlaceInList(name) || isParsers(name) || isParsers(bytes.ToLower(bytes.TrimRight(s.head(a.inRowFrom(s, from)), " ")))) {
		return 0
	}
	if k.word == "pwd" && (a.begins(s, from) && s.buf[from+1] == 'W' || s.joined(from, "OLD") || a.begins(s, from) && (o.by != '=' && (o.by != ':' || o.quote == 0) || bytes.IndexByte([]byte("/~.\\$`"), s.buf[o.at]) >= 0 || s.buf[min(o.at+1, len(s.buf)-1)] == ':')) { // a folder
		return 0
	}
	if k.word == "pat" && (s.buf[from] != 'P' || s.buf[from+1] != 'A' || !s.joined(from, "_")) { // a pattern
		return 0
	}
	if k.whole && (!a.endsName(s, k, from, end) || s.rowOf(o.at) != s.rowOf(from)) {
		return 0
	}
	if !k.weak {
		return 2
	}
	if k.word == "key" && from > 0 && s.buf[from-1] == ' ' && !o.closed && a.isSpelt(s, from) && s.rowOf(o.at) == s.rowOf(from) && (o.quote == 0 || !s.closes(o)) { // API Key: x
		return 2
	}
	if slices.ContainsFunc(strongKeys, func(w []byte) bool { return bytes.Contains(name, w) }) {
		return 2
	}
	if owner, ok := bytes.CutSuffix(name, []byte("key")); ok && len(owner) > 0 && slices.ContainsFunc(services, func(w []byte) bool { return bytes.HasSuffix(owner, w) }) {
		return 2
	}
	if k.word == "auth" && o.tight && o.by == '=' && a.endsName(s, k, from, end) && isVariable(s.buf[a.inRowFrom(s, from):end]) { // REGISTRY_AUTH=x
		return 2
	}
	return 1
}

// isSpelt says whether a word stands before "key" that makes it a secret: API Key, secret key.
func (a *assigner) isSpelt(s *scan, from int) bool {
	head := s.head(from)
	for _, w := range []string{"api ", "access ", "secret "} {
		if len(head) >= len(w) && bytes.EqualFold(head[len(head)-len(w):], []byte(w)) {
			return true
		}
	}
	return false
}

// isPlaceInList says that a token says where a list goes on that is asked for in pieces: pageToken.
func isPlaceInList(name []byte) bool {
	return slices.ContainsFunc([]string{"pagetoken", "paginationtoken", "continuationtoken", "inputtoken", "outputtoken"}, func(w string) bool { return bytes.HasSuffix(name, []byte(w)) })
}

// isParsers says that a token is one that a parser has come upon: unexpected token, UNEXPECTED_TOKEN.
func isParsers(text []byte) bool {
	return bytes.HasSuffix(bytes.TrimSuffix(text, []byte("token")), []byte("unexpected")) || bytes.HasSuffix(bytes.TrimSuffix(text, []byte("token")), []byte("unrecognized"))
}

// isValue says whether the value of a name looks like a secret.
func isValue(v []byte, strength int) bool {
	if len(v) < 8 || isOther(v) {
		return false
	}
	if isHex(v) {
		return strength == 2 && len(v) >= 28 && !measureOf(v).dull()
	}
	if strength == 2 {
		return secretLike(v, 10)
	}
	m := measureOf(v)
	return len(v) >= 24 && m.classes >= 3 && m.random(60) && !isStandIn(v)
}

// couldBeValue says whether a text could be the beginning of what looks like a secret.
func couldBeValue(v []byte) bool {
	return !isOther(v) && !isStandIn(v) && !isStandInWord(v) && !isVersion(v) && !isHexNumber(v) && !isExponent(v) && measureOf(v).digits < len(v) && (len(v) < 8 || isHex(v) || measureOf(v).random(40))
}

// isOther says that a value is something else than a secret: a variable, an expression,
// an address, an id.
func isOther(v []byte) bool {
	return bytes.IndexByte([]byte("$<%{(*&@"), v[0]) >= 0 || bytes.IndexByte(v, ' ') >= 0 || bytes.Contains(v, []byte("?.")) || bytes.Contains(v, []byte("://")) || isComparison(v) || isUUID(v) || isFormat(v) || isPublicKey(v)
}

// isFormat says that a text is made into another before it's used: "%s-%d", "${A}b".
func isFormat(v []byte) bool {
	for _, w := range []string{"%s", "%d", "%v", "%q", "%w", "${", "$(", "{{", "*", "...", "a-z", "A-Z", "0-9"} {
		if bytes.Contains(v, []byte(w)) {
			return true
		}
	}
	return false
}

// secretLike says that a text of at least so many characters looks drawn at random.
func secretLike(v []byte, least int) bool {
	m := measureOf(v)
	if len(v) < least || m.classes < 2 || isStandIn(v) {
		return false
	}
	if len(v) < 16 {
		return m.classes >= 3 && m.random(50)
	}
	return m.random(50)
}

// isUUID says that a text is a UUID (RFC 9562).
func isUUID(v []byte) bool {
	if len(v) != 36 {
		return false
	}
	for i, c := range v {
		if dash := i == 8 || i == 13 || i == 18 || i == 23; dash != (c == '-') {
			return false
		}
	}
	return true
}
