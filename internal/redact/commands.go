package redact

import (
	"bytes"
	"slices"
)

// passwordCommand is a program that takes a password in a word of its own.
type passwordCommand struct {
	name    string
	options []string // the password is the next word, or what stands behind =
	glued   string   // an option behind which the password stands at once: -pX
	pair    bool     // what's given is USER:PASSWORD
	begin   string   // what's given begins with this where it's a password
	flags   string   // letters of options without a value, which may stand before that of one in a word: -sSu
	cookies []string // options that are given cookies
	words   []string // words that are no options, behind which the password is the next one
	nth     int      // it's the word with this number that's no option, from 1; 0: it isn't
}

// commands are those whose passwords are asked for in scripts most (their manuals name the options).
func commands() []passwordCommand {
	return []passwordCommand{
		{name: "curl", options: []string{"-u", "--user", "-U", "--proxy-user"}, glued: "-u", pair: true, flags: "fgiIjkLnNqsSv#0123456", cookies: []string{"-b", "--cookie"}},
		{name: "sshpass", options: []string{"-p"}, glued: "-p"},
		{name: "mysql", glued: "-p"},
		{name: "mysqldump", glued: "-p"},
		{name: "mysqladmin", glued: "-p", words: []string{"password"}},
		{name: "mariadb", glued: "-p"},
		{name: "redis-cli", options: []string{"-a", "--pass"}, glued: "-a", words: []string{"AUTH", "auth"}},
		{name: "6379> AUTH", nth: 1}, // at its prompt; of two words the first is the user
		{name: "6379> AUTH", nth: 2},
		{name: "6379> auth", nth: 1},
		{name: "6379> auth", nth: 2},
		{name: "openssl", options: []string{"-passin", "-passout", "-pass"}, begin: "pass:"},
		{name: "zip", options: []string{"-P"}, glued: "-P"},
		{name: "unzip", options: []string{"-P"}, glued: "-P"},
		{name: "7z", glued: "-p"},
		{name: "7za", glued: "-p"},
		{name: "7zz", glued: "-p"},
		{name: "sqlcmd", options: []string{"-P"}, glued: "-P"},
		{name: "openssl enc", options: []string{"-k"}},
		{name: "mongosh", options: []string{"-p"}},
		{name: "rdesktop", options: []string{"-p"}},
		{name: "docker login", options: []string{"-p"}},
		{name: "podman login", options: []string{"-p"}},
		{name: "htpasswd", nth: 3},
		{name: "ldapsearch", options: []string{"-w"}},
		{name: "gh secret set", options: []string{"-b", "--body"}, glued: "-b"},
		{name: "nmcli", words: []string{"password", "wifi-sec.psk", "802-11-wireless-security.psk"}},
		{name: "cargo login", nth: 1},
		{name: "ConvertTo-SecureString", nth: 1},
		{name: "NickServ IDENTIFY", nth: 1},
		{name: "smbclient", options: []string{"-U"}, pair: true},
		{name: "rpcclient", options: []string{"-U"}, pair: true},
		{name: "lftp", options: []string{"-u"}, pair: true},
		{name: "http", options: []string{"-a"}, pair: true}, // HTTPie's
		{name: "https", options: []string{"-a"}, pair: true},
		{name: "mongodump", options: []string{"-p"}},
		{name: "mongorestore", options: []string{"-p"}},
		{name: "mongoexport", options: []string{"-p"}},
		{name: "mongoimport", options: []string{"-p"}},
		{name: "cqlsh", options: []string{"-p"}},
		{name: "beeline", options: []string{"-p"}},
		{name: "isql", options: []string{"-P"}, glued: "-P"},
		{name: "bcp", options: []string{"-P"}, glued: "-P"},
		{name: "twine upload", options: []string{"-p"}},
		{name: "az login", options: []string{"-p"}},
		{name: "oc login", options: []string{"-p"}},
		{name: "skopeo login", options: []string{"-p"}},
		{name: "helm registry login", options: []string{"-p"}},
		{name: "mosquitto_pub", options: []string{"-P"}}, //nolint:misspell // the program's name
		{name: "mosquitto_sub", options: []string{"-P"}}, //nolint:misspell // the program's name
		{name: "mosquitto_passwd", nth: 3},               //nolint:misspell // the program's name
		{name: "ipmitool", options: []string{"-P"}},
		{name: "ldapadd", options: []string{"-w"}},
		{name: "ldapmodify", options: []string{"-w"}},
		{name: "ldapdelete", options: []string{"-w"}},
		{name: "ldapwhoami", options: []string{"-w"}},
		{name: "ldappasswd", options: []string{"-w", "-s", "-a"}},
		{name: "snmpwalk", options: []string{"-A", "-X"}},
		{name: "snmpget", options: []string{"-A", "-X"}},
		{name: "snmpset", options: []string{"-A", "-X"}},
		{name: "ssh-keygen", options: []string{"-N", "-P"}},
		{name: "unrar", glued: "-p"},
		{name: "rar", glued: "-p"},
		{name: "rabbitmqctl add_user", nth: 2},
		{name: "rabbitmqctl change_password", nth: 2},
		{name: "wpa_passphrase", nth: 2},
		{name: "ngrok config add-authtoken", nth: 1},
		{name: "bw unlock", nth: 1},
		{name: "rclone obscure", nth: 1},
	}
}

// maxCommand is how many bytes of a command are looked at.
const maxCommand = 2048

func (c *passwordCommand) match(s *scan, word, from, end int) {
	if from < s.done[word] || from > 0 && (isAlnum(s.buf[from-1]) || s.buf[from-1] == '-' || s.buf[from-1] == '_') || s.buf[end] != ' ' {
		return
	}
	given, cookies, plain := false, false, 0
	for at := end; at < min(end+maxCommand, len(s.buf)-1); {
		begin, stop, next, ok := s.shellWord(at)
		if !ok {
			break
		}
		at = next
		v := s.value(nil, begin, stop, glance)
		switch {
		case given:
			c.found(s, begin, stop)
			given = false
		case cookies:
			s.cookies(begin)
			cookies = false
		case len(v) > 0 && v[0] == '-':
			over := c.clustered(v)
			v = append([]byte{'-'}, v[over:]...)
			if given = slices.Contains(c.options, string(v)); given {
				break
			}
			if cookies = slices.Contains(c.cookies, string(v)); cookies {
				break
			}
			for _, o := range c.options {
				if rest, ok := bytes.CutPrefix(v, []byte(o+"=")); ok {
					c.found(s, s.skipOver(begin, over-1+len(v)-len(rest)), stop)
				}
			}
			if rest, ok := bytes.CutPrefix(v, []byte(c.glued)); ok && c.glued != "" && len(rest) > 0 && rest[0] != '=' {
				c.found(s, s.skipOver(begin, over-1+len(c.glued)), stop)
			}
		case hasMask(v):
			plain = maxCommand // it's masked already, and its words don't count
		default:
			if plain++; plain == c.nth {
				c.found(s, begin, stop)
			}
			given = slices.Contains(c.words, string(v))
		}
		s.done[word] = at
	}
}

// clustered is how many bytes of an option stand before its own letter: 1, and letters of others
// that it's written together with.
func (c *passwordCommand) clustered(v []byte) int {
	n := 1
	for n+1 < len(v) && bytes.IndexByte([]byte(c.flags), v[n]) >= 0 {
		n++
	}
	return n
}

// found adds what a command is given: all of a word that goes on in the next row, or what of it
// stands in one.
func (c *passwordCommand) found(s *scan, from, end int) {
	if rest, ok := bytes.CutPrefix(s.value(nil, from, end, len(c.begin)), []byte(c.begin)); !ok || len(rest) > 0 {
		return
	}
	from = s.skipOver(from, len(c.begin))
	if q := s.buf[from]; end-from > 1 && (q == '"' || q == '\'') { // -p"x"
		if from++; s.buf[end-1] == q {
			end--
		}
	}
	for _, end := range s.ends(from, end) {
		if c.takes(s, from, end, s.value(nil, from, end, glance)) {
			return
		}
	}
}

func (c *passwordCommand) takes(s *scan, from, end int, v []byte) bool {
	secret := from
	if hasMask(v) {
		return false
	}
	if c.pair {
		user, password, ok := bytes.Cut(v, []byte{':'})
		if !ok {
			user, password, ok = bytes.Cut(v, []byte{'%'}) // of smbclient
		}
		if !ok {
			user, password, ok = bytes.Cut(v, []byte{','}) // of lftp
		}
		if !ok {
			return false
		}
		secret, v = s.skipOver(from, len(user)+1), password
	}
	if len(v) < 3 || bytes.IndexByte([]byte("$-<"), v[0]) >= 0 || isExpanded(v) || isPlaceholder(v) || isWordForSecret(v) || len(v) < 5 && isCount(v) || s.isHead(end) {
		return false
	}
	s.found(match{from: from, secret: secret, end: end, label: "password", rank: rankGuess})
	return true
}

// isExpanded says that a shell, or what makes texts of templates, puts something into a text.
func isExpanded(v []byte) bool {
	for _, w := range []string{"${", "$(", "{{", "..."} {
		if bytes.Contains(v, []byte(w)) {
			return true
		}
	}
	for i, c := range v { // %s, and %s-x, but not %sx
		if c == '%' && i+1 < len(v) && bytes.IndexByte([]byte("sdvqw"), v[i+1]) >= 0 && (i+2 == len(v) || !isAlnum(v[i+2])) {
			return true
		}
	}
	return false
}

// printable are the characters of ASCII that are drawn, but for the blank.
var printable = chars("!-~") //nolint:gochecknoglobals // a constant table

// shellWord is the next word of a command, without its quotes; false: the command has ended.
func (s *scan) shellWord(at int) (from, end, next int, ok bool) {
	for at < len(s.buf)-1 && (s.buf[at] == ' ' || s.buf[at] == '\\' && s.buf[at+1] == '\n') {
		at++
		if s.buf[at-1] == '\\' {
			at++
		}
	}
	switch c := s.buf[at]; c {
	case '\n', ';', '|', '&', ')', '`', '>', '<', '#':
		return 0, 0, at, false
	case '"', '\'':
		for end = at + 1; end < len(s.buf) && s.buf[end] != c; end++ {
			if s.buf[end] == '\\' && c == '"' && end+1 < len(s.buf) && s.buf[end+1] == c && s.openQuote(at) == 0 {
				end++
			}
			if s.buf[end] == '\n' && !s.full(s.rowOf(end)) {
				return at + 1, end, end, true
			}
		}
		return at + 1, end, min(end+1, len(s.buf)), true
	}
	for end = at; end < len(s.buf); end++ {
		switch c := s.buf[end]; {
		case c == ' ', c == ';', c == '|', c == ')', c == '`':
			return at, end, end, end > at
		case c == '\n' && (end+1 == len(s.buf) || !s.full(s.rowOf(end)) || !s.goesOn(end, printable, end-at, 0)):
			return at, end, end, end > at
		case c == '\\' && end+1 < len(s.buf) && s.buf[end+1] > ' ':
			end++
		case (c == '"' || c == '\'') && end+1 < len(s.buf): // -p"a b", and the end of a text in which a command stands
			n := bytes.IndexByte(s.buf[end+1:min(len(s.buf), end+1+glance)], c)
			if n < 0 || bytes.IndexByte(s.buf[end+1:end+1+n], '\n') >= 0 || s.openQuote(end) == c {
				return at, end, end, end > at
			}
			end += n + 1
		}
	}
	return at, end, end, end > at
}

// cookieName and cookieValue are what cookies are made of (RFC 6265), without what ends a text.
var cookieName, cookieValue = chars("A-Za-z0-9_.-"), func() *charset { //nolint:gochecknoglobals // constant tables
	set := chars("!-~")
	for _, c := range []byte("\"',;\\`") {
		set[c] = false
	}
	return set
}()

// cookies finds the values of cookies from a place on: what lets in is among them. It returns where
// they end.
func (s *scan) cookies(from int) (end int) {
	end = from
	for at := from; at < min(from+4*maxCommand, len(s.buf)-1); {
		at = s.skip(at, 3)
		n := s.follow(at, cookieName, 0, maxName)
		value, ok := s.word(n.end, "=")
		if n.n == 0 || !ok {
			return end
		}
		r := s.follow(value, cookieValue, 0, 0)
		v := s.peek(value, r.end)
		if isCookie(s.peek(at, n.end), v) {
			s.found(match{from: value, secret: value, end: r.end, label: "cookie", rank: rankGuess})
		}
		end = r.end
		if at, ok = s.word(r.end, ";"); !ok {
			return end
		}
	}
	return end
}

// cookieHeader finds what a header with cookies is given.
func cookieHeader(s *scan, word, from, end int) {
	if from >= s.done[word] {
		s.done[word] = s.cookies(end)
	}
}

// authorization finds what's given to a header of that name by a scheme that's no standard's, or as
// a bearer token that doesn't look drawn at random: Authorization: Token x.
func authorization() matcher {
	set := chars("!-~")
	for _, c := range []byte("\"'`\\,") {
		set[c] = false
	}
	return func(s *scan, _, _, end int) {
		at, closed := closing(s, end)
		at, ok := s.either(at, ":", "=")
		if !ok && closed { // Set("Authorization", "Bearer x")
			at, ok = s.either(at, ",")
		} else if !ok { // of nginx
			at, ok = s.either(at, ` "Bearer `)
			at -= len(`"Bearer `)
		}
		if !ok {
			return
		}
		at = s.column(at)
		if next, ok := s.either(at, `"`, "'", "`"); ok {
			at = next
		}
		next, ok := s.either(at, "Token ", "token ", "ApiKey ", "Api-Key ", "apikey ", "Key ", "Bearer ", "bearer ")
		if !ok {
			return
		}
		at = s.column(next)
		for _, stop := range s.bare(at, set).ends {
			v := s.value(nil, at, stop, maxLiteral)
			if len(v) < 4 || isExpression(v) || v[0] == '[' || v[0] == '+' || hasMask(v) || s.isHead(stop) || isPlaceholder(v) || isWordForSecret(v) || namesSecret(v) || isVariable(v) || isLetters(v) && isUpper(v) || s.buf[next-2]|0x20 == 'r' && isLetters(v) {
				continue
			}
			f := match{from: at, secret: at, end: stop, label: "token", rank: rankGuess}
			s.waitEnd(f)
			s.found(f)
			return
		}
	}
}

// isCookie says that a cookie lets in, by its name or by its value.
func isCookie(name, v []byte) bool {
	if len(v) < 8 || isStandIn(v) || isExpression(v) {
		return false
	}
	var small [maxName]byte
	low := appendLower(small[:0], name[:min(len(name), maxName)])
	for _, w := range []string{"sess", "sid", "token", "auth", "jwt", "csrf", "xsrf", "remember", "login", "secret"} {
		if bytes.Contains(low, []byte(w)) {
			return true
		}
	}
	return secretLike(v, 16) || len(v) >= 28 && isHex(v)
}

// cryptBegins are how hashes of passwords begin in /etc/shadow and files of htpasswd (crypt(5)).
func cryptBegins() []string {
	return []string{"$1$", "$5$", "$6$", "$y$", "$2a$", "$2b$", "$2y$", "$7$", "$gy$", "$apr1$", "$argon2i", "$argon2id$", "$scrypt$", "$pbkdf2"}
}

// cryptHash is the hash of a password: salt and hash, each behind a $.
func cryptHash() matcher {
	set := chars("A-Za-z0-9./$=,+-")
	return func(s *scan, word, from, end int) {
		if from < s.done[word] {
			return
		}
		r := s.follow(end, set, 0, glance)
		for _, stop := range s.ends(end, r.end) {
			v := s.value(nil, end, stop, glance)
			last := bytes.LastIndexByte(v, '$')
			if hash := v[last+1:]; len(v) >= 28 && len(hash) >= 20 && measureOf(hash).random(40) {
				s.done[word] = stop
				s.found(match{from: from, secret: end, end: stop, label: "password hash", rank: rankForm})
				return
			}
		}
		for _, stop := range s.ends(end, r.end) {
			s.begun(match{from: from, secret: end, end: stop, label: "password hash", rank: rankForm})
		}
	}
}
