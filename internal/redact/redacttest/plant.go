// Package redacttest plants secrets in output: what a masker has to find.
package redacttest

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strings"
)

// Garden makes secrets, and output in which they're planted.
type Garden struct{ *rand.Rand }

// New returns a garden whose secrets follow from the seed.
func New(seed uint64) Garden { return Garden{rand.New(rand.NewPCG(seed, 1))} }

// Base64 has the characters of that encoding.
const Base64 = alnum + "+/"

const (
	alnum  = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	urlSet = alnum + "-_"
	lowHex = "0123456789abcdef"
	base32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
	digits = "0123456789"
)

// Of returns n characters of a set.
func (g Garden) Of(set string, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = set[g.IntN(len(set))]
	}
	return string(b)
}

// One returns one of a list.
func (g Garden) One(list ...string) string { return list[g.IntN(len(list))] }

// Between returns a number from low to high.
func (g Garden) Between(low, high int) int { return low + g.IntN(high-low+1) }

// Planted is a secret as it stands in output.
type Planted struct {
	Kind   string
	Text   string // lines
	Secret string // the random part
}

// Kind makes secrets of a kind. A prefix is no part of what's random.
type Kind struct {
	Name string
	Make func(g Garden) Planted
}

// prefixed is a kind of secret that can stand anywhere.
func prefixed(name, prefix, set string, low, high int) Kind {
	return Kind{name, func(g Garden) Planted {
		secret := g.Of(set, g.Between(low, high))
		return Planted{name, g.carried(prefix + secret), secret}
	}}
}

// carried is a token as it turns up in output.
func (g Garden) carried(token string) string {
	return fmt.Sprintf(g.One(
		"%s", "export TOKEN=%s", "  \"api_key\": \"%s\",", "the key is %s, keep it", "curl -H 'X-Api-Key: %s' https://api.example.org/v1/items",
		"+const key = '%s'", "TOKEN=\"%s\" make deploy", "   12  key: %s", "⏺ I found `%s` in the file.", "Authorization: Bearer %s",
		"2026-03-04T12:00:01Z WARN rejected credentials %s from 10.0.0.7", "| prod | %s | active |", "[%s]", "login with --token %s --force", "https://api.example.org/v1?key=%s&page=2",
	), token)
}

// given is a secret that only its name gives away.
func given(name string, value func(g Garden) string) Kind {
	return Kind{name, func(g Garden) Planted {
		v := value(g)
		return Planted{name, fmt.Sprintf(g.One(
			"DB_PASSWORD=%s", "export API_SECRET='%s'", "  client_secret: %s", "  \"access_token\": \"%s\",", "api_key = \"%s\"",
			"const apiKey = \"%s\";", "SecretKey: \"%s\",", "os.environ[\"AUTH_TOKEN\"] = \"%s\"", "ENV SESSION_SECRET %s", "set -gx API_TOKEN %s",
			"<password>%s</password>", "deploy --password %s --yes", "private_token: str = \"%s\"", "PASSPHRASE := \"%s\"", "{\\\"token\\\": \\\"%s\\\"}",
			"machine example.org login me password %s",
		), v), v}
	}}
}

// Kinds are those that are known by their form, or by a name that says what they are.
func Kinds() []Kind {
	list := []Kind{
		prefixed("GitHub", "ghp_", alnum, 36, 36), prefixed("GitHub app", "ghs_", alnum, 36, 36), prefixed("GitHub OAuth", "gho_", alnum, 36, 36),
		{"GitHub fine-grained", func(g Garden) Planted {
			s := g.Of(alnum, 22) + "_" + g.Of(alnum, 59)
			return Planted{"GitHub fine-grained", g.carried("github_pat_" + s), s}
		}},
		prefixed("GitLab", "glpat-", urlSet, 20, 20), prefixed("GitLab runner", "glrt-", urlSet, 20, 20),
		prefixed("AWS id", "AKIA", base32, 16, 16), prefixed("AWS temporary id", "ASIA", base32, 16, 16),
		{"AWS secret", func(g Garden) Planted {
			s := g.Of(Base64, 40)
			return Planted{"AWS secret", fmt.Sprintf(g.One("aws_secret_access_key = %s", "AWS_SECRET_ACCESS_KEY=%s", "  \"SecretAccessKey\": \"%s\",", "AKIA"+g.Of(base32, 16)+",%s"), s), s}
		}},
		{"Slack bot", func(g Garden) Planted {
			s := g.Of(alnum, 24)
			return Planted{"Slack bot", g.carried("xoxb-" + g.Of(digits, 12) + "-" + g.Of(digits, 13) + "-" + s), s}
		}},
		{"Slack webhook", func(g Garden) Planted {
			s := g.Of(alnum, 24)
			return Planted{"Slack webhook", g.carried("https://hooks.slack.com/services/T" + g.Of(base32, 9) + "/B" + g.Of(base32, 9) + "/" + s), s}
		}},
		prefixed("Stripe", "sk_live_", alnum, 24, 99), prefixed("Stripe restricted", "rk_live_", alnum, 24, 24), prefixed("Stripe webhook", "whsec_", alnum, 32, 32),
		prefixed("OpenAI", "sk-proj-", urlSet, 48, 156), prefixed("OpenAI old", "sk-", alnum, 48, 48), prefixed("Anthropic", "sk-ant-api03-", urlSet, 95, 95),
		prefixed("OpenRouter", "sk-or-v1-", lowHex, 64, 64), prefixed("Google", "AIza", urlSet, 35, 35), prefixed("Google OAuth", "GOCSPX-", urlSet, 28, 28),
		prefixed("Google access", "ya29.a0", urlSet, 120, 200), prefixed("Hugging Face", "hf_", alnum, 34, 34), prefixed("npm", "npm_", alnum, 36, 36),
		prefixed("PyPI", "pypi-AgEIcHlwaS5vcmc", urlSet, 120, 160), prefixed("Docker", "dckr_pat_", urlSet, 27, 27), prefixed("DigitalOcean", "dop_v1_", lowHex, 64, 64),
		prefixed("Twilio", "SK", lowHex, 32, 32), prefixed("Mailgun", "key-", lowHex, 32, 32),
		{"SendGrid", func(g Garden) Planted {
			s := g.Of(urlSet, 22) + "." + g.Of(urlSet, 43)
			return Planted{"SendGrid", g.carried("SG." + s), s}
		}},
		{"Telegram", func(g Garden) Planted {
			s := g.Of(urlSet, 33)
			return Planted{"Telegram", g.carried(g.One("", "bot") + g.One("1", "7") + g.Of(digits, 9) + ":AA" + s), s}
		}},
		{"Discord", func(g Garden) Planted {
			s := g.Of(alnum, 6) + "." + g.Of(urlSet, 38)
			id := base64.RawURLEncoding.EncodeToString([]byte("1" + g.Of(digits, 18)))
			return Planted{"Discord", g.carried(id + "." + s), s}
		}},
		{"Discord webhook", func(g Garden) Planted {
			s := g.Of(urlSet, 68)
			return Planted{"Discord webhook", g.carried("https://discord.com/api/webhooks/1" + g.Of(digits, 18) + "/" + s), s}
		}},
		{"JWT", func(g Garden) Planted {
			body := base64.RawURLEncoding.EncodeToString([]byte(`{"sub":"` + g.Of(digits, 10) + `","name":"` + g.Of(alnum, 12) + `","iat":1516239022}`))
			s := body + "." + g.Of(urlSet, 43)
			return Planted{"JWT", g.carried(base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"HS256","typ":"JWT"}`)) + "." + s), s}
		}},
		{"age", func(g Garden) Planted {
			s := g.Of("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58)
			return Planted{"age", g.carried("AGE-SECRET-KEY-1" + s), s}
		}},
		prefixed("Vault", "hvs.CAESI", urlSet, 86, 90), prefixed("Vault short", "hvs.", alnum, 24, 24),
		{"Azure storage", func(g Garden) Planted {
			s := g.Of(Base64, 86) + "=="
			return Planted{"Azure storage", "DefaultEndpointsProtocol=https;AccountName=prod;AccountKey=" + s + ";EndpointSuffix=core.windows.net", s}
		}},
		{"Azure signature", func(g Garden) Planted {
			s := strings.NewReplacer("+", "%2B", "/", "%2F").Replace(g.Of(Base64, 43))
			return Planted{"Azure signature", "https://prod.blob.core.windows.net/logs?sv=2022-11-02&se=2026-01-01&sp=r&sig=" + s + "%3D", s}
		}},
		{"Azure client secret", func(g Garden) Planted {
			s := g.Of(urlSet, 31)
			return Planted{"Azure client secret", g.carried(g.Of(alnum, 3) + "8Q~" + s), s}
		}},
		{"database address", func(g Garden) Planted {
			s := g.Of(alnum, g.Between(12, 32))
			return Planted{"database address", fmt.Sprintf(g.One("postgres://app:%s@db.internal:5432/prod", "DATABASE_URL=mysql://root:%s@10.0.0.3/shop", "mongodb+srv://me:%s@cluster0.mongodb.net", "redis://:%s@cache:6379/0"), s), s}
		}},
		{"address with password", func(g Garden) Planted {
			s := g.Of(alnum, g.Between(12, 24))
			return Planted{"address with password", fmt.Sprintf(g.One("git clone https://ci:%s@git.internal/repo.git", "proxy http://user:%s@proxy.internal:3128"), s), s}
		}},
		{"bearer", func(g Garden) Planted {
			s := g.Of(urlSet, g.Between(24, 64))
			return Planted{"bearer", fmt.Sprintf(g.One("Authorization: Bearer %s", "> authorization: bearer %s", "-H \"Authorization: Bearer %s\" \\"), s), s}
		}},
		{"basic", func(g Garden) Planted {
			s := base64.StdEncoding.EncodeToString([]byte("user" + g.Of(digits, 2) + ":" + g.Of(alnum, 18)))
			return Planted{"basic", "Authorization: Basic " + s, s}
		}},
		given("assigned, mixed", func(g Garden) string { return g.Of(alnum, g.Between(20, 40)) }),
		given("assigned, hexadecimal", func(g Garden) string { return g.Of(lowHex, 32<<g.IntN(2)) }),
		given("assigned, base64", func(g Garden) string { return g.Of(Base64, 43) + "=" }),
		given("assigned, small letters", func(g Garden) string { return g.Of("abcdefghijklmnopqrstuvwxyz0123456789", g.Between(24, 40)) }),
		prefixed("Shopify", "shpat_", lowHex, 32, 32), prefixed("Linear", "lin_api_", alnum, 40, 40), prefixed("Notion", "ntn_", alnum, 46, 46),
		prefixed("Databricks", "dapi", lowHex, 32, 32), prefixed("Grafana", "glsa_", alnum, 32, 32), prefixed("Sentry", "sntryu_", lowHex, 64, 64),
		prefixed("New Relic", "NRAK-", "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", 27, 27), prefixed("Doppler", "dp.pt.", alnum, 43, 43),
		prefixed("Pulumi", "pul-", lowHex, 40, 40), prefixed("Supabase", "sbp_", lowHex, 40, 40), prefixed("xAI", "xai-", alnum, 80, 80), prefixed("Groq", "gsk_", alnum, 52, 52),
		prefixed("Tailscale", "tskey-auth-", alnum, 40, 40), prefixed("RubyGems", "rubygems_", lowHex, 48, 48), prefixed("Replicate", "r8_", alnum, 37, 37),
		prefixed("Figma", "figd_", urlSet, 40, 40), prefixed("Atlassian", "ATATT3", urlSet, 180, 186),
	}
	for _, title := range []string{"RSA PRIVATE KEY", "PRIVATE KEY", "EC PRIVATE KEY", "OPENSSH PRIVATE KEY", "PGP PRIVATE KEY BLOCK"} {
		list = append(list, Kind{title, func(g Garden) Planted { return g.block(title) }})
	}
	return append(list, Kind{"service account", func(g Garden) Planted {
		p := g.block("PRIVATE KEY")
		return Planted{"service account", `  "private_key": "` + strings.ReplaceAll(p.Text, "\n", `\n`) + `\n",`, p.Secret}
	}})
}

// block is a private key of 5 to 50 rows.
func (g Garden) block(title string) Planted {
	var rows []string
	for range g.Between(4, 49) {
		rows = append(rows, g.Of(Base64, 64))
	}
	rows = append(rows, g.Of(Base64, g.Between(5, 60))+"=")
	head := "-----BEGIN " + title + "-----\n"
	if strings.HasPrefix(title, "PGP") {
		head += "\n"
	}
	return Planted{title, head + strings.Join(rows, "\n") + "\n-----END " + title + "-----", strings.Join(rows, "")}
}

// Noise is a line of output without a secret in it.
func (g Garden) Noise() string {
	w := func() string {
		return g.One("the", "session", "reads", "a", "file", "and", "writes", "tests", "for", "every", "change", "in", "config", "server", "because", "it", "fails", "when", "token", "is", "missing", "password", "key")
	}
	words := func(n int) string {
		var out []string
		for range n {
			out = append(out, w())
		}
		return strings.Join(out, " ")
	}
	switch g.IntN(14) {
	case 0:
		return ""
	case 1:
		return "⏺ " + words(g.Between(4, 14)) + "."
	case 2:
		return "    if err := " + w() + "." + w() + "(ctx); err != nil {"
	case 3:
		return g.Of(lowHex, 40) + " " + words(5)
	case 4:
		return "golang.org/x/" + w() + " v0.1." + g.Of(digits, 1) + " h1:" + g.Of(Base64, 43) + "="
	case 5:
		return "- [x] " + words(6)
	case 6:
		return "2026-03-04T12:" + g.Of("012345", 2) + ":00Z INFO " + words(4) + " id=" + g.Of(lowHex, 8) + "-" + g.Of(lowHex, 4) + "-4" + g.Of(lowHex, 3) + "-a" + g.Of(lowHex, 3) + "-" + g.Of(lowHex, 12)
	case 7:
		return "ok  \tgithub.com/" + w() + "/" + w() + "\t0." + g.Of(digits, 3) + "s"
	case 8:
		return "| " + w() + " | " + w() + " |"
	case 9:
		return "+\t" + w() + " := os.Getenv(\"" + strings.ToUpper(w()) + "_TOKEN\")"
	case 10:
		return "export " + strings.ToUpper(w()) + "_KEY=your-api-key-here"
	case 11:
		return "$ " + w() + " --" + w() + " ./" + w() + "/..."
	default:
		return words(g.Between(3, 20))
	}
}
