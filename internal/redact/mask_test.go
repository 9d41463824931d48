package redact_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/panebridge/panebridge/internal/redact"
	"github.com/panebridge/panebridge/internal/redact/redacttest"
)

func TestMasks(t *testing.T) {
	m := newMasker(t, redact.Options{})
	for in, want := range map[string]string{
		"export GITHUB_TOKEN=ghp_Zx8kQ9vB2mN7aaQ1Lw0cJr5TyHgVbNmKlPoI":                                         "export GITHUB_TOKEN=ghp_…[masked: GitHub token]",
		"Authorization: Bearer sk-ant-api03-Zx8kQ9vB2mN7aaQ1Lw0cJr5TyHgVbN":                                    "Authorization: Bearer sk-ant-api03-…[masked: Anthropic key]",
		"Authorization: Basic dXNlcjpaeDhrUTl2QjJtTjc=":                                                        "Authorization: Basic …[masked: basic credentials]",
		"postgres://app:Zx8kQ9vB2mN7@db.internal/x":                                                            "postgres://app:…[masked: password]@db.internal/x",
		"url https://oauth2:glpat-Zx8kQ9vB2mN7aaQ1Lw0c@gitlab.com/a/b.git":                                     "url https://oauth2:glpat-…[masked: GitLab token]@gitlab.com/a/b.git",
		"bot 110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsawQ":                                                    "bot 110201543:…[masked: Telegram bot token]",
		"(sk_live_Zx8kQ9vB2mN7aaQ1Lw0cJr5T)":                                                                   "(sk_live_…[masked: Stripe key])",
		`{"key":"-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n-----END PRIVATE KEY-----\n"}`: `{"key":"-----BEGIN PRIVATE KEY-----\n…[masked: private key]\n-----END PRIVATE KEY-----\n"}`,
		"GITHUB_TOKEN=ghp_Zx8kQ9vB2mN7aaQ1Lw0cJr5TyHgVbNmKlPoI\npsql -l":                                       "GITHUB_TOKEN=ghp_…[masked: GitHub token]\npsql -l",
		"log:\\nghp_Zx8kQ9vB2mN7aaQ1Lw0cJr5TyHgVbNmKlPoI\\n":                                                   "log:\\nghp_…[masked: GitHub token]\\n",
		"q=%3Aghp_Zx8kQ9vB2mN7aaQ1Lw0cJr5TyHgVbNmKlPoI":                                                        "q=%3Aghp_…[masked: GitHub token]",
		"AKIAQ2W3E4R5T6Y7U2I3 wJalrXUtnFEMI/K7MDENG/bPxRfiCYzQ8kWv2m":                                          "AKIA…[masked: AWS access key] …[masked: AWS secret key]",
		"password = \"Tr0ub4dor&3!x\"":                                                                         "password = \"…[masked: password]\"",
		"the password is Zx8kQ9vB2mN7aaQ1.":                                                                    "the password is …[masked: password].",
		"DB_PASSWORD=hunter2hunter2":                                                                           "DB_PASSWORD=…[masked: password]",
		"  password: \"admin@123\"":                                                                            "  password: \"…[masked: password]\"",
		"PGPASSWORD=Kx7!mQ2z psql -h db":                                                                       "PGPASSWORD=…[masked: password] psql -h db",
		"API_KEYS=[\"Kx7mQ2zP\", 'tiger42x']":                                                                  "API_KEYS=[\"…[masked: key]\", '…[masked: key]']",
		"curl -fsS -u admin:tiger42 https://db.internal/x":                                                     "curl -fsS -u admin:…[masked: password] https://db.internal/x",
		"mysql -uroot -ptiger42 shop":                                                                          "mysql -uroot -p…[masked: password] shop",
		"openssl enc -aes-256-cbc -k tiger42x -in a -d":                                                        "openssl enc -aes-256-cbc -k …[masked: password] -in a -d",
		"rdesktop -u bob -p tiger42x host; ls":                                                                 "rdesktop -u bob -p …[masked: password] host; ls",
		"sshpass -p 'tiger 42' ssh db":                                                                         "sshpass -p '…[masked: password]' ssh db",
		"Cookie: theme=dark; sessionid=tiger42tiger":                                                           "Cookie: theme=dark; sessionid=…[masked: cookie]",
		"me:$6$Zx8kQ9vB$2mN7aaQ1Lw0cJr5TyHgVbNmKlPoI:19000":                                                    "me:$6$…[masked: password hash]:19000",
		"nvapi-Zx8kQ9vB2mN7aaQ1Lw0cJr5TyHgVbNmKlPoI":                                                           "nvapi-…[masked: NVIDIA key]",
		"TOKEN=ghp_Zx8k\u200bQ9vB2mN7aaQ1Lw0cJr5TyHgVbNmKlPoI":                                                 "TOKEN=ghp_…[masked: GitHub token]",
		"_authToken=Zx8kQ9vB2mN7aaQ1Lw0c":                                                                      "_authToken=…[masked: token]",
	} {
		if got := m.Line(in); got != want {
			t.Errorf("%s\n got %s\nwant %s", in, got, want)
		}
	}
}

// What people write that only looks like a secret stays as it is.
func TestNotMasked(t *testing.T) {
	m := newMasker(t, redact.Options{})
	for _, in := range []string{
		"", "ghp_", "token", "key: value", "password: ********", "API_KEY=your-api-key-here", "export TOKEN=$GITHUB_TOKEN", "token: ${{ secrets.TOKEN }}",
		"api_key = os.Getenv(\"API_KEY\")", "apiKey: process.env.OPENAI_API_KEY,", "password := getPassword(ctx)", "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
		"sk-ant-api03-your-key-here-and-more-of-it", "AKIAIOSFODNN7EXAMPLE", "secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
		"<token>", "token=<token>", "--password PASSWORD", "key=0123456789abcdef0123456789abcdef", "id=63ef4eac-e264-448c-a1d7-c31f76f99800",
		"token: 63ef4eac-e264-448c-a1d7-c31f76f99800", "commit 3f2a1b0c9d8e7f6a5b4c3d2e1f0a9b8c7d6e5f4a", "golang.org/x/net v0.1.0 h1:hZ/3BUoy5aId7sCpA/Tc5lt8DkFgdVS2onTpJsZ/fl0=",
		"\"integrity\": \"sha512-oMdVdYgpd4gGbqmnlbXVZZtSmYhzbYfGYvx8Gzr3cNGGcZkhAUPpXqbmUPPDoLzpEPBXkLx4JsVr4TGSOV0EgA==\"",
		"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
		"password = os.Getenv(\"DB_PASSWORD\")", "PASSWORD=", "password: string", "token: null", "secret: true", "--- PASS: TestTags/testtag (0.04s)", "tokens=128000",
		"mysql -u root -p shop", "curl -u \"$USER:$PASS\" https://db.internal", "docker run -p 8080:80 x", "ssh -p 2222 db", "jsonwebtoken: ^9.0.0", "Cookie: theme=dark",
		"max_tokens: 4096", "tokenizer = AutoTokenizer.from_pretrained(model)", "keyboard: QWERTZ-de-DE-x86_64", "monkey=Zx8kQ9vB2mN7aaQ1", "public_key: Zx8kQ9vB2mN7aaQ1Lw0cJr5TyHgVbNmKl",
		"http://user:password@example.com/", "postgres://postgres:postgres@localhost:5432/test", "https://$USER:$PASS@host", "http://localhost:8080/a@b", "git@github.com:a/b.git",
		"Basic authentication is off", "a bearer of news", "class=\"sk-toggleable__content\"", "task-12345678901234567890", "hf_hub_download(repo_id)",
		"-----BEGIN CERTIFICATE-----\nMIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBaMQswCQYDVQQGEwJJ\n-----END CERTIFICATE-----",
		"const pemHeader = \"-----BEGIN PRIVATE KEY-----\"\n)\nfunc main() {", "-----BEGIN PRIVATE KEY-----\n\nThat is how it begins.",
		"eyJust a word", "it is 10:AM", "PWD=/home/me/src/github.com/panebridge", "SSH_AUTH_SOCK=/run/user/1000/keyring-Zx8kQ9/ssh",
		"…[masked: GitHub token]", "ghp_…[masked: GitHub token]", "password=…[masked: password]\n…[masked]",
	} {
		if got := m.Line(in); got != in {
			t.Errorf("%s\n got %s", in, got)
		}
	}
}

// What standards and their documentation give as examples is no secret, nor is a public key, whatever
// stands before it.
func TestPublishedValuesAreShown(t *testing.T) {
	m := newMasker(t, redact.Options{})
	for _, in := range []string{
		`{"access_token":"2YotnFZFEjr1zCsicMWpAA", "refresh_token":"tGzv3JOkF0XG5Qx2TlKWIA"}`, "Location: http://a.example.org/cb#access_token=2YotnFZFEjr1zCsicMWpAA", "  \"access_token\":\"2YotnFZFEjr1zCsicMWpAA\",",
		"Authorization: Bearer mF_9.B5f-4.1JqM", "Authorization: Basic czZCaGRSa3F0MzpnWDFmQmF0M2JW", "Authorization: Bearer SlAV32hkKG", "GET /r?access_token=h480djs93hd8 HTTP/1.1", "access_token=h480djs93hd8",
		"token=45ghiukldjahdnhzdauz&token_type_hint=refresh_token", "GET /revoke?token=agabcdefddddafdd&callback=package.myCallback HTTP/1.1", `oauth_token="ad180jjd733klru7",`, `oauth_token="kkk9d7dh3k39sjv7"`,
		"eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ.SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c",
	} {
		for _, in := range []string{in, in + "\nnext row"} {
			if got := m.Line(in); got != in {
				t.Errorf("%s\n got %s", in, got)
			}
		}
	}
	for name, key := range publicKeys(t) {
		for _, form := range []string{`key: "%s",`, `"signing_key": "%s"`, "SIGNING_KEY=%s", "  client_key: %s"} {
			in := fmt.Sprintf(form, key)
			if got := m.Line(in); got != in {
				t.Errorf("%s: %s\n got %s", name, in, got)
			}
		}
	}
	const other = "45ghiukldjahdnhzdauy"
	if got := m.Line("token=45ghiukldjahdnhzdauz&client_secret=" + other); strings.Contains(got, other) {
		t.Errorf("%s is shown behind what's published: %s", other, got)
	}
}

// publicKeys are public keys of several kinds in DER and base64; private ones in the same form are masked.
func publicKeys(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	m := newMasker(t, redact.Options{})
	add := func(name string, private crypto.Signer, err error) {
		if err != nil {
			t.Fatal(err)
		}
		public, err := x509.MarshalPKIXPublicKey(private.Public())
		if err != nil {
			t.Fatal(err)
		}
		out[name] = base64.StdEncoding.EncodeToString(public)
		der, err := x509.MarshalPKCS8PrivateKey(private)
		if err != nil {
			t.Fatal(err)
		}
		if secret := base64.StdEncoding.EncodeToString(der); strings.Contains(m.Line(`"signing_key": "`+secret+`"`), secret) {
			t.Errorf("a private key is shown: %s", name)
		}
	}
	ec, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	add("P-256", ec, err)
	_, ed, err := ed25519.GenerateKey(rand.Reader)
	add("Ed25519", ed, err)
	big, err := rsa.GenerateKey(rand.Reader, 2048)
	add("RSA", big, err)
	return out
}

func TestBlocks(t *testing.T) {
	m := newMasker(t, redact.Options{})
	g := redacttest.New(1)
	a, b := g.Of(redacttest.Base64, 64), g.Of(redacttest.Base64, 20)+"="
	for name, test := range map[string][2]string{
		"plain":         {"-----BEGIN RSA PRIVATE KEY-----\n" + a + "\n" + b + "\n-----END RSA PRIVATE KEY-----\nok", "-----BEGIN RSA PRIVATE KEY-----\n…[masked: private key]\n…[masked]\n-----END RSA PRIVATE KEY-----\nok"},
		"encrypted":     {"-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,A327\n\n" + a + "\n-----END RSA PRIVATE KEY-----", "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,A327\n\n…[masked: private key]\n-----END RSA PRIVATE KEY-----"},
		"with numbers":  {"  1→-----BEGIN PRIVATE KEY-----\n  2→" + a + "\n  3→" + b + "\n  4→-----END PRIVATE KEY-----", "  1→-----BEGIN PRIVATE KEY-----\n  2→…[masked: private key]\n  3→…[masked]\n  4→-----END PRIVATE KEY-----"},
		"in code":       {"key = \"-----BEGIN PRIVATE KEY-----\\n\" +\n\t\"" + a + "\\n\" +\n\t\"-----END PRIVATE KEY-----\"", "key = \"-----BEGIN PRIVATE KEY-----\\n\" +\n\t\"…[masked: private key]\\n\" +\n\t\"-----END PRIVATE KEY-----\""},
		"its end alone": {a + "\n" + b + "\n-----END PGP PRIVATE KEY BLOCK-----", "…[masked]\n…[masked]\n-----END PGP PRIVATE KEY BLOCK-----"},
		"without end":   {"-----BEGIN OPENSSH PRIVATE KEY-----\n" + a + "\n$ ls -l\n" + a, "-----BEGIN OPENSSH PRIVATE KEY-----\n…[masked: private key]\n$ ls -l\n" + a},
		"of PuTTY":      {"Private-Lines: 2\n" + a + "\n" + b + "\nPrivate-MAC: 12", "Private-Lines: 2\n…[masked: private key]\n…[masked]\nPrivate-MAC: 12"},
		"in base64":     {"key-data: " + base64.StdEncoding.EncodeToString([]byte("-----BEGIN EC PRIVATE KEY-----\n"+a)), "key-data: LS0tLS1CRUdJTi…[masked: private key]"},
	} {
		if got := m.Line(test[0]); got != test[1] {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, test[1])
		}
	}
}

func TestOwnSecrets(t *testing.T) {
	m := newMasker(t, redact.Options{Off: true, Allow: []string{"p@ss w/rd"}})
	const secret = "p@ss w/rd+17"
	if m.Add("short", "abc") || !m.Add("the bot's token", secret+"\n") {
		t.Error("Add")
	}
	for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding, base64.RawStdEncoding} {
		for _, before := range []string{"", "a", "ab", "user:"} {
			text := enc.EncodeToString([]byte(before + secret + "~~"))
			if share, _ := leaked(text, map[string]bool{m.Line("x " + text + " y"): true}); share > 0.5 {
				t.Errorf("%s: %s", text, m.Line(text))
			}
		}
	}
	for _, form := range []string{secret, url.QueryEscape(secret), url.PathEscape(secret)} {
		if got := m.Line("a " + form + " b"); got != "a …[masked: the bot's token] b" {
			t.Errorf("%s: %s", form, got)
		}
	}
	if got := m.Line("a p@ss\n w/rd+17"); got != "a …[masked: the bot's token]\n …[masked]" {
		t.Logf("a blank at a break is lost: %q", got)
	}
	if got, in := m.Line("ghp_Zx8kQ9vB2mN7aaQ1Lw0cJr5TyHgVbNmKlPoI"), "ghp_Zx8kQ9vB2mN7aaQ1Lw0cJr5TyHgVbNmKlPoI"; got != in {
		t.Errorf("off: %s", got)
	}
}

func TestRules(t *testing.T) {
	m := newMasker(t, redact.Options{
		Rules: []redact.MaskRule{{Name: "customer", Pattern: `\bC-[0-9]{6}\b`}, {Name: "pin", Pattern: `pin: ([0-9]+)`}},
		Allow: []string{"ghp_Zx8k", `/^hf_.*Q1$/`},
	})
	for in, want := range map[string]string{
		"for C-123456 and C-1":                                             "for …[masked: customer] and C-1",
		"pin: 1234, pin: 5":                                                "pin: …[masked: pin], pin: …[masked: pin]",
		"ghp_Zx8kQ9vB2mN7aaQ1Lw0cJr5TyHgVbNmKlPoI":                         "ghp_Zx8kQ9vB2mN7aaQ1Lw0cJr5TyHgVbNmKlPoI",
		"hf_Zx8kQvBmNaaLwcJrTyHgVbNmKlPoIaaQ1":                             "hf_Zx8kQvBmNaaLwcJrTyHgVbNmKlPoIaaQ1",
		"the customer whose number is long enough for a row is C-12\n3456": "the customer whose number is long enough for a row is …[masked: customer]\n…[masked]",
	} {
		if got := m.Line(in); got != want {
			t.Errorf("%s\n got %s\nwant %s", in, got, want)
		}
	}
	err := m.Set(redact.Options{Rules: []redact.MaskRule{{Name: "a", Pattern: "("}, {Name: "b", Pattern: "x*"}, {Name: "c]", Pattern: "x"}}, Allow: []string{"", "/(/"}})
	if err == nil || strings.Count(err.Error(), "\n") != 4 {
		t.Errorf("got %v, want five problems", err)
	}
	if got := m.Line("C-123456"); !strings.Contains(got, "masked") {
		t.Errorf("after an error: %s", got)
	}
}
