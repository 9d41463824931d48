package redacttest

import "encoding/base64"

// plain is an ordinary password that's no word alone: it has digits or signs.
func (g Garden) plain() string {
	switch g.IntN(3) {
	case 0:
		return g.Of("ABCDEFGHKLMNPQRSTUVWXYZ", 1) + g.Of("bcdfghkmnpqrstvxz", 1) + g.Of("23456789", 1) + g.One("!", "+", "-", "=") + g.Of(alnum, 3) + g.Of("23456789", 1)
	case 1:
		return g.One("Tovarmiq", "Belgostar", "Kirmandel", "hunter", "sunshine") + g.Of("23456789", 2)
	default:
		return g.word() + g.One("", "-") + g.Of(alnum, 2) + g.Of("23456789", 2)
	}
}

// OrdinaryPassword is one of few characters that's no word alone.
func OrdinaryPassword(g Garden) string { return g.plain() }

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
	out = append(out, literal("in code", Garden.plain,
		"const pw = process.env.DB_PASSWORD || '%s';", `password: process.env.DB_PASSWORD ?? "%s",`, "@password ||= '%s'", `password: ENV.fetch("DB_PASSWORD") { "%s" }`, `ENV.fetch("DB_PASSWORD", "%s")`, "password = os.getenv('DB_PASSWORD', '%s')",
		`SECRET_KEY = os.environ.get("SECRET_KEY", "%s")`, `token = os.environ.get("API_TOKEN") or "%s"`, "'password' => env('DB_PASSWORD', '%s'),", "DB_PASSWORD=${DB_PASSWORD:-%s}", "      POSTGRES_PASSWORD: ${POSTGRES_PASSWORD:-%s}", "  password: ${DB_PASSWORD:%s}",
		`@Value("${db.password:%s}")`, `let api_key = String::from("%s");`, `password: SecretStr = SecretStr("%s")`, `password: str = Field(default="%s")`, `parser.add_argument("--password", default="%s")`, `conf.setPassword("%s");`, `    .withPassword("%s")`,
		`client.password("%s")`, `req.SetBasicAuth("bob", "%s")`, `requests.get(u, auth=("bob", "%s"))`, `requests.get(u, auth=HTTPBasicAuth('bob', '%s'))`, `u.User = url.UserPassword("bob", "%s")`, `smtp.PlainAuth("", "bob", "%s", host)`, `password <- "%s"`,
		`Dim password As String = "%s"`, `std::string password{"%s"};`, `var dbPassword string = "%s"`, `    storePassword "%s"`, "    keyPassword '%s'", `#define WIFI_PASSWORD "%s"`, `(setq my-password "%s")`, `{:password "%s"}`, `proxy_set_header X-Api-Key "%s";`,
		`proxy_set_header Authorization "Bearer %s";`, `req.Header.Set("Authorization", "Bearer %s")`, `api_key: Optional[str] = "%s"`, `public string Password { get; set; } = "%s";`, `password = "" + "%s"`, `curl -d "{\"user\":\"bob\",\"password\":\"%s\"}" https://db.internal`,
		`{"body":"{\"password\":\"%s\"}"}`, "mount -t cifs -o user=bob,pass=%s //nas/x /m", "mount -t cifs -o username=bob,password=%s //nas/x /m", "Array\n(\n    [user] => bob\n    [password] => %s\n)", "  [\"password\"]=>\n  string(8) \"%s\"",
	)...)
	out = append(out, literal("in YAML", Garden.plain,
		"{user: bob, password: %s, host: x}", "  auth: {username: bob, password: %s}", "- {password: %s}", "password: &main %s", "password: !!str %s", "password: >-\n  %s\nuser: x", "db:\n  password: |-\n    %s\n  user: x", "db:\n  password: |\n    %s\n  user: x",
		"password:\n  \"%s\"", "  - password:\n      %s", "   11  db:\n   12    password: >-\n   13      %s\n   14    user: x", "+  password: |-\n+    %s", "config/app.yml:12:  password: %s", "config/app.yml-12-  db:\nconfig/app.yml:13:    password: %s", "app.properties:3:db.password=%s",
		"config/prod.env:  secret: %s", "kind: Secret\nstringData:\n  username: bob\n  smtp: %s", "stringData:\n  license: \"%s\"",
	)...)
	out = append(out, literal("phrases in YAML", Garden.phrase, "password: >-\n  %s\nuser: x", "db:\n  passphrase: |-\n    %s", "kind: Secret\nstringData:\n  greeting: %s")...)
	out = append(out, literal("in columns", Garden.plain,
		"| name | password |\n|------|----------|\n| bob  | %s |", "| password | host | port |\n|:--|---|--:|\n| `%s` | db | 1 |\n| none | db | 2 |", "| Setting | Value |\n|---|---|\n| user | bob |\n| DB_PASSWORD | `%s` |",
		"+----+----------+\n| id | password |\n+----+----------+\n|  1 | %s |\n+----+----------+", " id | password | host\n----+----------+------\n  1 | none     | db\n    | %s | db\n(2 rows)", "│ id │ secret │\n├────┼────────┤\n│ 1  │ %s │\n└────┴────────┘",
		"id,username,password\n1,bob,%s", "id,\"password\",host\n1,\"%s\",db\n2,x,db", "user;passwd\nbob;%s", "user\tpassword\thost\nbob\t%s\tdb", "Key                 Value\n---                 -----\nusername            bob\npassword            %s", "    DefaultPassword    REG_SZ    %s", "| Password | `%s` |",
	)...)
	out = append(out, literal("in SQL's columns", func(g Garden) string { return g.One(g.plain(), g.word()+g.Of("23456789", 1)+"''"+g.word()) },
		"INSERT INTO users (name, password) VALUES ('bob', '%s');", "insert into users(password,name) values('%s','bob')", "INSERT INTO users (name, password)\nVALUES ('al', NULL),\n  ('bob, jr', '%s');", "SET PASSWORD FOR 'bob'@'%%' = '%s';", "SET PASSWORD FOR bob TO '%s';",
	)...)
	out = append(out, literal("words in columns", Garden.word, "+----+----------+\n| id | password |\n+----+----------+\n|  1 | %s |\n+----+----------+", " id | password\n----+----------\n  1 | %s\n(1 row)", "Key         Value\n---         -----\npassword    %s")...)
	out = append(out, literal("in markup", Garden.plain,
		"<tr><td>Password</td><td>%s</td></tr>", "<dt>Password:</dt>\n<dd>%s</dd>", `<b>Password:</b> <code class="x">%s</code>`, `<input type="password" value="%s">`, `<input name="a" value='%s' type='password'/>`, "password=&quot;%s&quot;", "{&quot;password&quot;:&quot;%s&quot;}",
		"<Password><Value>%s</Value></Password>", `<wsse:Password Type="x">%s</wsse:Password>`, "<ns:Password>%s</ns:Password>", `<password encrypted="false">%s</password>`, `{"value":"%s","name":"DB_PASSWORD"}`, `{"Value": "%s", "Key": "db_password"},`,
		"**Password:** %s", "**Password:** `%s`", "- **Password**: `%s`", "* **Password:** %s", "*password* = *%s*", "# password: %s", "// password: %s", "; password = %s", "• Password: %s", "* password: %s", "🔑 Password: %s", "● Password: %s", "> Password: %s",
	)...)
	out = append(out, literal("in prose", Garden.plain,
		"Password for bob: %s", "Enter passphrase for key '/root/.ssh/id': %s", "A temporary password is generated for root@localhost: %s", "Temporary password: %s", "Your password is: %s", "Your password is %s", "Password set to '%s'", "password changed to %s", "API Key: %s",
		"Secret Access Key: %s", "🔑 API key: %s", "⏺ The API key is %s", "Username: bob  Password: %s", "username=bob, password=%s, host=x", "(user: bob, password: %s)", "<User name=bob password=%s>",
		"password：%s", "password:\u00a0%s", "password\u00a0=\u00a0\"%s\"", "password = “%s”", "Passwort: „%s“", "password: «%s»", "Passwort: %s", "Kennwort = \"%s\"", "contraseña: %s", "пароль: %s", "Пароль: %s", "密码: %s", "密码：%s", "パスワード：%s", "mot de passe : %s", "Ihr Passwort: %s", "SENHA: %s",
	)...)
	out = append(out, literal("in commands and their files", Garden.plain,
		`gh secret set DB_PASSWORD --body "%s"`, "gh secret set API_TOKEN -b %s -R a/b", "echo %s | docker login -u bob --password-stdin", "echo -n '%s' | docker login -u bob --password-stdin registry.internal", "printf '%%s' \"%s\" | sudo -S ls", "echo \"bob:%s\" | chpasswd",
		"docker login -u bob --password-stdin <<< '%s'", "aws configure set aws_secret_access_key %s", "aws configure set aws_secret_access_key '%s' --profile x", "nmcli dev wifi connect home password %s", "nmcli con modify home wifi-sec.psk '%s'", "cargo login %s",
		"ConvertTo-SecureString \"%s\" -AsPlainText -Force", "/msg NickServ IDENTIFY %s", "account x\nuser bob\npassword %s", "machine x.internal login bob account foo password %s", "machine x.internal\n  login bob\n  password %s", `db, err := sql.Open("mysql", "bob:%s@tcp(db.internal:3306)/app")`,
		"DSN=bob:%s@unix(/run/mysqld.sock)/app", "db.internal:5432:app:bob:%s", "*:*:*:bob:%s", "jdbc:sqlserver://db.internal;user=sa;password={%s};encrypt=true", "curl --data-urlencode 'password=%s' https://db.internal", "variable \"db_password\" {\n  type    = string\n  default = \"%s\"\n}",
	)...)
	out = append(out, literal("phrases in commands", Garden.phrase, "jdbc:sqlserver://db.internal;user=sa;password={%s};encrypt=true", "curl --data-urlencode 'password=%s' https://db.internal", "echo '%s' | sudo -S ls")...)
	out = append(out, literal("in more of code and prose", Garden.plain,
		`PASSWORD = config.get("db", "password", fallback="%s")`, `System.getenv().getOrDefault("DB_PASSWORD", "%s")`, `let password = std::env::var("DB_PASSWORD").unwrap_or("%s".to_string());`, `ds.setPassword( "%s" );`, `pw := flag.String("password", "%s", "what it's for")`,
		`flag.StringVar(&pw, "db-password", "%s", "x")`, `"password": {"value": "%s"}`, `std::string password("%s");`, `const char password[] = "%s";`, `#define PASSWORD "%s" // of the database`, `WiFi.begin("home", "%s");`, "INSERT INTO `users` (`name`, `password`) VALUES ('bob', '%s');",
		"&lt;password&gt;%s&lt;/password&gt;", "**API key**: `%s`", "Password: **%s**", "Your password has been set to %s", "bob@db's password: %s", "Das Passwort lautet: %s", "密码是：%s", "gh secret set DB_PASSWORD -b'%s'",
	)...)
	out = append(out, literal("in calls and files with users", Garden.plain,
		"machine x.internal login bob account foo password %s macdef init", "AWS Secret Access Key [None]: %s", "USER bob\nPASS %s\n230 ok", `poll x proto imap user "bob" password "%s"`, "$c = mysqli_connect('localhost', 'bob', '%s', 'db');", "new PDO('mysql:host=db', 'bob', '%s')",
		`DriverManager.getConnection(url, "bob", "%s");`, "helm install x --set auth.user=bob,auth.rootPassword=%s", "helm install x --set auth.password=%s,auth.user=bob",
	)...)
	out = append(out, literal("in more commands", Garden.plain,
		"az login -u bob@x.internal -p '%s'", "twine upload -u bob -p %s dist/*", "cqlsh -u bob -p %s db.internal", "beeline -u jdbc:hive2://db -n bob -p %s", "mongorestore -u bob -p %s dump", "oc login -u bob -p %s https://x.internal", "skopeo login -u bob -p '%s' quay.internal",
		"ipmitool -I lanplus -H bmc -U admin -P %s power status", "isql -S db -U bob -P '%s'", "ldappasswd -D cn=bob -w x42yz -s %s", "ldapadd -x -D cn=bob -w '%s' -f a.ldif",
		"lftp -u bob,%s sftp://x.internal", "http -a bob:%s GET https://x.internal/api", "rabbitmqctl add_user bob %s", "rabbitmqctl change_password bob '%s'", "wpa_passphrase home %s", "mysqladmin -u root password '%s'",
		"mosquitto_pub -h mq -u bob -P %s -t a", "mosquitto_passwd -b passwords bob %s", //nolint:misspell // the program's name
		"rpcclient -U 'bob%%%s' srv", "snmpwalk -v3 -l authPriv -u bob -A %s -X x42yzabc db", "snmpget -v3 -u bob -X '%s' db sysName", "ssh-keygen -t ed25519 -N '%s' -f id", "unrar x -p%s a.rar", "ngrok config add-authtoken %s", "bw unlock '%s'", "rclone obscure '%s'",
		"127.0.0.1:6379> AUTH bob %s", "redis-cli -h db AUTH '%s'", "DB_PASSWORD ?= %s", "DB_PASSWORD?=%s", "kubectl create secret generic db --from-literal=pass=%s",
	)...)
	out = append(out, literal("beside users", Garden.plain,
		"user: bob\npass: %s", "  user: bob\n  pass: '%s'", "user=bob pass=%s", "login: bob, pass: %s", "auth: { user: 'bob', pass: '%s' },", `"smtp": {"user": "bob", "pass": "%s"}`, "  auth: {\n    user: 'bob@x.internal',\n    pass: '%s',\n  },", "{user: bob, pass: %s}",
		`db.createUser({user: "bob", pwd: "%s", roles: []})`, `{"user":"bob","pwd":"%s"}`, "  pwd: '%s',",
		`psycopg2.connect("dbname=app user=bob password=%s host=db")`, `connect("host=db user=bob password=%s")`, `db, err := sql.Open("postgres", "password=%s dbname=app sslmode=disable")`, `dsn := fmt.Sprint("host=db password=%s dbname=", name)`,
	)...)
	out = append(out, literal("in quotes in prose", Garden.plain,
		"⏺ I've set the password to `%s`.", "⏺ I set the admin password to \"%s\" and restarted it.", "The password (`%s`) is in .env.", "Log in with user `bob` and password `%s`.", "Use the password '%s' to log in", "● There's a hardcoded password '%s' in app.py",
		"with the passphrase \"%s\"", "Log in as bob with the password as `%s`", "password → `%s`",
	)...)
	out = append(out, literal("cookies of sessions", func(g Garden) string { return g.Of(alnum, 26) },
		"PHPSESSID=%s", "JSESSIONID=%s; Path=/", `document.cookie = "sid=%s"`, `curl(url, cookie='JSESSIONID=%s')`, "GET /x;jsessionid=%s", ".x.internal\tTRUE\t/\tTRUE\t1799999999\tsid\t%s", "#HttpOnly_x.internal\tFALSE\t/app\tFALSE\t0\ttheme\t%s",
	)...)
	return out
}
