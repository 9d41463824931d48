package redacttest

import (
	"fmt"
	"strings"
)

// common are passwords that many people have, some of which documentation has, too.
func (g Garden) common() string {
	return g.One("letmein", "qwerty", "iloveyou", "welcome", "football", "starwars", "sunshine", "Sommer", "Password123!", "mysecretpw", "secret99", "test_pass1", "admin", "hunter2", "postgres")
}

// number is a password of digits, or a code.
func (g Garden) number() string { return "9" + g.Of("0258", 2) + g.Of(digits, g.Between(5, 12)) }

// bare is a password that needs no quotes: none of its characters ends a word in a shell, YAML or
// a connection string.
func (g Garden) bare() string {
	switch g.IntN(8) {
	case 0:
		return g.common()
	case 4:
		return g.number()
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

// phrase is a password of several words.
func (g Garden) phrase() string {
	words := []string{g.word(), g.word(), g.word()}
	if g.IntN(2) == 0 {
		words = append(words, g.One("", "X", "7")+g.word())
	}
	return strings.Join(words, " ")
}

// joined is a word, or several with dashes between.
func (g Garden) joined() string {
	return g.word() + g.One("", "-"+g.word(), "-"+g.word()+"-"+g.word())
}

// own is what stands in a value behind the name of its kind: key-abc.
func (g Garden) own() string {
	return g.One("abc", "xyz", "a1", g.word(), g.joined(), g.joined()+"-"+g.Of(digits, 4))
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
	out = append(out, literal("beside others", Garden.bare,
		"INFO password=%s", "2026-03-04 12:00:01 WARN login failed user=me password=%s ip=10.0.0.7", "user=x password=%s", "GET /login?password=%s HTTP/1.1", "GET /login?user=me&token=%s&page=2",
		"Server=tcp:db.internal,1433;Database=shop;User Id=sa;Password=%s;Encrypt=true", "Server=db;Uid=sa;Pwd=%s;", "Data Source=db;Pwd=%s", "kubectl create secret generic db --from-literal=password=%s",
		`psql "host=db user=app password=%s"`, "dsn: host=db password=%s sslmode=disable", "map[password:%s user:app]", "map[user:app password:%s]", "{User:app Password:%s Port:5432}",
		"docker run -e POSTGRES_PASSWORD=%s db:16", "docker run -e 'POSTGRES_PASSWORD=%s' db:16", "-Dspring.datasource.password=%s", `curl -H "X-Auth-Token: %s" https://example.org`,
	)...)
	out = append(out, literal("of YAML and files of settings", Garden.bare,
		"---\npassword: %s", "database:\n  user: app\n  db_password: %s", "users:\n- password: %s", "users:\n  password: %s # of the staging database", "app.db.password=%s", "[client]\npassword = %s",
		"   11  db:\n   12  password: %s", " db:\n+  password: %s", "environment:\n  DB_PASSWORD: %s",
	)...)
	out = append(out, literal("phrases without quotes", Garden.phrase,
		"---\npassword: %s", "database:\n  user: app\n  password: %s", "users:\n- name: me\n  passphrase: %s # of the staging database", "auth:\n  secret: %s", "   11  db:\n   12  db_password: %s", " db:\n+  password: %s",
		"[client]\npassword = %s", "[db]\nuser = app\ndb_password = %s", "# the database\ndb_password = %s", "DB_USER=app\nDB_PASSWORD=%s", "spring.datasource.username=app\nspring.datasource.password=%s",
	)...)
	out = append(out, literal("phrases behind what isn't of settings", Garden.phrase,
		"$ cat app.conf\ndb_password = %s", "$ cat app.conf\ndb_password: %s", "-rw------- 1 me me 120 app.conf\n  passphrase = %s # of the staging database", "It's in the notes:\nclient_secret = %s",
	)...)
	out = append(out, literal("words behind what isn't of settings", Garden.joined,
		"$ cat app.yaml\naccess_token: %s", "-rw------- 1 me me 120 app.yaml\n  api_key: %s # of staging", "It's in the notes:\n- api-key: %s", "$ cat app.yaml\nclient_secret: %s", "$ cat app.yaml\ndb_password: %s",
	)...)
	out = append(out, literal("words with the name's own", Garden.own, "---\napi_key: key-%s", "---\ntoken: token-%s", "[api]\ntoken = token-%s", "auth:\n  secret: secret-%s", "[client]\npassword = password-%s", "client_secret = \"secret-%s\"", "apiToken := 'secret_%s'", `  "api_key": "key-%s",`, "API_KEY=key-%s", "?token=token-%s")...)
	out = append(out, literal("words of YAML and files of settings", Garden.word,
		"---\ntoken: %s", "auth:\n  token: %s", "auth:\n  user: me\n  secret: %s", "- name: me\n  api_key: %s # of staging", "[api]\ntoken = %s", "[api]\nregion = west\nclient_secret = %s", "   11  api:\n   12  access_token: %s", " api:\n+  token: %s",
	)...)
	out = append(out, literal("by other names", Garden.bare,
		"DB_PASSWORD_PROD=%s", "SECRET_KEY_BASE=%s", "API_TOKEN_STAGING=%s", "DBPASS=%s", "MYPASS=%s", "DB_PW=%s", "PASSCODE=%s", "export CREDS=%s", "Pwd=%s", "psk=%s", "WPA_PSK=%s", "requirepass %s", "---\ndbpass: %s",
		`"passcode": "%s"`, `"db_pw": "%s"`, `$dbpass = "%s";`, `password_prod: "%s"`, "PASSWORD_2=%s",
	)...)
	out = append(out, literal("in lists and pairs", Garden.bare,
		"---\npasswords: [%s, b]", "DB_PASSWORDS=[a, %s]", "API_TOKENS=[\"abc\", \"%s\"]", "---\npasswords:\n  - %s\n  - b", "---\npasswords:\n  - b\n  - \"%s\"", "define('DB_PASSWORD', '%s');", "define(\"API_TOKEN\",\"%s\")",
		"os.Setenv(\"DB_PASSWORD\", \"%s\")", "ENV DB_PASSWORD %s", "ARG API_TOKEN %s", "env:\n- name: DB_PASSWORD\n  value: %s", "env:\n  - name: DB_PASSWORD\n    value: \"%s\"", "{\"name\": \"DB_PASSWORD\", \"value\": \"%s\"},",
		"<property name=\"password\" value=\"%s\"/>", "<add key=\"Password\" value='%s' />", "<entry key=\"password\">%s</entry>", "<name>db.password</name>\n<value>%s</value>", "<key>password</key>\n<string>%s</string>",
		"--parameters ParameterKey=DbPassword,ParameterValue=%s", "Name=DB_PASSWORD,Value=%s",
	)...)
	out = append(out, literal("in SQL", func(g Garden) string { return g.within("'") },
		"CREATE USER app WITH PASSWORD '%s';", "ALTER ROLE app WITH ENCRYPTED PASSWORD '%s';", "CREATE USER 'app'@'%%' IDENTIFIED BY '%s';", "ALTER USER root IDENTIFIED WITH mysql_native_password BY '%s';", "alter user app password '%s'",
		"CREATE LOGIN app WITH PASSWORD = '%s'", "SET PASSWORD FOR app = PASSWORD('%s');",
	)...)
	out = append(out, literal("in quoted options", func(g Garden) string { return g.within(`"`) }, `mysql -u root -p"%s" shop`, `mysql -u root --password="%s" shop`, `curl -sS -u "admin:%s" https://db.internal`, `sshpass -p "%s" ssh me@db`)...)
	out = append(out, literal("in options", func(g Garden) string { return g.word() + g.One("_", "-", "") + g.Of(digits, 3) },
		"curl -uadmin:%s https://db.internal", "curl -sSu admin:%s https://db.internal", "curl -fsSLu 'admin:%s' https://db.internal", "curl -b \"sessionid=%s; theme=dark\" https://db.internal", "curl --cookie 'sid=%s' https://db.internal",
		"redis-cli -a%s ping", "openssl pkcs12 -in a.p12 -passin pass:%s -nodes", "openssl enc -aes-256-cbc -pass 'pass:%s' -in a", "zip -r -P %s a.zip a", "unzip -P %s a.zip", "7z a -p%s a.7z a", "7z x a.7z '-p%s'",
		"Authorization: Token %s", `curl -H "Authorization: Token %s" https://db.internal`, `{"Authorization": "Token %s"}`, "> Authorization: ApiKey %s", "sqlcmd -S db -U sa -P %s", "mongosh --host db -u app -p %s", "curl -u admin:%s!x https://db.internal",
	)...)
	out = append(out, literal("in addresses", func(g Garden) string {
		return g.word() + g.One("/", "?", "#", "$", "ü", "/x?", "$$", "!", "(", "*", "@") + g.Of(alnum, 3) + g.Of(digits, 2)
	}, "postgres://app:%s@db.internal:5432/prod", "DATABASE_URL=mysql://root:%s@10.0.0.3/shop", `"url": "amqp://me:%s@mq.internal/"`, "redis://:%s@cache:6379/0", "git clone https://ci:%s@git.internal/repo.git")...)
	out = append(out, literal("in tables", Garden.bare,
		"| name | value |\n|---|---|\n| user | me |\n| password | %s |", "+------+-------+\n| password | %s |", "│ user     │ app │\n│ password │ %s │", " user     | app\n password | %s",
	)...)
	out = append(out, literal("a whole row", func(g Garden) string {
		return g.word() + g.One("(", ",", ";", "|", "<", "{x}", "'", "`", ")]") + g.Of(digits, 3) + g.word()
	}, "DB_PASSWORD=%s", "export API_TOKEN=%s")...)
	out = append(out, literal("in XML", func(g Garden) string { return g.word() + g.One(" ", ",", ";", "'", "(") + g.Of(digits, 3) }, "<password>%s</password>", "<db.password>%s</db.password>")...)
	out = append(out, literal("digits", Garden.number,
		"API_TOKEN=%s", `"token": "%s"`, `password = "%s"`, `{"secret": "%s"}`, "token: %s", "deploy --token %s", "SECRET_KEY=%s",
	)...)
	return out
}
