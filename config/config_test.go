package config_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v4"

	"github.com/panebridge/panebridge/adapters/discord"
	"github.com/panebridge/panebridge/adapters/telegram"
	"github.com/panebridge/panebridge/config"
)

// env is an environment with the given variables.
func env(variables map[string]string) config.Env {
	return func(name string) (string, bool) {
		value, set := variables[name]
		return value, set
	}
}

// form has two platforms in it, however many there are.
func form() config.Form {
	return config.Form{Platforms: []config.PlatformForm{telegram.Form(), discord.Form()}}
}

func parse(text string) (*config.Config, error) {
	return form().Parse("c.yaml", []byte(text), env(map[string]string{"USER": "ann", "KEY": "s3cret", "NAME": "agent-"}))
}

func TestNothingIsTheDefault(t *testing.T) {
	for _, text := range []string{"", "# only a comment\n", "---\n", "{}", "tmux:\npolling:\nagents:\n", "\ufefflog: {level: info}\r\n"} {
		got, err := parse(text)
		if diff := cmp.Diff(form().Default(), got); err != nil || diff != "" {
			t.Errorf("Parse(%q): %v\n%s", text, err, diff)
		}
	}
}

func TestParse(t *testing.T) {
	got, err := parse(`
tmux:
  servers:
    - socket_name: work
    - {socket_path: "/run/${USER}/tmux.sock"}
sessions: {adopt: ["${NAME}*", 'a[0-9]?'], tmux_prefix: my-, history_limit: 1e3, log_max_lines: 1000, keep_ended: 12h}
polling: {output_cadence_s: 0.1, capture_timeout_s: 2.5, max_capture_lines: 500, turn_marker: '/done\.$$/'}
mirrors:
  - {session: "agent-*", to: "telegram:-100/7", view: final, input: true}
  - {session: "*", to: "discord:5"}
adapters:
  web: {enabled: false, listen: "[::1]:0"}
  telegram: {qos: {mode: coalesce_only, group_mpm: 3, lend_reserve: false}}
agents:
  claude: &claude
    command: [claude, 7, "$${HOME} costs 5$"]
    env: {API_KEY: "x-${KEY}", PORT: 8080}
    profile: generic
  other: *claude
redact: {rules: [{name: customer, pattern: "C-[0-9]{6}$"}], allow: [/^test/]}
log: {level: debug, format: json}
`)
	if err != nil {
		t.Fatal(err)
	}
	agent := config.Agent{
		Command: []string{"claude", "7", "${HOME} costs 5$"},
		Env:     map[string]config.Secret{"API_KEY": config.NewSecret("x-s3cret"), "PORT": config.NewSecret("8080")},
		Profile: "generic", Width: 120, Height: 40,
	}
	platforms := form().Default()
	tg := telegram.ConfigOf(platforms)
	tg.QoS.Mode, tg.QoS.GroupMPM, tg.QoS.LendReserve = "coalesce_only", 3, false
	tg.QoS.ReserveMPM = 2 // not given: it makes room
	want := &config.Config{
		Tmux:     config.Tmux{Servers: []config.TmuxServer{{SocketName: "work"}, {SocketPath: "/run/ann/tmux.sock"}}},
		Sessions: config.Sessions{Adopt: []string{"agent-*", "a[0-9]?"}, TmuxPrefix: "my-", HistoryLimit: 1000, LogMaxLines: 1000, KeepEnded: "12h", ContinueText: "continue", ShellIntegration: true},
		Polling: config.Polling{
			OutputCadence: 0.1, FocusCadence: 0.1, CaptureTimeout: 2.5, MaxCaptureLines: 500, TurnMarker: `/done\.$$/`,
		},
		Mirrors: []config.Mirror{
			{Session: "agent-*", To: "telegram:-100/7", View: "final", Input: true},
			{Session: "*", To: "discord:5", View: "stream"},
		},
		Adapters:   config.Adapters{Web: config.Web{Enabled: false, Listen: "[::1]:0"}, Platforms: platforms.Adapters.Platforms},
		Agents:     map[string]config.Agent{"claude": agent, "other": agent},
		Access:     form().Default().Access,
		Inbound:    form().Default().Inbound,
		Voice:      form().Default().Voice,
		Mail:       form().Default().Mail,
		Notices:    form().Default().Notices,
		Wait:       form().Default().Wait,
		Prompts:    form().Default().Prompts,
		Attention:  form().Default().Attention,
		Redis:      form().Default().Redis,
		Monitoring: form().Default().Monitoring,
		Redact:     config.Redact{Enabled: true, Rules: []config.RedactRule{{Name: "customer", Pattern: "C-[0-9]{6}$"}}, Allow: []string{"/^test/"}},
		Log:        config.Log{Level: "debug", Format: "json"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestDumpReadsBack(t *testing.T) {
	want, err := parse("{tmux: {servers: [{socket_path: /s}]}, sessions: {adopt: [x]}, agents: {a: {command: [b, '']}}, polling: {turn_marker: ''}}")
	if err != nil {
		t.Fatal(err)
	}
	text, err := yaml.Dump(want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := parse(string(text))
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v\n%s\n%s", err, diff, text)
	}
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "panebridge", "config.yaml")
	absent := env(map[string]string{"XDG_CONFIG_HOME": dir})

	got, path, err := form().Find("", absent)
	if diff := cmp.Diff(form().Default(), got); err != nil || path != file || diff != "" {
		t.Errorf("without a default file: %q, %v\n%s", path, err, diff)
	}
	if _, _, err := form().Find(file, absent); !errors.Is(err, fs.ErrNotExist) || !strings.HasPrefix(err.Error(), "read configuration: ") {
		t.Errorf("without the file that was named: %v", err)
	}

	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("log: {level: loud}"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, _, err = form().Find("", absent)
	if want := file + ":1:14: log.level: must be one of debug, info, warn, error"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestSecondsAreExact(t *testing.T) {
	for seconds, want := range map[config.Seconds]time.Duration{0.1: 100 * time.Millisecond, 0.29: 290 * time.Millisecond, 5: 5 * time.Second} {
		if got := seconds.Duration(); got != want {
			t.Errorf("%v s is %v, want %v", float64(seconds), got, want)
		}
	}
}

// A profile is kept as it's written, with its places; what it says counts, not where.
func TestProfilesAreKeptAsTheyAreWritten(t *testing.T) {
	a, err := parse("profiles:\n  mine:\n    base: codex\n    program: {names: ['^mine$', '${HOME}']}\n")
	if err != nil {
		t.Fatal(err)
	}
	n := a.Profiles["mine"].Node()
	if n.Line != 3 || n.Column != 5 || n.Content[3].Content[1].Content[1].Value != "${HOME}" {
		t.Errorf("got %+v", n)
	}
	b, err := parse("# moved\nprofiles: {mine: {base: codex, program: {names: ['^mine$', '${HOME}']}}}\n")
	if err != nil {
		t.Fatal(err)
	}
	if got := config.Diff(a, a); len(got) != 0 {
		t.Errorf("a configuration differs from itself: %v", got)
	}
	c, err := parse("profiles:\n  mine:\n    base: claude\n")
	if err != nil {
		t.Fatal(err)
	}
	if got := config.Diff(a, c); len(got) != 1 || got[0] != (config.Change{Path: "profiles.mine"}) {
		t.Errorf("differs in %v", got)
	}
	if b.Profiles["mine"].Node() == nil {
		t.Error("one in a single row isn't kept")
	}
}
