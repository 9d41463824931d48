package app

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/panebridge/panebridge/adapters/all"
	"github.com/panebridge/panebridge/config"
)

func loadAgents(t *testing.T, text string) (*daemon, *config.Config) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := all.Form().Load(path, os.LookupEnv)
	if err != nil {
		t.Fatal(err)
	}
	profiles, err := LoadProfiles(cfg, path)
	if err != nil {
		t.Fatal(err)
	}
	return &daemon{opt: Options{Config: cfg, ConfigPath: path, Env: os.LookupEnv}, config: cfg, profiles: profiles}, cfg
}

func TestAgentsGoOnAsTheirProfilesSay(t *testing.T) {
	d, cfg := loadAgents(t, `
agents:
  claude: {command: [claude, -x], flags: [--model, big], width: 80}
  mine: {command: [w], profile: codex, history_limit: 500}
  own: {command: [w], profile: claude, resume: [go-on, "{id}"]}
  other: {command: [w], env: {A: b}}
`)
	if err := CheckProfiles(cfg, d.opt.ConfigPath, d.opt.Env); err != nil {
		t.Fatal(err)
	}
	all := agents(cfg, d.profiles)
	for name, want := range map[string][]string{"claude": {"--resume", "{id}"}, "mine": {"resume", "{id}"}, "own": {"go-on", "{id}"}, "other": nil} {
		if got := all[name].Resume; !slices.Equal(got, want) {
			t.Errorf("%s goes on with %q, want %q", name, got, want)
		}
	}
	c := all["claude"]
	if !slices.Equal(c.Command, []string{"claude", "-x", "--model", "big"}) || c.Width != 80 || c.Height != 40 || all["mine"].HistoryLimit != 500 {
		t.Errorf("agents are %+v", all)
	}
}

func TestAProfileThatThereIsntIsFoundInTheFile(t *testing.T) {
	d, cfg := loadAgents(t, "agents:\n  claude: {command: [claude]}\n  x: {command: [x], profile: cloude}\n")
	err := CheckProfiles(cfg, d.opt.ConfigPath, d.opt.Env)
	if err == nil || !strings.Contains(err.Error(), `:3:30: agents.x.profile: there's no profile "cloude"; there are claude, codex`) {
		t.Errorf("it says %v", err)
	}
}

// Each profile of an agent that keeps conversations says how it goes on with one; the demo's
// begins a new one each time.
func TestAgentsThatKeepConversationsGoOn(t *testing.T) {
	d, _ := loadAgents(t, "")
	for _, name := range d.profiles.Names() {
		p := d.profiles.Get(name)
		if name != "demo" && p.Format() != "" && !slices.ContainsFunc(p.ResumeArgs(), func(arg string) bool { return strings.Contains(arg, "{id}") }) {
			t.Errorf("%s keeps conversations, and goes on with none", name)
		}
	}
}

func TestConversationsAreThoseOfTheFolder(t *testing.T) {
	home, work := t.TempDir(), t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("CLAUDE_CONFIG_DIR", "")
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, work)
	dir := filepath.Join(home, ".claude", "projects", name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	line := `{"type":"user","cwd":"` + work + `","sessionId":"11-aa","timestamp":"2026-01-02T03:04:05Z","uuid":"u","message":{"role":"user","content":"fix the login"}}` + "\n"
	if err := os.WriteFile(filepath.Join(dir, "11-aa.jsonl"), []byte(line), 0o600); err != nil {
		t.Fatal(err)
	}
	d, _ := loadAgents(t, "agents:\n  claude: {command: [claude]}\n  other: {command: [x]}\n")
	got, err := conversations{d}.Conversations(t.Context(), "claude", work)
	if err != nil || len(got) != 1 || got[0].ID != "11-aa" || got[0].Title != "fix the login" || got[0].Changed.IsZero() {
		t.Errorf("it finds %+v, %v", got, err)
	}
	if got, err := (conversations{d}).Conversations(t.Context(), "claude", home); err != nil || len(got) != 0 {
		t.Errorf("elsewhere it finds %+v, %v", got, err)
	}
	if _, err := (conversations{d}).Conversations(t.Context(), "other", work); err == nil {
		t.Error("an agent without transcripts has conversations")
	}
}
