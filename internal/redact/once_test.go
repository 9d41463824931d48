package redact_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/panebridge/panebridge/internal/redact"
)

// What's masked in a line while it's the newest one stays masked whatever comes behind it.
func TestOnceMaskedAlways(t *testing.T) {
	n := 600
	if stress() {
		n = 20000
	}
	m := newMasker(t, redact.Options{})
	all := append(kinds(), ordinary()...)
	shown := 0
	for i := range n {
		g := newGarden(uint64(i) + 1e6)
		p := all[i%len(all)].make(g)
		if cut := g.IntN(len(p.text)); g.IntN(3) == 0 { // something else comes before it's whole
			p.text = p.text[:runeBefore(p.text, cut)]
		}
		log := g.stream(p)
		lines := make([]string, len(log))
		for k, a := range log {
			lines[k] = a.text
		}
		var was [][]bool
		for known := 1; known <= len(lines); known++ {
			got := m.Lines(redact.Window{Lines: lines[:known], Open: true})
			now := make([][]bool, known)
			for k, l := range lines[:known] {
				now[k] = make([]bool, len(l))
			}
			for _, mask := range got.Masks {
				for at := mask.From; at < mask.To; at++ {
					now[mask.Line][at] = true
				}
			}
			for k := range was {
				for at := range was[k] {
					if was[k][at] && !now[k][at] && !isHead(p, lines[k], at, now[k]) {
						shown++
						t.Errorf("%d: %s: %q is masked in %q, and shown once %q follows", i, p.kind, lines[k][at:], lines[k], lines[known-1])
						was[k] = nil
						break
					}
				}
			}
			was = now
		}
		if shown > 20 {
			break
		}
	}
}

// isHead says that what's shown of a secret is what tells its kind, and the rest is masked.
func isHead(p planted, line string, at int, masked []bool) bool {
	end := at
	for end < len(line) && !masked[end] {
		end++
	}
	for at > 0 && !masked[at-1] && end-at < len("eyJ") {
		at--
	}
	return end < len(line) && end-at < 24 && (line[at:end] == "eyJ" || !strings.Contains(p.secret, line[at:end]))
}

// word is one that people make passwords of.
func (g garden) word() string {
	return g.one("hunter", "dragon", "summer", "correct", "horse", "battery", "staple", "monkey", "sunshine", "tiger", "winter", "coffee", "kitten", "rocket", "purple")
}

// password is an ordinary one.
func (g garden) password() string {
	title := func(w string) string { return strings.ToUpper(w[:1]) + w[1:] }
	switch g.IntN(9) {
	case 8:
		return g.one("@", "*", "!", "~", "+") + g.word() + g.one("", "*", "%x", "@") + g.of(digits, 2)
	case 0:
		return g.word() + g.of(digits, 1) + g.word() + g.of(digits, 1)
	case 1:
		return g.word() + "@" + g.of(digits, 3)
	case 2:
		return title(g.word()) + "20" + g.of(digits, 2) + g.one("!", "?", "#", "$$", "%")
	case 3:
		return g.of(alnum, 3) + g.one("!", "#", "%", "+", "=") + g.of(alnum, 4)
	case 4:
		return strings.NewReplacer("e", "3", "o", "0", "a", "4").Replace(g.word()+g.word()) + "9"
	case 5:
		return g.word() + "-" + g.word() + "-" + g.word()
	case 6:
		return g.word() + g.word() + g.word()
	default:
		return g.of("abcdefghijklmnopqrstuvwxyz", 9)
	}
}

// ordinary are passwords that look like words, where a name says that they're secret.
func ordinary() []kind {
	var out []kind
	for _, form := range []string{
		"DB_PASSWORD=%s", "export API_SECRET='%s'", "MYSQL_PWD=\"%s\"", "ENV SESSION_SECRET=%s", "PGPASSWORD=%s psql -h db", "  \"password\": \"%s\",", "db_password = \"%s\"",
		"const password = '%s';", "Password: \"%s\",", "os.environ[\"ADMIN_PASSWORD\"] = \"%s\"", "<password>%s</password>", "deploy --password '%s' --yes", "deploy --password=%s --yes",
		"PASSPHRASE := \"%s\"", "{\\\"token\\\": \\\"%s\\\"}", "machine example.org login me password %s", "API_TOKENS=[\"%s\", \"b\"]", "curl -u admin:%s https://api.example.org/v1",
		"curl --user 'admin:%s' https://api.example.org/v1", "mysql -uroot -p%s shop", "sshpass -p %s ssh me@db", "sshpass -p '%s' ssh me@db", "Cookie: session=%s; theme=dark", "Set-Cookie: sid=%s; HttpOnly",
		"wget --password=%s https://example.org", "redis-cli -a %s ping", "docker login -u me -p %s", "htpasswd -b .htpasswd me %s", "  password: \"%s\"", "spring.datasource.password=%s",
	} {
		out = append(out, kind{"ordinary, " + form, func(g garden) planted {
			p := g.password()
			return planted{"ordinary", fmt.Sprintf(form, p), p}
		}})
	}
	return out
}

// unseen are characters that nobody sees.
var unseen = []string{"\u200b", "\u200d", "\u2060", "\u00ad", "\ufeff", "\u202e", "\u2066", "\ufe0f", "\U000e0041"}

// Characters that nobody sees hide no secret from the masker, wherever they stand.
func TestUnseenCharactersHideNothing(t *testing.T) {
	m := newMasker(t, redact.Options{})
	if !m.Add("own", "p4ss-of-the-daemon") {
		t.Fatal("Add")
	}
	all := append(append(kinds(), ordinary()...), kind{"own", func(garden) planted {
		return planted{"own", "it is p4ss-of-the-daemon here", "p4ss-of-the-daemon"}
	}})
	visible := strings.NewReplacer(pairsOf(unseen)...)
	for i := range 4 * len(all) {
		g := newGarden(uint64(i) + 3e6)
		p := all[i%len(all)].make(g)
		text := p.text
		for range g.between(1, 6) {
			at := runeBefore(text, g.IntN(len(text)))
			text = text[:at] + g.one(unseen...) + text[at:]
		}
		rows := strings.Split(text, "\n")
		got := m.Lines(redact.Window{Lines: rows}).Lines
		seen := map[string]bool{visible.Replace(strings.Join(got, "\n")): true}
		if share, what := leaked(p.secret, seen); share > 1.0/3 {
			t.Errorf("%d: %s: %q leaks of %q", i, p.kind, what, text)
		}
	}
}

// pairsOf are old and new ones for a replacer that takes them away.
func pairsOf(list []string) (out []string) {
	for _, s := range list {
		out = append(out, s, "")
	}
	return out
}

// Of ordinary passwords nothing leaves, where a name or an option says what they are.
func TestOrdinaryPasswords(t *testing.T) {
	m := newMasker(t, redact.Options{})
	all := ordinary()
	failed := map[string]int{}
	for i := range 20 * len(all) {
		g := newGarden(uint64(i) + 2e6)
		k := all[i%len(all)]
		p := k.make(g)
		got := m.Line(g.noise() + "\n" + p.text + "\n" + g.noise())
		if strings.Contains(got, p.secret) {
			if failed[k.name]++; failed[k.name] <= 3 {
				t.Errorf("%s is shown: %s", p.secret, p.text)
			}
		}
	}
	t.Log(failed)
}
