package redacttest

import "encoding/base64"

// plain is an ordinary password that's no word alone: it has digits or signs.
func (g Garden) plain() string {
	switch g.IntN(3) {
	case 0:
		return g.Of("ABCDEFGHKLMNPQRSTUVWXYZ", 1) + g.Of("bcdfghkmnpqrstvxz", 1) + g.Of("23456789", 1) + g.One("!", "%", "+", "-", "_") + g.Of(alnum, 3) + g.Of(digits, 1)
	case 1:
		return g.One("Tovarmiq", "Belgostar", "Kirmandel", "hunter", "sunshine") + g.Of("23456789", 2)
	default:
		return g.word() + g.One("", "-", "_") + g.Of(alnum, 2) + g.Of("23456789", 2)
	}
}

// Embedded are values that only a name tells of, as Literals are, in the forms that programs, tables,
// markup, prose and commands have for them.
func Embedded() []Kind {
	var out []Kind
	out = append(out, literal("by names of services", Garden.plain,
		"STRIPE_KEY=%s", "export OPENAI_KEY=%s", `openaiKey = "%s"`, "TWILIO_AUTH=%s", "REGISTRY_AUTH=%s", "BASIC_AUTH=%s", "DB_PASSWRD=%s", "DB_PSWD=%s", "GITHUB_PAT=%s", `dbpword = "%s"`, `"passwrd": "%s"`,
	)...)
	out = append(out, literal("user and password in base64", func(g Garden) string { return base64.StdEncoding.EncodeToString([]byte("bob:" + g.plain())) },
		`"auth": "%s"`, `{"auths": {"registry.internal": {"auth": "%s"}}}`, "//registry.internal/:_auth=%s", "_auth=%s",
	)...)
	return out
}
