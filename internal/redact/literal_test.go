package redact_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/panebridge/panebridge/internal/redact"
	"github.com/panebridge/panebridge/internal/redact/redacttest"
)

// A value that stands for itself is masked as a whole where a name, an option or a command says
// that it's secret, whatever it looks like.
func TestLiteralsAreMasked(t *testing.T) {
	t.Run("literals", func(t *testing.T) { areMasked(t, redacttest.Literals(), 6e6) })
	t.Run("embedded", func(t *testing.T) { areMasked(t, redacttest.Embedded(), 9e6) })
}

// areMasked plants secrets of kinds between rows of other output, and looks whether all of each is masked.
func areMasked(t *testing.T, all []redacttest.Kind, seed uint64) {
	t.Helper()
	m := newMasker(t, redact.Options{})
	failed := map[string]int{}
	for i := range 40 * len(all) {
		g := redacttest.New(uint64(i) + seed)
		k := all[i%len(all)]
		p := k.Make(g)
		before := g.Noise()
		lines := append([]string{before}, strings.Split(p.Text, "\n")...)
		if shown := uncovered(m.Find([]byte(strings.Join(append(lines, g.Noise()), "\n"))), lines, p.Secret); shown != "" {
			if failed[k.Name]++; failed[k.Name] <= 2 {
				t.Errorf("%q of %q is shown behind %q", shown, p.Text, before)
			}
		}
	}
	for _, n := range failed {
		if n > 2 {
			t.Logf("each so often: %v", failed)
			break
		}
	}
}

// A row behind a password that isn't wrapped is none of it, whatever stands above.
func TestRowsBehindAreShown(t *testing.T) {
	m := newMasker(t, redact.Options{})
	for i := range 4000 {
		g := redacttest.New(uint64(i) + 5e6)
		row := fmt.Sprintf(g.One("DB_PASSWORD=%s", "export PGPASSWORD=%s", "requirepass %s", "sshpass -p %s", "password: %s", "  secret: %s", "mysql -uroot -p%s", "curl -u bob:%s", "$ API_TOKEN=%s"), redacttest.OrdinaryPassword(g))
		next := g.One("starting server", "Starting server on :8080", "psql -h db", "maxmemory 100mb", "connected ok", "shutdown now", "127.0.0.1:6379> shutdown now", "bob@db:~$ ls", "root@db:/srv# ls", "INFO started", "ERROR: cannot connect", "docker-compose up", "./run.sh now",
			"npm run dev", "make: Nothing to be done", "-rw-r--r-- 1 bob bob 12 a", "total 12", "12:30:01 started", "2026-03-04 12:30:01 started", "listening on 8080", "done, all of it", "ok (3 rows)", "error: it failed", "Traceback (most recent call last):", "systemctl restart db", "$ ls -l", "> ok", "npm warn x")
		above := g.One("", g.Noise(), "a b")
		if got, want := strings.Split(m.Line(above+"\n"+row+"\n"+next+"\n"+g.One("", g.Noise())), "\n")[2], next; got != want {
			t.Errorf("behind %q: got %q, want %q", row, got, want)
		}
	}
}

// A value is masked though a name with the same keyword follows it.
func TestNamesBehindALiteralAreNoneOfIt(t *testing.T) {
	m := newMasker(t, redact.Options{})
	if got, want := m.Line(`'oauth_token=lsdkfol23w&oauth_token_secret=qwe089234&b=c'`), "lsdkfol23w"; strings.Contains(got, want) {
		t.Errorf("%q is shown: %s", want, got)
	}
}

// An item of a list is masked behind one that came in two pieces.
func TestItemsBehindPiecesAreMasked(t *testing.T) {
	m := newMasker(t, redact.Options{})
	for _, before := range []string{"passwords:\n  -", "passwords:\n  -\n b", "passwords:\n  - a\n  -\n b"} {
		if got, want := m.Line(before+"\n  - \"tiger398\""), before+"\n  - \"…[masked: password]\""; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// uncovered is what of a secret no mask hides, which stands in one of the lines, the last such one.
func uncovered(masks []redact.Mask, lines []string, secret string) string {
	for n, line := range slices.Backward(lines) {
		at := strings.LastIndex(line, secret)
		if at < 0 {
			continue
		}
		shown := []byte(nil)
		for i := range len(secret) {
			hidden := false
			for _, k := range masks {
				hidden = hidden || k.Line == n && k.From <= at+i && at+i < k.To
			}
			if !hidden {
				shown = append(shown, secret[i])
			}
		}
		return string(shown)
	}
	return secret
}

// Names that say that something is secret stand before what's none, too.
func TestNoLiterals(t *testing.T) {
	m := newMasker(t, redact.Options{})
	for _, in := range []string{
		`"REDIS_PASSWORD=" + redis, "PROXY_PASSWORD=" + proxy`, `password=""`, `password = "" # "none"`, `token = "access_token"`, `getpass('Keystore password:')`, `"password": "Enter your password"`,
		`password: "Must be at least 8 characters"`, `fetch(x, {credentials: 'same-origin'})`, `#define GL_1PASS_EXT                      0x80A1`, `SIOCSLIFTOKEN                 = -0x7f879679`,
		`Token:                      "#d8dee9",`, `r'Secret:\s+\S+'`, `tokens => \%v12,`, `PASS="\x1b[32mPASS"`, "want:\n- STREAM_START_TOKEN\n- BLOCK_SEQUENCE_START_TOKEN\n- BLOCK_ENTRY_TOKEN\n- SCALAR_TOKEN",
		`GOOGLE_APPLICATION_CREDENTIALS="C:\path\to\keyfile.json"`, "DB_PASSWORD=\nnext-row-17x", `CREDENTIALS = "user.credentials"`, "max_tokens=409600", `"total_tokens": "128000"`, "token: reads", "export interface User {\n  password: text",
		"password = config.word", "connect(user=user, password=word)", "token = sunshine", "password: str", "def f(\n  password=user_password", "passwords: incorrect", "export PWD=/home/me/src", "pwd: ~/src", "bypass=sunshine",
		"h1:Zx8kQ9vB2mN7aaQ1Lw0cJr5TyHgVbNmKlPopw=\ngo.yaml.in/yaml/v3 v3.0.5", "4WAY_HANDSHAKE_AP_PSK               = 0x32\n4WAY_HANDSHAKE_STA_1X   = 0x10", "--show-secrets connection", "--password=PASSWORD",
		"--tls-client-key='projects/123/secrets/my-key/versions/1'", "?token=TOKEN", "private_key=PRIVATE_KEY_BYTES)", `cmd.Env = append(env, "PWD="+dir)`, "U_UNEXPECTED_TOKEN=0x10100,", "| user | password |",
		"| user | password | host |\n|---|---|---|", "a := encodeFragment |\nencodeUserPassword | encodeZone | encodeHost", `| One | Two |\n| HF_TOKEN | ` + "`huggingface`" + ` |`, `config.set('Credentials', 'host_name', host)`,
		"define('CURLOPT_PASSWORD', 10174);", "the directory identified by 'path'", "To describe user creds 'test-user' under", `{"name": "API_TOKEN", "value": token}`, "db_password=None):", "(?P<secret>.+?)/versions/(?P<version>.+?)",
		`"secret:[0-9A-Za-z_/-]*$"`, "TOKEN=getToken();", "https://localhost:4873/@types/node", "http://user.example.org:8080/a?b@c", "https://$USER:$PASS@host", "curl -sS https://db.internal -o u", "openssl req -passin env:KEY -passout file:a",
		"Authorization: Bearer token", "it needs a bearer token.", "bearer tokens", "nosecret:\n#endif", "const apiKey = options?.apiKey ?? none", "fetch(x, {credentials: 'include'})", "Keys:\n  primary_key:\n    - Name-of-Column4", `"Authorization": "Token " + t`, "Authorization: Token <token>", "'name': 'API_TOKEN', 'value': function () {", `--no-ask-password --no-block`,
		"from dataclasses import dataclass\nid: int\ntoken: sunshine", "name: str\ntoken: Sunshine", "---\npassword: must be of eight letters", "---\ntoken: what a login gives", "---\nsecret: base64 of the key", "a := b\npassword = current or next", "if x:\n  token: sunshine",
		"psql -l\nDB_PASSWORD=$(cat pw) psql shop",
		"maxOutputTokens: 65e3,", "retained_tokens = 4e5", "const E_INVALID_TOKEN = -2146893048", "NSS_BUFLEN_PASSWD     = 1024", `  tokens: "tokens",`, "  Tokens: 'Tokens',", "  tokens: 'トークン',", "  Tokens: 'Токены',", "default_token='Bearer',",
		`see the --password options`, "--api-key requires a model", "the --token flag.", "this.#accessToken = this.#pendingToken || x", "progressToken: ProgressTokenSchema$1", "progressToken: ProgressTokenSchema2", `["api-key"]: APIKeyAuth$inboundSchema,`,
		"credentials: credentials3", "---\npermissions:\n  id-token: write", "x.startToken = ++this.startToken;", "f(){return{tokens:e.inputTokens+t.outputTokens}}", "if(t.prevToken==`variable`||t.prevToken==`type`)", `token.Token != "STREAM-START" {`,
		`unrecognized token: "123abc"`, "const UNEXPECTED_TOKEN = /^Unexpected token/i", `tokenData:"J^~R!^OX$}X^%u^p$}pq%uqr)Xrs.Rst/utu6duv",`, `x("label",{},\"client_secret:\"),fe?Re.createElement(\"code\"`, `passKeys:t.passKeys!==!1,`,
		`token: "github_webhook" | "trigger_fire" | "other"`, "token = Error\n            #\n", `SessionToken: "STRING_VALUE", // required`,
		"team.create('@npm:cli', {token: 'myregistrytoken'})", "  token: 'my-auth-token-here'", "jobs:\n  publish:\n    uses: ./.github/workflows/a.yml\n    secrets: inherit",
		`const a = opts.password || name`, `x = os.getenv("DB_PASSWORD")`, `os.getenv("DB_PASSWORD", default)`, `setPassword("")`, `t.setPassword(user.password)`, `r.SetBasicAuth("user", "password")`, `r.SetBasicAuth("bob", words)`, `.getPassword("bob")`,
		"${DB_PASSWORD:?it must be set}", "${PASSWORD:0:4}", "echo ${DB_PASSWORD:-$OTHER}", "${API_TOKEN:-}", `var password string`, `var password string = name`, `password: Optional[str] = None`, `password: str = Field(default=None)`,
		`password <- 1`, `it "password" do`, `req.Header.Set("Authorization", "Bearer "+token)`, `password: Text("Password")`, `keys: Array.from(words)`, `add_argument("--password", default=None, help="x")`, "{\"Password:\"}", "f(user=x, password=word)",
		"password: >-\nuser17: x", "password: |\n  type: string\n", "secrets:\n  db17:\n    file: x", "token:\n  the token", "password:\n    The password of 8 letters", "src/app.ts:12:  password: Type2", "{ user, password: word }", "{user: string, password: Password}", "f({password: pass1})",
		"stringData:\n  username: tiger42\n  url: ${URL}\ndata17: x", "token: &mut Token2,",
		"| Field | Password |\n|---|---|\n| type | string |\n| least | 8 letters |", "| name | password |\nbob | tiger42", "Password   Hash2\nToken      Type17", "a,password,b\nc(d1),e,f\n", "f(a, password, b)\nf(c, d17xyz, e)", "INSERT INTO users (name, password) VALUES ($1, $2), (?, ?);",
		"| Token | Example |\n|---|---|\n| IDENT | a1 |", "| id | password |\n|---|---|\n| 1 | required |\n\ntiger42x", "SET PASSWORD FOR bob = PASSWORD(word)", "| `password` | `string` |", "user,password\nbob,text",
		"<td>Password</td><td>At least 8 letters</td>", "<td>Password</td><td>required</td>", `<input type="password" value="">`, `<input type="password" value="{{x}}">`, `<Password label="x">Enter</Password>`, "password=&quot;&quot;", "**Password:** required", "// password: word",
		"// the token: tiger42", "let token: Type42", `{"value":"","name":"DB_PASSWORD"}`, "# the password: see doc42",
		"Password is required", "password for bob: required", "Passwort: Passwort vergessen", `"passwort": "Kennwort"`, "resenha: tiger42x", "The token is base64", "the password is sha256 of it", "the key is a1b2c3d4.", "password = “Enter your password”", "password for the database: see config.yml",
		"f(user=user1, password=pass12, host=x)", "Password set to expire in 30d", "Your API key is missing", "user=user, password=text", "password of the user: %s1x",
		"echo $PW | docker login -u bob --password-stdin", "cat pw | docker login --password-stdin", "echo hello; sudo -S ls", "gh secret set DB_PASSWORD --body \"$PW\"", "gh secret set DB_PASSWORD < file", "nmcli dev wifi list", "user:password@tcp(localhost:5432)/dbname",
		"$USER:$PASS@tcp(db)/x", "127.0.0.1:5432:5432", "db:5432:app:bob:$PW", "user bob\npassword", "the user is\npassword sunshine42", "variable \"db_password\" {\n  default = \"\"\n}", "<Input password={pw17.password} />",
		`"NAME" || "PASSWORD" || "PHONE"`, "one of `password` or `salt`", "password: []byte(\"asdf\"),", "has := o.hasToken || \"unknown\"", `x.showPrompt("Enter API key:").trim();`, "| Token | Size |\n|---|---|\n| `UINT64_LE`* | 8 |\n| `Float16_BE` | 2 |",
		"  username SecretReader\n  password SecretReader", "'API Key': 'API-Schluessel17',", "Get your API key:\n```bash17", "SSH_AUTH_SOCK=/tmp/ssh-P65gpcqArqvH/agent.15541",
		`flag.String("password", "", "the password")`, `flag.String("token", "none", "x")`, "a *token*2", `"password": {"type": "string"}`, "password: **required**", "Your password has been set to expire", "char token[64] = x;",
		"AWS Secret Access Key [None]: ", "PASS tests17", "new PDO($dsn, $user, $password)", `DriverManager.getConnection(url, "bob", word)`,
		"REQUIRE_AUTH=oauth2", "DB_AUTH=scram-sha-256", `stopword = "tiger42"`, `pat = "tiger42x"`, "CACHE_KEY=v1-tiger42",
		`"nextPageToken": "Kx7mQ2zPw9Lr4TyH"`, `  "output_token": "NextMarker",`, "curl 'https://example.org/items?pagination-token=get-second-batch'", "aws s3api list-objects-v2 --continuation-token Kx7mQ2zPw9Lr4TyH",
		"pass: TestTags2", "# pass 12", "user: bob\npass: 12 of 14", "pass: 3, fail: 0, user: 2", "{user: bob, pass: word}", "login(user, pass: word2)", `  pwd: "src/app2",`, `{cwd: a, pwd: "~/x2"}`, `exec(cmd, {pwd: "folder"})`,
		`connect("host=db user=%s password=%s")`, `f"host=db password={word2}"`, `"dbname=app password=" + word2`, `connect(host="db", password=word2)`, `"host=db password=$1"`, "ssh-keygen -t ed25519 -N '' -f id", "http -a $USER:$PW x.internal", "https://x.internal -a b:c17xyz",
		"docker run --name mongo -p 27017:27017 mongo", "AUTH PLAIN", "127.0.0.1:6379> AUTH $PW", "snmpwalk -v3 -A $A -X $X db", `document.cookie = "theme=" + name2`, "PHPSESSID=deleted; path=/", `"JSESSIONID=" + id2`, "a TRUE / FALSE 17 theme dark17x", "x IS TRUE AND y IS FALSE OR tiger42x",
		"a password `sha256` hash", "the password `min_length8`?", "set the password to \"word\"", "the password 'at least 8'", "change the password to %q", "password `$PW1x`", "password (8 letters)", "the password \"${DB_PASSWORD}\"", "password `foo.bar1()`",
		"  -W, --password            force password prompt", "Same as --tlspassword but used in HTTPS proxy context.", "# of nsswitch\npasswd:         files systemd", "passwd: files", "secret = # disable PBM",
	} {
		if got := m.Line(in); got != in {
			t.Errorf("%s\n got %s", in, got)
		}
	}
}
