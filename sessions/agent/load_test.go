package agent

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/panebridge/panebridge/sessions"
	"github.com/panebridge/panebridge/sessions/transcript"
)

func TestProfilesOfTheBinary(t *testing.T) {
	set, err := LoadSet()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"claude", "codex", "gemini", "opencode", "qwen", "pi"} {
		p := set.Get(name)
		switch {
		case p == nil:
			t.Errorf("there's no profile %s", name)
		case len(p.MadeFrom()) == 0 || p.Format() != transcript.Format(name) || len(p.InterruptKeys()) == 0 || p.Shell():
			t.Errorf("%s: made from %v, transcript %q, keys %v", name, p.MadeFrom(), p.Format(), p.InterruptKeys())
		}
	}
	if set.Generic() == nil || set.Get("shell") == nil || !set.Get("shell").Shell() {
		t.Error("generic or shell is missing")
	}
}

func TestOverrides(t *testing.T) {
	text := `
claude:
  made_from: ["3.0.0"]
  more:
    dialogs: [shall it be done]
    signs:
      - {state: working, in: foot, match: 'ctrl-c stops it'}
mine:
  base: codex
  program: {names: ['^mycodex$']}
`
	o, err := ParseOverride("profiles.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	set, err := LoadSet(o)
	if err != nil {
		t.Fatal(err)
	}
	claude := set.Get("claude")
	if got := claude.MadeFrom(); !slices.Equal(got, []string{"3.0.0"}) {
		t.Errorf("made from %v", got)
	}
	if claude.Dialog([]string{"  Shall it be done?"}) == "" || claude.Dialog([]string{"Do you want to proceed?"}) == "" {
		t.Error("the new dialog or the old ones aren't found")
	}
	screen := snapshot("text\n──────────────\n❯\n──────────────\n  ctrl-c stops it")
	if got := claude.findSign(claude.layout(screen, false)).state; got != sessions.StateWorking {
		t.Errorf("the new sign isn't believed: %q", got)
	}
	if p := set.Match(Process{Args: []string{"/opt/mycodex"}}); p == nil || p.Name() != "mine" || p.Format() != transcript.Codex {
		t.Errorf("the profile made from codex isn't found: %v", p)
	}
	if set.Generic().Dialog([]string{"shall it be done"}) == "" {
		t.Error("a dialog of an override isn't known for unknown programs")
	}
}

func TestOverridesErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"claude:\n  program:\n    names: ['(']\n", "x.yaml:3:13: profile claude: program.names[0]: must be a regular expression"},
		{"claude:\n  nmes: 3\n", `x.yaml:2:3: profile claude: nmes: unknown key "nmes"`},
		{"claude:\n  quiet: {confirm: soon}\n", "x.yaml:2:20: profile claude: quiet.confirm: must be a length of time above 0"},
		{"claude:\n  signs:\n    - {state: bored, in: foot}\n", "x.yaml:3:15: profile claude: signs[0].state: must be one of starting, idle"},
		{"claude:\n  signs:\n    - {state: idle, in: cellar}\n", "x.yaml:3:25: profile claude: signs[0].in: must be one of title"},
		{"claude:\n  dialogs: ['May I?']\n", "x.yaml:2:13: profile claude: dialogs[0]: must be a phrase"},
		{"claude:\n  transcript: word\n", "x.yaml:2:15: profile claude: transcript: must be one of claude"},
		{"new:\n  base: cloud\n", `x.yaml:2:9: profile new: base: must be a profile that there is (claude`},
		{"[claude]\n", "x.yaml:1:1: must be a mapping"},
		{"pi:\n  prompts:\n    - {kind: choice}\n", "x.yaml:3:7: profile pi: prompts[0]: prompt without a name: form must be given"},
		{"pi:\n  prompts:\n    - {form: a, kind: riddle}\n", "prompt a: kind must be one of permission, choice"},
		{"pi:\n  prompts:\n    - {form: a, kind: choice, answer: digit}\n", "match must be given"},
		{"pi:\n  prompts:\n    - {form: a, kind: choice, match: x, answer: telepathy}\n", "answer must be one of digit, arrows"},
		{"pi:\n  prompts:\n    - {form: a, kind: choice, match: x, answer: digit}\n", "one of option, row and fixed must be given"},
		{"pi:\n  prompts:\n    - {form: a, kind: choice, match: x, answer: digit, option: '(?P<label>.*)'}\n", "answer: digit needs an option with a group named number"},
		{"pi:\n  prompts:\n    - {form: a, kind: choice, match: x, answer: keys, fixed: [{label: Yes, key: Return}]}\n", "a key must be Enter"},
		{"pi:\n  prompts:\n    - {form: a, kind: multi, match: x, answer: digit, option: '(?P<number>.)(?P<label>.*)'}\n", "kind: multi needs submit"},
		{"pi:\n  prompts:\n    - {form: a, kind: choice, match: x, frame: x, answer: keys, fixed: [{label: Yes, key: y}]}\n", "frame must have a group"},
		{"claude:\n  more:\n    prompts:\n      - {form: question, kind: choice, match: x, answer: keys, fixed: [{label: Yes, key: y}]}\n", "x.yaml:4:9: profile claude: more.prompts[0]: prompt question: its name must be another"},
		{"claude: [\n", "x.yaml:"},
		{"claude:\n  input:\n    box: ['^x', 'y(.*)']\n", "x.yaml:3:11: profile claude: input.box[0]: must have a group"},
		{"claude:\n  input: {ghost: ['#6c708']}\n", `x.yaml:2:19: profile claude: input.ghost[0]: must be a colour, "#rrggbb"`},
		{"claude:\n  input: {typed: [256]}\n", "x.yaml:2:19: profile claude: input.typed[0]: must be a colour"},
		{"claude:\n  more:\n    signs: [{state: idle, in: foot}, {state: idle, in: roof}]\n", "x.yaml:3:56: profile claude: more.signs[1].in: must be"},
		{"claude:\n  more:\n    signs: [{state: idle, in: foot}]\n  signs:\n    - {state: idle, in: foot}\n    - {state: idle, in: end}\n", "x.yaml:6:7: profile claude: signs[1]: match must be given"},
		{"claude:\n  dialogs: [X, shall it be]\n  transcript: word\n", "x.yaml:3:15: profile claude: transcript"},
		{"claude:\n  dialogs: [X, shall it be]\n  transcript: word\n", "x.yaml:2:13: profile claude: dialogs[0]"},
	} {
		o, err := ParseOverride("x.yaml", []byte(c.text))
		if err == nil {
			_, err = LoadSet(o)
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: got the error %v, want %q in it", c.text, err, c.want)
		}
	}
}

func TestReadOverrides(t *testing.T) {
	folder := t.TempDir()
	if got, err := ReadOverrides(filepath.Join(folder, "none")); err != nil || len(got) != 0 {
		t.Errorf("of a folder that isn't there: %v, %v", got, err)
	}
	if err := os.WriteFile(filepath.Join(folder, "a.yaml"), []byte("pi: {interrupt: [C-c]}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := ReadOverrides(folder)
	if err != nil || len(got) != 1 {
		t.Fatalf("got %v, %v", got, err)
	}
	set, err := LoadSet(got...)
	if err != nil {
		t.Fatal(err)
	}
	if keys := set.Get("pi").InterruptKeys(); !slices.Equal(keys, []string{"C-c"}) {
		t.Errorf("keys are %v", keys)
	}
}

func TestMatch(t *testing.T) {
	set, err := LoadSet()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"claude"}, "claude"},
		{[]string{"claude", "--continue"}, "claude"},
		{[]string{"node", "/opt/npm/node_modules/.bin/claude"}, "claude"},
		{[]string{"/usr/bin/node", "--no-warnings", "/opt/npm/@anthropic-ai/claude-code/cli.js"}, "claude"},
		{[]string{"claude", "mcp", "serve"}, ""},
		{[]string{"node", "/opt/npm/node_modules/.bin/codex", "--no-daemon"}, "codex"},
		{[]string{"/opt/npm/@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex", "--no-daemon"}, "codex"},
		{[]string{"codex", "app-server"}, ""},
		{[]string{"codex", "exec", "do it"}, ""},
		{[]string{"node", "/opt/npm/node_modules/.bin/gemini"}, "gemini"},
		{[]string{"opencode"}, "opencode"},
		{[]string{"opencode", "serve"}, ""},
		{[]string{"/usr/bin/node", "/opt/npm/node_modules/.bin/qwen"}, "qwen"},
		{[]string{"pi"}, "pi"},
		{[]string{"node", "/opt/npm/@mariozechner/pi-coding-agent/dist/cli.js"}, "pi"},
		{[]string{"python3", "/usr/local/bin/claude"}, ""},
		{[]string{"python3", "record.py", "claude", "codex"}, ""},
		{[]string{"/opt/bin/panebridge", "demo-agent"}, "demo"},
		{[]string{"panebridge", "listen"}, ""},
		{[]string{"panebridge"}, ""},
		{[]string{"sh", "-c", "claude"}, ""},
		{[]string{"vim", "claude"}, ""},
		{[]string{"node", "-e", "claude"}, ""},
		{[]string{"node", "server.js", "claude"}, ""},
		{[]string{"-bash"}, ""},
		{[]string{"tail", "-f", "codex"}, ""},
		{nil, ""},
	} {
		got := ""
		if p := set.Match(Process{Args: c.args}); p != nil {
			got = p.Name()
		}
		if got != c.want {
			t.Errorf("%q is taken for %q, want %q", c.args, got, c.want)
		}
	}
}
