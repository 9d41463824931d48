package redact

import (
	"bytes"
	"slices"
	"strings"
)

// The forms that programs have beside name = value: defaults, calls, types, texts that a call makes
// something of. All of a form stands in one row.

// programmed is the text in quotes that a name is given in one of these forms. first is where the name begins in its row, end where it
// ends, at what stands behind what closes it.
func (a *assigner) programmed(s *scan, first, end, at int, closed bool) (o operand, ok bool) {
	switch c := s.buf[at]; {
	case !closed && c == '(' && isSetter(s.buf[first:end]): // setPassword("x")
		return s.inQuotes(s.column(at+1), 'c', ")")
	case !closed && c == '(' && bytes.HasSuffix(s.head(first), []byte("string ")): // std::string password("x")
		return s.inQuotes(at+1, 'd', ")")
	case !closed && c == '[': // char password[] = "x"
		if next, ok := s.either(s.follow(at+1, digitSet, 0, 8).end, "] = "); ok {
			return s.inQuotes(next, 'd', ";")
		}
		return o, false
	case closed && c == '.' && s.buf[at-1] == ')': // var("TOKEN").unwrap_or("x")
		if next, ok := s.either(at, ".unwrap_or(", ".unwrap_or_else(|_| ", ".orElse(", ".getOrElse("); ok {
			return s.inQuotes(next, 'd', "")
		}
		return o, false
	case !closed && c == '{': // std::string password{"x"}
		return s.inQuotes(at+1, 'd', "}")
	case closed && c == ',': // add_argument("--password", default="x")
		text := s.buf[at:min(s.end(s.rowOf(at)), at+maxHead/8)]
		for _, w := range []string{"default=", "fallback="} {
			if i := bytes.Index(text, []byte(w)); i > 0 && !bytes.ContainsAny(text[:i], "()") {
				return s.inQuotes(at+i+len(w), 'd', "),")
			}
		}
		if s.isFlagOf(first) { // flag.String("password", "x", "what it's for")
			if o, ok = s.inQuotes(s.column(at+1), 'd', ","); ok {
				return o, isOrdinary(s.buf[o.at:s.quoted(o.at, o.quote, false).ends[0]])
			}
		}
		return o, false
	case c != ' ' && c != '\t':
		return o, false
	}
	behind := s.column(at)
	switch c := s.buf[behind]; {
	case closed && c == '{': // fetch("TOKEN") { "x" }
		return s.inQuotes(s.column(behind+1), 'd', "}")
	case c == '|' || c == '?' || c == 'o':
		if closed && s.buf[at-1] != ')' && s.buf[at-1] != ']' { // "password" or "token"
			return o, false
		}
		if next, ok := s.either(behind, "||=", "??=", "|| ", "?? ", "or "); ok { // process.env.TOKEN || "x"
			return s.inQuotes(s.column(next), 'd', "")
		}
	case closed:
	case c == 'F' || c == 'f': // SET PASSWORD FOR bob = 'x'
		if !bytes.HasSuffix(bytes.ToUpper(s.head(first)), []byte("SET ")) {
			return o, false
		}
		text := s.buf[behind:min(s.end(s.rowOf(behind)), behind+maxHead/8)]
		for _, w := range []string{"= '", "TO '", "to '"} {
			if i := bytes.Index(text, []byte(w)); i > 0 {
				return s.inQuotes(behind+i+len(w)-1, 'd', "")
			}
		}
	case c == '<':
		if next, ok := s.either(behind, "<- "); ok { // of R
			return s.inQuotes(s.column(next), 'd', "")
		}
	case c == 's' || c == 'S' || c == 'A' || c == '{':
		if next, ok := s.either(behind, "string = ", "String = ", "As String = ", "{ get; set; } = "); ok { // var token string = "x"
			return s.inQuotes(s.column(next), 'd', "")
		}
	case (c == '"' || c == '\'') && s.isDirective(first):
		return s.inQuotes(behind, 'd', "\n;)}/")
	}
	return o, false
}

// inQuotes is a text in quotes that begins at a place and ends in its row, before one of some
// characters; none: before any.
func (s *scan) inQuotes(at int, by byte, before string) (o operand, ok bool) {
	if q := s.buf[at]; q != '"' && q != '\'' && q != '`' {
		return o, false
	}
	if o, ok = s.unquote(operand{at: at, by: by}); !ok {
		return o, false
	}
	r := s.quoted(o.at, o.quote, false)
	return o, r.closed && len(r.ends) == 1 && (before == "" || bytes.IndexByte([]byte(before), s.buf[s.column(r.ends[0]+1)]) >= 0)
}

// ofVariable is what stands for a variable that's empty: ${TOKEN:-x}, ${token:x}.
func (s *scan) ofVariable(at int) (o operand, ok bool) {
	if s.buf[at] == ':' {
		at++
	}
	switch c := s.buf[at]; {
	case c == '-' || c == '=':
		at++
	case c == '?' || c == '+' || isDigit(c) && s.buf[at+1] == ':' || s.buf[at-1] != ':':
		return o, false
	}
	if bytes.IndexByte(s.buf[at:min(s.end(s.rowOf(at)), at+maxLiteral)], '}') <= 0 {
		return o, false
	}
	return s.unquote(operand{at: at, by: 'd', until: '}'})
}

// isSetter says that a call by a name gives something: setPassword, client.password.
func isSetter(name []byte) bool {
	dot := bytes.LastIndexByte(name, '.')
	var small [maxName]byte
	call := string(appendLower(small[:0], name[dot+1:min(len(name), dot+1+maxName)]))
	for _, w := range []string{"set", "with"} {
		if len(call) > len(w) && call[:len(w)] == w {
			return true
		}
	}
	return dot >= 0 && slices.Contains([]string{"password", "passwd", "passphrase", "secret", "clientsecret", "userpassword", "dbpassword"}, call)
}

// isFlagOf says whether a text in quotes at a place is the name of an option that Go's flag package is given.
func (s *scan) isFlagOf(first int) bool {
	head := s.head(first)
	call := bytes.LastIndexByte(head, '(')
	return call > 0 && (bytes.HasSuffix(head[:call], []byte(".String")) || bytes.HasSuffix(head[:call], []byte(".StringVar")))
}

// inField is the value of a field that an object in braces has for a name: {"value": "x"}.
func (s *scan) inField(at int) (_ int, ok bool) {
	next, ok := s.either(s.column(at+1), `"value"`, "'value'", "value")
	if !ok {
		return at, false
	}
	if next, ok = s.either(s.column(next), ":"); !ok {
		return at, false
	}
	_, ok = s.inQuotes(s.column(next), '=', "},")
	return s.column(next), ok
}

// isDirective says whether a name that stands before a text in quotes is given it, by what stands
// before the name: nothing, #define, (setq, {: of Clojure, a directive of nginx.
func (s *scan) isDirective(first int) bool {
	head := s.head(first)
	if len(head) == 0 || bytes.HasSuffix(head, []byte("{:")) || bytes.HasSuffix(head, []byte(`" `)) && bytes.Contains(head, []byte(`user "`)) {
		return true
	}
	return slices.ContainsFunc([]string{"#define ", "(setq ", "(def ", "(defvar ", "(defconst ", "_header "}, func(w string) bool { return bytes.HasSuffix(head, []byte(w)) })
}

// wrapped is the text in quotes that a value is made of: String::from("x"), Field(default="x"), "" + "x".
// A word alone is one only where it's said to be secret.
func (s *scan) wrapped(at int) (_ int, ok bool) {
	if next, ok := s.either(at, `"" + `, `'' + `); ok {
		_, ok = s.inQuotes(next, '=', "")
		return next, ok
	}
	end, word := at, at
	for end-at < maxName && (isAlnum(s.buf[end]) || bytes.IndexByte([]byte("_.:[]& "), s.buf[end]) >= 0) {
		if end++; !isAlnum(s.buf[end-1]) {
			word = end
		}
	}
	if s.buf[end] != '(' || end == word {
		return at, false
	}
	var small [maxName]byte
	maker := string(appendLower(small[:0], s.buf[word:end]))
	if next, ok := s.either(end+1, "default="); ok && maker == "field" {
		_, ok = s.inQuotes(next, '=', "),")
		return next, ok
	}
	if !slices.Contains([]string{"from", "fromstring", "secretstr", "secretbytes", "secretstring", "secret", "newsecret", "some", "str", "string", "byte", "bytes", "of", "ofnullable"}, maker) {
		return at, false
	}
	o, ok := s.inQuotes(end+1, '=', ")")
	if !ok || bytes.Contains([]byte(maker), []byte("secret")) {
		return end + 1, ok
	}
	return end + 1, isOrdinary(s.buf[o.at:s.quoted(o.at, o.quote, false).ends[0]])
}

// digitSet are the digits.
var digitSet = chars("0-9") //nolint:gochecknoglobals // a constant table

// typed goes over the type that some languages write between a name and its value.
func (s *scan) typed(at int) int {
	begin := s.skip(at, 2)
	if end, ok := s.either(begin, "string", "String", "str", "&str", "any"); ok {
		if end, ok = s.either(s.skip(end, 2), "="); ok {
			return end
		}
	}
	const most = 48
	for end := begin; end-begin < most; end++ {
		switch c := s.buf[end]; {
		case isAlnum(c), bytes.IndexByte([]byte("_.:&'<>[]|?, "), c) >= 0:
		case c == '=' && end > begin && s.buf[end-1] == ' ':
			value := s.column(end + 1)
			if _, ok := s.inQuotes(value, '=', ""); ok {
				return end + 1
			}
			if _, ok := s.wrapped(value); ok {
				return end + 1
			}
			return at
		default:
			return at
		}
	}
	return at
}

// userCalls are beginnings of calls that are given a user and a password.
func userCalls() []string {
	return []string{"BasicAuth(", "basicAuth(", "basic_auth(", "UserPassword(", "PlainAuth(", "auth=(", "WiFi.begin("}
}

// connections are beginnings of calls that are given an address, a user and a password.
func connections() []string {
	return []string{"mysqli_connect(", "new mysqli(", "new PDO(", "DriverManager.getConnection("}
}

// connection finds the password in such a call.
func connection(s *scan, word, from, end int) {
	if comma := bytes.IndexByte(s.buf[end:min(s.end(s.rowOf(end)), end+maxHead/4)], ','); comma > 0 {
		userCall(s, word, from, end+comma+1)
	}
}

// userCall finds the password in such a call: SetBasicAuth("bob", "x"). One that's a word alone may be
// a name.
func userCall(s *scan, _, _, end int) {
	at := end
	if next, ok := s.either(at, `"", `); ok { // the identity of PlainAuth
		at = next
	}
	row := s.buf[at:min(s.end(s.rowOf(at)), at+2*maxName)]
	comma := bytes.IndexByte(row, ',')
	if comma < 1 || bytes.ContainsAny(row[:comma], "()") {
		return
	}
	o, ok := s.inQuotes(s.column(at+comma+1), 'c', "),")
	if !ok {
		return
	}
	stop := s.quoted(o.at, o.quote, false).ends[0]
	if v := s.buf[o.at:stop]; isOrdinary(v) && !hasMask(v) && !isStandIn(v) && !isStandInWord(v) && !isExpression(v) {
		s.found(match{from: o.at, secret: o.at, end: stop, label: "password", rank: rankGuess})
	}
}

// isOrdinary says that a text could be an ordinary password, and is no word or name alone: it has
// letters, and digits or signs.
func isOrdinary(v []byte) bool {
	letters, digits, signs := 0, 0, 0
	for _, c := range v {
		switch {
		case isDigit(c):
			digits++
		case isAlnum(c), c >= 0x80:
			letters++
		case bytes.IndexByte([]byte("!#%^+=?~*&@$"), c) >= 0:
			signs++
		case c == ' ':
			return false
		}
	}
	return len(v) >= 6 && letters > 0 && digits+signs > 0 && !isMethod(v)
}

// isMethod says that a text is the name of a hash, a cipher, an encoding or a type, which has digits.
func isMethod(v []byte) bool {
	var small [maxName]byte
	low := string(appendLower(small[:0], v[:min(len(v), maxName)]))
	stem := strings.Trim(low, "0123456789-_.,:")
	if len(low)-len(stem) > 5 {
		return false
	}
	return slices.Contains([]string{"sha", "md", "base", "utf", "argon", "argon2i", "argon2id", "pbkdf", "oauth", "aes", "rsa", "hs", "rs", "es", "ed", "x", "pkcs", "int", "uint", "float", "curve", "secp", "hmac-sha", "rfc", "iso", "latin", "http", "bcrypt", "blake2b", "blake2s", "chacha", "sha3", "ascii", "version"}, stem)
}
