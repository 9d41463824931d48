package redacttest

import (
	"fmt"
	"strings"
)

// bare is a password that needs no quotes: none of its characters ends a word in a shell, YAML or
// a connection string.
func (g Garden) bare() string {
	switch g.IntN(8) {
	case 1:
		return g.word() + g.One("_", ".", "-") + g.word()
	case 2:
		return g.One("grün", "Brücke", "пароль", "señor", "東京", "€uro") + g.Of(digits, 3)
	case 3:
		return g.word()
	default:
		return g.word() + g.One("", "-", "_") + g.Of(alnum, 2) + g.Of(digits, 2)
	}
}

// within is a password as it stands between quotes: with blanks, the other quote, escapes.
func (g Garden) within(quote string) string {
	other := map[string]string{`"`: "'", "'": `"`, "`": `"`}[quote]
	switch g.IntN(8) {
	case 0:
		return g.word() + "24" + other + "Kx" + g.Of(alnum, 4)
	case 1:
		return g.word() + " " + g.word() + " " + g.word()
	case 2:
		return "Sommer 20" + g.Of(digits, 2) + " " + g.Of(alnum, 3)
	case 3:
		if quote == "'" {
			return g.word() + "24''Kx" + g.Of(alnum, 4)
		}
		return g.word() + `24\` + quote + "Kx" + g.Of(alnum, 4)
	case 4:
		return g.word() + `\\` + g.Of(digits, 3)
	case 5:
		return g.word() + g.One("(", ")", "[", "{", "<", ";", ",", "|") + g.Of(digits, 3) + g.word()
	default:
		return g.bare()
	}
}

// literal makes kinds of secrets from forms of which each has one %s.
func literal(name string, value func(g Garden) string, forms ...string) []Kind {
	var out []Kind
	for _, form := range forms {
		out = append(out, Kind{name + ", " + form, func(g Garden) Planted {
			v := value(g)
			return Planted{name, strings.ReplaceAll(fmt.Sprintf(form, v), "%%", "%"), v}
		}})
	}
	return out
}

// Literals are values that only a name, an option or a command tells of, whatever they look like.
func Literals() []Kind {
	var out []Kind
	out = append(out, literal("in double quotes", func(g Garden) string { return g.within(`"`) },
		`DB_PASSWORD="%s"`, `export API_SECRET="%s"`, `  "password": "%s",`, `db_password = "%s"`, `deploy --password "%s" --yes`, `deploy --password="%s"`, `os.environ["ADMIN_PASSWORD"] = "%s"`,
		`  password:               "%s"`, `  "password"            : "%s",`,
	)...)
	out = append(out, literal("in single quotes", func(g Garden) string { return g.within("'") },
		`DB_PASSWORD='%s'`, `const password = '%s';`, `  password: '%s'`, `deploy --password '%s' --yes`,
	)...)
	return out
}
