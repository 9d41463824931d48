package app

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/panebridge/panebridge/adapters/all"
	"github.com/panebridge/panebridge/config"
	"github.com/panebridge/panebridge/internal/masked"
	"github.com/panebridge/panebridge/internal/redact"
)

// An agent may have secrets of its own, and none of panebridge's: the message says where
// one stands, and doesn't repeat it.
func TestAnAgentGetsNoneOfOurOwnSecrets(t *testing.T) {
	const token = "7000000001:AAEplanted_telegram-Token-0123456789x"
	t.Setenv("TOKEN_OF_TEST", token)
	file := filepath.Join(t.TempDir(), "redis")
	if err := os.WriteFile(file, []byte("planted-redis-0123\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "config.yaml")
	text := `adapters: {telegram: {token: "${TOKEN_OF_TEST}", proxy: "http://me:planted%2Fproxy@127.0.0.1:1"}}
redis: {addrs: ["127.0.0.1:1"], password_file: ` + file + `}
agents:
  fine: {command: [x], env: {ANTHROPIC_API_KEY: key-of-its-own, HOME_OF_IT: "${HOME}"}}
  bad:
    command: [x, "--token=${TOKEN_OF_TEST}"]
    flags: [planted-redis-0123]
    env:
      INNOCENT: ${TOKEN_OF_TEST}
      CACHE: redis://me:planted-redis-0123@127.0.0.1/0
      PROXY: http://me:planted%2Fproxy@127.0.0.1:1
      FINE: "yes"
`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := all.Form().Load(path, os.LookupEnv)
	if err != nil {
		t.Fatal(err)
	}
	err = CheckSecrets(cfg, path, os.LookupEnv)
	all, ok := errors.AsType[*config.Errors](err)
	if !ok {
		t.Fatalf("it says %v", err)
	}
	var got []string
	for _, p := range all.Problems {
		got = append(got, fmt.Sprintf("%d:%d %s", p.Line, p.Column, p.Path))
	}
	want := []string{"6:18 agents.bad.command[1]", "7:13 agents.bad.flags[0]", "9:17 agents.bad.env.INNOCENT", "10:14 agents.bad.env.CACHE", "11:14 agents.bad.env.PROXY"}
	if !slices.Equal(got, want) {
		t.Errorf("problems are %q, want %q", got, want)
	}
	if strings.Contains(err.Error(), "planted") || !strings.Contains(err.Error(), "must not have panebridge's own Telegram token in it") {
		t.Errorf("it says %v", err)
	}
	delete(cfg.Agents, "bad")
	if err := CheckSecrets(cfg, path, os.LookupEnv); err != nil {
		t.Errorf("of a sound configuration it says %v", err)
	}
}

// What an agent is given under a name of secrets, and is none, takes no variable from
// others.
func TestPathsAndSwitchesAreNoSecrets(t *testing.T) {
	cfg := all.Form().Default()
	cfg.Agents = map[string]config.Agent{"x": {Env: map[string]config.Secret{
		"GOOGLE_APPLICATION_CREDENTIALS": config.NewSecret("/home/somebody/key.json"), "AUTH": config.NewSecret("1"), "API_KEY": config.NewSecret("planted-key-0123"),
	}}}
	cfg.Redis.Password = config.NewSecret("panebridge")
	environ := []string{"HOME=/home/somebody", "PATH=/opt/panebridge/bin:/bin", "XDG_VTNR=1", "XDG_X=/planted-key-0123", "OTHER=planted-key-0123"}
	found := ExamineEnvironment(cfg, environ)
	if len(found) != 1 || !strings.HasPrefix(found[0].Detail, "XDG_X has the API_KEY") || strings.Contains(found[0].Detail+found[0].Fix, "planted") {
		t.Errorf("found is %+v", found)
	}
}

func TestAShellIsToldOfNoFolderWithASecret(t *testing.T) {
	d := &daemon{opt: Options{Config: all.Form().Default()}}
	d.secrets.Add("token", "planted-0123")
	t.Setenv("ZDOTDIR", "/home/ada/zsh")
	if got, ok := d.lookUpPane("ZDOTDIR"); !ok || got != "/home/ada/zsh" {
		t.Errorf("a pane's ZDOTDIR is %q, %t", got, ok)
	}
	t.Setenv("ZDOTDIR", "/home/ada/planted-0123")
	if got, ok := d.lookUpPane("ZDOTDIR"); ok {
		t.Errorf("a pane's ZDOTDIR is %q", got)
	}
}

func TestTheLogMasksSecretsWhereverTheyStand(t *testing.T) {
	masker, err := redact.New(redact.Options{Off: true})
	if err != nil {
		t.Fatal(err)
	}
	masker.Add("token", "planted-0123")
	var out bytes.Buffer
	log := slog.New(masked.NewHandler(slog.NewJSONHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}), masker)).With("base", "/planted-0123").WithGroup("g")
	log.Debug("call planted-0123", "err", fmt.Errorf("get: %w", errors.New("http://me:planted-0123@host")), "n", 5,
		slog.Group("more", "list", []string{"a", "planted-0123"}, "password", "hunter2"), "secret", config.NewSecret("planted-0123"))
	text := out.String()
	if strings.Contains(text, "planted") || strings.Count(text, "[masked: token]") != 4 {
		t.Errorf("the log has %s", text)
	}
	for _, want := range []string{`"n":5`, `"password":"hunter2"`, `"secret":"***"`} {
		if !strings.Contains(text, want) {
			t.Errorf("the log has no %s: %s", want, text)
		}
	}
	for address, want := range map[string]string{"http://me:p w@host": "p w", "http://host": "", "": "", "http://me@host": "", "socks5://a:b@c@d": "b@c"} {
		if got := passwordIn(address); got != want {
			t.Errorf("the password in %q is %q, want %q", address, got, want)
		}
	}
}

// vault is a section of a platform that nobody here knows.
type vault struct {
	Login config.Secret `yaml:"login" secret_after:"/" doc:"A login."`
	Rooms []room        `yaml:"rooms" doc:"Rooms."`
	Proxy string        `yaml:"proxy" is:"proxy_url" doc:"A proxy."`
}

type room struct {
	Keys    map[string]config.Secret `yaml:"keys" keys:"name" doc:"Keys by name."`
	KeyFile string                   `yaml:"key_file" is:"secret_file" doc:"A file with a key."`
}

func (*vault) Check(config.Part) {}
func (*vault) IsEnabled() bool   { return true }
func (*vault) ChatIDs() []string { return nil }
func (*vault) Pace() config.QoS  { return config.QoS{} }

// Whatever of a configuration is a secret by its type or format is hidden, wherever it stands: a platform that's
// added names its secrets nowhere else.
func TestSecretsOfAnySectionAreHidden(t *testing.T) {
	file := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(file, []byte("in-a-file-of-its-own\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	form := config.Form{Platforms: []config.PlatformForm{{Name: "vault", Doc: "Rooms.", Default: func() config.Section { return &vault{} }}}}
	cfg, err := form.Parse("c.yaml", []byte(`
adapters:
  vault: {login: "user/behind-the-slash", proxy: "http://me:proxys-own%20word@h:1", rooms: [{keys: {a: key-of-the-room-above}, key_file: `+file+`}]}
`), os.LookupEnv)
	if err != nil {
		t.Fatal(err)
	}
	d := &daemon{opt: Options{Config: cfg, Log: slog.New(slog.DiscardHandler), Env: os.LookupEnv}, config: cfg}
	if err := d.newMasker(); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"user/behind-the-slash", "behind-the-slash", "proxys-own word", "proxys-own%20word", "key-of-the-room-above", "in-a-file-of-its-own"} {
		if shown := d.masker.Line("it says " + text + " there"); strings.Contains(shown, text) {
			t.Errorf("%q is shown: %s", text, shown)
		}
		if !d.hasSecret("X=" + text) {
			t.Errorf("%q may be in a pane's environment", text)
		}
	}
}
