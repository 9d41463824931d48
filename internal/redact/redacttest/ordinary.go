package redacttest

import (
	"fmt"
	"strings"
)

// word is one that people make passwords of.
func (g Garden) word() string {
	return g.One("hunter", "dragon", "summer", "correct", "horse", "battery", "staple", "monkey", "sunshine", "tiger", "winter", "coffee", "kitten", "rocket", "purple")
}

// password is an ordinary one.
func (g Garden) password() string {
	title := func(w string) string { return strings.ToUpper(w[:1]) + w[1:] }
	switch g.IntN(9) {
	case 8:
		return g.One("@", "*", "!", "~", "+") + g.word() + g.One("", "*", "%x", "@") + g.Of(digits, 2)
	case 0:
		return g.word() + g.Of(digits, 1) + g.word() + g.Of(digits, 1)
	case 1:
		return g.word() + "@" + g.Of(digits, 3)
	case 2:
		return title(g.word()) + "20" + g.Of(digits, 2) + g.One("!", "?", "#", "$$", "%")
	case 3:
		return g.Of(alnum, 3) + g.One("!", "#", "%", "+", "=") + g.Of(alnum, 4)
	case 4:
		return strings.NewReplacer("e", "3", "o", "0", "a", "4").Replace(g.word()+g.word()) + "9"
	case 5:
		return g.word() + "-" + g.word() + "-" + g.word()
	case 6:
		return g.word() + g.word() + g.word()
	default:
		return g.Of("abcdefghijklmnopqrstuvwxyz", 9)
	}
}

// Ordinary are passwords that look like words, where a name says that they're secret.
func Ordinary() []Kind {
	var out []Kind
	for _, form := range []string{
		"DB_PASSWORD=%s", "export API_SECRET='%s'", "MYSQL_PWD=\"%s\"", "ENV SESSION_SECRET=%s", "PGPASSWORD=%s psql -h db", "  \"password\": \"%s\",", "db_password = \"%s\"",
		"const password = '%s';", "Password: \"%s\",", "os.environ[\"ADMIN_PASSWORD\"] = \"%s\"", "<password>%s</password>", "deploy --password '%s' --yes", "deploy --password=%s --yes",
		"PASSPHRASE := \"%s\"", "{\\\"token\\\": \\\"%s\\\"}", "machine example.org login me password %s", "API_TOKENS=[\"%s\", \"b\"]", "curl -u admin:%s https://api.example.org/v1",
		"curl --user 'admin:%s' https://api.example.org/v1", "mysql -uroot -p%s shop", "sshpass -p %s ssh me@db", "sshpass -p '%s' ssh me@db", "Cookie: session=%s; theme=dark", "Set-Cookie: sid=%s; HttpOnly",
		"wget --password=%s https://example.org", "redis-cli -a %s ping", "docker login -u me -p %s", "htpasswd -b .htpasswd me %s", "  password: \"%s\"", "spring.datasource.password=%s",
	} {
		out = append(out, Kind{"ordinary, " + form, func(g Garden) Planted {
			p := g.password()
			return Planted{"ordinary", fmt.Sprintf(form, p), p}
		}})
	}
	return out
}
